"""Writing files so that a reader sees the old content or the new, never a half."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

TEMPORARY = ".partial"  # how the name of a file ends that is still being written


def atomic_write(path: str | Path, content: bytes | str) -> None:
    """Replace `path` by `content` in one step, creating its folder.

    Args:
        path: the file to write.
        content: its whole new content; text is encoded as UTF-8.

    Raises:
        OSError: the disk is full or the folder cannot be written; `path` is then unchanged.
    """
    write_together({Path(path): content})


def write_together(contents: Mapping[Path, bytes | str]) -> None:
    """Replace several files; the first takes its place when all of them are safe on disk.

    Args:
        contents: by path, its whole new content.

    Raises:
        OSError: the disk is full or a folder cannot be written; no file is changed.
    """
    with contextlib.ExitStack() as opened:
        waiting: list[tuple[str, Path]] = []
        try:
            for target, content in contents.items():
                with _naming(target):
                    file = opened.enter_context(_temporary(target, waiting))
                    file.write(content.encode() if isinstance(content, str) else content)
                    file.flush()
                    os.fsync(file.fileno())
                    os.chmod(waiting[-1][0], 0o644)
            for temporary, target in waiting:
                with _naming(target):
                    os.replace(temporary, target)
        except BaseException:
            for temporary, _ in waiting:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
            raise


@contextlib.contextmanager
def _naming(target: Path) -> Iterator[None]:
    """Let an error name the file that was to be written."""
    try:
        yield
    except OSError as error:
        if error.filename is None or str(error.filename).endswith(TEMPORARY):
            error.filename, error.filename2 = str(target), None
        raise


@contextlib.contextmanager
def _temporary(target: Path, waiting: list[tuple[str, Path]]) -> Iterator[IO[bytes]]:
    """A new file beside `target`, noted in `waiting` and locked as long as its writer lives."""
    target.parent.mkdir(parents=True, exist_ok=True)
    _sweep(target)
    handle, name = tempfile.mkstemp(TEMPORARY, f".{target.name}.", target.parent)
    waiting.append((name, target))
    file = os.fdopen(handle, "wb")
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield file
    finally:
        with contextlib.suppress(OSError):  # it tries once more to write what did not fit
            file.close()


def _sweep(target: Path) -> None:
    """Remove what killed writers of `target` left: files that nobody holds locked."""
    for path in target.parent.glob(f".{glob.escape(target.name)}.*{TEMPORARY}"):
        with contextlib.suppress(OSError), open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()


def json_text(value: Any) -> str:
    """Indented JSON with a final newline; NaN is refused."""
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` as indented JSON, atomically; NaN is refused."""
    atomic_write(path, json_text(value))


def sha256_file(path: str | Path) -> str:
    """The sha256 of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
