"""One row of the table, measured in a process of its own.

Everything is timed in turn: the sweep, the plain loop, a large matrix product, again and again.
"""

from __future__ import annotations

import functools
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import plain
import torch
from cases import Case, Row
from subjects import (
    SETTINGS,
    HaltingUnit,
    count_ponder,
    find_spread,
    plain_mechanism,
    set_halting,
    twin,
    useful_work,
)

from pondering.model.network import Network
from pondering.model.stacking import select, stack
from pondering.params.read import ExperimentConfig
from pondering.params.replica import Replica
from pondering.project.machine import tune
from pondering.tasks import make_task
from pondering.train.batches import AT_ONCE, Stream
from pondering.train.build import make_halting, make_network
from pondering.train.shards import COPIES, FLOATS_KEPT, free_memory
from pondering.train.sweep import Schedule, Sweep

STILL = 1e-8  # a learning rate at which ponder stays as it was set
UPDATES = 4  # different batches of one group that are gone through again and again ...
SLOW = 0.5  # ... or one, where an update takes so many seconds
LONGEST = 1.0  # seconds of an update's useful work at the matrix rate; a longer one is left out


class Effort(NamedTuple):
    """How long to measure."""

    rounds: int
    window: float  # least seconds timed at once
    matrix: int  # side of the square matrices
    quick: bool


class Refused(Exception):
    """A case that this machine cannot hold, or would take too long over."""


def spreading(experiment: str, config: ExperimentConfig, kind: str, replicas: int) -> Row:
    """The halting unit of ACT's regime "spread", found on the batches of so many replicas."""
    device, seeds = torch.device(kind), config.seeds[:replicas]
    task = make_task(config.task, experiment)
    single = make_network(config, task, [Replica("act", SETTINGS["act"], seeds[0])], device)
    network = stack([select(single, 0, single.halting)] * len(seeds), single.halting)
    stream = Stream(task, seeds, config.training.batch, device)
    return find_spread(network, [stream.batch(update) for update in range(UPDATES)])._asdict()


def measure(
    case: Case, config: ExperimentConfig, unit: HaltingUnit | None, kind: str, effort: Effort
) -> Row:
    """Measure a case on a device of this kind, or say in `note` why not.

    Args:
        unit: the change of the halting unit that makes the case's regime, if any.
    """
    tune()  # as every stage does; the plain loop, in the same process, has it too
    try:
        return Bench(case, config, unit, torch.device(kind), effort).row()
    except Refused as refusal:
        return {"note": str(refusal)}
    except (MemoryError, RuntimeError) as error:  # torch's own, on a CPU and on a GPU
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        return {"note": "not enough memory"}


class Bench:
    """A sweep, and the plain loop with the weights and the batches of its first replica."""

    def __init__(
        self,
        case: Case,
        config: ExperimentConfig,
        unit: HaltingUnit | None,
        device: torch.device,
        effort: Effort,
    ) -> None:
        self.case, self.config, self.device, self.effort = case, config, device, effort
        self.task = make_task(config.task, case.experiment)
        self.setting = SETTINGS[case.mechanism]
        self.seeds = [config.seeds[k % len(config.seeds)] for k in range(case.replicas)]
        single = self._single(unit)
        self._refuse(single)
        self.sweep = self._stacked(single)
        self.count = 1
        self._run_sweep()
        self.count = 1 if self._timed(self._run_sweep) > SLOW else UPDATES
        self._run_sweep()
        self.peak = peak_memory(device)  # before the plain loop adds its own
        self.plain = PlainRun(self, single) if case.plain else None

    def _single(self, unit: HaltingUnit | None) -> Network:
        """One network of the first seed, pondering as the regime says."""
        replica = Replica(self.case.mechanism, self.setting, self.seeds[0])
        network = make_network(self.config, self.task, [replica], self.device)
        if unit is not None:
            set_halting(network, unit)
        self.cost = count_ponder(network, [self.stream(self.seeds[:1]).batch(0)])
        return select(network, 0, network.halting)

    def _stacked(self, single: Network) -> Sweep:
        """K times the same network, each on the batches of its own seed."""
        replicas = [Replica(self.case.mechanism, self.setting, seed) for seed in self.seeds]
        settings = [self.setting] * len(replicas)
        halting = make_halting(self.config, self.case.mechanism, settings, self.device)
        training = self.config.training
        schedule = Schedule(10**9, training.batch, STILL, training.clip, 1)
        network = stack([single] * len(replicas), halting)
        network.path = self.case.path
        return Sweep(network, self.task, replicas, schedule)

    def _refuse(self, single: Network) -> None:
        """Before anything large is made, from one batch of one replica."""
        steps, inputs, _ = self.cost
        work = self._work(steps, inputs) * self.case.replicas
        if work / matrix_rate(self.effort.matrix, self.device) > LONGEST:
            raise Refused(f"{work / 1e9:,.0f} GFLOP an update: too slow here")
        parameters = COPIES * sum(p.numel() for p in single.parameters())
        tape = FLOATS_KEPT * self.config.network.hidden * steps
        needed, free = 4 * self.case.replicas * (parameters + tape), free_memory(self.device)
        if needed > 0.8 * free:
            raise Refused(f"needs about {needed / 2**30:.0f} GiB of {free / 2**30:.0f} free")

    def stream(self, seeds: Sequence[int]) -> Stream:
        """The training batches of these seeds."""
        return Stream(self.task, seeds, self.config.training.batch, self.device)

    def _work(self, steps: float, inputs: float) -> float:
        return useful_work(self.config, self.task, self.case.mechanism, steps, inputs)

    def _run_sweep(self) -> None:
        self.sweep.update = 0  # always the same batches
        self.sweep.run(lambda _: None, lambda: self.sweep.update >= self.count)

    def _timed(self, work: Callable[[], object]) -> float:
        synchronise(self.device)
        start = time.perf_counter()
        work()
        synchronise(self.device)
        return time.perf_counter() - start

    def _window(self, cycle: Callable[[], None]) -> float:
        """Seconds per update, over whole cycles."""
        seconds, cycles = 0.0, 0
        while not cycles or seconds < self.effort.window:
            seconds += self._timed(cycle)
            cycles += 1
        return seconds / (cycles * self.count)

    def _drawing(self, stream: Stream) -> float:
        """Seconds that drawing takes per update: it happens a block at a time, and in groups."""
        updates = self.task.block_updates

        def draw(block: int) -> None:
            for place in range(0, updates, AT_ONCE):
                stream.batch(block * updates + place)

        seconds = [self._timed(functools.partial(draw, block)) for block in (1, 2, 3, 0)]
        stream.batch(0)  # the group that is gone through again and again
        return statistics.median(seconds) / updates

    def row(self) -> Row:
        """The measurements; an update's seconds include the drawing of its batch."""
        own, other = self._drawing(self.sweep.stream), 0.0
        if self.plain:
            other = self._drawing(self.plain.stream)
        fast, slow, rates = [], [], []
        for _ in range(self.effort.rounds if self.count > 1 else min(3, self.effort.rounds)):
            fast.append(self._window(self._run_sweep) + own)
            if self.plain:
                slow.append(self._window(self.plain.run) + other)
            rates.append(matrix_rate(self.effort.matrix, self.device))
        return self._summary(fast, slow, rates) | {"drawing_share": own / statistics.median(fast)}

    def _summary(self, fast: list[float], slow: list[float], rates: list[float]) -> Row:
        batches = [self.sweep.stream.batch(update) for update in range(self.count)]
        steps, inputs, most = count_ponder(self.sweep.network, batches)
        work = self._work(steps, inputs) / self.count
        replicas = self.case.replicas
        row: Row = {
            "ponder_mean": steps / inputs,
            "ponder_max": most,
            "updates_per_s": spread([1 / seconds for seconds in fast]),
            "run_updates_per_s": spread([replicas / seconds for seconds in fast]),
            "useful_gflop_per_update": work / 1e9,
            "useful_share": spread([work / s / r for s, r in zip(fast, rates, strict=True)]),
            "matrix_gflop_per_s": spread([rate / 1e9 for rate in rates]),
            "peak_mib": self.peak / 2**20,
        }
        if slow:
            row["plain_updates_per_s"] = spread([1 / seconds for seconds in slow])
            row["ratio"] = spread([replicas * s / f for f, s in zip(fast, slow, strict=True)])
        return row


class PlainRun:
    """The plain loop over the sweep's first replica."""

    def __init__(self, bench: Bench, single: Network) -> None:
        config = bench.config
        self.clip = config.training.clip
        self.stream = bench.stream(bench.seeds[:1])
        batches = [self.stream.batch(update) for update in range(bench.count)]
        self.batches = [plain.Sequences(*(part[:, 0] for part in b[:4])) for b in batches]
        self.network = twin(single)
        self.ponder = plain_mechanism(config, bench.case.mechanism, bench.setting)
        self.optimiser = torch.optim.Adam(self.network.parameters(), STILL)
        self.run()

    def run(self) -> None:
        """One update on each batch."""
        for batch in self.batches:
            plain.update(self.network, self.ponder, batch, self.optimiser, self.clip)


def spread(values: list[float]) -> dict[str, float]:
    """Median, least and greatest."""
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def matrix_rate(side: int, device: torch.device) -> float:
    """Floating-point operations per second of one float32 product of square matrices."""
    a, b = torch.rand(2, side, side, device=device)
    seconds = []
    for _ in range(3):
        synchronise(device)
        start = time.perf_counter()
        torch.mm(a, b)
        synchronise(device)
        seconds.append(time.perf_counter() - start)
    return 2 * side**3 / min(seconds)


def synchronise(device: torch.device) -> None:
    """Wait for a GPU's queue to end."""
    if device.type == "cuda":
        torch.cuda.synchronize()


def peak_memory(device: torch.device) -> int:
    """Bytes: of the whole process on a CPU, of what torch allocated on a GPU."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def forget_peak(device: torch.device) -> int:
    """Let the peak begin anew (on a CPU where Linux can); returns what it is then."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    elif Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5")
    return peak_memory(device)
