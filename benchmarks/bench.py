"""`make bench`: updates a second of this project's stacks and of a plain PyTorch loop.

Parity by ACT and PonderNet and logic by ACT at the sizes of the papers, in one process. Prints a
table, and writes it to `results/DEVICE.csv`. Run it on an idle machine.

Columns: `useful_work` is the arithmetic of rows that had not halted, as a share of the rate of
large matrix products in float32. `grid_hours` is the time of the profile `paper` at this rate.
`memory_mb` is the most that torch had allocated on a GPU.
"""

from __future__ import annotations

import functools
import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pondering  # noqa: F401  # isort: skip  first of all: how long torch's threads wait for work
import click
import pandas as pd
import plain
import torch
from torch import Tensor

from pondering.model.network import Network
from pondering.model.stacking import select, stack
from pondering.params.read import load_params
from pondering.params.replica import Replica
from pondering.params.schema import ExperimentConfig
from pondering.project.machine import name_of, settle
from pondering.tasks import make_task
from pondering.tasks.base import Task
from pondering.train import kernels
from pondering.train.batches import Stream
from pondering.train.build import make_halting, make_network, pick_device
from pondering.train.path import path_of
from pondering.train.trainer import Schedule, Trainer

HERE = Path(__file__).resolve().parent
TAU, LAMBDA_P = 0.001, 0.4
STILL = 1e-8  # a learning rate at which ponder time stays as it is set
UPDATES = 4  # different batches that are trained on again and again
ON_A_GPU = 10  # times as many replicas
PATHS = ("readable", "fast", "compiled")


class Case(NamedTuple):
    """A sweep of K replicas. ACT's halting unit has its weights times `gain`, and this bias."""

    experiment: str
    mechanism: str
    replicas: int
    gain: float = 0.0
    bias: float = 1.0  # with gain 0: every row halts at step 2, as networks of Graves begin


CASES = (
    Case("parity", "act", 16),
    Case("parity", "act", 16, gain=8.0),  # rows halt at 2 to 33 steps, after 3.3 on average
    Case("parity_interpolation", "pondernet", 8),
    Case("logic", "act", 8),
    Case("logic", "act", 8, gain=16.0, bias=-0.5),  # after 3.8 on average
)


@click.command()
@click.option("--device", default="auto", type=click.Choice(["auto", "cpu", "cuda"]))
@click.option("--threads", default=[1], multiple=True, help="Of torch; may be named twice.")
@click.option("--seconds", default=2.0, help="Of each measurement; the table has medians of five.")
@click.option("--out", type=click.Path(path_type=Path), default=HERE / "results")
def main(device: str, threads: tuple[int, ...], seconds: float, out: Path) -> None:
    """Measure, print and write the table."""
    place = pick_device(device)
    rows = []
    for count in threads:
        settle(count)
        for case in CASES:
            rows += measured(case, place, count, seconds)
            click.echo(f"bench: {len(rows)} rows", err=True)
    table = pd.DataFrame(rows)
    click.echo(table.to_string(index=False, float_format="{:.3g}".format))
    out.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^a-z0-9]+", "-", name_of(place).lower()).strip("-")
    table.to_csv(out / f"{name}.csv", index=False, float_format="%.4g")
    click.echo(f"bench: wrote {out / name}.csv", err=True)


def measured(
    case: Case, device: torch.device, threads: int, seconds: float
) -> list[dict[str, Any]]:
    """A row for the plain loop and one for each path, each timed five times in turn."""
    if device.type == "cuda":
        case = case._replace(replicas=ON_A_GPU * case.replicas)
    config = load_params(HERE.parent / "params.yaml", "paper").experiment(case.experiment)
    task = make_task(config.task, case.experiment)
    network = single(case, config, task, device)
    steps, work = ponder_time_and_work(network, task, config, device)
    peak = product_rate(device)
    planned = len(config.replicas(case.mechanism)) * config.updates(case.mechanism)
    paths = [path for path in PATHS if path != "compiled" or has_loops(case, config, device)]
    runs = {"plain": plain_run(case, config, task, network, device)}
    runs |= {path: stacked_run(case, config, task, network, device, path) for path in paths}
    rates: dict[str, list[float]] = {name: [] for name in runs}
    memory: dict[str, float] = {}
    for name, run in runs.items():
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()
        rate(run, device, 0.0)  # compiles, finds its memory
        if device.type == "cuda":
            memory[name] = torch.cuda.max_memory_allocated() / 1e6
    for _ in range(5):
        for name, run in runs.items():
            rates[name].append(rate(run, device, seconds / 5))
    rows = []
    for name in runs:
        count = 1 if name == "plain" else case.replicas
        found = count * statistics.median(rates[name])
        rows.append(
            {"experiment": case.experiment, "mechanism": case.mechanism, "ponder_time": steps}
            | {"path": name, "replicas": count, "threads": threads, "run_updates_per_s": found}
            | {"times_plain": found / statistics.median(rates["plain"])}
            | {"useful_work": found * work / peak, "grid_hours": planned / found / 3600}
            | {"memory_mb": memory.get(name)}
        )
    return rows


def has_loops(case: Case, config: ExperimentConfig, device: torch.device) -> bool:
    """Whether loops (on a CPU) or kernels (on a GPU) train this case."""
    return path_of("auto", config, case.mechanism, device) == "compiled"


def replicas(case: Case) -> list[Replica]:
    """K replicas of seeds 0 to K - 1."""
    setting = TAU if case.mechanism == "act" else LAMBDA_P
    return [Replica(case.mechanism, setting, seed) for seed in range(case.replicas)]


def single(case: Case, config: ExperimentConfig, task: Task, device: torch.device) -> Network:
    """The network of seed 0, pondering as the case says."""
    network = make_network(config, task, replicas(case)[:1], device)
    if case.mechanism == "act":
        with torch.no_grad():
            network.heads.weight[:, -1] *= case.gain
            network.heads.bias[:, -1] = case.bias
    return select(network, 0, make_halting(config, replicas(case)[0], device))


@torch.no_grad()
def ponder_time_and_work(
    network: Network, task: Task, config: ExperimentConfig, device: torch.device
) -> tuple[float, float]:
    """Mean ponder steps of an input vector, and floating-point operations of a replica's update.

    Only matrix products count: per weight two operations forward and four backward, for the inputs'
    weights two and two.
    """
    batch = Stream(task, [0], config.training.batch, device).batch(0)
    inputs, mask = batch.inputs[:, 0], batch.mask[:, 0]
    steps, cell = network(inputs, mask).ponder_time[mask], network.cell
    a_step = cell.recurrent.numel() + network.heads.weight.numel()
    work = 6 * float(steps.sum()) * a_step + 4 * len(steps) * cell.input.weight.numel()
    return float(steps.mean()), work


def product_rate(device: torch.device) -> float:
    """Floating-point operations a second of large matrix products in float32."""
    side = 4096 if device.type == "cuda" else 1024
    matrix = torch.ones(side, side, device=device)

    def run() -> None:
        for _ in range(UPDATES):
            torch.mm(matrix, matrix)

    return 2.0 * side**3 * max(rate(run, device, 0.1) for _ in range(5))


def stacked_run(
    case: Case, config: ExperimentConfig, task: Task, network: Network, device: torch.device,
    path: Any,
) -> Callable[[], None]:  # fmt: skip
    """A function that trains the stack for `UPDATES` updates."""
    schedule = Schedule(10**9, config.training.batch, STILL, None, 1)
    members = replicas(case)
    stacked = stack([network] * case.replicas, make_halting(config, members, device))
    stacked.path = path
    trainer = Trainer(stacked, task, members, schedule)
    if path == "compiled" and device.type == "cuda":
        trainer = kernels.by_kernels(trainer, UPDATES)

    def run() -> None:
        trainer.update = 0  # always the same batches
        trainer.run(lambda: trainer.update >= UPDATES)

    return run


def plain_run(
    case: Case, config: ExperimentConfig, task: Task, network: Network, device: torch.device
) -> Callable[[], None]:
    """A function that trains one plain network for `UPDATES` updates, on batches drawn before."""
    stream = Stream(task, [0], config.training.batch, device)
    batches = [stream.batch(update) for update in range(UPDATES)]
    drawn = [plain.Sequences(*(part[:, 0] for part in batch[:4])) for batch in batches]
    loop, ponder = twin(network, config.network.cell), plain_mechanism(case, config)
    optimiser = torch.optim.Adam(loop.parameters(), STILL)

    def run() -> None:
        for batch in drawn:
            plain.update(loop, ponder, batch, optimiser)

    return run


def plain_mechanism(case: Case, config: ExperimentConfig) -> plain.Ponder:
    """The plain loop's mechanism, with the configuration's values."""
    shared = config.halting
    if case.mechanism == "act":
        values = {"epsilon": shared.epsilon, "max_steps": shared.max_steps}
        return functools.partial(plain.act, tau=TAU, **values)
    block = config.mechanism("pondernet").arguments
    values = {"beta": block["beta"], "max_steps": block["max_steps"] or shared.max_steps}
    return functools.partial(plain.pondernet, lambda_p=LAMBDA_P, **values)


@torch.no_grad()
def twin(network: Network, cell: str) -> plain.PlainNetwork:
    """The plain network of the same weights as one without replica axis."""
    ours: Any = network.cell
    heads = network.heads
    hidden, inputs = heads.weight.shape[1], ours.input.weight.shape[1]
    made: Any = plain.PlainNetwork(cell, inputs, hidden).to(heads.weight)

    def copy(layer: Any, weight: Tensor, bias: Tensor) -> None:
        layer.weight.copy_(weight)
        layer.bias.copy_(bias)

    copy(made.output, heads.weight[:-1], heads.bias[:-1])
    copy(made.halt, heads.weight[-1:], heads.bias[-1:])
    made.cell.weight_ih.copy_(torch.cat([ours.input.weight, ours.flag.unsqueeze(1)], dim=1))
    made.cell.weight_hh.copy_(ours.recurrent)
    made.cell.bias_ih.copy_(ours.input.bias)
    made.cell.bias_hh.zero_()
    return made


def rate(run: Callable[[], None], device: torch.device, seconds: float) -> float:
    """Updates a second, over at least one run and at least `seconds`."""

    def now() -> float:
        if device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    start, count = now(), 0
    while not count or now() - start < seconds:
        run()
        count += UPDATES
    return count / (now() - start)


if __name__ == "__main__":
    main()
