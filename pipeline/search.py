"""A learning-rate search on one seed that no published run uses, written down as a table.

Not a stage: its outcome is fixed in params.yaml by hand. All rates and settings train as one stack.
"""

from __future__ import annotations

import math
from pathlib import Path

import click
import pandas as pd
import torch

from pondering.build import make_network, pick_device
from pondering.config import MECHANISMS, load_params
from pondering.errors import UserError
from pondering.files import atomic_write
from pondering.layout import Layout
from pondering.machine import settle
from pondering.stage import Command, stage
from pondering.tasks import make_task
from pondering.training import Plan, Sweep

SEED = 1000
RULE = "the rate with the least training error, mean over settings, at the last point"


def searched(
    profile: str, experiment: str, mechanism: str, rates: list[float], settings: list[float],
    updates: int, points: int,
) -> pd.DataFrame:  # fmt: skip
    """Train every rate with every setting; one row each and logging point."""
    params = load_params(Path("params.yaml"), profile)
    config, device = params.experiment(experiment), pick_device(params.device)
    settle(params.compute.threads)
    frozen = Layout(Path(), profile).frozen(experiment)
    task = make_task(config.task, experiment, frozen if frozen.is_file() else None)
    pairs = [(rate, setting) for rate in rates for setting in settings]
    replicas = [(setting, SEED) for _, setting in pairs]
    network = make_network(config, mechanism, task, replicas, device)
    plan = Plan(updates, config.training.batch, rates[0], config.training.clip, points)
    sweep = Sweep(network, task, replicas, plan)
    sweep.optimiser.learning_rate = torch.tensor([rate for rate, _ in pairs], device=device)
    sweep.run(lambda s: click.echo(f"{s.update}: {said(s, pairs)}"), lambda: False)
    rows = sweep.rows()
    kept = ("setting", "update", "loss", "error", "ponder_time")
    names = {"experiment": experiment, "mechanism": mechanism, "seed": SEED}
    return pd.DataFrame(
        names | {"learning_rate": pairs[i % len(pairs)][0]} | {k: row[k] for k in kept}
        for i, row in enumerate(rows)
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
    """Search EXPERIMENT and write reports/PROFILE/search/EXPERIMENT-MECHANISM.csv."""
    with stage():
        tried, tuned = numbers("--rates", rates), numbers("--settings", settings)
        found = searched(profile, experiment, mechanism, tried, tuned, updates, points)
        path = Path("reports") / profile / "search" / f"{experiment}-{mechanism}.csv"
        atomic_write(path, found.to_csv(index=False, float_format="%.6g"))
        last = found[found["update"] == found["update"].max()]
        means = last.groupby("learning_rate")["error"].mean()
        click.echo(f"{path}: {RULE}: {means.fillna(1.0).idxmin():g}")


if __name__ == "__main__":
    main()
