"""Text files that a person writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from pondering.project.errors import UserError

LONGEST_LINE = 400
"""Characters of a message, whatever the file has."""


def read_text(path: Path) -> str:
    """A file's text.

    Raises:
        UserError: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run from the project's root") from None
    except (OSError, UnicodeError) as problem:
        raise UserError(f"{path}: cannot be read: {problem}") from None


def read_yaml(path: Path) -> dict[str, Any]:
    """A file's mapping, by YAML 1.2: 1e-3 is a number.

    Raises:
        UserError: one line: no such file, not to be read, no YAML, or no mapping.
    """
    text = read_text(path)
    try:
        document = YAML(typ="safe").load(text)
    except Exception as problem:  # a tag on a wrong value ends in whatever its constructor raises
        reason = str(problem) or type(problem).__name__
        raise UserError(f"{path}: not valid YAML: {reason}"[:LONGEST_LINE]) from None
    if not isinstance(document, dict):
        raise UserError(f"{path}: must be a mapping of keys, not {document!r:.80}")
    return document
