"""Unpacking one file of known size, so that no archive can write more or elsewhere."""

from __future__ import annotations

import contextlib
import gzip
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

BLOCK = 1 << 20
Readable = IO[bytes] | gzip.GzipFile


class WrongContent(Exception):
    """These bytes are not the file that was asked for; the message says in what they differ."""


_BROKEN = (
    EOFError,
    NotImplementedError,
    RuntimeError,
    UnicodeError,
    ValueError,
    gzip.BadGzipFile,
    lzma.LZMAError,
    zipfile.BadZipFile,
    zlib.error,
)


def unpack(archive: Path, output: IO[bytes], size: int, cut: bool, name: str) -> None:
    """Write the one file that `archive` holds to `output`.

    Args:
        archive: a gzip file, a zip file or the file itself: its first bytes tell, not its name.
        output: an open binary file.
        size: bytes of the unpacked file; never more than these are written.
        cut: the archive may hold more, of which the first `size` bytes are wanted.
        name: the file's own name, to find it among several in a zip.

    Raises:
        WrongContent: damaged, of another size, or a zip with paths outside its folder.
        OSError: `output` cannot be written.
    """
    with _reader(archive, name) as read:
        written = 0
        while written < size:
            block = _read(read, min(BLOCK, size - written))
            if not block:
                raise WrongContent(f"{written:,} bytes unpacked where {size:,} are due")
            output.write(block)
            written += len(block)
        if not cut and _read(read, 1):
            raise WrongContent(f"more than the {size:,} bytes due when unpacked")


@contextlib.contextmanager
def _reader(archive: Path, name: str) -> Iterator[Readable]:
    """An open stream of the unpacked bytes."""
    with open(archive, "rb") as file:
        start = file.read(512)
        file.seek(0)
        if start.startswith(b"\x1f\x8b"):
            with gzip.GzipFile(fileobj=file) as packed:
                yield packed
        elif start.startswith(b"PK"):
            with _zip_member(file, name) as member:
                yield member
        elif start.lstrip()[:1] == b"<" and b"<html" in start.lower():
            raise WrongContent("a web page, not the file")
        else:
            yield file


@contextlib.contextmanager
def _zip_member(file: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    """The member called `name`, or the only one; refuses a zip with any climbing path."""
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(zipfile.ZipFile(file))
            members = [entry for entry in folder.infolist() if not entry.is_dir()]
            for entry in members:
                path = entry.filename.replace("\\", "/")
                if path.startswith("/") or ":" in path or ".." in PurePosixPath(path).parts:
                    raise WrongContent("a zip with a path that leads out of its folder")
            named = [entry for entry in members if PurePosixPath(entry.filename).name == name]
            chosen = named or members
            if len(chosen) != 1:
                raise WrongContent(f"a zip of {len(members)} files, none of them {name}")
            member = stack.enter_context(folder.open(chosen[0]))
        except _BROKEN as failure:
            raise WrongContent(f"a damaged zip file ({type(failure).__name__})") from None
        yield member


def _read(stream: Readable, count: int) -> bytes:
    """Read, with every way a packed stream can be damaged told as one."""
    try:
        return stream.read(count)
    except _BROKEN as failure:
        raise WrongContent(f"a damaged archive ({type(failure).__name__})") from None


def move_into_place(source: Path, target: Path) -> None:
    """Rename a complete file to `target` in one step, on disk before it is seen."""
    with open(source, "rb+") as file:
        os.fsync(file.fileno())
    os.chmod(source, 0o644)
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(source, target)
