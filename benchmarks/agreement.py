"""Do the fast paths learn what the readable one learns? All train the same seeds; curves on top.

Rounding differs between the paths and training amplifies it, so single runs part ways; their means
must not, beyond what seeds differ anyway. `make bench` runs this last; it writes
`agreement-<device>.json` and `.png` beside this file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
from bench import HERE, machine_or_exit, slug
from matplotlib.figure import Figure
from processes import alone

from pondering.model.network import PathName
from pondering.params.read import load_params
from pondering.params.replica import Replica
from pondering.project import provenance
from pondering.project.atomic import write_json
from pondering.project.machine import tune
from pondering.report.figures.style import INK, MECHANISM_NAME, SKY, SYMBOL, style
from pondering.report.figures.style.look import ORANGE
from pondering.tasks import make_task
from pondering.train.build import make_network
from pondering.train.trainer import Schedule, Trainer

EXPERIMENT = "parity_interpolation"  # of `quick`: learned in seconds, and only by pondering
SETTINGS = {"act": 0.01, "pondernet": 0.4}
PATHS: dict[str, tuple[PathName, ...]] = {
    "act": ("readable", "fast", "compiled"),
    "pondernet": ("readable", "fast", "compiled"),
}
LOOK = {"readable": (ORANGE, "-"), "fast": (SKY, "--"), "compiled": (INK, ":")}
SEEDS = 8


def curves(mechanism: str, path: PathName, updates: int, kind: str) -> dict[str, Any]:
    """Training error at the logging points, [points][seeds]."""
    tune()
    config = load_params(HERE.parent / "params.yaml", "quick").experiment(EXPERIMENT)
    task = make_task(config.task, EXPERIMENT)
    replicas = [Replica(mechanism, SETTINGS[mechanism], seed) for seed in range(SEEDS)]
    network = make_network(config, task, replicas, torch.device(kind))
    network.path = path
    training = config.training
    schedule = Schedule(updates, training.batch, training.learning_rate, training.clip, 40)
    sweep = Trainer(network, task, replicas, schedule)
    sweep.run(lambda _: None, lambda: False)
    points = [point[:, (0, 2)].tolist() for point in sweep.curves]
    updates_at = [point[0][0] for point in points]
    return {"updates": updates_at, "error": [[error for _, error in point] for point in points]}


def apart(fast: dict[str, Any], readable: dict[str, Any]) -> dict[str, float]:
    """How far the mean curves lie apart, and how far chance alone would put them.

    Returns:
        "difference" of the means over seeds at the logging point where it is the largest share of
        "chance": 1.96 standard errors of it there, were the seeds of both independent.
    """
    a, b = np.array(fast["error"]), np.array(readable["error"])
    gap = np.abs(a.mean(1) - b.mean(1))
    error = 1.96 * np.sqrt((a.var(1, ddof=1) + b.var(1, ddof=1)) / a.shape[1])
    worst = int(np.argmax(gap / np.maximum(error, 1e-12)))
    return {"difference": float(gap[worst]), "chance": float(error[worst])}


def drawn(found: dict[str, dict[str, Any]]) -> Figure:
    """Every seed thin, the means thick."""
    with style():
        figure = Figure(figsize=(8.0, 3.2), layout="constrained")
        for panel, (mechanism, paths) in enumerate(found.items()):
            axes = figure.add_subplot(1, len(found), panel + 1)
            for path, each in paths.items():
                colour, line = LOOK[path]
                x, y = each["updates"], 100 * np.array(each["error"])
                axes.plot(x, y, color=colour, lw=0.6, alpha=0.5)
                axes.plot(x, y.mean(1), line, color=colour, lw=2.4, label=f"{path} path")
            setting = f"{SYMBOL[mechanism]} = {SETTINGS[mechanism]:g}"
            axes.set_title(f"{MECHANISM_NAME[mechanism]}, {setting}, {SEEDS} seeds")
            axes.set_xlabel("updates")
            axes.set_ylabel("training error, %")
            axes.set_ylim(0, None)
            axes.legend()
        return figure


@click.command()
@click.option("--updates", default=3500, help="As long as `quick` trains.")
@click.option("--device", default="auto", type=click.Choice(["auto", "cpu", "cuda"]))
@click.option("--out", type=click.Path(path_type=Path), help="Folder; default: beside this file.")
def main(updates: int, device: str, out: Path | None) -> None:
    """Train by every path and compare the curves."""
    machine = machine_or_exit(device)
    found = {
        mechanism: {
            path: alone(curves, mechanism, path, updates, machine["kind"])
            for path in PATHS[mechanism]
            if path != "compiled" or machine["kind"] == "cpu"
        }
        for mechanism in SETTINGS
    }
    verdicts = {
        f"{name}, {path}": apart(each, paths["readable"])
        for name, paths in found.items()
        for path, each in paths.items()
        if path != "readable"
    }
    result = {**machine, "commit": provenance.git_commit(HERE.parent)}
    versions = provenance.versions()
    result |= {"versions": versions, "apart": verdicts, "curves": found}
    folder, stem = out or HERE / "results", f"agreement-{slug(machine['device'])}"
    write_json(folder / f"{stem}.json", result)
    drawn(found).savefig(folder / f"{stem}.png", dpi=120)
    for name, each in verdicts.items():
        click.echo(f"agreement: {name}: means apart by {each['difference']:.3f} of error at")
        click.echo(f"  the worst point, where chance alone would put {each['chance']:.3f}")


if __name__ == "__main__":
    main()
