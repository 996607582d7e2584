"""The shape of `params.yaml`: typed, frozen, every value with its range; `read.py` reads it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    ValidationError,
    ValidationInfo,
    WrapValidator,
    create_model,
    field_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from pondering.params.downloads import Download
from pondering.params.mechanisms import MECHANISMS, SHARED, Mechanism
from pondering.params.ranges import GRIDS, Count, Number, Positive, Seeds
from pondering.params.replica import Replica, setting_words, split_setting
from pondering.project.errors import UserError

SettingValue = int | float | dict[str, Any]  # a swept value, or a mapping that names it and options
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

    cell: Annotated[StrictStr, Field(min_length=1)] = Field(
        description="of `CELLS`, which loads torch: `build.py` looks it up"
    )
    hidden: Count = Field(description="units of its state")
    init: Literal["torch", "glorot"] = Field(
        "torch", description="initial weights; glorot: Glorot and Bengio 2010, Eq. 16"
    )
    forget_bias: Number | None = Field(
        None, description="an LSTM's, at first; None: drawn; Jozefowicz et al. 2015, Secs. 2-3: 1"
    )


class HaltingConfig(_Model):
    """What the mechanisms share."""

    max_steps: Count = Field(description="ponder steps of an input at most")
    epsilon: Number = Field(description="ACT halts at a sum of 1 - epsilon")
    halt_bias: Number = Field(description="what the halting unit's bias starts with")
    first_step_flag: StrictBool = Field(description="whether an input says that it is new")
    reads: Literal["h", "state"] = Field(
        "h", description="of an LSTM the halting unit reads h or [h; c]; Graves leaves it open"
    )
    carry: Literal["mean_field", "last"] = Field(
        "mean_field", description="the state that crosses to the next input; Graves, Eq. 9"
    )


class MechanismConfig(_Model):
    """How an experiment uses a mechanism: its block in `params.yaml`, checked by its entry."""

    learning_rate: Positive | None = Field(description="None: the experiment's")
    updates: Count | None = Field(description="None: the experiment's")
    seeds: Seeds | None = Field(
        description="None: the experiment's; an empty list leaves the mechanism out of a profile"
    )
    settings: tuple[SettingValue, ...] = Field(description="rho, tau, lambda_p, some with options")
    own: Mapping[str, Any] = Field(description="the entry's further arguments")

    def plain(self, entry: Mechanism) -> dict[str, Any]:
        """The block as it stands in the file, with every default but that of seeds."""
        first = {"learning_rate": self.learning_rate, "updates": self.updates}
        seeds = {} if self.seeds is None else {"seeds": list(self.seeds)}
        return first | seeds | {entry.setting: list(self.settings)} | dict(self.own)


def _expanded(values: Any) -> Any:
    """A list of settings in which a grid's name, and each product of lists, is written out.

    Of {beta: [0.1, 1], lambda_p: [0.2, 0.4]} the last value changes fastest.
    """
    if isinstance(values, str):
        return GRIDS.get(values, values)
    if not isinstance(values, list):
        return values
    found = []
    for each in values:
        if isinstance(each, dict):
            several = [one if isinstance(one, list) else [one] for one in each.values()]
            found += [dict(zip(each, one, strict=True)) for one in product(*several)]
        else:
            found.append(each)
    return found


def _settings(entry: Mechanism) -> Any:
    """The type of a mechanism's list of settings: numbers, and mappings that name options."""
    options: Any = {name: (kind, None) for name, kind in entry.options.items()}
    options = {entry.setting: (entry.kind, ...)} | options
    mapping = create_model("Setting", __base__=_Model, **options)

    def number_or_mapping(value: Any, number: Callable[[Any], Any]) -> SettingValue:
        if not isinstance(value, dict):
            found: SettingValue = number(value)
            return found
        named = mapping.model_validate(value).model_dump(exclude_unset=True)
        setting: float = named.pop(entry.setting)
        return {entry.setting: setting} | dict(sorted(named.items()))

    one: Any = Annotated[entry.kind, WrapValidator(number_or_mapping)]
    return Annotated[tuple[one, ...], Field(min_length=1), BeforeValidator(_expanded)]


@cache
def _block(name: str) -> type[BaseModel]:
    """The type of a mechanism's block."""
    entry = MECHANISMS[name]
    fields: Any = dict(entry.block)
    fields[entry.setting] = (_settings(entry), ...)
    return create_model("Block", __base__=_Model, **fields)


def _without_usual(
    entry: Mechanism, settings: Sequence[SettingValue], usual: Mapping[str, Any]
) -> tuple[SettingValue, ...]:
    """The settings without those options that are as the whole block has them.

    Raises:
        ValueError: a setting is named twice, or none is a number alone.
    """
    found: list[SettingValue] = []
    for each in settings:
        number, options = split_setting(entry, each)
        own = {name: value for name, value in options if value != usual[name]}
        found.append({entry.setting: number} | own if own else number)
    words = [setting_words(entry, each) for each in found]
    if len(set(words)) != len(words):
        twice = next(each for n, each in enumerate(words) if each in words[:n])
        raise ValueError(f"must not name {twice} twice, in six digits as tables have them")
    if all(isinstance(each, dict) for each in found):
        raise ValueError("must hold a number alone, too: that setting is traced and published")
    return tuple(found)


class ValidationConfig(_Model):
    """Plateau schedule and early stopping on validation accuracy, per replica."""

    per_epoch: Count = Field(description="validations in an epoch")
    factor: Annotated[float, Field(gt=0, lt=1, strict=True)] = Field(
        description="what a learning rate is multiplied by when it stalls"
    )
    patience: Count = Field(description="validations without a better accuracy before that")
    stop_patience: Count = Field(description="validations without one before a replica stops")


class TrainingConfig(_Model):
    """The training loop."""

    updates: Count = Field(description="of the optimiser, each with a batch")
    batch: Count = Field(description="examples of an update")
    learning_rate: Positive = Field(description="of Adam")
    clip: Positive | None = Field(None, description="largest gradient norm; None: any")
    log_points: Count = Field(200, description="points of a training curve")
    validation: ValidationConfig | None = Field(None, description="None: no plateau, no stop")
    decay: Literal["none", "linear", "cosine"] = Field(
        "none", description="of the rate to 0 at the last update; Loshchilov and Hutter 2017, Eq. 5"
    )
    halting_rate: Positive | None = Field(
        None, description="the halting unit's rate as a multiple; None: 1; ours"
    )

    @field_validator("decay")
    @classmethod
    def _one_schedule(cls, decay: str, info: ValidationInfo) -> str:
        if decay != "none" and info.data.get("validation") is not None:
            raise ValueError("validation lowers the rate too; choose none, or validation: null")
        return decay


class TraceConfig(_Model):
    """Which example sequences are written out step by step."""

    tau: Number = Field(description="ACT's setting nearest to it is traced")
    sequences: Count = Field(3, description="how many")


class EvaluationConfig(_Model):
    """What trained replicas are measured on."""

    examples: Count = Field(description="size of the frozen sets, per difficulty")
    trace: TraceConfig
    stored: Count = Field(
        200, description="examples per difficulty whose steps are stored; see `evaluate/steps.py`"
    )
    publish: Count | None = Field(
        None,
        description="of each setting so many networks are published in half precision; "
        "None: of each mechanism one in full",
    )


class ExperimentConfig(_Model):
    """One experiment in one profile."""

    task: TaskValues = Field(description="its name and values, which the task itself checks")
    network: NetworkConfig
    halting: HaltingConfig
    training: TrainingConfig
    seeds: Annotated[Seeds, Field(min_length=1)] = Field(
        description="each setting trains once with each seed"
    )
    evaluation: EvaluationConfig
    mechanisms: dict[str, MechanismConfig] = Field(
        description="those with a block of their own, in the order of `MECHANISMS`"
    )

    @field_validator("mechanisms", mode="before")
    @classmethod
    def _as_the_entries_say(cls, blocks: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        """Check the blocks as their entries say, and take their defaults."""
        kinds: Any = {name: (_block(name), ...) for name in blocks}
        checked = create_model("Blocks", **kinds).model_validate(blocks)
        bias = info.data["halting"].halt_bias if "halting" in info.data else None
        found = {}
        for name in blocks:
            values, entry = dict(getattr(checked, name)), MECHANISMS[name]
            shared = {key: values.pop(key) for key in SHARED}
            settings = values.pop(entry.setting)
            try:
                settings = _without_usual(entry, settings, {"halt_bias": bias, **values})
            except ValueError as error:
                line = InitErrorDetails(
                    type=PydanticCustomError("settings", str(error)),
                    loc=(name, entry.setting),
                    input=blocks[name][entry.setting],
                )
                raise ValidationError.from_exception_data("settings", [line]) from None
            found[name] = shared | {"settings": settings, "own": values}
        return found

    def mechanism(self, name: str) -> MechanismConfig:
        """A mechanism's block.

        Raises:
            UserError: the experiment does not name the mechanism.
        """
        if name not in self.mechanisms:
            allowed = ", ".join(self.mechanisms)
            raise UserError(
                f"params.yaml: this experiment does not train with {name!r}, only with {allowed}; "
                "give it a block there and a line in dvc.yaml"
            )
        return self.mechanisms[name]

    def settings(self, mechanism: str) -> tuple[SettingValue, ...]:
        """The grid of a mechanism: rho, tau, lambda_p; mappings where one has options."""
        return self.mechanism(mechanism).settings

    def replicas(self, mechanism: str) -> tuple[Replica, ...]:
        """Every replica of a mechanism, settings outermost."""
        entry, found = MECHANISMS[mechanism], []
        for setting in self.settings(mechanism):
            number, options = split_setting(entry, setting)
            found += [Replica(mechanism, number, k, options) for k in self.seeds_of(mechanism)]
        return tuple(found)

    def traced(self, mechanism: str) -> float:
        """The setting of a mechanism whose replicas are traced step by step.

        The time penalty nearest to `evaluation.trace.tau`, which the figures compare with the
        paper's, of any other mechanism the first that is listed: never chosen by how well it did,
        and never one with options.
        """
        settings = [each for each in self.settings(mechanism) if not isinstance(each, dict)]
        penalised = SETTING_NAMES[mechanism] == "tau"
        wanted = self.evaluation.trace.tau if penalised else settings[0]
        return min(settings, key=lambda each: (abs(each - wanted), each))

    def seeds_of(self, mechanism: str) -> tuple[int, ...]:
        """Seeds of a mechanism; none where a profile leaves it out."""
        own = self.mechanism(mechanism).seeds
        return self.seeds if own is None else own

    def updates(self, mechanism: str) -> int:
        """Planned updates of a mechanism."""
        return self.mechanism(mechanism).updates or self.training.updates

    def learning_rate(self, mechanism: str) -> float:
        """Learning rate of a mechanism."""
        return self.mechanism(mechanism).learning_rate or self.training.learning_rate

    def plain(self) -> dict[str, Any]:
        """All values as plain data, as they stand in the file, with every default."""
        blocks = {name: each.plain(MECHANISMS[name]) for name, each in self.mechanisms.items()}
        return self.model_dump(mode="json", exclude={"mechanisms"}) | blocks

    def of_mechanism(self, mechanism: str) -> dict[str, Any]:
        """The values a mechanism's training depends on, as plain data: the others' left out."""
        values = self.plain()
        kept = ("task", "network", "halting", mechanism, "training", "seeds")
        return {key: values[key] for key in kept}


class ComputeConfig(_Model):
    """How, not what: threads and path change a result in its last digits."""

    threads: Count = Field(description="CPU threads of torch")
    checkpoint_seconds: Positive = Field(description="work that an interruption may cost")
    insist: StrictBool = Field(description="whether `paper` runs without a GPU")
    replicas_at_once: Count | Literal["auto"] = Field("auto", description="of a shard")
    path: Literal["readable", "fast", "compiled"] = Field(
        "compiled", description="see docs/speed.md"
    )
    published: Literal["train", "keep"] = Field(
        "keep", description="keep: replicas with published results are not trained again"
    )
    executor: Literal["local", "ray"] = Field("local", description="where shards train")
    ray_address: StrictStr | None = Field(
        None, description="None: that of the environment, else a cluster on this machine"
    )


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
    about: dict[str, About]
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
            known = ", ".join(self.experiments)
            raise UserError(f"params.yaml: experiments: {name!r} is unknown; allowed: {known}")
        return self.experiments[name]

    def training(self, experiment: str, mechanism: str) -> str:
        """The stage of `dvc.yaml` that trains an experiment with a mechanism."""
        return f"train@{self.profile}-{experiment}-{mechanism}"
