"""What an update would take a GPU, by count: launches, waits, bytes and operations.

Nothing is timed. The CPU computes an update, packing rows as a GPU would, while torch's operations
are counted; what they would take comes from the numbers of an H100.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import torch
from cases import Case, Row
from measure import STILL
from subjects import SETTINGS, HaltingUnit, set_halting
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from pondering.model.network import PathName
from pondering.model.paths import skipping
from pondering.model.paths.fast import forward
from pondering.model.stacking import select, stack
from pondering.params.read import ExperimentConfig
from pondering.params.replica import Replica
from pondering.project.machine import settle
from pondering.tasks import make_task
from pondering.train.build import make_halting, make_network
from pondering.train.trainer import Schedule, Trainer

OPERATIONS, BYTES = 67e12, 3.35e12  # a second: float32 without TF32, memory; of an H100
LAUNCH, WAIT = 5e-6, 10e-6  # seconds; guess: what is usual
SEQUENCE = 50  # bytes of Wikipedia's 500: counts grow in proportion
WAITS = {"_local_scalar_dense", "nonzero", "masked_select", "equal"}
PATHS: tuple[PathName, ...] = ("readable", "fast")
CHANGE = {
    "launches": "fewer launches: a graph of the launches, or one kernel for a whole ponder step",
    "waits": "fewer waits: to ask the GPU less often which rows are still running",
    "bytes": "less memory traffic: what is done to each number, joined to the products",
    "operations": "the products themselves, for instance by TF32",
}


class Counter(TorchDispatchMode):
    """Counts what reaches torch's kernels; a view launches nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.launches = self.waits = self.bytes = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Compute, and count."""
        found = func(*args, **(kwargs or {}))
        self.waits += func.overloadpacket.__name__ in WAITS
        given, made = ([x for x in tree_leaves(t) if isinstance(x, Tensor)] for t in (args, found))
        places = {x.untyped_storage().data_ptr() for x in given}
        is_view = made and all(x.untyped_storage().data_ptr() in places for x in made)
        if not is_view or func._schema.is_mutable:
            self.launches += 1
            self.bytes += sum(x.numel() * x.element_size() for x in (*given, *made))
        return found


def counted(case: Case, config: ExperimentConfig, unit: HaltingUnit) -> Row:
    """An update of the case by the readable path and by the fast one."""
    settle(torch.get_num_threads())
    if case.experiment == "wikipedia":
        short = min(SEQUENCE, config.task["sequence"])
        config = config.model_copy(update={"task": config.task | {"sequence": short}})
    return {"paths": [{"case": case, **_count(case, config, unit, path)} for path in PATHS]}


def _count(case: Case, config: ExperimentConfig, unit: HaltingUnit, path: PathName) -> Row:
    task, training = make_task(config.task, case.experiment), config.training
    seeds = [config.seeds[k % len(config.seeds)] for k in range(case.replicas)]
    replicas = [Replica(case.mechanism, SETTINGS[case.mechanism], seed) for seed in seeds]
    single = make_network(config, task, replicas[:1])
    set_halting(single, unit)
    halting = make_halting(config, replicas)
    network = stack([select(single, 0, single.halting)] * len(replicas), halting)
    network.path = path
    schedule = Schedule(10**9, training.batch, STILL, training.clip, 1)
    sweep = Trainer(network, task, replicas, schedule)
    sweep.stream.batch(0)  # a GPU's batches are drawn by the CPU, once for a block
    counter, tolist = Counter(), Tensor.tolist

    def waited(x: Tensor) -> Any:
        counter.waits += 1
        return tolist(x)

    def padded(present: Tensor, padded: bool) -> skipping.Rows:
        return skipping.all_rows(present, True)  # as on a GPU

    with (
        patch.object(Tensor, "tolist", waited),
        patch.object(forward, "all_rows", padded),
        FlopCounterMode(display=False) as operations,
        counter,
    ):
        sweep.run(lambda _: None, lambda: sweep.update >= 1)
    counts = {name: getattr(counter, name) for name in ("launches", "waits", "bytes")}
    counts["operations"] = operations.get_total_flops()
    return {"path": path, "T": config.task.get("sequence"), **counts, "ms": _taken(counts)}


def _taken(counts: dict[str, int]) -> dict[str, float]:
    """Milliseconds of each. The processor launches and waits while the GPU moves and computes."""
    rates = {"launches": LAUNCH, "waits": WAIT, "bytes": 1 / BYTES, "operations": 1 / OPERATIONS}
    taken = {name: 1000 * counts[name] * rate for name, rate in rates.items()}
    host, gpu = taken["launches"] + taken["waits"], max(taken["bytes"], taken["operations"])
    return taken | {"update": max(host, gpu)}
