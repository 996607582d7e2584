"""Checks the mechanisms' blocks of `params.yaml` as their entries say, and takes the defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import CoreSchema, SchemaValidator, core_schema

from pondering.params.mechanisms import Mechanism
from pondering.params.replica import setting_words

SettingValue = int | float | dict[str, Any]  # a swept value, or a mapping that names it and options


def checker(entries: Mapping[str, Mechanism]) -> SchemaValidator:
    """What checks a mapping of mechanisms to their blocks."""
    blocks = {name: _optional(_block(entry)) for name, entry in entries.items()}
    return SchemaValidator(core_schema.typed_dict_schema(blocks))


def _block(entry: Mechanism) -> CoreSchema:
    fields = {}
    for key, (kind, default) in entry.block.items():
        schema = _settings(entry) if key == entry.setting else _schema(kind)
        if default is not ...:
            schema = core_schema.with_default_schema(schema, default=default)
        fields[key] = core_schema.typed_dict_field(schema, required=default is ...)
    return core_schema.typed_dict_schema(fields, extra_behavior="forbid")


def _settings(entry: Mechanism) -> CoreSchema:
    """The list of settings, or the name of a grid."""
    fields = {name: _optional(_schema(kind)) for name, kind in entry.options.items()}
    fields[entry.setting] = core_schema.typed_dict_field(_schema(entry.settings.number))
    mapping = SchemaValidator(core_schema.typed_dict_schema(fields, extra_behavior="forbid"))

    def each(value: Any, number: Callable[[Any], Any]) -> SettingValue:
        if not isinstance(value, dict):
            found: SettingValue = number(value)
            return found
        named = mapping.validate_python(value)
        setting: int | float = named.pop(entry.setting)
        return {entry.setting: setting} | dict(sorted(named.items())) if named else setting

    def by_name(values: Any) -> Any:
        return entry.settings.grids.get(values, values) if isinstance(values, str) else values

    def told_apart(values: tuple[SettingValue, ...]) -> tuple[SettingValue, ...]:
        if len({setting_words(entry, value) for value in values}) != len(values):
            twice = any(values.count(value) > 1 for value in values)
            raise ValueError(
                "must not name a value twice"
                if twice
                else "must not name values that are equal in six digits, as tables have them"
            )
        if all(isinstance(value, dict) for value in values):
            raise ValueError("must hold a number alone, too: that setting is traced and published")
        return values

    one = core_schema.no_info_wrap_validator_function(each, _schema(entry.settings.number))
    several = core_schema.tuple_variable_schema(one, min_length=1)
    listed = core_schema.no_info_before_validator_function(by_name, several)
    return core_schema.no_info_after_validator_function(told_apart, listed)


def _schema(kind: Any) -> CoreSchema:
    return TypeAdapter(kind).core_schema


def _optional(schema: CoreSchema) -> core_schema.TypedDictField:
    return core_schema.typed_dict_field(schema, required=False)
