"""The mechanisms' blocks of `params.yaml`, each of the shape that its entry says."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    BeforeValidator,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationInfo,
    create_model,
    model_validator,
)

from pondering.params import ranges
from pondering.params.mechanisms import MECHANISMS, Mechanism
from pondering.params.ranges import GRIDS, Count, Model, Positive, Seeds
from pondering.params.replica import Options

SettingValue = float | dict[str, Any]
"""A swept value, or a mapping that names it, options, and seeds of its own."""


class Block(Model):
    """How an experiment uses a mechanism; its setting and arguments are fields of a subclass."""

    entry: ClassVar[Mechanism]
    learning_rate: Positive | None = None  # None: the experiment's, as below
    updates: Count | None = None
    seeds: Annotated[Seeds, Field(min_length=1)] | None = None

    @property
    def settings(self) -> tuple[SettingValue, ...]:
        """Rho, tau, lambda_p; mappings where one has options or seeds of its own."""
        found: tuple[SettingValue, ...] = getattr(self, self.entry.setting)
        return found

    def swept(self) -> Iterator[tuple[float, Options, tuple[int, ...] | None]]:
        """Each of `settings` as its number, its options, and its own seeds, if any."""
        for each in self.settings:
            if isinstance(each, dict):
                rest = dict(each)
                number, seeds = rest.pop(self.entry.setting), rest.pop("seeds", None)
                yield number, tuple(sorted(rest.items())), seeds
            else:
                yield each, (), None

    @property
    def arguments(self) -> dict[str, Any]:
        """The entry's further arguments."""
        return {name: getattr(self, name) for name in self.entry.arguments}

    def plain(self) -> dict[str, Any]:
        """The block as it stands in the file, with every default but that of seeds."""
        return self.model_dump(mode="json", exclude=set() if self.seeds is not None else {"seeds"})

    @model_validator(mode="after")
    def _without_usual(self, info: ValidationInfo) -> Self:
        """Drop the options of a setting that equal the value of the whole block.

        The validation's context has the experiment's halt_bias.
        """
        usual, found = {**(info.context or {}), **self.arguments}, list[SettingValue]()
        for each in self.settings:
            if isinstance(each, dict):
                options = {n: v for n, v in each.items() if n not in usual or v != usual[n]}
                found.append(options if len(options) > 1 else options[self.entry.setting])
            else:
                found.append(each)
        if all(isinstance(each, dict) and each.keys() & usual.keys() for each in found):
            raise ValueError("a setting without options is due: it is traced and published")
        return self.model_copy(update={self.entry.setting: tuple(found)})


def _expanded(settings: Any) -> Any:
    """A list of settings in which a grid's name, and each product of lists, is written out.

    Of {beta: [0.1, 1], lambda_p: [0.2, 0.4]} the last value changes fastest.
    """
    if not isinstance(settings, str | list):
        return settings
    found = []
    for each in [settings] if isinstance(settings, str) else settings:
        if isinstance(each, dict):
            several = [[v] if name == "seeds" else _several(v) for name, v in each.items()]
            found += [dict(zip(each, one, strict=True)) for one in product(*several)]
        else:
            found += _several(each) if isinstance(each, str) else [each]
    return found


def _several(value: Any) -> Any:
    """The values that a grid's name or a list stands for; any other value is one."""
    return value if isinstance(value, list) else GRIDS.get(str(value), [value])


def _type(kind: Any, default: Any = ...) -> Any:
    """What an entry says by name or as a type; or None, where that is the default."""
    found = getattr(ranges, kind) if isinstance(kind, str) else kind
    return found | None if default is None else found


def block_of(entry: Mechanism) -> type[Block]:
    """The type of a mechanism's block."""
    known = {"halt_bias": ("Number", ...), **entry.arguments}
    options: Any = {name: (_type(*known[name]), None) for name in entry.sweeps}
    options = {entry.setting: (_type(entry.kind), ...), **options, "seeds": (Seeds, None)}
    mapping = create_model("Setting", __base__=Model, **options)

    number = TypeAdapter[float](_type(entry.kind))

    def number_or_mapping(value: Any) -> SettingValue:
        if isinstance(value, dict):
            return mapping.model_validate(value).model_dump(exclude_unset=True)
        return number.validate_python(value)

    one: Any = Annotated[Any, PlainValidator(number_or_mapping)]
    settings = Annotated[tuple[one, ...], Field(min_length=1), BeforeValidator(_expanded)]
    arguments = {name: (_type(*each), each[1]) for name, each in entry.arguments.items()}
    fields: Any = {entry.setting: (settings, ...), **arguments}
    made = create_model("Block", __base__=Block, **fields)
    made.entry = entry
    return made


_kinds: Any = {name: (block_of(entry) | None, None) for name, entry in MECHANISMS.items()}
BLOCKS = create_model("Blocks", **_kinds)
"""A mapping of blocks, by mechanism."""
