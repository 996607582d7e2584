"""The shape of `params.yaml`: typed, frozen, every value's range in one place.

`config.py` reads the file; nothing here does.
"""

from __future__ import annotations

import math
import re
from types import GenericAlias
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    create_model,
    field_validator,
)

from pondering.params.downloads import Download
from pondering.params.mechanisms import MECHANISMS
from pondering.params.ranges import Bias, Count, NotNegative, Open, Positive, Seeds
from pondering.project.errors import UserError

PROFILES = ("quick", "reduced", "paper")
SETTING_NAMES = {name: mechanism.setting for name, mechanism in MECHANISMS.items()}

DEEPEST = 8  # of the mappings and lists in a task
NAME = re.compile(r"[A-Za-z0-9_]{1,64}")  # of an experiment: it becomes part of file names


def _named(task: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(task.get("name"), str):
        raise ValueError("must have a name, one word")
    if not _is_plain(task):
        raise ValueError("may hold finite numbers, words, true, false, null, lists and mappings")
    return task


def _is_plain(value: Any, depth: int = 0) -> bool:
    """No dates, bytes, sets, NaN, or aliases that contain themselves."""
    if isinstance(value, dict):
        keys = all(isinstance(key, str) for key in value)
        return keys and depth < DEEPEST and all(_is_plain(v, depth + 1) for v in value.values())
    if isinstance(value, list):
        return depth < DEEPEST and all(_is_plain(v, depth + 1) for v in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str | int)


TaskValues = Annotated[dict[str, Any], AfterValidator(_named)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NetworkConfig(_Model):
    """The cell and its size."""

    cell: Annotated[StrictStr, Field(min_length=1)]  # of `CELLS`, which load torch: see `build.py`
    hidden: Count


class HaltingConfig(_Model):
    """What the mechanisms share."""

    max_steps: Count
    epsilon: Open = Field(description="ACT halts at a sum of 1 - epsilon")
    halt_bias: Bias
    first_step_flag: StrictBool


class MechanismConfig(_Model):
    """What every mechanism's block may hold beside its settings and its own values."""

    learning_rate: Positive | None = None  # None: the experiment's
    updates: Count | None = None  # None: the experiment's


class ValidationConfig(_Model):
    """Plateau schedule and early stopping on validation accuracy, per replica."""

    per_epoch: Count
    factor: Open
    patience: Count
    stop_patience: Count


class TrainingConfig(_Model):
    """The training loop; `clip` None leaves gradients as they are."""

    updates: Count
    batch: Count
    learning_rate: Positive
    clip: Positive | None = None
    log_points: Count = 200
    validation: ValidationConfig | None = None


class TraceConfig(_Model):
    """Which example sequences are written out step by step."""

    tau: NotNegative
    sequences: Count = 3


class EvaluationConfig(_Model):
    """Size of the frozen evaluation sets, per difficulty."""

    examples: Count
    trace: TraceConfig


class ExperimentConfig(_Model):
    """One experiment in one profile; `task` is checked by the task itself.

    What is read from a file is an `Experiment`, with a block for each mechanism besides.
    """

    task: TaskValues
    network: NetworkConfig
    halting: HaltingConfig
    training: TrainingConfig
    seeds: Seeds
    evaluation: EvaluationConfig

    def mechanism(self, name: str) -> MechanismConfig:
        """A mechanism's block."""
        block: MechanismConfig = getattr(self, name)
        return block

    def settings(self, mechanism: str) -> tuple[float, ...]:
        """The grid of a mechanism: rho, tau, lambda_p."""
        return tuple(getattr(self.mechanism(mechanism), SETTING_NAMES[mechanism]))

    def replicas(self, mechanism: str) -> tuple[tuple[float, int], ...]:
        """Every (setting, seed) of a mechanism, settings outermost."""
        return tuple((s, seed) for s in self.settings(mechanism) for seed in self.seeds)

    def updates(self, mechanism: str) -> int:
        """Planned updates of a mechanism."""
        return self.mechanism(mechanism).updates or self.training.updates

    def learning_rate(self, mechanism: str) -> float:
        """Learning rate of a mechanism."""
        return self.mechanism(mechanism).learning_rate or self.training.learning_rate

    def of_mechanism(self, mechanism: str) -> dict[str, Any]:
        """The values a mechanism's training depends on, as plain data: the others' left out."""
        others = set(MECHANISMS) - {mechanism}
        values = self.model_dump(mode="json", exclude=others | {"evaluation"})
        first = ("task", "network", "halting", mechanism)  # the order that results are written in
        return {key: values.pop(key) for key in first} | values


class ComputeConfig(_Model):
    """How, not what: none of this changes a result, but `path` its last digits."""

    threads: Count
    checkpoint_seconds: Positive
    insist: StrictBool
    replicas_at_once: Count | Literal["auto"] = "auto"
    path: Literal["readable", "fast", "compiled"] = "compiled"
    executor: Literal["local", "ray"] = "local"
    ray_address: StrictStr | None = None  # None: that of the environment, else a local cluster


class About(_Model):
    """What the pages call an experiment, where its task's own title and question do not do."""

    title: StrictStr
    question: StrictStr


class Params(_Model):
    """The whole of `params.yaml` for one profile."""

    profile: Literal["quick", "reduced", "paper"]
    device: Literal["auto", "cpu", "cuda"]
    compute: ComputeConfig
    download: Download
    about: dict[str, About] = {}
    experiments: dict[str, ExperimentConfig]

    @field_validator("experiments", mode="before")
    @classmethod
    def _file_names(cls, experiments: dict[str, Any]) -> dict[str, Any]:
        for name in experiments:
            if not NAME.fullmatch(name):
                raise ValueError(f"{name!r}: a name has letters, digits and _ alone, at most 64")
        return experiments

    def experiment(self, name: str) -> ExperimentConfig:
        """The configuration of an experiment.

        Raises:
            UserError: no such experiment.
        """
        if name not in self.experiments:
            allowed = ", ".join(self.experiments)
            raise UserError(f"params.yaml: experiments: {name!r} is unknown; allowed: {allowed}")
        return self.experiments[name]


def _block(name: str) -> type[MechanismConfig]:
    """The values of a mechanism as its entry says them."""
    entry = MECHANISMS[name]
    fields: dict[str, Any] = {entry.setting: (entry.settings, ...), **entry.own}
    label = f"{name.capitalize()}Config"
    return create_model(label, __base__=MechanismConfig, __module__=__name__, **fields)


_BLOCKS: dict[str, Any] = {name: _block(name) for name in MECHANISMS}
globals().update({block.__name__: block for block in _BLOCKS.values()})  # pickle finds them by name
Experiment = create_model("Experiment", __base__=ExperimentConfig, __module__=__name__, **_BLOCKS)
"""An `ExperimentConfig` with the block of every mechanism."""
_EXPERIMENTS: Any = GenericAlias(dict, (str, Experiment))
Document = create_model("Document", __base__=Params, __module__=__name__, experiments=_EXPERIMENTS)
"""The `Params` that a file is checked against."""
