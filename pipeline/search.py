"""A learning-rate search on seeds that no published run uses: a table, its figure and its origin.

Not a stage: its outcome is fixed in params.yaml by hand. All rates, settings and seeds train as one
stack.
"""

from __future__ import annotations

import itertools
import json
import math
import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pandas as pd
import torch

from pondering.params.ranges import setting_text
from pondering.params.read import MECHANISMS, load_params
from pondering.params.replica import Replica
from pondering.project import machine, provenance
from pondering.project.atomic import json_text, write_together
from pondering.project.command import Command, stage
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.report.figures.rates import figure_rates
from pondering.report.figures.style import save
from pondering.results.tables import best_rate
from pondering.tasks import make_task
from pondering.tasks.base import Task
from pondering.train.build import make_network, path_of, pick_device
from pondering.train.sweep import Schedule, Sweep

SEED = 1000
RULE = "the rate with the least training error, mean over settings and seeds, at the last point"


@dataclass(frozen=True)
class Search:
    """What is tried: every rate with every setting and seed."""

    profile: str
    experiment: str
    mechanism: str
    rates: list[float]
    settings: list[float]
    seeds: list[int]
    updates: int
    points: int
    name: str

    def run(self) -> tuple[pd.DataFrame, dict[str, Any]]:
        """Train them all; a row for each and logging point, and their origin."""
        start = time.monotonic()
        params = load_params(Path("params.yaml"), self.profile)
        config, device = params.experiment(self.experiment), pick_device(params.device)
        machine.settle(params.compute.threads)
        frozen = Layout(Path(), self.profile).frozen(self.experiment)
        published = sorted(set(self.seeds) & set(config.seeds))
        if published:
            named = ", ".join(map(str, published))
            raise UserError(f"--seeds: {named} is not allowed; a seed of no published run is")
        task = self.task(config.task)
        tried = list(itertools.product(self.rates, self.settings, self.seeds))
        replicas = [Replica(self.mechanism, setting, seed) for _, setting, seed in tried]
        network = make_network(config, task, replicas, device)
        network.path = path_of(params.compute.path, config, self.mechanism, device)
        values = config.training
        schedule = Schedule(self.updates, values.batch, self.rates[0], values.clip, self.points)
        sweep = Sweep(network, task, replicas, schedule)
        sweep.optimiser.learning_rate = torch.tensor([rate for rate, *_ in tried], device=device)
        sweep.run(lambda s: click.echo(f"{s.update}: {said(s, tried)}"), lambda: False)
        origin = provenance.record(
            Path(),
            config.of_mechanism(self.mechanism),
            provenance.data_hash(task, frozen),
            machine.name_of(device),
            torch.get_num_threads(),
            self.command(),
            network.path,
        )
        search = {"rates": self.rates, "settings": self.settings, "seeds": self.seeds}
        length = {"updates": sweep.update, "points": self.points}
        seconds = {"wall_seconds": round(time.monotonic() - start, 3)}
        return self.table(sweep, tried), origin | search | length | seconds

    def task(self, values: dict[str, Any]) -> Task:
        """The experiment's, with these values, on its frozen data if there are any."""
        frozen = Layout(Path(), self.profile).frozen(self.experiment)
        return make_task(values, self.experiment, frozen if frozen.is_file() else None)

    def table(self, sweep: Sweep, tried: list[tuple[float, float, int]]) -> pd.DataFrame:
        """One row for each logging point with each rate, setting and seed."""
        kept = ("setting", "update", "loss", "error", "ponder_time")
        names = {"experiment": self.experiment, "mechanism": self.mechanism}
        own = itertools.cycle({"seed": seed, "learning_rate": rate} for rate, _, seed in tried)
        return pd.DataFrame(names | next(own) | {k: row[k] for k in kept} for row in sweep.rows())

    def command(self) -> str:
        """What makes the same again."""
        lists = (self.rates, self.settings, self.seeds)
        rates, settings, seeds = (",".join(map(repr, each)) for each in lists)
        name = shlex.quote(self.name)
        return (
            f"python pipeline/search.py {self.experiment} --mechanism {self.mechanism} "
            f"--profile {self.profile} --rates {rates} --settings {settings} "
            f"--seeds {seeds} --updates {self.updates} --points {self.points} --name {name}"
        )


def said(sweep: Sweep, tried: list[tuple[float, float, int]]) -> str:
    """Error and ponder of every replica at the last point."""
    last = sweep.curves[-1]
    parts = zip(tried, last[:, 2].tolist(), last[:, 3].tolist(), strict=True)
    return "  ".join(
        f"{r:g}/{setting_text(s)}/{k} {100 * e:.1f}% {p:.1f}" for (r, s, k), e, p in parts
    )


def numbers(option: str, text: str, whole: bool = False) -> list[Any]:
    """An option's numbers, written with commas."""
    found = []
    for part in text.split(","):
        try:
            found.append(int(part) if whole else float(part))
        except ValueError:
            found.append(math.nan)
        if not 0 < found[-1] < math.inf:
            kind = "whole number" if whole else "number"
            raise UserError(f"{option}: {part!r} is not allowed; a {kind} above 0 is")
    return found


@click.command(cls=Command)
@click.argument("experiment")
@click.option("--mechanism", default="act", type=click.Choice(MECHANISMS))
@click.option("--profile", default="reduced")
@click.option("--rates", default="0.001,0.003,0.01", help="Learning rates, with commas.")
@click.option("--settings", default="0.001,0.01", help="Its settings, with commas.")
@click.option("--seeds", default=str(SEED), help="Seeds, with commas; none of a published run.")
@click.option("--updates", default=3000, type=click.IntRange(min=1))
@click.option("--points", default=10, type=click.IntRange(min=1))
@click.option("--name", help="The table's, EXPERIMENT-MECHANISM unless given.")
@click.option("--draw", is_flag=True, help="Train nothing: draw NAME's figure from its table.")
def main(
    experiment: str, mechanism: str, profile: str, rates: str, settings: str, seeds: str,
    updates: int, points: int, name: str | None, draw: bool,
) -> None:  # fmt: skip
    """Search EXPERIMENT; write reports/PROFILE/search/NAME.csv, its figure and its origin."""
    with stage():
        if name is not None and ("/" in name or not name):
            raise UserError(f"--name: {name!r} is not allowed; a file's name without ending is")
        search = Search(
            profile=profile,
            experiment=experiment,
            mechanism=mechanism,
            rates=numbers("--rates", rates),
            settings=numbers("--settings", settings),
            seeds=numbers("--seeds", seeds, whole=True),
            updates=updates,
            points=points,
            name=name or f"{experiment}-{mechanism}",
        )
        path = Layout(Path(), profile).search(search.name)
        record = path.with_suffix(".json")
        if draw and not (path.is_file() and record.is_file()):
            raise UserError(f"--name: {path} and {record.name} are not both there to draw from")
        if not draw:
            found, origin = search.run()
            content = found.to_csv(index=False, float_format="%.6g")
            write_together({path: content, record: json_text(origin)})
        try:
            found = pd.read_csv(path)
            task = search.task(json.loads(record.read_text())["config"]["task"])
        except (ValueError, LookupError, TypeError):
            raise UserError(
                f"{path} or {record.name} is damaged; without --draw both are made again"
            ) from None
        what, worst = f"Profile {profile}: {task.summary}", task.worst_error
        save(figure_rates(found, what, task.unit, worst), path.with_suffix(""))
        click.echo(f"{path}: {RULE}: {best_rate(found, worst):g}")


if __name__ == "__main__":
    main()
