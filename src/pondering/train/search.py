"""A learning-rate search: every rate with every setting and seed, trained as one stack.

Its seeds are those of no published run, so that what it finds is tested on others.
"""

from __future__ import annotations

import itertools
import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from pondering.params.ranges import setting_text
from pondering.params.replica import Replica
from pondering.params.schema import Params
from pondering.project import machine, provenance
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.tasks import make_task
from pondering.tasks.base import Task
from pondering.train.build import make_network, path_of, pick_device
from pondering.train.sweep import Schedule, Sweep

COLUMNS = ("experiment", "mechanism", "seed", "learning_rate", "setting", "update", "loss", "error",
           "ponder_time")  # fmt: skip


@dataclass(frozen=True)
class Search:
    """What is tried.

    Args:
        params: the checked parameters.
        experiment: a name in them.
        mechanism: a name in `MECHANISMS`.
        rates: learning rates.
        settings: the mechanism's.
        seeds: none of a published run.
        updates: how long each replica trains.
        points: how often it is logged meanwhile.
        name: of the table.
    """

    params: Params
    experiment: str
    mechanism: str
    rates: list[float]
    settings: list[float]
    seeds: list[int]
    updates: int
    points: int
    name: str

    @property
    def tried(self) -> list[tuple[float, Replica]]:
        """Each replica and its learning rate, rates outermost."""
        pairs = list(itertools.product(self.settings, self.seeds))
        return [(rate, Replica(self.mechanism, *pair)) for rate in self.rates for pair in pairs]

    @property
    def command(self) -> str:
        """What makes the same again."""
        lists = (self.rates, self.settings, self.seeds)
        rates, settings, seeds = (",".join(map(repr, each)) for each in lists)
        name = shlex.quote(self.name)
        return (
            f"python pipeline/search.py {self.experiment} --mechanism {self.mechanism} "
            f"--profile {self.params.profile} --rates {rates} --settings {settings} "
            f"--seeds {seeds} --updates {self.updates} --points {self.points} --name {name}"
        )


def run(search: Search, root: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Train all that is to be tried; errors are printed at each logging point.

    Args:
        root: the project's folder.

    Returns:
        a row for each logging point with each rate, setting and seed; and where they come from.

    Raises:
        UserError: no such experiment, no GPU where one is asked for, a seed of a published run, or
            values that the task or the mechanism refuses.
    """
    start = time.monotonic()
    params, layout = search.params, Layout(root, search.params.profile)
    config, device = params.experiment(search.experiment), pick_device(params.device)
    machine.settle(params.compute.threads)
    published = sorted(set(search.seeds) & set(config.seeds))
    if published:
        named = ", ".join(map(str, published))
        raise UserError(f"--seeds: {named} is not allowed; a seed of no published run is")
    task = task_of(config.task, search.experiment, layout)
    sweep = _sweep(search, task, device)
    sweep.run(lambda s: print(f"{s.update}: {_said(search, s)}", flush=True), lambda: False)
    origin = provenance.record(
        root,
        config.of_mechanism(search.mechanism),
        provenance.data_hash(task, layout.frozen(search.experiment)),
        machine.name_of(device),
        torch.get_num_threads(),
        search.command,
        sweep.network.path,
    )
    origin |= {"rates": search.rates, "settings": search.settings, "seeds": search.seeds}
    origin |= {"updates": sweep.update, "points": search.points}
    return _table(search, sweep), origin | {"wall_seconds": round(time.monotonic() - start, 3)}


def task_of(values: dict[str, Any], experiment: str, layout: Layout) -> Task:
    """An experiment's task with these values, on its frozen data if there are any."""
    frozen = layout.frozen(experiment)
    return make_task(values, experiment, frozen if frozen.is_file() else None)


def _sweep(search: Search, task: Task, device: torch.device) -> Sweep:
    """The untrained replicas, each with its own learning rate."""
    params, config = search.params, search.params.experiment(search.experiment)
    rates, replicas = zip(*search.tried, strict=True)
    network = make_network(config, task, replicas, device)
    network.path = path_of(params.compute.path, config, search.mechanism, device)
    values = config.training
    schedule = Schedule(
        search.updates, values.batch, rates[0], values.clip, search.points, values.decay,
        values.halting_rate,
    )  # fmt: skip
    sweep = Sweep(network, task, replicas, schedule)
    sweep.optimiser.learning_rate.copy_(torch.tensor(rates))
    return sweep


def _table(search: Search, sweep: Sweep) -> pd.DataFrame:
    rates = itertools.cycle(rate for rate, _ in search.tried)
    rows = [
        row | {"experiment": search.experiment, "learning_rate": next(rates)}
        for row in sweep.rows()
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _said(search: Search, sweep: Sweep) -> str:
    """Error and ponder of every replica at the last point."""
    last = sweep.curves[-1][:, 2:4].tolist()
    return "  ".join(
        f"{rate:g}/{setting_text(each.setting)}/{each.seed} {100 * error:.1f}% {ponder:.1f}"
        for (rate, each), (error, ponder) in zip(search.tried, last, strict=True)
    )
