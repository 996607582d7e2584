"""How cost grows: time and memory of an update against K, N, hidden units and sequence length.

All of it in one process of one thread. Then what every `paper` experiment would cost here, with a
process on every core. `make bench` runs it after `bench.py`; it writes
`growth-<device>.json`, `.md` and two figures beside this file. Run it on an idle machine.
"""

from __future__ import annotations

import math
import statistics
import time
from pathlib import Path
from threading import Barrier
from typing import Any, NamedTuple

import click
import torch
from bench import HERE, machine_or_exit, slug
from cases import Row
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator
from measure import STILL
from memory import forget_peak, peak_memory, synchronise
from page import table
from processes import together
from subjects import SETTINGS, capped, configuration

from pondering.params.read import ExperimentConfig, load_params
from pondering.params.replica import Replica
from pondering.project import provenance
from pondering.project.atomic import atomic_write, write_json
from pondering.project.machine import settle
from pondering.report.figures.style import style
from pondering.report.figures.style.look import PALETTE
from pondering.tasks import make_task
from pondering.train.build import make_network, path_of
from pondering.train.trainer import Schedule, Trainer

ENOUGH = {False: 1.0, True: 0.02}  # seconds timed at least, or one update; True: `--quick`
LARGEST_STACK = {128: 16, 512: 4}  # replicas timed at once, by hidden units; beyond, one


class Axis(NamedTuple):
    """One quantity that grows, everything else at the paper's size."""

    label: str
    experiment: str
    mechanism: str
    values: tuple[int, ...]
    what: str


AXES = (
    Axis("replicas K", "parity", "act", (1, 2, 4, 8, 16, 32, 64), "parity, ACT, RNN 128"),
    Axis("ponder steps N", "parity", "pondernet", (5, 10, 20, 40, 80), "parity, PonderNet, K = 4"),
    Axis("hidden units", "parity", "act", (64, 128, 256, 512, 1024), "parity, ACT, K = 4"),
    Axis("sequence length T", "wikipedia", "act", (25, 50, 100, 200, 400), "text, ACT, LSTM 128"),
)


def made(
    config: ExperimentConfig, experiment: str, mechanism: str, replicas: int, device: torch.device
) -> Trainer:
    """An untrained sweep on the default path."""
    task = make_task(config.task, experiment)
    setting = SETTINGS.get(mechanism, config.replicas(mechanism)[0].setting)
    stacked = [Replica(mechanism, setting, seed) for seed in range(replicas)]
    network = make_network(config, task, stacked, device)
    network.path = path_of("compiled", config, mechanism, device)
    schedule = Schedule(10**9, config.training.batch, STILL, config.training.clip, 1)
    return Trainer(network, task, stacked, schedule)


def changed(axis: Axis, value: int, quick: bool) -> tuple[ExperimentConfig, int]:
    """The configuration at one value of an axis, and K."""
    config = configuration(axis.experiment, quick)
    task, network = config.task, config.network
    if axis.experiment == "wikipedia":
        task = task | {"sequence": value}
        network = network.model_copy(update={"hidden": 16 if quick else 128})
    elif axis.label == "hidden units":
        network = network.model_copy(update={"hidden": value})
    elif axis.mechanism == "pondernet":
        config = capped(config, value)
    update = {"task": task, "network": network}
    stacked = value if axis.label == "replicas K" else 1 if axis.experiment == "wikipedia" else 4
    return config.model_copy(update=update), stacked


def measured(
    number: int,
    gate: Barrier,
    experiment: str,
    mechanism: str,
    config: ExperimentConfig,
    replicas: int,
    kind: str,
    quick: bool,
) -> Row:
    """Seconds of an update on a batch that is drawn, and peak memory, of untrained networks.

    Args:
        number, gate: of this process, and of all that measure the same at once.
    """
    settle(1)
    device = torch.device(kind)
    small = made(configuration(experiment, True), experiment, mechanism, 1, device)
    small.run(lambda _: None, lambda: small.update >= 1)  # what is loaded is no update's memory
    before = forget_peak(device)
    sweep = made(config, experiment, mechanism, replicas, device)

    def update() -> float:
        synchronise(device)
        start, wanted = time.perf_counter(), sweep.update + 1
        sweep.run(lambda _: None, lambda: sweep.update >= wanted)
        synchronise(device)
        return time.perf_counter() - start

    first = update()  # warms up, and draws a block of batches
    gate.wait()
    seconds = [update()] if first > ENOUGH[quick] else []
    while sum(seconds) < ENOUGH[quick]:
        seconds.append(update())
    mebibytes = (peak_memory(device) - before) / 2**20
    return {"seconds": statistics.median(seconds), "mib": max(mebibytes, 0.0)}


def estimated(experiment: str, mechanism: str, machine: Row, quick: bool) -> Row:
    """Hours of a whole `paper` sweep, from a few of its replicas in every process."""
    config = configuration(experiment, quick)
    count = len(config.replicas(mechanism))
    most = next((k for size, k in LARGEST_STACK.items() if config.network.hidden <= size), 1)
    replicas = 1 if quick else min(most, count)
    processes = machine["processes"]
    what = experiment, mechanism, config, replicas, machine["kind"], quick
    rows = together(measured, processes, *what)
    if any("note" in row for row in rows):
        return {}
    updates = config.updates(mechanism)
    runs_per_s = sum(replicas / row["seconds"] for row in rows)
    hours = count * updates / runs_per_s / 3600
    return {"replicas": count, "updates": updates, "stacked": replicas, "hours": hours}


def drawn(lines: list[Row], quantity: str, scale: float, label: str) -> Figure:
    """Four panels, one an axis, both scales logarithmic; dashes grow in proportion."""
    with style():
        figure = Figure(figsize=(8.0, 5.2), layout="constrained")
        for panel, (axis, line, colour) in enumerate(zip(AXES, lines, PALETTE, strict=False)):
            axes = figure.add_subplot(2, 2, panel + 1)
            x, y = line["values"], [scale * row.get(quantity, math.nan) for row in line["rows"]]
            axes.loglog(x, y, "o-", color=colour)
            axes.loglog(x, [y[-1] * each / x[-1] for each in x], "--", color="#999999", lw=1)
            axes.set_xticks(x, [str(each) for each in x], minor=False)
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.yaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
            axes.minorticks_off()
            axes.set_title(axis.what)
            axes.set_xlabel(axis.label)
            axes.set_ylabel(label)
        return figure


PAPER = """
Times are without the drawing of batches, a few percent (see `bench.py`). What `paper` would take
here, at the ponder of untrained networks (about two steps of ACT; more, where ponder grows), from
a few replicas of each sweep, with {processes} processes at work at the same time:
"""


def page(result: dict[str, Any]) -> str:
    """Both tables as Markdown."""
    process = "one process of one thread" if result["kind"] == "cpu" else "one GPU"
    versions = f"torch {result['versions']['torch']}, commit {result['commit'][:12]}"
    versions += "; the default path"
    grown = [
        (line["label"], line["what"], str(x), *(_shown(row.get(k)) for k in ("seconds", "mib")))
        for line in result["growth"]
        for x, row in zip(line["values"], line["rows"], strict=True)
    ]
    paper = PAPER.format(processes=result["processes"])
    keys = ("experiment", "mechanism", "replicas", "updates", "hours")
    whole = [tuple(_shown(row.get(key)) for key in keys) for row in result["paper"]]
    heads = ("", "of", "value", "seconds an update", "MiB above a tiny one's process")
    lines = [f"# How cost grows on {result['device']}", "", f"{process}; {versions}.", ""]
    return "\n".join([*lines, *table(heads, grown), paper, *table(keys, whole)]) + "\n"


def _shown(value: str | float | None) -> str:
    """A word as it is, a number with three digits; None where the process died, as of its size."""
    if value is None or isinstance(value, str):
        return value or "no result"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


@click.command()
@click.option("--quick", is_flag=True, help="Tiny sizes, to see that it runs.")
@click.option("--device", default="auto", type=click.Choice(["auto", "cpu", "cuda"]))
@click.option("--out", type=click.Path(path_type=Path), help="Folder; default: beside growth.py.")
def main(quick: bool, device: str, out: Path | None) -> None:
    """Measure how cost grows, and what `paper` would take."""
    machine = machine_or_exit(device)
    lines = []
    for axis in AXES:
        values = axis.values[:2] if quick else axis.values
        rows = []
        for value in values:
            config, stacked = changed(axis, value, quick)
            names = axis.experiment, axis.mechanism
            what = *names, config, stacked, machine["kind"], quick
            rows += together(measured, 1, *what)
            click.echo(f"growth: {axis.label} {value}: {rows[-1]}", err=True)
        lines.append({"label": axis.label, "what": axis.what, "values": values, "rows": rows})
    experiments = load_params(HERE.parent / "params.yaml", "paper").experiments
    paper = []
    for experiment in list(experiments)[: 2 if quick else None]:
        for mechanism in experiments[experiment].mechanisms:
            names = {"experiment": experiment, "mechanism": mechanism}
            paper.append(names | estimated(*names.values(), machine, quick))
            click.echo(f"growth: paper: {paper[-1]}", err=True)
    result = {**machine, "commit": provenance.git_commit(HERE.parent)}
    result |= {"versions": provenance.versions(), "growth": lines, "paper": paper}
    folder, name = out or HERE / "results", f"growth-{'quick' if quick else slug(result['device'])}"
    write_json(folder / f"{name}.json", result)
    atomic_write(folder / f"{name}.md", page(result))
    drawn(lines, "seconds", 1000, "ms an update").savefig(folder / f"{name}-time.png", dpi=120)
    drawn(lines, "mib", 1, "MiB").savefig(folder / f"{name}-memory.png", dpi=120)
    click.echo(page(result))


if __name__ == "__main__":
    main()
