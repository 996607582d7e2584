"""A learning-rate search on one seed that no published run uses: a table, and its origin.

Not a stage: its outcome is fixed in params.yaml by hand. All rates and settings train as one stack.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pandas as pd
import torch

from pondering import machine, provenance
from pondering.build import make_network, pick_device
from pondering.config import MECHANISMS, load_params
from pondering.errors import UserError
from pondering.files import json_text, write_together
from pondering.layout import Layout
from pondering.stage import Command, stage
from pondering.tasks import make_task
from pondering.training import Plan, Sweep

SEED = 1000
RULE = "the rate with the least training error, mean over settings, at the last point"


@dataclass(frozen=True)
class Search:
    """What is tried: every rate with every setting, all from `SEED`."""

    profile: str
    experiment: str
    mechanism: str
    rates: list[float]
    settings: list[float]
    updates: int
    points: int

    def run(self) -> tuple[pd.DataFrame, dict[str, Any]]:
        """Train them all; a row for each and logging point, and where these come from."""
        start = time.monotonic()
        params = load_params(Path("params.yaml"), self.profile)
        config, device = params.experiment(self.experiment), pick_device(params.device)
        machine.settle(params.compute.threads)
        frozen = Layout(Path(), self.profile).frozen(self.experiment)
        task = make_task(config.task, self.experiment, frozen if frozen.is_file() else None)
        pairs = [(rate, setting) for rate in self.rates for setting in self.settings]
        replicas = [(setting, SEED) for _, setting in pairs]
        network = make_network(config, self.mechanism, task, replicas, device)
        values = config.training
        plan = Plan(self.updates, values.batch, self.rates[0], values.clip, self.points)
        sweep = Sweep(network, task, replicas, plan)
        sweep.optimiser.learning_rate = torch.tensor([rate for rate, _ in pairs], device=device)
        sweep.run(lambda s: click.echo(f"{s.update}: {said(s, pairs)}"), lambda: False)
        origin = provenance.record(
            Path(),
            config.of_mechanism(self.mechanism),
            provenance.data_hash(task, frozen),
            machine.name_of(device),
            torch.get_num_threads(),
            self.command(),
        )
        tried = {"seed": SEED, "rates": self.rates, "settings": self.settings}
        length = {"updates": sweep.update, "points": self.points}
        seconds = {"wall_seconds": round(time.monotonic() - start, 1)}
        return self.table(sweep, pairs), origin | tried | length | seconds

    def table(self, sweep: Sweep, pairs: list[tuple[float, float]]) -> pd.DataFrame:
        """One row for each rate with each setting and logging point."""
        kept = ("setting", "update", "loss", "error", "ponder_time")
        names = {"experiment": self.experiment, "mechanism": self.mechanism, "seed": SEED}
        return pd.DataFrame(
            names | {"learning_rate": pairs[i % len(pairs)][0]} | {k: row[k] for k in kept}
            for i, row in enumerate(sweep.rows())
        )

    def command(self) -> str:
        """What makes the same again."""
        rates, settings = (",".join(map(repr, each)) for each in (self.rates, self.settings))
        return (
            f"python pipeline/search.py {self.experiment} --mechanism {self.mechanism} "
            f"--profile {self.profile} --rates {rates} --settings {settings} "
            f"--updates {self.updates} --points {self.points}"
        )


def said(sweep: Sweep, pairs: list[tuple[float, float]]) -> str:
    """Error and ponder of every replica at the last point."""
    last = sweep.curves[-1]
    parts = zip(pairs, last[:, 2].tolist(), last[:, 3].tolist(), strict=True)
    return "  ".join(f"{r:g}/{s:g} {100 * e:.1f}% {p:.1f}" for (r, s), e, p in parts)


def numbers(option: str, text: str) -> list[float]:
    """An option's numbers, written with commas."""
    found = []
    for part in text.split(","):
        try:
            found.append(float(part))
        except ValueError:
            found.append(math.nan)
        if not 0 < found[-1] < math.inf:
            raise UserError(f"{option}: {part!r} is not allowed; a number above 0 is")
    return found


@click.command(cls=Command)
@click.argument("experiment")
@click.option("--mechanism", default="act", type=click.Choice(MECHANISMS))
@click.option("--profile", default="reduced")
@click.option("--rates", default="0.001,0.003,0.01", help="Learning rates, with commas.")
@click.option("--settings", default="0.001,0.01", help="Its settings, with commas.")
@click.option("--updates", default=3000, type=click.IntRange(min=1))
@click.option("--points", default=10, type=click.IntRange(min=1))
def main(
    experiment: str, mechanism: str, profile: str, rates: str, settings: str, updates: int,
    points: int,
) -> None:  # fmt: skip
    """Search EXPERIMENT; write reports/PROFILE/search/EXPERIMENT-MECHANISM.csv and its origin."""
    with stage():
        tried, tuned = numbers("--rates", rates), numbers("--settings", settings)
        search = Search(profile, experiment, mechanism, tried, tuned, updates, points)
        found, origin = search.run()
        path = Layout(Path(), profile).search(experiment, mechanism)
        content = found.to_csv(index=False, float_format="%.6g")
        write_together({path: content, path.with_suffix(".json"): json_text(origin)})
        last = found[found["update"] == found["update"].max()]
        means = last.groupby("learning_rate")["error"].mean()
        click.echo(f"{path}: {RULE}: {means.fillna(1.0).idxmin():g}")


if __name__ == "__main__":
    main()
