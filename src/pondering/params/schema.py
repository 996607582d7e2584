"""The shape of `params.yaml`: typed, frozen, every value with its range; `read.py` reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictStr, ValidationInfo, field_validator, model_validator

from pondering.params.blocks import BLOCKS, Block
from pondering.params.downloads import Download
from pondering.params.mechanisms import MECHANISMS
from pondering.params.ranges import Count, Model, Number, Positive, Seeds, refuse_unknown
from pondering.params.replica import Replica
from pondering.project.errors import UserError
from pondering.project.paths import PUBLISHED, Layout

PROFILES = ("quick", "reduced", "paper")


class NetworkConfig(Model):
    """The cell and its size."""

    cell: StrictStr  # of `CELLS`, which loads torch: `build.py` looks it up
    hidden: Count  # units of its state
    init: Literal["torch", "glorot"] = "torch"  # glorot: Glorot and Bengio 2010, Eq. 16
    forget_bias: Number | None = None  # an LSTM's, at first; None: drawn


class HaltingConfig(Model):
    """What the mechanisms share."""

    max_steps: Count  # ponder steps of an input at most
    epsilon: Number  # ACT halts at a sum of 1 - epsilon
    halt_bias: Number  # what the halting unit's bias starts with
    first_step_flag: StrictBool  # whether an input says that it is new
    reads: Literal["h", "state"] = "h"  # of an LSTM the halting unit reads h or [h; c]
    carry: Literal["mean_field", "last"] = "mean_field"  # what crosses to the next input


class ValidationConfig(Model):
    """Plateau schedule and early stopping on validation accuracy, per replica."""

    per_epoch: Count  # validations in an epoch
    factor: Annotated[float, Field(gt=0, lt=1, strict=True)]  # of a learning rate that stalls
    patience: Count  # validations without a better accuracy before that
    stop_patience: Count  # validations without one before a replica stops


class TrainingConfig(Model):
    """The training loop."""

    updates: Count  # of the optimiser, each with a batch
    batch: Count  # examples of an update
    learning_rate: Positive  # of Adam
    clip: Positive | None = None  # largest gradient norm; None: any
    log_points: Count = 200  # of a training curve
    validation: ValidationConfig | None = None  # None: no plateau, no stop
    decay: Literal["none", "linear", "cosine"] = "none"  # of the rate, to 0 at the last update
    halting_rate: Positive | None = None  # of the halting unit, as a multiple; None: 1
    draws: Literal["host", "device"] = "host"  # where batches are drawn: other ones on the device

    @field_validator("decay")
    @classmethod
    def _one_schedule(cls, decay: str, info: ValidationInfo) -> str:
        if decay != "none" and info.data.get("validation") is not None:
            raise ValueError("validation lowers the rate too; choose none, or validation: null")
        return decay


class TraceConfig(Model):
    """Which example sequences are written out step by step."""

    tau: Number  # ACT's setting nearest to it is traced
    sequences: Count = 3


class EvaluationConfig(Model):
    """What trained replicas are measured on."""

    examples: Count  # of the frozen sets, per difficulty
    trace: TraceConfig
    stored: Count = 200  # examples per difficulty that exit rules see
    publish: Count | None = None  # networks of each setting; None: of each mechanism one in full


class ExperimentConfig(Model):
    """One experiment in one profile."""

    title: StrictStr | None = None  # on the pages; None: the task's own
    question: StrictStr | None = None  # what it asks; None: the task's own
    task: dict[str, Any]  # its name and values, which the task itself checks
    network: NetworkConfig
    halting: HaltingConfig
    training: TrainingConfig
    seeds: Annotated[Seeds, Field(min_length=1)]  # each setting trains once with each
    evaluation: EvaluationConfig
    mechanisms: Annotated[dict[str, Block], Field(min_length=1)]  # named beside `task`

    @field_validator("task")
    @classmethod
    def _has_a_name(cls, task: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(task.get("name"), str):
            raise ValueError("its `name` must name a task")
        return task

    @model_validator(mode="before")
    @classmethod
    def _known(cls, values: Any) -> Any:
        """Gather the mechanisms' blocks; each has the shape that its entry says."""
        parts = [name for name in cls.model_fields if name != "mechanisms"]
        refuse_unknown(values, (*parts, *MECHANISMS))
        halting = values.get("halting")
        bias = halting.get("halt_bias") if isinstance(halting, dict) else None
        named = {name: values[name] for name in MECHANISMS if name in values}
        read = BLOCKS.model_validate(named, context={"halt_bias": bias})
        rest = {name: values[name] for name in parts if name in values}
        return rest | {"mechanisms": {name: block for name, block in read if block is not None}}

    def mechanism(self, name: str) -> Block:
        """A mechanism's block.

        Raises:
            UserError: the experiment does not name the mechanism.
        """
        if name not in self.mechanisms:
            allowed = ", ".join(self.mechanisms)
            raise UserError(
                f"params.yaml: this experiment does not train with {name!r}, only with {allowed}; "
                "give it a block there"
            )
        return self.mechanisms[name]

    def replicas(self, mechanism: str) -> tuple[Replica, ...]:
        """Every replica of a mechanism, settings outermost; one that is named twice is one."""
        found = dict[Replica, None]()
        for number, options, seeds in self.mechanism(mechanism).swept():
            for seed in self.seeds_of(mechanism) if seeds is None else seeds:
                found[Replica(mechanism, number, seed, options)] = None
        return tuple(found)

    def traced(self, mechanism: str) -> float:
        """The setting of a mechanism whose replicas are traced step by step.

        The time penalty nearest to `evaluation.trace.tau`, which the figures compare with the
        paper's, of any other mechanism the first that is listed: never chosen by how well it did,
        and never one with options.
        """
        swept = self.mechanism(mechanism).swept()
        settings = [number for number, options, _ in swept if not options]
        is_tau = MECHANISMS[mechanism].setting == "tau"
        wanted = self.evaluation.trace.tau if is_tau else settings[0]
        return min(settings, key=lambda each: (abs(each - wanted), each))

    def seeds_of(self, mechanism: str) -> tuple[int, ...]:
        """Seeds of a mechanism."""
        return self.mechanism(mechanism).seeds or self.seeds

    def updates(self, mechanism: str) -> int:
        """Planned updates of a mechanism."""
        return self.mechanism(mechanism).updates or self.training.updates

    def learning_rate(self, mechanism: str) -> float:
        """Learning rate of a mechanism."""
        return self.mechanism(mechanism).learning_rate or self.training.learning_rate

    def plain(self) -> dict[str, Any]:
        """All values as plain data, as they stand in the file, with every default."""
        blocks = {name: each.plain() for name, each in self.mechanisms.items()}
        return self.model_dump(mode="json", exclude={"title", "question", "mechanisms"}) | blocks

    def of_mechanism(self, mechanism: str) -> dict[str, Any]:
        """The values a mechanism's training depends on, as plain data: the others' left out.

        Raises:
            UserError: the experiment does not name the mechanism.
        """
        self.mechanism(mechanism)
        values = self.plain()
        kept = ("task", "network", "halting", mechanism, "training", "seeds")
        return {key: values[key] for key in kept}


class ComputeConfig(Model):
    """How, not what: threads and path change a result in its last digits."""

    threads: Count  # CPU threads of torch
    checkpoint_seconds: Positive  # work that an interruption may cost
    insist: StrictBool  # whether `paper` runs without a GPU
    replicas_at_once: Count | Literal["auto"] = "auto"  # of a shard
    path: Literal["readable", "fast", "auto"] = "auto"  # see docs/speed.md
    published: Literal["train", "keep"] = "keep"  # keep: the published are not trained again
    executor: Literal["local", "ray"] = "local"  # where shards train
    ray_address: StrictStr | None = None  # None: the environment's, else a cluster here


class Params(Model):
    """The whole of `params.yaml` for one profile."""

    root: Path  # the project's folder, in which it lies
    profile: Literal["quick", "reduced", "paper"]
    device: Literal["auto", "cpu", "cuda"]
    compute: ComputeConfig
    download: Download
    experiments: dict[str, ExperimentConfig]

    def experiment(self, name: str) -> ExperimentConfig:
        """The configuration of an experiment.

        Raises:
            UserError: no such experiment.
        """
        if name not in self.experiments:
            known = ", ".join(self.experiments)
            raise UserError(f"params.yaml: {name!r} is no experiment; allowed: {known}")
        return self.experiments[name]

    def training(self, experiment: str) -> str:
        """The command that trains an experiment."""
        return f"dvc repro train@{self.profile}-{experiment}"

    @property
    def layout(self) -> Layout:
        """Where the profile's files lie."""
        return Layout(self.root, self.profile)

    @property
    def published(self) -> Layout:
        """Where its published results lie."""
        return Layout(self.root, self.profile, PUBLISHED)
