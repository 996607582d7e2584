"""Typed, frozen parameters: `params.yaml` read once, checked whole, before any work.

`params.yaml` has a few top-level keys and one block per experiment with the keys `common`,
`quick`, `reduced` and `paper`; a profile's values override the common ones, key by key.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from pondering.errors import UserError
from pondering.sources import Download

PROFILES = ("quick", "reduced", "paper")
MECHANISMS = ("repeat", "act", "pondernet")
SETTING_NAMES = {"repeat": "rho", "act": "tau", "pondernet": "lambda_p"}


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) != len(values):
        raise ValueError("must not name a value twice")
    return values


Count = Annotated[int, Field(ge=1, strict=True)]
Open = Annotated[float, Field(gt=0, lt=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Counts = Annotated[tuple[Count, ...], Field(min_length=1), AfterValidator(_distinct)]
Penalties = Annotated[tuple[NotNegative, ...], Field(min_length=1), AfterValidator(_distinct)]
Priors = Annotated[tuple[Open, ...], Field(min_length=1), AfterValidator(_distinct)]
Seed = Annotated[int, Field(ge=0, strict=True)]
Seeds = Annotated[tuple[Seed, ...], Field(min_length=1), AfterValidator(_distinct)]


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
    halt_bias: float = Field(allow_inf_nan=False)
    first_step_flag: bool


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

    task: dict[str, Any]
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
    insist: bool


class Params(_Model):
    """The whole of `params.yaml` for one profile."""

    profile: Literal["quick", "reduced", "paper"]
    device: Literal["auto", "cpu", "cuda"]
    compute: ComputeConfig
    download: Download
    experiments: dict[str, ExperimentConfig]
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


_TOP = ("profile", "device", "compute", "download", "cost_hours", "experiments", "mechanisms")


def load_params(path: Path = Path("params.yaml"), profile: str | None = None) -> Params:
    """Read and check the parameters.

    Args:
        path: the file.
        profile: which profile; None takes the file's own.

    Raises:
        UserError: one line naming file, key, value and what is allowed.
    """
    document = _read(path)
    for key in _TOP:
        if key not in document:
            raise UserError(f"{path}: {key}: missing; the top-level keys are {', '.join(_TOP)}")
    chosen = profile or document["profile"]
    if chosen not in PROFILES:
        raise UserError(f"{path}: profile: {chosen!r} is unknown; allowed: {', '.join(PROFILES)}")
    names = document["experiments"]
    if not isinstance(names, list) or not names or len(set(map(str, names))) != len(names):
        raise UserError(f"{path}: experiments: {names!r} is not a list of distinct names")
    if document["mechanisms"] != list(MECHANISMS):
        raise UserError(f"{path}: mechanisms: must be [{', '.join(MECHANISMS)}]")
    for key in document:
        if key not in (*_TOP, *names) and not _is_block(document[key]):
            raise UserError(f"{path}: {key}: unknown key{_nearest(str(key), (*_TOP, *names))}")
    merged = {key: document[key] for key in _TOP if key not in ("experiments", "mechanisms")}
    merged |= {"profile": chosen, "experiments": {}}
    for name in names:
        merged["experiments"][name] = _merged_block(document, str(name), chosen, path)
    try:
        return Params.model_validate(merged)
    except ValidationError as error:
        raise UserError(_one_line(error, document, chosen, path)) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        document = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run from the project's root") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from None
    except (YAMLError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{path}: not valid YAML: {reason}") from None
    if not isinstance(document, dict):
        raise UserError(f"{path}: must be a mapping of keys, not {type(document).__name__}")
    return document


def _is_block(value: Any) -> bool:
    """An experiment's block that `experiments` does not list: allowed, left alone."""
    return isinstance(value, dict) and "common" in value


def _merged_block(document: dict[str, Any], name: str, profile: str, path: Path) -> dict[str, Any]:
    block = document.get(name)
    if not isinstance(block, dict):
        raise UserError(f"{path}: experiments: {name!r} has no block of its own")
    for key in block:
        if key not in ("common", *PROFILES):
            raise UserError(
                f"{path}: {name}.{key}: unknown key{_nearest(str(key), ('common', *PROFILES))}"
            )
    for key in ("common", profile):
        if not isinstance(block.get(key), dict):
            raise UserError(f"{path}: {name}.{key}: missing; must be a mapping")
    return deep_merge(block["common"], block[profile])


def deep_merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the values of `over`, mappings merged key by key, everything else replaced."""
    merged = dict(base)
    for key, value in over.items():
        if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = deep_merge(merged[key], value)
        else:
            merged[key] = value
    return merged


def _nearest(key: str, allowed: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(key, allowed, 1)
    return f"; did you mean {close[0]!r}?" if close else f"; allowed: {', '.join(allowed)}"


def _one_line(error: ValidationError, document: Any, profile: str, path: Path) -> str:
    """The first finding, named by the key as it stands in the file."""
    first = error.errors()[0]
    keys = [part for part in first["loc"] if part != "experiments"]
    if first["loc"] and first["loc"][0] == "experiments":
        block, rest = document[keys[0]], keys[1:]
        home = profile if _holds(block[profile], rest) else "common"
        if first["type"] == "missing":
            home = profile
        keys = [keys[0], home, *rest]
    where = ".".join(str(part) for part in keys)
    if first["type"] == "extra_forbidden":
        allowed = _allowed_keys(first["loc"])
        return f"{path}: {where}: unknown key{_nearest(str(first['loc'][-1]), allowed)}"
    if first["type"] == "missing":
        return f"{path}: {where}: missing"
    value = " ".join(repr(first["input"]).split())[:80]
    return f"{path}: {where}: {value} is not allowed: {' '.join(first['msg'].split())}"


def _holds(block: Any, keys: list[Any]) -> bool:
    for key in keys:
        if (isinstance(block, dict) and key in block) or (
            isinstance(block, list) and isinstance(key, int) and key < len(block)
        ):
            block = block[key]
        else:
            return False
    return True


def _allowed_keys(location: tuple[Any, ...]) -> tuple[str, ...]:
    """The field names beside the one at `location`."""
    model: Any = Params
    for part in location[:-1]:
        fields = getattr(model, "model_fields", {})
        if part in fields:
            model = fields[part].annotation
            model = next((a for a in getattr(model, "__args__", ()) if _is_model(a)), model)
    return tuple(getattr(model, "model_fields", {}))


def _is_model(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseModel)
