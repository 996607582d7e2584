"""Writing files so that a reader sees the old content or the new, never a half."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def atomic_write(path: str | Path, content: bytes | str) -> None:
    """Replace `path` by `content` in one step, creating its folder; text is UTF-8.

    Raises:
        OSError: the disk is full or the folder cannot be written; `path` is then unchanged.
    """
    write_together({Path(path): content})


def write_together(contents: Mapping[Path, bytes | str]) -> None:
    """Replace several files; the first takes its place when all of them are safe on disk.

    Raises:
        OSError: the disk is full or a folder cannot be written; no file is changed.
    """
    waiting: dict[Path, Path] = {}
    path = Path()
    try:
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            waiting[path] = path.with_name(f".{path.name}.{os.getpid()}.partial")
            with open(waiting[path], "wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
        for path, temporary in waiting.items():
            os.replace(temporary, path)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise
    finally:
        for temporary in waiting.values():
            temporary.unlink(missing_ok=True)


def json_text(value: Any) -> str:
    """Indented JSON with a final newline; NaN is refused."""
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def sha256_file(path: str | Path) -> str:
    """The sha256 of a file's bytes, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
