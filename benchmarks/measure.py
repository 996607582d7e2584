"""What one process measures of a row, while others measure the same.

Everything is timed in turn: the stack, the plain loop, a large matrix product, again and again. All
processes take the same turn at the same time.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable, Sequence
from threading import Barrier, BrokenBarrierError
from typing import NamedTuple

import plain
import torch
from cases import Case, Row
from memory import peak_memory, synchronise
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
from pondering.project.machine import settle
from pondering.tasks import make_task
from pondering.train.batches import AT_ONCE, Stream
from pondering.train.build import make_halting, make_network
from pondering.train.shards import COPIES, FLOATS_KEPT, free_memory
from pondering.train.trainer import Schedule, Trainer

STILL = 1e-8  # a learning rate at which ponder stays as it was set
UPDATES = 4  # different batches of one group that are gone through again and again ...
HEAVY, HEAVIEST = 2e10, 2e11  # ... or one, where an update has so many operations
LONGEST = 1.0  # seconds of an update's useful work at the matrix rate; a longer stack is left out
TURNS = ("stack", "plain", "matrix")  # of all processes
ALONE = ("stack alone", "plain alone")  # of the first one; the others wait


class Effort(NamedTuple):
    """How long to measure."""

    rounds: int
    window: float  # least seconds timed at once
    matrix: int  # side of the square matrices
    quick: bool


class Span(NamedTuple):
    """One turn of one process."""

    rate: float  # updates a second, with their drawing; of the matrix product, operations
    start: float  # seconds of a clock that all processes share
    end: float


class Refused(Exception):
    """A case that this machine cannot hold, or would take too long over."""


def spreading(experiment: str, config: ExperimentConfig, kind: str, replicas: int) -> Row:
    """The halting unit of ACT's regime "spread", found on the batches of so many replicas."""
    device, seeds = torch.device(kind), config.seeds[:replicas]
    task = make_task(config.task, experiment)
    single = make_network(config, task, [Replica("act", SETTINGS["act"], seeds[0])], device)
    halting = make_halting(config, Replica("act", SETTINGS["act"], 0), device)
    network = stack([select(single, 0, halting)] * len(seeds), halting)
    stream = Stream(task, seeds, config.training.batch, device)
    return find_spread(network, [stream.batch(update) for update in range(UPDATES)])._asdict()


def measure(
    number: int,
    gate: Barrier,
    case: Case,
    config: ExperimentConfig,
    unit: HaltingUnit | None,
    kind: str,
    effort: Effort,
    is_aim: bool,
) -> Row:
    """Measure a case on a device of this kind, or say in `note` why not.

    Args:
        number: of this process; all at `gate` take turns together.
        unit: the change of the halting unit that makes the case's regime, if any.
        is_aim: whether one process is measured alone besides.
    """
    settle(1)  # as a stage that has a core to itself; the plain loop, in the same process, too
    try:
        return Bench(case, config, unit, torch.device(kind), effort, number, gate).parts(is_aim)
    except BrokenBarrierError:
        return {"note": ""}  # another process says why
    except Refused as refusal:
        note = str(refusal)
    except (MemoryError, RuntimeError) as error:  # torch's own, on a CPU and on a GPU
        if isinstance(error, RuntimeError) and "memory" not in str(error):
            raise
        note = "not enough memory"
    gate.abort()
    return {"note": note}


class Bench:
    """A sweep, and the plain loop with the weights and the batches of one of its replicas."""

    def __init__(
        self,
        case: Case,
        config: ExperimentConfig,
        unit: HaltingUnit | None,
        device: torch.device,
        effort: Effort,
        number: int,
        gate: Barrier,
    ) -> None:
        self.case, self.config, self.device, self.effort = case, config, device, effort
        self.number, self.gate = number, gate
        self.task = make_task(config.task, case.experiment)
        self.setting = SETTINGS[case.mechanism]
        self.seeds = [config.seeds[k % len(config.seeds)] for k in range(case.replicas)]
        single = self._single(unit)
        self._refuse(single)
        self.sweep = self._stacked(single)
        self.count = 1
        self.run_sweep()
        if self.heavy < HEAVY:
            self.count = UPDATES
            self.run_sweep()
        self.peak = peak_memory(device)  # before the plain loop adds its own
        self.plain = PlainRun(self, single)

    def _single(self, unit: HaltingUnit | None) -> Network:
        """One network of the first seed, pondering as the regime says."""
        replica = Replica(self.case.mechanism, self.setting, self.seeds[0])
        network = make_network(self.config, self.task, [replica], self.device)
        if unit is not None:
            set_halting(network, unit)
        self.cost = count_ponder(network, [self.stream(self.seeds[:1]).batch(0)])
        return select(network, 0, network.halting)

    def _stacked(self, single: Network) -> Trainer:
        """K times the same network, each on the batches of its own seed."""
        replicas = [Replica(self.case.mechanism, self.setting, seed) for seed in self.seeds]
        halting = make_halting(self.config, replicas, self.device)
        training = self.config.training
        schedule = Schedule(10**9, training.batch, STILL, training.clip, 1)
        network = stack([single] * len(replicas), halting)
        network.path = self.case.path
        return Trainer(network, self.task, replicas, schedule)

    def _refuse(self, single: Network) -> None:
        """Before anything large is made, from one batch of one replica."""
        steps, inputs, _ = self.cost
        self.heavy = self._work(steps, inputs) * self.case.replicas
        seconds = self.heavy / self._products(0.0).rate
        if self.case.replicas > 1 and seconds > LONGEST:
            raise Refused(f"{self.heavy / 1e9:,.0f} GFLOP an update: too slow here")
        parameters = COPIES * sum(p.numel() for p in single.parameters())
        tape = FLOATS_KEPT * self.config.network.hidden * steps
        needed = 4 * self.case.replicas * (parameters + tape) * self.gate.parties
        if needed > 0.8 * free_memory(self.device):
            raise Refused(f"needs about {needed / 2**30:.0f} GiB")

    def stream(self, seeds: Sequence[int]) -> Stream:
        """The training batches of these seeds."""
        return Stream(self.task, seeds, self.config.training.batch, self.device)

    def _work(self, steps: float, inputs: float) -> float:
        return useful_work(self.config, self.task, self.case.mechanism, steps, inputs)

    def run_sweep(self) -> None:
        self.sweep.update = 0  # always the same batches
        self.sweep.run(lambda _: None, lambda: self.sweep.update >= self.count)

    def _timed(self, work: Callable[[], object]) -> float:
        synchronise(self.device)
        start = time.perf_counter()
        work()
        synchronise(self.device)
        return time.perf_counter() - start

    def drawing(self, stream: Stream) -> float:
        """Seconds that drawing takes per update: it happens a block at a time, and in groups."""
        updates = self.task.block_updates

        def draw(block: int) -> None:
            for place in range(0, updates, AT_ONCE):
                stream.batch(block * updates + place)

        self.gate.wait()
        seconds = [self._timed(functools.partial(draw, block)) for block in (1, 2, 3, 0)]
        stream.batch(0)  # the group that is gone through again and again
        return statistics.median(seconds) / updates

    def _updates(self, cycle: Callable[[], None], drawing: float) -> Span:
        """Whole cycles of updates, as many as the window needs; each begins with its drawing."""
        start, cycles, seconds = time.perf_counter(), 0, 0.0
        while not cycles or seconds < self.effort.window:
            seconds += self._timed(cycle)
            cycles += 1
        rate = 1 / (seconds / (cycles * self.count) + drawing)
        return Span(rate, start, time.perf_counter())

    def _products(self, window: float) -> Span:
        """Float32 products of square matrices: two at least."""
        side = self.effort.matrix
        a, b = torch.rand(2, side, side, device=self.device)
        self._timed(lambda: torch.mm(a, b))  # may start threads, and finds its memory
        start, count = time.perf_counter(), 0
        while count < 2 or time.perf_counter() - start < window:
            self._timed(lambda: torch.mm(a, b))
            count += 1
        end = time.perf_counter()
        return Span(2 * side**3 * count / (end - start), start, end)

    def _turn(self, name: str, drawing: dict[str, float]) -> Span | None:
        """This process's part of a turn; None where it only waits."""
        if name == "matrix":
            return self._products(self.effort.window)
        only_first = name in ALONE or (self.case.threads and name == "stack")
        if only_first and self.number:
            return None
        what = name.split()[0]
        if what == "plain":
            return self._updates(self.plain.run, drawing[what])
        threads = self.gate.parties if self.case.threads else 1
        torch.set_num_threads(threads)
        span = self._updates(self.run_sweep, drawing[what])
        torch.set_num_threads(1)
        return span

    def parts(self, is_aim: bool) -> Row:
        """What this process measures, by turn; and what is the same in all of them."""
        streams = {"stack": self.sweep.stream, "plain": self.plain.stream}
        drawing = {name: self.drawing(stream) for name, stream in streams.items()}
        rounds = 1 if self.heavy > HEAVIEST else 3 if self.heavy > HEAVY else 5
        spans: dict[str, list[Span]] = {name: [] for name in TURNS + ALONE * is_aim}
        for _ in range(min(rounds, self.effort.rounds)):
            for name, found in spans.items():
                self.gate.wait()
                span = self._turn(name, drawing)
                if span is not None:
                    found.append(span)
        batches = [self.sweep.stream.batch(update) for update in range(self.count)]
        steps, inputs, most = count_ponder(self.sweep.network, batches)
        return {
            "spans": spans,
            "drawing": drawing["stack"],
            "ponder_mean": steps / inputs,
            "ponder_max": most,
            "work": self._work(steps, inputs) / self.count,
            "peak": self.peak,
        }


class PlainRun:
    """The plain loop over one of the sweep's replicas; each process has another."""

    def __init__(self, bench: Bench, single: Network) -> None:
        config = bench.config
        self.clip = config.training.clip
        self.stream = bench.stream([bench.seeds[bench.number % len(bench.seeds)]])
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
