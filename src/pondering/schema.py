"""The shape of `params.yaml`: typed, frozen, every value's range in one place.

`config.py` reads the file; nothing here does.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
)

from pondering.errors import UserError
from pondering.sources import Download
from pondering.values import (
    Bias,
    Count,
    Counts,
    NotNegative,
    Open,
    Penalties,
    Positive,
    Priors,
    Seeds,
)

PROFILES = ("quick", "reduced", "paper")
MECHANISMS = ("repeat", "act", "pondernet")
SETTING_NAMES = {"repeat": "rho", "act": "tau", "pondernet": "lambda_p"}


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


def _file_names(experiments: dict[str, Any]) -> dict[str, Any]:
    for name in experiments:
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r}: a name has letters, digits and _ alone, at most 64")
    return experiments


TaskValues = Annotated[dict[str, Any], AfterValidator(_named)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NetworkConfig(_Model):
    """The cell and its size."""

    cell: Literal["tanh_rnn", "gru", "lstm", "conv_mlp"]
    hidden: Count


class HaltingConfig(_Model):
    """What ACT and PonderNet share."""

    max_steps: Count
    epsilon: Open = Field(description="ACT halts at a sum of 1 - epsilon")
    halt_bias: Bias
    first_step_flag: StrictBool


class _Mechanism(_Model):
    learning_rate: Positive | None = None  # None: the experiment's
    updates: Count | None = None  # None: the experiment's


class RepeatConfig(_Mechanism):
    """Fixed repeat counts; 1 is the plain network."""

    rho: Counts


class ActConfig(_Mechanism):
    """Time penalties of ACT."""

    tau: Penalties


class PonderNetConfig(_Mechanism):
    """Priors of PonderNet, its KL weight, and None for a constant N or the mass left at N."""

    lambda_p: Priors
    beta: NotNegative
    max_steps: Count | None = None  # None: the experiment's
    epsilon: Open | None = None


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
    """One experiment in one profile; `task` is checked by the task itself."""

    task: TaskValues
    network: NetworkConfig
    halting: HaltingConfig
    repeat: RepeatConfig
    act: ActConfig
    pondernet: PonderNetConfig
    training: TrainingConfig
    seeds: Seeds
    evaluation: EvaluationConfig

    def settings(self, mechanism: str) -> tuple[float, ...]:
        """The grid of a mechanism: rho, tau or lambda_p."""
        return tuple(getattr(getattr(self, mechanism), SETTING_NAMES[mechanism]))

    def replicas(self, mechanism: str) -> tuple[tuple[float, int], ...]:
        """Every (setting, seed) of a mechanism, settings outermost."""
        return tuple((s, seed) for s in self.settings(mechanism) for seed in self.seeds)

    def updates(self, mechanism: str) -> int:
        """Planned updates of a mechanism."""
        return getattr(self, mechanism).updates or self.training.updates

    def learning_rate(self, mechanism: str) -> float:
        """Learning rate of a mechanism."""
        return getattr(self, mechanism).learning_rate or self.training.learning_rate

    def of_mechanism(self, mechanism: str) -> dict[str, Any]:
        """The values a mechanism's training depends on, as plain data: the others' left out."""
        others = set(MECHANISMS) - {mechanism}
        return self.model_dump(mode="json", exclude=others | {"evaluation"})


class ComputeConfig(_Model):
    """How, not what: none of this changes a result."""

    threads: Count
    checkpoint_seconds: Positive
    insist: StrictBool
    replicas_at_once: Count | Literal["auto"] = "auto"
    executor: Literal["local", "ray"] = "local"
    ray_address: StrictStr | None = None  # None: that of the environment, else a local cluster


class Params(_Model):
    """The whole of `params.yaml` for one profile."""

    profile: Literal["quick", "reduced", "paper"]
    device: Literal["auto", "cpu", "cuda"]
    compute: ComputeConfig
    download: Download
    experiments: Annotated[dict[str, ExperimentConfig], BeforeValidator(_file_names)]
    cost_hours: dict[str, dict[str, NotNegative]]

    def experiment(self, name: str) -> ExperimentConfig:
        """The configuration of an experiment.

        Raises:
            UserError: no such experiment.
        """
        if name not in self.experiments:
            allowed = ", ".join(self.experiments)
            raise UserError(f"params.yaml: experiments: {name!r} is unknown; allowed: {allowed}")
        return self.experiments[name]
