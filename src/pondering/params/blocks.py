"""The mechanisms' blocks of `params.yaml`, checked as their entries say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, WrapValidator, create_model
from pydantic_core import InitErrorDetails, PydanticCustomError

from pondering.params.mechanisms import MECHANISMS, SHARED, Mechanism
from pondering.params.ranges import GRIDS, Count, Model, Positive, Seeds
from pondering.params.replica import setting_words, split_setting

SettingValue = int | float | dict[str, Any]  # a swept value, or a mapping that names it and options


class MechanismConfig(Model):
    """How an experiment uses a mechanism: its block in `params.yaml`, checked by its entry."""

    learning_rate: Positive | None = Field(description="None: the experiment's")
    updates: Count | None = Field(description="None: the experiment's")
    seeds: Seeds | None = Field(
        description="None: the experiment's; an empty list leaves the mechanism out of a profile"
    )
    settings: tuple[SettingValue, ...] = Field(description="rho, tau, lambda_p, some with options")
    repeated: tuple[tuple[SettingValue, Seeds], ...] = Field(
        description="settings that train with further seeds too"
    )
    own: Mapping[str, Any] = Field(description="the entry's further arguments")

    def plain(self, entry: Mechanism) -> dict[str, Any]:
        """The block as it stands in the file, with every default but that of seeds."""
        first = {"learning_rate": self.learning_rate, "updates": self.updates}
        seeds = {} if self.seeds is None else {"seeds": list(self.seeds)}
        settings = list(self.settings)
        for each, more in self.repeated:
            number, options = split_setting(entry, each)
            settings.append({entry.setting: number} | dict(options) | {"seeds": list(more)})
        return first | seeds | {entry.setting: settings} | dict(self.own)


def checked(blocks: Mapping[str, Any], halt_bias: float | None) -> dict[str, dict[str, Any]]:
    """The fields of each mechanism's `MechanismConfig`, with their defaults.

    Args:
        blocks: name -> block, as it stands in the file.
        halt_bias: of the experiment; a setting that names the same has no option.
    """
    kinds: Any = {name: (_block(name), ...) for name in blocks}
    read = create_model("Blocks", **kinds).model_validate(blocks)
    found = {}
    for name in blocks:
        values, entry = dict(getattr(read, name)), MECHANISMS[name]
        shared = {key: values.pop(key) for key in SHARED}
        settings = values.pop(entry.setting)
        usual = {"halt_bias": halt_bias, **values}
        once = [each for each in settings if not (isinstance(each, dict) and "seeds" in each)]
        again = [dict(each) for each in settings if isinstance(each, dict) and "seeds" in each]
        seeds = [each.pop("seeds") for each in again]
        try:
            settings = _without_usual(entry, once, usual)
            named = [_usual_left_out(entry, each, usual) for each in again]
        except ValueError as error:
            line = InitErrorDetails(
                type=PydanticCustomError("settings", str(error)),
                loc=(name, entry.setting),
                input=blocks[name][entry.setting],
            )
            raise ValidationError.from_exception_data("settings", [line]) from None
        repeated = tuple(zip(named, seeds, strict=True))
        found[name] = shared | {"settings": settings, "repeated": repeated, "own": values}
    return found


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
    options = {entry.setting: (entry.kind, ...)} | options | {"seeds": (Seeds, None)}
    mapping = create_model("Setting", __base__=Model, **options)

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
    return create_model("Block", __base__=Model, **fields)


def _usual_left_out(
    entry: Mechanism, setting: SettingValue, usual: Mapping[str, Any]
) -> SettingValue:
    """A setting without those options that are as the whole block has them."""
    number, options = split_setting(entry, setting)
    own = {name: value for name, value in options if value != usual[name]}
    return {entry.setting: number} | own if own else number


def _without_usual(
    entry: Mechanism, settings: Sequence[SettingValue], usual: Mapping[str, Any]
) -> tuple[SettingValue, ...]:
    """The settings without those options that are as the whole block has them.

    Raises:
        ValueError: a setting is named twice, or none is a number alone.
    """
    found = [_usual_left_out(entry, each, usual) for each in settings]
    words = [setting_words(entry, each) for each in found]
    if len(set(words)) != len(words):
        twice = next(each for n, each in enumerate(words) if each in words[:n])
        raise ValueError(f"must not name {twice} twice, in six digits as tables have them")
    if all(isinstance(each, dict) for each in found):
        raise ValueError("must hold a number alone, too: that setting is traced and published")
    return tuple(found)
