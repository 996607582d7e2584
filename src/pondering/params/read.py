"""Parameters: `params.yaml` read once and checked whole, before any work.

`params.yaml` has a few top-level keys and one block per experiment with the keys `common`,
`quick`, `reduced` and `paper`; a profile's values override the common ones, key by key. What may
stand where is in `schema.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

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
    first = next((each for each in found if each["type"] == "unknown"), found[0])
    keys: list[Any] = list(first["loc"])
    if len(keys) > 1 and keys[0] == "experiments":
        block, rest = document[keys[1]], [key for key in keys[2:] if key != "mechanisms"]
        given = first["type"] == "missing" or _holds(block[profile], rest)
        keys = [keys[1], profile if given else "common", *rest]
    where, message = ".".join(map(str, keys)), first["msg"].removeprefix("Value error, ")
    if first["type"] == "unknown":
        return f"{where}.{message}"
    if first["type"] == "missing":
        return f"{where}: missing"
    return f"{where}: {_shown(first['input'])} is not allowed: {message}"


def _holds(block: Any, keys: list[Any]) -> bool:
    """Whether a profile's own block has what lies at these keys."""
    for key in keys:
        if not isinstance(block, dict):
            return True
        if key not in block:
            return False
        block = block[key]
    return True
