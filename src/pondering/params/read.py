"""Parameters: `params.yaml` read once and checked whole, before any work.

Beside a few top-level keys `params.yaml` has a block for each experiment, with the keys `common`,
`quick`, `reduced` and `paper`. A profile's values override the common ones, key by key; both
override those that `tasks` has for the experiment's task, and these the `defaults`. What may stand
where is in `schema.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pondering.params.mechanisms import MECHANISMS
from pondering.params.schema import PROFILES, Params
from pondering.project.documents import LONGEST_LINE, read_yaml
from pondering.project.errors import UserError

_TOP = ("profile", "device", "compute", "download", "defaults", "tasks")
_HOMES = ("common", *PROFILES)
LONGEST_VALUE = 80


def load_params(path: Path = Path("params.yaml"), profile: str | None = None) -> Params:
    """Read and check the parameters.

    Args:
        path: the file.
        profile: which profile; None takes the file's own.

    Raises:
        UserError: one line naming file, key, value and what is allowed.
    """
    document = read_yaml(path)
    try:
        chosen = document.get("profile") if profile is None else profile
        return _checked(document, chosen, path.parent)
    except ValidationError as error:
        said = _finding(error)
    except ValueError as error:
        said = str(error)
    raise UserError(f"{path}: {said}"[:LONGEST_LINE])


def _checked(document: dict[str, Any], profile: Any, root: Path) -> Params:
    if profile not in PROFILES:
        raise ValueError(f"profile: {profile!r} is unknown; allowed: {', '.join(PROFILES)}")
    values = {name: each for name, each in document.items() if name in Params.model_fields}
    experiments = {name: _merged(document, name, profile) for name in document if name not in _TOP}
    chosen = {"root": root, "profile": profile, "experiments": experiments}
    return Params.model_validate(values | chosen)


def _merged(document: dict[str, Any], name: str, profile: str) -> dict[str, Any]:
    """An experiment's values in one profile."""
    block = document[name]
    if not isinstance(block, dict) or "common" not in block:
        raise ValueError(f"{name}: unknown key; allowed: {', '.join(_TOP)}, and experiments")
    for key in block:
        if key not in _HOMES:
            raise ValueError(f"{name}.{key}: unknown key; allowed: {', '.join(_HOMES)}")
    parts = (_mapping(f"{name}.{home}", block.get(home)) for home in ("common", profile))
    merged = deep_merge(*parts)
    task = merged["task"].get("name") if isinstance(merged.get("task"), dict) else None
    tasks = _mapping("tasks", document.get("tasks"))
    of_task = _mapping(f"tasks.{task}", tasks.get(str(task), {}))
    usual = deep_merge(_mapping("defaults", document.get("defaults")), of_task)
    return deep_merge(
        {key: each for key, each in usual.items() if key not in MECHANISMS or key in merged}, merged
    )


def _mapping(where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where}: {_shown(value)}; must be a mapping")
    return value


def deep_merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the values of `over`, mappings merged key by key, everything else replaced."""
    merged = dict(base)
    for key, value in over.items():
        if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = deep_merge(merged[key], value)
        else:
            merged[key] = value
    return merged


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def _finding(error: ValidationError) -> str:
    """The first finding, named by its key; a misspelt key comes first."""
    found = error.errors()
    first = next((each for each in found if each["type"] == "unknown"), found[0])
    keys = [*first["loc"]][first["loc"][0] == "experiments" :]
    if first["type"] == "unknown":
        keys.append(first["ctx"]["key"])
    where, message = ".".join(map(str, keys)), first["msg"].removeprefix("Value error, ")
    if first["type"] == "missing":
        return f"{where}: missing"
    if first["type"] == "unknown":
        return f"{where}: {message}"
    return f"{where}: {_shown(first['input'])} is not allowed: {message}"
