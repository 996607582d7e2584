"""Fetching the public data sets: a mirror first, then each url; the only network access.

Pooch keeps what is there, checks sha256 and moves; this module gives it a downloader that resumes,
gives up on a stalled server and never unpacks more than the file's own size.
"""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import filelock
import pooch
import requests
import urllib3.exceptions
from tqdm import tqdm

from pondering.data.archives import WrongContent, move_into_place, unpack
from pondering.data.places import nowhere, places, shown
from pondering.params.downloads import Source
from pondering.project.atomic import sha256_file
from pondering.project.command import REMEDIES
from pondering.project.errors import UserError

CONNECT_SECONDS = 10.0
STALL_SECONDS = 30.0
SLOWEST = 100  # bytes per second; a slower server counts as stalled
LINE_SECONDS = 10.0  # between two lines of progress where there is no terminal
MOST_TRIES = 20  # of one url, as long as each brings something new
CUT_LIMIT = 1 << 28  # bytes of an archive of which only the beginning is wanted

_NETWORK = (requests.RequestException, urllib3.exceptions.HTTPError, ConnectionError, TimeoutError)


class Refused(Exception):
    """One place does not give the file; the message says why and holds no url."""


class _Interrupted(Exception):
    """The transfer broke off; what has arrived is kept and may be resumed."""


def fetch_all(
    sources: Sequence[Source],
    raw: Path,
    mirror: str | None,
    say: Callable[[str], None] = lambda line: None,
    stall_seconds: float = STALL_SECONDS,
) -> dict[str, dict[str, Any]]:
    """Bring files below `raw`; one that is there with the right sha256 is kept, no network used.

    Args:
        sources: what to fetch.
        raw: the folder of unpacked files; what has not wholly arrived waits in .partial beside it.
        mirror: a folder or url to try first, or None.
        say: takes one line of progress.
        stall_seconds: a server silent for so long is given up.

    Returns:
        by path below `raw`: {"bytes", "sha256"}.

    Raises:
        UserError: no place gave a file, the disk is full or cannot be written.
    """
    waiting = raw.parent / ".partial"  # beside `raw`: DVC empties its folders before a run
    for source in sources:
        try:
            waiting.mkdir(parents=True, exist_ok=True)
            with filelock.FileLock(waiting / "lock"):
                _fetch(source, raw, waiting, mirror, say, stall_seconds)
        except OSError as failure:
            raise _disk_error(failure, raw, source) from failure
    return {file.unpacked: {"bytes": file.bytes, "sha256": file.sha256} for file in sources}


def _fetch(
    source: Source,
    raw: Path,
    waiting: Path,
    mirror: str | None,
    say: Callable[[str], None],
    stall: float,
) -> None:
    """Fetch one file from the first place that gives it."""
    target = raw / source.unpacked
    present = target.is_file()
    if present and sha256_file(target) == source.sha256:
        say(f"{source.unpacked}: there, sha256 right")
        return
    pooch.get_logger().setLevel("WARNING")
    tried = [f"{target} (there, but its sha256 is wrong)"] if present else []
    for place in places(source, raw, mirror):
        if isinstance(place, str):
            say(f"{source.unpacked}: from {shown(place)}")
        try:
            move_into_place(_retrieve(place, source, waiting, say, stall), target)
        except Refused as refusal:
            tried.append(f"{shown(place)} ({refusal})")
            say(f"{source.unpacked}: {tried[-1]}")
            continue
        for pattern in (f"{_stem(source)}*.part", "tmp*"):  # tmp: left by a killed process
            for leftover in waiting.glob(pattern):
                leftover.unlink()
        say(f"{source.unpacked}: {source.bytes:,} bytes, sha256 right")
        return
    raise nowhere(source, target, tried)


def _stem(source: Source) -> str:
    """The beginning of the names of this file's partial downloads."""
    return f"{Path(source.unpacked).name}-{source.sha256[:8]}"


def _retrieve(
    place: str | Path, source: Source, waiting: Path, say: Callable[[str], None], stall: float
) -> Path:
    """Let pooch take the file from one place, check it and name where it waits."""
    # One partial file per url: mirrors pack the same bytes differently.
    key = hashlib.sha256(str(place).encode()).hexdigest()[:12]
    for _ in range(2):
        downloader = _Downloader(place, source, waiting / f"{_stem(source)}-{key}.part", say, stall)
        try:
            found = pooch.retrieve(
                url=shown(place),  # for its log only: the downloader knows the place
                known_hash=f"sha256:{source.sha256}",
                fname=_stem(source),
                path=waiting,
                downloader=downloader,
            )
            return Path(found)
        except (WrongContent, ValueError) as failure:
            downloader.part.unlink(missing_ok=True)
            wrong = failure
        if not downloader.resumed:
            break  # else the file may have changed between two halves: once more from zero
    raise Refused(str(wrong) if isinstance(wrong, WrongContent) else "wrong sha256") from None


@dataclass
class _Downloader:
    """What pooch calls to bring the unpacked bytes into a temporary file."""

    place: str | Path
    source: Source
    part: Path
    say: Callable[[str], None]
    stall: float
    resumed: bool = field(default=False, init=False)
    most: int = field(default=0, init=False)  # bytes that arrived in the best try

    def __call__(self, url: str, output_file: Any, pooch: Any = None) -> None:
        archive = self.place
        if isinstance(archive, str):
            self._transfer(archive)
            archive = self.part
        elif not archive.is_file():
            raise Refused("no such file")
        elif not os.access(archive, os.R_OK):
            raise Refused("not readable")
        name = Path(self.source.unpacked).name
        with open(output_file, "wb") as output:
            unpack(archive, output, self.source.bytes, self.source.cut, name)

    def _transfer(self, url: str) -> None:
        """Fill the partial file, resuming as long as each try brings something new."""
        self.most = self._have()
        for _ in range(MOST_TRIES):
            try:
                self._receive(url)
                return
            except _Interrupted as interruption:
                if self._have() <= self.most:
                    raise Refused(str(interruption)) from None
                self.most = self._have()
                self.say(f"{self.source.unpacked}: {interruption} at {self.most:,} bytes; resuming")
        raise Refused(f"broke off {MOST_TRIES} times")

    def _have(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _receive(self, url: str) -> None:
        """One request, from where the partial file ends."""
        have = self._have()
        # Without "identity" a server may pack the packed file once more.
        headers = {"Accept-Encoding": "identity"}
        if have:
            headers["Range"] = f"bytes={have}-"
        try:
            with requests.get(
                url, headers=headers, stream=True, timeout=(CONNECT_SECONDS, self.stall)
            ) as response:
                content_range = response.headers.get("Content-Range", "")
                if response.status_code == 416 and content_range.strip() == f"bytes */{have}":
                    self.resumed = True  # complete already
                    return
                if response.status_code == 206 and content_range.startswith(f"bytes {have}-"):
                    self.resumed = True
                    self._copy(response, have)
                    return
                if response.status_code == 200:
                    self._copy(response, 0)  # Range was not asked for or was ignored
                    return
                if response.status_code not in (206, 416) or not have:
                    raise Refused(f"HTTP {response.status_code}")
        except _NETWORK as failure:
            raise _Interrupted(_reason(failure)) from None
        self.part.unlink()  # the server cannot go on from here
        self.most = 0
        self._receive(url)

    def _copy(self, response: requests.Response, have: int) -> None:
        """Append a response's body to the partial file, from `have` on."""
        length = response.headers.get("Content-Length", "")
        total = have + int(length) if length.isdigit() else None
        # No packed file is much longer than what it holds; an endless one must not fill the disk.
        limit = CUT_LIMIT if self.source.cut else self.source.bytes + (1 << 20)
        if total is not None and total > limit:
            raise WrongContent(f"{total:,} bytes long where at most {limit:,} can be right")
        since, arrived = time.monotonic(), 0
        with (
            open(self.part, "r+b" if have else "wb") as file,
            _Progress(self.source.unpacked, have, total, self.say) as progress,
        ):
            file.seek(have)
            while block := response.raw.read1(1 << 16, decode_content=False):
                have += len(block)
                arrived += len(block)
                if have > limit:
                    raise WrongContent(f"longer than the {limit:,} bytes that can be right")
                file.write(block)
                progress.update(len(block))
                if time.monotonic() - since > self.stall:
                    if arrived < SLOWEST * self.stall:
                        raise _Interrupted(f"stalled after {have:,} bytes")
                    since, arrived = time.monotonic(), 0


class _Progress:
    """A bar on a terminal, elsewhere a line now and then."""

    def __init__(self, name: str, have: int, total: int | None, say: Callable[[str], None]):
        self._name, self._say, self._line = name, say, time.monotonic()
        self._bar = tqdm(
            desc=name, initial=have, total=total, unit="B", unit_scale=True, disable=None
        )
        self._have, self._total = have, total

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def update(self, count: int) -> None:
        """Count bytes that arrived."""
        self._bar.update(count)
        self._have += count
        if self._bar.disable and time.monotonic() - self._line > LINE_SECONDS:
            self._line = time.monotonic()
            of = f" of {self._total / 1e6:.1f}" if self._total else ""
            self._say(f"{self._name}: {self._have / 1e6:.1f}{of} MB")


def _reason(failure: BaseException) -> str:
    """A network failure in words; its own text may hold the url with credentials."""
    text = f"{type(failure).__name__} {failure}"
    if isinstance(failure, requests.ConnectTimeout):
        return f"no connection within {CONNECT_SECONDS:.0f} s"
    if "timed out" in text.lower() or "timeout" in text.lower():
        return "stalled"
    if "NameResolution" in text or "Name or service" in text:
        return "no such host, or no network"
    if isinstance(failure, requests.exceptions.SSLError):
        return "its certificate is not trusted"
    if "reset" in text or "RemoteDisconnected" in text or "IncompleteRead" in text:
        return "connection broke off"
    if isinstance(failure, requests.ConnectionError):
        return "no connection"
    return type(failure).__name__


def _disk_error(failure: OSError, raw: Path, source: Source) -> UserError:
    """The one line for a disk that does not take what arrived."""
    if failure.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return UserError(
            f"{source.unpacked}: no space left below {raw} ({failure.strerror}); free at least "
            f"{2 * source.bytes:,} bytes and run again: what has arrived is kept and resumed"
        )
    reason = REMEDIES.get(failure.errno or 0, failure.strerror or type(failure).__name__)
    return UserError(f"{source.unpacked}: cannot write {failure.filename or raw}: {reason}")
