"""YAML files that a person writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from pondering.project.errors import UserError


def read_yaml(path: Path, text: str | None = None) -> dict[str, Any]:
    """A file's mapping, by YAML 1.2: 1e-3 is a number.

    Args:
        path: the file.
        text: its content, where it does not lie there now; messages name `path` all the same.

    Raises:
        UserError: one line: no such file, no YAML, or no mapping.
    """
    try:
        content = path.read_text(encoding="utf-8") if text is None else text
        document = YAML(typ="safe", pure=True).load(content)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run from the project's root") from None
    except Exception as problem:  # a tag on a wrong value ends in whatever its constructor raises
        reason = " ".join(str(problem).split()) or type(problem).__name__
        raise UserError(f"{path}: not valid YAML: {reason}") from None
    if not isinstance(document, dict):
        raise UserError(f"{path}: must be a mapping")
    return document
