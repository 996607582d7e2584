"""Parameters: `params.yaml` read once and checked whole, before any work.

`params.yaml` has a few top-level keys and one block per experiment with the keys `common`,
`quick`, `reduced` and `paper`; a profile's values override the common ones, key by key. What may
stand where is in `schema.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from pondering.params.mechanisms import MECHANISMS
from pondering.params.schema import PROFILES, SETTING_NAMES, ExperimentConfig, Params
from pondering.project.documents import LONGEST_LINE, read_yaml
from pondering.project.errors import UserError, printable

__all__ = ["MECHANISMS", "PROFILES", "SETTING_NAMES", "ExperimentConfig", "Params", "load_params"]

_TOP = ("profile", "device", "compute", "download", "defaults", "experiments", "about")
# What an experiment's block may hold.
_PARTS = (*(name for name in ExperimentConfig.model_fields if name != "mechanisms"), *MECHANISMS)
LONGEST_VALUE = 80


def load_params(
    path: Path = Path("params.yaml"),
    profile: str | None = None,
) -> Params:
    """Read and check the parameters.

    Args:
        path: the file.
        profile: which profile; None takes the file's own.

    Raises:
        UserError: one line naming file, key, value and what is allowed.
    """
    try:
        return _checked(read_yaml(path), profile)
    except RecursionError:
        raise UserError(f"{path}: nested too deeply, or a value that contains itself") from None
    except _Refusal as refusal:
        raise UserError(printable(f"{path}: {refusal}")[:LONGEST_LINE]) from None


class _Refusal(Exception):
    """What is wrong, without the file's name."""


def _checked(document: dict[str, Any], profile: str | None) -> Params:
    for key in _TOP:
        if key not in document:
            raise _Refusal(f"{key}: missing; the top-level keys are {', '.join(_TOP)}")
    chosen = document["profile"] if profile is None else profile
    if chosen not in PROFILES:
        raise _Refusal(f"profile: {_shown(chosen)} is unknown; allowed: {_listed(PROFILES)}")
    names = document["experiments"]
    if not isinstance(names, list) or not names or len(set(map(str, names))) != len(names):
        raise _Refusal(f"experiments: {_shown(names)} is not allowed: must list distinct names")
    for key in document:
        if key not in (*_TOP, *names) and not _is_block(document[key]):
            raise _Refusal(f"{key}: unknown key; allowed: {_listed((*_TOP, *names))}")
    if not isinstance(document["defaults"], dict) or set(document["defaults"]) - {*_PARTS}:
        raise _Refusal(f"defaults: must be a mapping; allowed: {_listed(_PARTS)}")
    merged = {key: document[key] for key in _TOP if key not in ("experiments", "defaults")}
    blocks = {str(name): _merged_block(document, name, chosen) for name in names}
    merged |= {"profile": chosen, "experiments": blocks}
    try:
        return Params.model_validate(merged)
    except ValidationError as error:
        raise _Refusal(_finding(error, document, chosen)) from None


def _is_block(value: Any) -> bool:
    """An experiment's block that `experiments` does not list: allowed, left alone."""
    return isinstance(value, dict) and "common" in value


def _merged_block(document: dict[str, Any], name: Any, profile: str) -> dict[str, Any]:
    block = document.get(name) if isinstance(name, str) else None
    if not isinstance(block, dict):
        raise _Refusal(f"experiments: {_shown(name)} has no block of its own")
    for key in block:
        if key not in ("common", *PROFILES):
            raise _Refusal(f"{name}.{key}: unknown key; allowed: {_listed(('common', *PROFILES))}")
    for home in ("common", profile):
        if not isinstance(block.get(home), dict):
            raise _Refusal(f"{name}.{home}: {_shown(block.get(home))}; must be a mapping")
        for key in block[home]:
            if key not in _PARTS:
                raise _Refusal(f"{name}.{home}.{key}: unknown key; allowed: {_listed(_PARTS)}")
    merged = deep_merge(block["common"], block[profile])
    defaults = {k: v for k, v in document["defaults"].items() if k not in MECHANISMS or k in merged}
    merged = deep_merge(defaults, merged)
    blocks = {key: merged.pop(key) for key in MECHANISMS if key in merged}
    if not blocks:
        raise _Refusal(
            f"{name}: trains with no mechanism; a block of {', '.join(MECHANISMS)} is due"
        )
    return merged | {"mechanisms": blocks}


def deep_merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the values of `over`, mappings merged key by key, everything else replaced."""
    merged = dict(base)
    for key, value in over.items():
        if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = deep_merge(merged[key], value)
        else:
            merged[key] = value
    return merged


def _listed(names: Iterable[object]) -> str:
    return ", ".join(map(str, names))


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def _finding(error: ValidationError, document: dict[str, Any], profile: str) -> str:
    """One finding, named by the key as it stands in the file; a misspelt key comes first."""
    found = error.errors()
    first = next((each for each in found if each["type"] == "extra_forbidden"), found[0])
    keys: list[Any] = list(first["loc"])
    allowed = _allowed_keys(first["loc"])
    if len(keys) > 1 and keys[0] == "experiments":
        block, rest = document[keys[1]], [key for key in keys[2:] if key != "mechanisms"]
        given = first["type"] == "missing" or _holds(block[profile], rest)
        keys = [keys[1], profile if given else "common", *rest]
    where = ".".join(str(part) for part in keys)
    if first["type"] == "extra_forbidden":
        return f"{where}: unknown key; allowed: {_listed(allowed)}"
    if first["type"] == "missing":
        return f"{where}: missing; the keys there are {', '.join(allowed)}"
    message = first["msg"].removeprefix("Value error, ")
    return f"{where}: {_shown(first['input'])} is not allowed: {message}"


def _holds(block: Any, keys: list[Any]) -> bool:
    for key in keys:
        if (isinstance(block, dict) and key in block) or (
            isinstance(block, list) and isinstance(key, int) and key < len(block)
        ):
            block = block[key]
        else:
            return False
    return True


def _allowed_keys(location: tuple[int | str, ...]) -> tuple[str, ...]:
    """The keys that may stand beside the one at `location`."""
    if location[0] == "experiments" and len(location) == 3:
        return _PARTS
    if location[2:3] == ("mechanisms",):
        entry = MECHANISMS[str(location[3])]
        return tuple(entry.block) if len(location) == 5 else (entry.setting, *entry.options)
    kind: Any = Params
    for part in location[:-1]:
        kind = _without_none(kind)
        if _is_model(kind):
            kind = kind.model_fields[part].annotation if part in kind.model_fields else None
        else:  # a mapping's or a list's values
            kind = next((each for each in reversed(get_args(kind)) if each is not ...), None)
    kind = _without_none(kind)
    return tuple(kind.model_fields) if _is_model(kind) else ()


def _without_none(kind: Any) -> Any:
    if get_origin(kind) in (UnionType, Union):
        return next(each for each in get_args(kind) if each is not NoneType)
    return kind


def _is_model(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseModel)
