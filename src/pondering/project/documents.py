"""YAML files that a person writes."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from pondering.project.errors import UserError, printable

LONGEST_LINE = 400
"""Characters of a message, whatever the file has."""


def read_yaml(path: Path, text: str | None = None) -> dict[str, Any]:
    """A file's mapping, by YAML 1.2: 1e-3 is a number. Every caller gets one of its own.

    Args:
        path: the file.
        text: its content, where it does not lie there now; messages name `path` all the same.

    Raises:
        UserError: one line: no such file, not to be read, no YAML, or no mapping.
    """
    try:
        content = path.read_text(encoding="utf-8") if text is None else text
        document = copy.deepcopy(_parsed(content))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run from the project's root") from None
    except (OSError, UnicodeError) as problem:
        raise _refused(f"{path}: cannot be read: {problem}") from None
    except Exception as problem:  # a tag on a wrong value ends in whatever its constructor raises
        reason = str(problem) or type(problem).__name__
        raise _refused(f"{path}: not valid YAML: {reason}") from None
    if not isinstance(document, dict):
        raise _refused(f"{path}: must be a mapping of keys, not {document!r:.80}")
    return document


@cache
def _parsed(text: str) -> Any:
    """A document; of params.yaml parsing takes three quarters of a second."""
    return YAML(typ="safe", pure=True).load(text)


def _refused(line: str) -> UserError:
    return UserError(printable(line)[:LONGEST_LINE])
