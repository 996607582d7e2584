"""Escaping for report.md: nothing from a table may become markup."""

from __future__ import annotations

import re
from typing import Any

from markupsafe import Markup


def escaped(value: Any) -> Any:
    """A value as plain Markdown text; what is already Markup stays as it is."""
    if isinstance(value, Markup):
        return value
    text = (
        re.sub(r"\s+", " ", str(value))
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
    )
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", text)
