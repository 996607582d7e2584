"""Writing files so that a reader sees the old content or the new, never a half."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any


def atomic_write(path: str | Path, content: bytes | str) -> None:
    """Replace `path` by `content` in one step, creating its folder.

    Args:
        path: the file to write.
        content: its whole new content; text is encoded as UTF-8.

    Raises:
        OSError: the disk is full or the folder cannot be written; `path` is then unchanged.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` as indented JSON with a final newline, atomically; NaN is refused."""
    atomic_write(path, json.dumps(value, indent=1, allow_nan=False) + "\n")


def sha256_file(path: str | Path) -> str:
    """The sha256 of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
