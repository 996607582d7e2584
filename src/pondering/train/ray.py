"""Shards of a sweep on the CPUs and GPUs of a Ray cluster, gathered where `dvc repro` runs.

Every node has this project installed; no folder is shared. A worker gets the values, the frozen
data and the last checkpoint, and sends each checkpoint home, so that one that dies, or its whole
node, costs what was done since. The files and the results are those of a local run.
"""

from __future__ import annotations

import logging
import socket
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from pondering.params.read import Params
from pondering.project import machine
from pondering.project.atomic import atomic_write
from pondering.project.errors import UserError
from pondering.project.progress import ProgressBar
from pondering.train.plan import Plan, plan
from pondering.train.shards import Shard, ShardResult, Watch, train
from pondering.train.trainer import Row, Trainer

ATTEMPTS = 3  # of a shard
SECONDS_BETWEEN_LOOKS = 0.5


class Work(NamedTuple):
    """All that a node needs to train a shard."""

    params: Params
    experiment: str
    mechanism: str
    key: str
    done: frozenset[str]
    number: int
    first: int
    last: int
    frozen: bytes


class Home:
    """An actor beside the project's folder: keeps checkpoints, collects what the shards report."""

    def __init__(self, paths: list[str]) -> None:
        self._paths = [Path(path) for path in paths]
        self._rows: list[Row] = []
        self._updates: dict[int, int] = {}
        self._numbers: dict[str, float] = {}

    def checkpoint(self, number: int) -> bytes | None:
        """The last checkpoint of a shard; None before the first."""
        path = self._paths[number]
        return path.read_bytes() if path.is_file() else None

    def keep(self, number: int, content: bytes) -> None:
        """Keep the new checkpoint of a shard."""
        self._paths[number].parent.mkdir(parents=True, exist_ok=True)
        atomic_write(self._paths[number], content)

    def tell(self, number: int, update: int, rows: list[Row], numbers: dict[str, float]) -> None:
        """A shard has come to an update, with new curve rows."""
        self._updates[number], self._numbers = update, numbers
        self._rows += rows

    def news(self) -> tuple[list[Row], int, dict[str, float]]:
        """Curve rows since the last call, updates done by all shards, the latest numbers."""
        rows, self._rows = self._rows, []
        return rows, sum(self._updates.values()), self._numbers


@dataclass
class _Away(Watch):
    """Reports from a node, where a shard trains, to `Home`."""

    home: Any
    number: int

    def start(self, sweep: Trainer) -> None:
        self._tell(sweep, 0)

    def point(self, sweep: Trainer, since: int) -> None:
        self._tell(sweep, since)

    def _tell(self, sweep: Trainer, since: int) -> None:
        rows = sweep.rows(since)
        self.home.tell.remote(self.number, sweep.update, rows, sweep.summary())

    def saved(self, path: Path) -> None:
        import ray

        ray.get(self.home.keep.remote(self.number, path.read_bytes()))


def train_away(work: Work, home: Any) -> None:
    """Train a shard on this node; its checkpoints go home."""
    import ray

    machine.settle(work.params.compute.threads)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        frozen = root / "data" / "tasks" / work.params.profile / f"{work.experiment}.npz"
        atomic_write(frozen, work.frozen)
        planned = plan(work.params, work.experiment, work.mechanism, root)
        planned = replace(planned, done=work.done)
        if planned.key != work.key:
            raise UserError("a node has other code or other versions than the one that asks it")
        shard = Shard(work.first, work.last, root / "checkpoint.safetensors")
        if content := ray.get(home.checkpoint.remote(work.number)):
            atomic_write(shard.path, content)
        sweep, every = planned.sweep(*shard[:2]), work.params.compute.checkpoint_seconds
        train(sweep, shard.path, planned.shard_key(shard), every, _Away(home, work.number))


@dataclass
class _Gathering:
    """The shards at work: which task is which, how often each was tried, which were given up."""

    start: Callable[[int], Any]
    count: int
    running: dict[Any, int] = field(default_factory=dict)
    tries: dict[int, int] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number in range(self.count):
            self._try(number)

    def _try(self, number: int) -> None:
        self.tries[number] = self.tries.get(number, 0) + 1
        self.running[self.start(number)] = number

    def look(self) -> None:
        """Wait a moment; take what has ended, try again what has failed."""
        import ray

        done, _ = ray.wait(list(self.running), timeout=SECONDS_BETWEEN_LOOKS)
        for task in done:
            number = self.running.pop(task)
            try:
                ray.get(task)
            except ray.exceptions.RayError as error:
                reason = str(getattr(error, "cause", None) or error).strip().splitlines()[-1]
                print(f"shard {number + 1} of {self.count}: {reason}", flush=True)
                if self.tries[number] < ATTEMPTS:
                    self._try(number)
                else:
                    self.failures[number] = reason


def train_on_cluster(
    planned: Plan, shards: list[Shard], listen: Callable[[list[Row]], None]
) -> list[ShardResult]:
    """Train every shard on the cluster of `compute.ray_address`, else of the environment, else one
    on this machine.

    Raises:
        Interrupted: whoever led this process has ended; checkpoints are kept.
        UserError: Ray is not installed, no cluster is there, or a shard failed three times; what
            the others did is kept.
    """
    gpus = 1 if planned.device.type == "cuda" else 0
    ray = _connected(planned)
    node = ray.get_runtime_context().get_node_id()
    here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
    paths = [str(shard.path.absolute()) for shard in shards]
    home = ray.remote(Home).options(num_cpus=0, scheduling_strategy=here).remote(paths)
    params = planned.params.model_copy(update={"device": planned.device.type})
    frozen = planned.layout.frozen(planned.experiment).read_bytes()
    cpus = planned.params.compute.threads
    task = ray.remote(train_away).options(num_cpus=cpus, num_gpus=gpus, max_retries=0)

    def start(number: int) -> Any:
        first, last, _ = shards[number]
        names = planned.experiment, planned.mechanism, planned.key, planned.done
        return task.remote(Work(params, *names, number, first, last, frozen), home)

    gathering = _Gathering(start, len(shards))
    total = len(shards) * planned.config.updates(planned.mechanism)
    try:
        with ProgressBar(f"{planned.label}, {len(shards)} shards", total) as bar:
            while gathering.running:
                gathering.look()
                rows, done, numbers = ray.get(home.news.remote())
                listen(planned.named(rows))
                bar.show(done, numbers)
    finally:
        ray.shutdown()
    if gathering.failures:
        number, reason = next(iter(gathering.failures.items()))
        raise UserError(
            f"{planned.label}: {len(gathering.failures)} of {len(shards)} shards failed {ATTEMPTS} "
            f"times, shard {number + 1} with: {reason}; the rest is kept, the same command goes on"
        )
    return [planned.trained(shard) for shard in shards]


def _connected(planned: Plan) -> Any:
    address = planned.params.compute.ray_address
    try:
        import ray
        import ray.util.scheduling_strategies
    except ImportError:
        raise UserError(
            "params.yaml: compute.executor: ray is not installed; pip install 'pondering[cluster]'"
        ) from None
    host, _, port = (address or "").rpartition(":")
    try:
        if port.isdigit():  # Ray itself would ask for many minutes
            socket.create_connection((host, int(port)), timeout=10).close()
        ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise UserError(f"params.yaml: compute.ray_address: {address}: {reason}") from None
    return ray
