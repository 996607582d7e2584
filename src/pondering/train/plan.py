"""What a training is: everything that decides it, and what of it is there, as one value."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from pondering.model.paths import PathName
from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import Replica
from pondering.params.schema import ComputeConfig, ExperimentConfig, Params
from pondering.project import machine, provenance
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.tasks import make_task
from pondering.tasks.base import Task
from pondering.train import checkpoint, finished, keys
from pondering.train.build import make_network, path_of, pick_device
from pondering.train.plateau import Plateau
from pondering.train.shards import (
    AWAY,
    EVERY_STEP,
    LANES,
    Shard,
    ShardResult,
    cut,
    fitting,
    outcome,
    size_begun,
)
from pondering.train.trainer import Row, Schedule, Trainer


@dataclass(frozen=True)
class Plan:
    """One experiment's training with one mechanism: all its settings and seeds; see `plan`.

    Args:
        params: the checked parameters.
        experiment: a name in them.
        mechanism: a name in `MECHANISMS`.
        root: the project's folder.
        device: where it trains.
        path: by which numerical path.
        task: what it learns.
        data_hash: of the data that the task reads.
        keys: of all replicas.
        done: those of them that earlier trainings have left finished.
    """

    params: Params
    experiment: str
    mechanism: str
    root: Path
    device: torch.device
    path: PathName
    task: Task
    data_hash: str
    keys: tuple[str, ...]
    done: frozenset[str]

    @property
    def config(self) -> ExperimentConfig:
        """The experiment's values."""
        return self.params.experiment(self.experiment)

    @property
    def replicas(self) -> tuple[Replica, ...]:
        """All replicas of this experiment and mechanism, settings outermost."""
        return self.config.replicas(self.mechanism)

    @property
    def missing(self) -> tuple[Replica, ...]:
        """Those that are still to be trained."""
        pairs = zip(self.replicas, self.keys, strict=True)
        return tuple(replica for replica, key in pairs if key not in self.done)

    @property
    def layout(self) -> Layout:
        """Where the project's files lie."""
        return Layout(self.root, self.params.profile)

    @cached_property
    def key(self) -> str:
        """Hash of all that decides what is missing: values, program, data, device and path."""
        missing = [key for key in self.keys if key not in self.done]
        return provenance.hash_values((missing, self.device.type, self.path))

    @property
    def folder(self) -> Path:
        """Where this run's checkpoints lie, also after its end."""
        return self.layout.checkpoints(self.experiment, self.mechanism) / self.key[:16]

    def sweep(self, first: int = 0, last: int | None = None) -> Trainer:
        """The untrained sweep of what is missing, or its replicas `first` to `last - 1`."""
        config = self.config
        replicas = self.missing[first:last]
        network = make_network(config, self.task, replicas, self.device)
        network.path = self.path
        schedule = Schedule(
            config.updates(self.mechanism),
            config.training.batch,
            config.learning_rate(self.mechanism),
            config.training.clip,
            config.training.log_points,
            config.training.decay,
            config.training.halting_rate,
        )
        return Trainer(network, self.task, replicas, schedule, self._plateau(len(replicas)))

    @cached_property
    def processes(self) -> int:
        """How many shards train at once on this machine, if there are as many.

        One on a GPU, and where a cut would change the last
        digits, which the number of cores must not decide.
        """
        training, lanes = self.config.training, LANES[self.path]
        alike = training.batch % lanes == self.config.network.hidden % lanes == 0
        here = self.device.type == "cpu" and sys.platform == "linux"
        return machine.processes(self.params.compute.threads) if alike and here else 1

    def shards(self) -> list[Shard]:
        """The parts that are trained by themselves, of `compute.replicas_at_once` replicas."""
        compute, whole = self.params.compute, len(self.missing)
        if compute.replicas_at_once != "auto":
            return cut(whole, compute.replicas_at_once, self.folder)
        if (begun := size_begun(self.folder)) is not None:
            return cut(whole, begun or whole, self.folder)
        count = fitting(self.sweep(0, 1), self.config.halting.max_steps)
        away = compute.executor == "ray"
        count = min(count, AWAY) if away else max(1, count // self.processes)
        if MECHANISMS[self.mechanism].ways == ("every_step",) and self.device.type == "cpu":
            count = min(count, EVERY_STEP)
        if not away:  # as many shards as keep every process at work to the end
            rounds = -(-whole // (count * self.processes))
            count = -(-whole // (rounds * self.processes))
        return cut(whole, count, self.folder)

    def _plateau(self, count: int) -> Plateau | None:
        values = self.config.training.validation
        if values is None:
            return None
        task: Any = self.task
        if not hasattr(task, "validation_batch"):
            where = f"params.yaml: {self.experiment}.training.validation"
            raise UserError(f"{where}: {self.task.name} has no validation set; allowed: null")
        every = max(1, task.updates_per_epoch(self.config.training.batch) // values.per_epoch)
        batch = task.validation_batch().torch(self.device)
        patience = values.patience, values.stop_patience
        return Plateau(batch, every, values.factor, *patience, count)

    def trained(self, shard: Shard) -> ShardResult:
        """What a finished shard leaves, from its checkpoint."""
        sweep = self.sweep(shard.first, shard.last)
        checkpoint.load(sweep, shard.path, self.shard_key(shard))
        return outcome(sweep)

    def shard_key(self, shard: Shard) -> str:
        """What a shard's checkpoint is marked with."""
        whole = (shard.first, shard.last) == (0, len(self.missing))
        return self.key if whole else f"{self.key} {shard.first}-{shard.last}"

    def named(self, rows: list[Row]) -> list[Row]:
        """Curve rows with the experiment's name."""
        return [{"experiment": self.experiment} | row for row in rows]

    @property
    def label(self) -> str:
        """The run's name in messages."""
        return f"{self.params.profile} {self.experiment} {self.mechanism}"

    def description(self) -> dict[str, Any]:
        """What a tracker shows of this stage: names, configuration, replicas, origin."""
        origin = self.origin()
        return {
            "profile": self.params.profile,
            "experiment": self.experiment,
            "mechanism": self.mechanism,
            "config": self.config.of_mechanism(self.mechanism),
            "replicas": tuple(tuple(each.row().values()) for each in self.missing),
            "commit": origin["commit"],
            "lock_hash": origin["lock_hash"],
            "data_hash": self.data_hash,
            "device": origin["device"],
            "root": self.root,
        }

    def origin(self) -> dict[str, Any]:
        """Where this run's numbers come from."""
        stage = self.params.training(self.experiment, self.mechanism)
        chosen = self.params.compute.path
        usual = chosen == ComputeConfig.model_fields["path"].default
        found = provenance.record(
            self.root,
            self.config.of_mechanism(self.mechanism),
            self.data_hash,
            machine.name_of(self.device),
            torch.get_num_threads(),
            f"dvc repro {stage}{'' if usual else f' # compute.path: {chosen}'}",
            self.path,
        )
        return found | {"key": self.key}


def earlier(params: Params, experiment: str, mechanism: str, root: Path) -> list[finished.Finished]:
    """What earlier trainings have left: published, where that is to be kept, and here."""
    layout = Layout(root, params.profile)
    found = [finished.read(layout, experiment, mechanism)]
    if params.compute.published == "keep":
        found.insert(0, finished.published(layout, experiment, mechanism))
    return [each for each in found if each and each.replicas]


def plan(params: Params, experiment: str, mechanism: str, root: Path) -> Plan:
    """The training of an experiment with a mechanism; what earlier ones left of it is kept.

    Raises:
        UserError: no such experiment, no frozen data, no GPU where one is asked for, or values
            that the task or the mechanism refuses.
    """
    device, config = pick_device(params.device), params.experiment(experiment)
    path = path_of(params.compute.path, config, mechanism, device)
    frozen = Layout(root, params.profile).frozen(experiment)
    if not frozen.is_file():
        stage = f"datasets@{params.profile}-{experiment}"
        raise UserError(f"{frozen}: no such file; run `dvc repro {stage}` first")
    task = make_task(config.task, experiment, frozen)
    data_hash = provenance.data_hash(task, frozen)
    wanted = keys.replica_keys(config, mechanism, data_hash)
    whole = (part.whole() for part in earlier(params, experiment, mechanism, root))
    done = frozenset(wanted).intersection(frozenset().union(*whole))
    return Plan(params, experiment, mechanism, root, device, path, task, data_hash, wanted, done)
