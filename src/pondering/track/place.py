"""Where the database, its artifacts and the journals lie, and what may be said of an address."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_USER_IN_URL = re.compile(r"(\b[a-zA-Z][\w+.-]*://)[^/@\s]*@")
_SECRET_IN_QUERY = re.compile(
    r"([?&][^=&\s]*(?:token|key|secret|signature|sig|password|credential)[^=&\s]*=)[^&\s]+", re.I
)
_SECRET_NAME = re.compile(
    r"(^|[._-])(password|passwd|secret|token|api_?key|access_key|credentials?)$", re.I
)
_LONGEST_VALUE = 6000  # MLflow refuses longer parameters


def without_secrets(text: str) -> str:
    """`text` with user names, passwords and keys inside its urls replaced by ``***``."""
    return _SECRET_IN_QUERY.sub(r"\1***", _USER_IN_URL.sub(r"\1***@", text))


def flatten(config: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """A nested configuration as MLflow parameters: dotted names, text values, no secrets.

    Args:
        config: nested mapping of plain values.
        prefix: put before every name.

    Returns:
        name -> value; a value under a name such as ``password`` becomes ``***``.
    """
    flat: dict[str, str] = {}
    for name, value in config.items():
        full = f"{prefix}{name}"
        if isinstance(value, Mapping):
            flat.update(flatten(value, f"{full}."))
        elif _SECRET_NAME.search(str(name)):
            flat[full] = "***"
        else:
            text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            flat[full] = without_secrets(text)[:_LONGEST_VALUE]
    return flat


@dataclass(frozen=True)
class Place:
    """One tracking backend of one project."""

    root: Path
    uri: str

    @classmethod
    def of(cls, root: Path, database: Path | None = None) -> Place:
        """The backend of a project: `database`, else MLFLOW_TRACKING_URI, else its mlflow.db."""
        root = root.resolve()
        if database is None and (given := os.environ.get("MLFLOW_TRACKING_URI")):
            return cls(root, given)
        return cls(root, f"sqlite:///{(database or root / 'mlflow.db').resolve()}")

    @property
    def file(self) -> Path | None:
        """The sqlite file, or None where the backend is a server."""
        prefix = "sqlite:///"
        if not self.uri.startswith(prefix):
            return None
        return self.root / self.uri.removeprefix(prefix).partition("?")[0]

    @property
    def artifacts(self) -> Path | None:
        """The folder of figures beside the sqlite file, or None where a server keeps them."""
        return self.file.parent / "mlartifacts" if self.file else None

    @property
    def journals(self) -> Path:
        """The folder of journals waiting for this backend."""
        return self.root / ".tracking" / hashlib.sha256(self.uri.encode()).hexdigest()[:12]

    @property
    def name(self) -> str:
        """What to call the backend in a message."""
        return self.file.name if self.file else without_secrets(self.uri)
