"""Fetching the public data sets from a mirror or their urls; the only network access.

Pooch downloads, tries again and unpacks. What lands in data/raw is checked by the sha256 of the
unpacked bytes, because mirrors pack the same bytes differently.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pooch
import requests

from pondering.params.downloads import Source
from pondering.project.atomic import sha256_file
from pondering.project.errors import UserError

MIRROR_VARIABLE = "PONDERING_MIRROR"
SECONDS = (10.0, 30.0)  # to connect, and between two pieces of a download
RETRIES = 1  # of one url
_DAMAGED = (EOFError, IndexError, gzip.BadGzipFile, zipfile.BadZipFile, zlib.error)


class Refused(Exception):
    """One place does not give the file; the message says why and holds no url."""


def fetch_all(
    sources: Sequence[Source],
    raw: Path,
    mirror: str | None,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, dict[str, Any]]:
    """Bring files below `raw`; one that is there with the right sha256 is kept.

    Args:
        sources: what to fetch.
        raw: the folder of unpacked files. Downloads wait in .partial beside it.
        mirror: a folder or url to try first, or None; PONDERING_MIRROR replaces it.
        say: takes one line of progress.

    Returns:
        by path below `raw`: {"bytes", "sha256"}.

    Raises:
        UserError: no place gave a file.
        OSError: the disk is full or cannot be written.
    """
    mirror = os.environ.get(MIRROR_VARIABLE) or mirror
    waiting = raw.parent / ".partial"  # beside `raw`, or it would be part of DVC's output
    for source in sources:
        try:
            _fetch(source, raw, waiting, mirror, say)
        finally:
            shutil.rmtree(waiting, ignore_errors=True)
    return {file.unpacked: {"bytes": file.bytes, "sha256": file.sha256} for file in sources}


def _fetch(
    source: Source, raw: Path, waiting: Path, mirror: str | None, say: Callable[[str], None]
) -> None:
    """Fetch one file from the first place that gives it."""
    target = raw / source.unpacked
    if target.is_file() and sha256_file(target) == source.sha256:
        say(f"{source.unpacked}: there, sha256 right")
        return
    tried = []
    for place in places(source, raw, mirror):
        say(f"{source.unpacked}: from {shown(place)}")
        shutil.rmtree(waiting, ignore_errors=True)
        waiting.mkdir(parents=True)
        try:
            file = _unpacked(_brought(place, waiting))
            if source.cut:
                os.truncate(file, min(source.bytes, file.stat().st_size))
            if sha256_file(file) != source.sha256:
                raise Refused(f"{file.stat().st_size:,} bytes unpacked, wrong sha256")
        except Refused as refusal:
            tried.append(f"{shown(place)} ({refusal})")
            say(f"{source.unpacked}: {tried[-1]}")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(file, target)
        say(f"{source.unpacked}: {source.bytes:,} bytes, sha256 right")
        return
    packed = source.mirror[0]
    raise UserError(
        f"{source.unpacked}: no place gave this file; tried {'; '.join(tried)}; "
        f"put it at {target}, or packed at {raw / packed}, or set {MIRROR_VARIABLE} to a folder or "
        f"an http(s) url that has {packed} ({source.bytes:,} bytes unpacked, sha256 "
        f"{source.sha256})"
    )


def places(source: Source, raw: Path, mirror: str | None) -> Iterator[str | Path]:
    """What to try, in order: files put into `raw` by hand, the mirror, each url.

    Args:
        source: the file that is looked for.
        raw: the folder of unpacked files, data/raw/PROFILE.
        mirror: a folder, an http(s) url, or None.

    Returns:
        paths, which may be missing, and urls.
    """
    yield from (raw / name for name in source.mirror if (raw / name).is_file())
    if mirror and mirror.startswith(("http://", "https://")):
        base, _, query = mirror.partition("?")
        for name in source.mirror:
            yield f"{base.rstrip('/')}/{name}" + (f"?{query}" if query else "")
    elif mirror:
        yield from (Path(mirror).expanduser() / name for name in source.mirror)
    yield from source.urls


def shown(place: str | Path) -> str:
    """A place as messages may print it: urls without user, password, query and fragment."""
    if isinstance(place, Path):
        return str(place)
    try:
        parts = urlsplit(place)
        port = f":{parts.port}" if parts.port else ""
        return urlunsplit((parts.scheme, f"{parts.hostname or ''}{port}", parts.path, "", ""))
    except ValueError:
        return "(an unreadable url)"


def _brought(place: str | Path, waiting: Path) -> Path:
    """Copy or download the file, packed as it is, into the folder `waiting`."""
    packed = waiting / "packed"
    if isinstance(place, Path):
        if not os.access(place, os.R_OK):
            raise Refused("no such file, or not readable")
        shutil.copyfile(place, packed)
        return packed
    pooch.get_logger().setLevel("ERROR")  # its other lines hold urls with passwords
    fetcher = pooch.create(
        path=waiting,
        base_url="",
        registry={packed.name: None},  # the packed bytes have no hash of their own
        urls={packed.name: place},
        retry_if_failed=RETRIES,
    )
    downloader = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=SECONDS)
    try:
        return Path(fetcher.fetch(packed.name, downloader=downloader))
    except requests.HTTPError as failure:
        status = "failure" if failure.response is None else failure.response.status_code
        raise Refused(f"HTTP {status}") from None
    except (requests.RequestException, ValueError):
        raise Refused("no connection, or it broke off") from None


def _unpacked(packed: Path) -> Path:
    """The one file in a gzip or zip file, told by its first bytes; any other file is itself."""
    with packed.open("rb") as file:
        start = file.read(2)
    try:
        if start == b"\x1f\x8b":
            return Path(pooch.Decompress(method="gzip")(str(packed), "download", None))
        if start == b"PK":
            return Path(pooch.Unzip()(str(packed), "download", None)[0])  # IndexError: it is empty
    except _DAMAGED as failure:
        raise Refused(f"a damaged archive ({type(failure).__name__})") from None
    return packed
