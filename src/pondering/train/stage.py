"""A training stage: from parameters to curves and trained replicas, resumable at any moment."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from pondering.model.paths import PathName
from pondering.params.read import ExperimentConfig, Params
from pondering.params.schema import ComputeConfig
from pondering.project import locks, machine, provenance
from pondering.project.atomic import json_text, write_together
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.project.progress import Progress, duration
from pondering.tasks import make_task
from pondering.tasks.base import Task
from pondering.train import checkpoint, keys
from pondering.train.build import make_network, path_of, pick_device
from pondering.train.plateau import Plateau
from pondering.train.shards import (
    AWAY,
    Outcome,
    Shard,
    Watch,
    cut,
    fitting,
    gathered,
    size_begun,
    train,
)
from pondering.train.sweep import Plan, Row, Sweep

Listener = Callable[[list[Row]], None]


@dataclass
class TrainStage:
    """One experiment's training with one mechanism: all its settings and seeds.

    Args:
        params: the checked parameters.
        experiment: a name in them.
        mechanism: a name in `MECHANISMS`.
        root: the project's folder.
    """

    params: Params
    experiment: str
    mechanism: str
    root: Path
    device: torch.device = field(init=False)
    path: PathName = field(init=False)

    def __post_init__(self) -> None:
        self.device = pick_device(self.params.device)
        self.config: ExperimentConfig = self.params.experiment(self.experiment)
        wanted = self.params.compute.path
        self.path = path_of(wanted, self.config, self.mechanism, self.device)
        self.layout = Layout(self.root, self.params.profile)
        self.replicas = self.config.replicas(self.mechanism)
        frozen = self.layout.frozen(self.experiment)
        if not frozen.is_file():
            stage = f"datasets@{self.params.profile}-{self.experiment}"
            raise UserError(f"{frozen}: no such file; run `dvc repro {stage}` first")
        self.task: Task = make_task(self.config.task, self.experiment, frozen)
        self.data_hash = provenance.data_hash(self.task, frozen)
        self.key = self._key()

    def _key(self) -> str:
        """Hash of all that decides the result: values, code, data."""
        trained = keys.training_key(self.config, self.mechanism)
        return provenance.hash_values((trained, self.data_hash, self.device.type, self.path))

    @property
    def folder(self) -> Path:
        """Where this run's checkpoint lies until it is finished and after."""
        return self.layout.checkpoints(self.experiment, self.mechanism) / self.key[:16]

    def sweep(self, first: int = 0, last: int | None = None) -> Sweep:
        """The untrained sweep, or its replicas `first` to `last - 1`."""
        config = self.config
        replicas = self.replicas[first:last]
        network = make_network(config, self.mechanism, self.task, replicas, self.device)
        network.path = self.path
        plan = Plan(
            config.updates(self.mechanism),
            config.training.batch,
            config.learning_rate(self.mechanism),
            config.training.clip,
            config.training.log_points,
        )
        return Sweep(network, self.task, replicas, plan, self._plateau(len(replicas)))

    def shards(self) -> list[Shard]:
        """The parts that are trained by themselves, of `compute.replicas_at_once` replicas."""
        compute, whole = self.params.compute, len(self.replicas)
        if compute.replicas_at_once != "auto":
            return cut(whole, compute.replicas_at_once, self.folder)
        if (begun := size_begun(self.folder)) is not None:
            return cut(whole, begun or whole, self.folder)
        count = fitting(self.sweep(0, 1), self.config.halting.max_steps)
        if compute.executor == "ray":
            count = min(count, AWAY)
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

    def run(self, listen: Listener = lambda rows: None) -> None:
        """Train to the end of the plan, from the last checkpoint if there is one, and write.

        Args:
            listen: gets the curve rows at each logging point.

        Raises:
            Interrupted: told to stop, or whoever led this process has ended; the checkpoint is
                written.
            UserError: a damaged checkpoint, or no GPU for a plan that needs one.
        """
        machine.settle(self.params.compute.threads)
        with locks.alone(self.folder):
            shards = self.shards()
            if not any(shard.path.is_file() for shard in shards):
                self._refuse_hopeless()
            for shard in shards:
                shard.path.parent.mkdir(exist_ok=True)
            if self.params.compute.executor == "ray":
                from pondering.train.ray import train_on_cluster

                outcomes = train_on_cluster(self, shards, listen)
            else:
                outcomes = [self.train(shard, _Local(self, shard, listen)) for shard in shards]
            self._write(gathered(outcomes, self.replicas))
            locks.prune(self.folder)

    def train(self, shard: Shard, watch: Watch) -> Outcome:
        """One shard to its end; see `shards.train`."""
        sweep, every = self.sweep(shard.first, shard.last), self.params.compute.checkpoint_seconds
        return train(sweep, shard.path, self.shard_key(shard), every, watch)

    def shard_key(self, shard: Shard) -> str:
        """What a shard's checkpoint is marked with."""
        whole = (shard.first, shard.last) == (0, len(self.replicas))
        return self.key if whole else f"{self.key} {shard.first}-{shard.last}"

    def named(self, rows: list[Row]) -> list[Row]:
        """Curve rows with the experiment's and the mechanism's names."""
        names = {"experiment": self.experiment, "mechanism": self.mechanism}
        return [names | row for row in rows]

    @property
    def label(self) -> str:
        """The run's name in messages."""
        return f"{self.params.profile} {self.experiment} {self.mechanism}"

    def _refuse_hopeless(self) -> None:
        """Stop before a `paper` run on a CPU, with its cost, unless the user insists."""
        insists = self.params.compute.insist or os.environ.get("PONDERING_INSIST") == "1"
        if self.params.profile != "paper" or self.device.type != "cpu" or insists:
            return
        seconds = self._seconds_of_two_updates() * len(self.replicas)
        left = seconds / 2 * self.config.updates(self.mechanism)
        raise UserError(
            f"params.yaml: profile: paper needs a GPU: {self.experiment} {self.mechanism} "
            f"would take about {duration(left)} on this CPU; use a GPU, choose reduced or "
            "quick, or insist with compute.insist: true or PONDERING_INSIST=1"
        )

    def _seconds_of_two_updates(self) -> float:
        """Measured with one replica: a whole sweep may not fit into this machine's memory."""
        trial = self.sweep(0, 1)
        start = time.monotonic()
        trial.run(lambda _: None, lambda: trial.update >= 2)
        return time.monotonic() - start

    def _write(self, outcome: Outcome) -> None:
        """Curves, parameters, the list of replicas, and where they came from."""
        names = ("setting", "seed", "status")
        states = zip(self.replicas, outcome.status, strict=True)
        replicas = [dict(zip(names, (*each, status), strict=True)) for each, status in states]
        values = self.config.of_mechanism(self.mechanism)
        curves = pd.DataFrame(self.named(outcome.rows))
        curves["computed_steps"] = curves["computed_steps"].astype("int64")
        content = checkpoint.parameters(outcome.parameters, len(replicas))
        origin = {
            "trained_hash": hashlib.sha256(content).hexdigest(),
            "updates": outcome.update,
            "wall_seconds": round(outcome.seconds, 3),
        }
        stage = self.experiment, self.mechanism
        folder = self.layout.run(*stage)
        write_together(
            {
                folder / "parameters.safetensors": content,
                folder / "run.json": json_text({"config": values, "replicas": replicas}),
                self.layout.curves(*stage): curves.to_csv(index=False, float_format="%.6g"),
                self.layout.provenance(*stage): json_text(self.origin() | origin),
            }
        )

    def description(self) -> dict[str, Any]:
        """What a tracker shows of this stage: names, configuration, replicas, origin."""
        origin = self.origin()
        return {
            "profile": self.params.profile,
            "experiment": self.experiment,
            "mechanism": self.mechanism,
            "config": self.config.of_mechanism(self.mechanism),
            "replicas": self.replicas,
            "commit": origin["commit"],
            "lock_hash": origin["lock_hash"],
            "data_hash": self.data_hash,
            "device": origin["device"],
            "root": self.root,
        }

    def origin(self) -> dict[str, Any]:
        """Where this run's numbers come from."""
        stage = f"train@{self.params.profile}-{self.experiment}-{self.mechanism}"
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


class _Local(Watch):
    """A shard that trains in this process: a bar or lines, and curve rows for a tracker."""

    def __init__(self, stage: TrainStage, shard: Shard, listen: Listener) -> None:
        whole = (shard.first, shard.last) == (0, len(stage.replicas))
        part = "" if whole else f" {shard.first + 1}-{shard.last} of {len(stage.replicas)}"
        self._label = stage.label + part
        self._tell: Listener = lambda rows: listen(stage.named(rows))
        self._bar: Progress | None = None
        self._leader = locks.Leader()

    def start(self, sweep: Sweep) -> None:
        if sweep.curves:
            self._tell(sweep.rows())
        if sweep.finished:
            return
        if sweep.update:
            print(f"{self._label}: going on from update {sweep.update:,}", flush=True)
        self._bar = Progress(self._label, sweep.plan.updates, sweep.update)

    def point(self, sweep: Sweep, since: int) -> None:
        self._tell(sweep.rows(since))
        if self._bar:
            self._bar.show(sweep.update, sweep.summary())

    def update(self, sweep: Sweep) -> None:
        if self._bar:
            self._bar.tick(sweep.update)

    def wants_end(self) -> bool:
        return self._leader.gone()

    def end(self) -> None:
        if self._bar:
            self._bar.close()
