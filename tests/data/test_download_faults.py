"""Downloads that go wrong: the next url is tried, the rest resumed, wrong bytes never land."""

from __future__ import annotations

import gzip
import hashlib
import resource
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from support.misbehaving_server import (  # noqa: F401
    BODIES,
    CONTENT,
    FAULTS,
    PACKED,
    landed,
    names,
    raw_fixture,
    running_fixture,
    server_fixture,
    source,
    waiting,
)

from pondering.data.fetch import fetch_all
from pondering.data.places import shown
from pondering.project.errors import UserError

BAD = [name for name in BODIES if name not in ("gz", "plain", "zip", "zip-among-others")]


@pytest.mark.parametrize("fault", [*BAD, *FAULTS, "403", "404", "500", "206", "416"])
def test_next_url_after(server: Any, raw: Path, fault: str) -> None:
    wanted = source(f"{server.url}/{fault}", f"{server.url}/gz")
    start = time.monotonic()
    fetch_all([wanted], raw, None, stall_seconds=0.3)
    assert time.monotonic() - start < 5
    assert (raw / "set/letters").read_bytes() == CONTENT
    assert names(server)[0] == fault and names(server)[-1] == "gz"
    assert landed(raw) == ["set/letters"]
    assert not (raw.parent / "letters").exists()


@pytest.mark.parametrize("fault", [*BAD, *FAULTS, "404"])
def test_wrong_bytes_never_land(server: Any, raw: Path, fault: str) -> None:
    with pytest.raises(UserError, match=f"/{fault} ") as error:
        fetch_all([source(f"{server.url}/{fault}")], raw, None, stall_seconds=0.3)
    assert landed(raw) == []
    assert "\n" not in str(error.value)


REASONS = {
    "page": "web page",
    "404": "HTTP 404",
    "stall": "stalled",
    "drip": "stalled",
    "truncated": "connection broke off",
    "wrong": "wrong sha256",
    "short": "319,999 bytes unpacked where 320,000",
    "long": "more than the 320,000 bytes",
    "zip-bomb": "more than the 320,000 bytes",
    "gz-bomb": "more than the 320,000 bytes",
    "zip-climbing": "leads out of its folder",
    "endless": "longer than",
    "bad-length": "at most",
    "gz-damaged": "damaged archive",
    "zip-damaged": "damaged zip",
}


@pytest.mark.parametrize("fault", REASONS)
def test_reason_is_told(server: Any, raw: Path, fault: str) -> None:
    with pytest.raises(UserError) as error:
        fetch_all([source(f"{server.url}/{fault}")], raw, None, stall_seconds=0.3)
    assert REASONS[fault] in str(error.value)


def test_bomb_is_not_written_out(server: Any, raw: Path) -> None:
    sizes = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.001):
            for path in raw.parent.rglob("*"):
                try:
                    sizes.append(path.stat().st_size * path.is_file())
                except FileNotFoundError:
                    continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    with pytest.raises(UserError):
        fetch_all([source(f"{server.url}/gz-bomb")], raw, None)
    stop.set()
    watcher.join()
    assert max(sizes, default=0) <= len(CONTENT)


def test_resumes_within_one_run(server: Any, raw: Path) -> None:
    fetch_all([source(f"{server.url}/pieces")], raw, None)
    starts = [int(asked[6:-1]) for _, asked in server.asked if asked]
    assert server.asked[0] == ("pieces", None)
    assert starts == [*range(60_000, len(PACKED), 60_000)]
    assert (raw / "set/letters").read_bytes() == CONTENT


def test_resumes_in_the_next_run(server: Any, raw: Path) -> None:
    wanted = source(f"{server.url}/pieces")

    class Killed(BaseException):
        pass

    def kill(line: str) -> None:
        if "resuming" in line:
            raise Killed

    with pytest.raises(Killed):
        fetch_all([wanted], raw, None, say=kill)
    assert [part.stat().st_size for part in waiting(raw)] == [60_000]
    server.asked.clear()
    fetch_all([wanted], raw, None)
    assert server.asked[0] == ("pieces", "bytes=60000-")
    assert (raw / "set/letters").read_bytes() == CONTENT
    assert not waiting(raw)


@pytest.mark.parametrize("extra", [b"", b"more"])
def test_complete_or_too_long_part(server: Any, raw: Path, extra: bytes) -> None:
    """A kill between transfer and unpacking leaves all bytes; other bytes are fetched anew."""
    wanted = source(f"{server.url}/pieces")
    with pytest.raises(RuntimeError):
        fetch_all([wanted], raw, None, say=_raise_when_resuming)
    (part,) = waiting(raw)
    part.write_bytes(PACKED + extra)
    server.asked.clear()
    fetch_all([wanted], raw, None)
    assert server.asked[0] == ("pieces", f"bytes={len(PACKED + extra)}-")
    assert len(server.asked) == (1 if not extra else 7)
    assert (raw / "set/letters").read_bytes() == CONTENT


def _raise_when_resuming(line: str) -> None:
    if "resuming" in line:
        raise RuntimeError(line)


def test_server_that_ignores_range_restarts(server: Any, raw: Path) -> None:
    fetch_all([source(f"{server.url}/ignores-range")], raw, None)
    assert server.asked == [("ignores-range", None), ("ignores-range", "bytes=60000-")]
    assert (raw / "set/letters").read_bytes() == CONTENT


def test_file_that_changed_between_two_halves_is_fetched_again(server: Any, raw: Path) -> None:
    fetch_all([source(f"{server.url}/changed")], raw, None)
    assert [asked for _, asked in server.asked] == [None, "bytes=60000-", None]
    assert (raw / "set/letters").read_bytes() == CONTENT


def test_no_network_and_no_mirror_in_one_line(raw: Path, server: Any) -> None:
    urls = ("http://127.0.0.1:1/a.gz", "http://127.0.0.1:1/b.gz")
    with pytest.raises(UserError) as error:
        fetch_all([source(*urls)], raw, str(raw / "nowhere"))
    text = str(error.value)
    assert "\n" not in text and text.startswith("set/letters:")
    for part in (
        *urls,
        f"{raw}/nowhere/set/letters.gz (no such file)",
        "three ways out",
        "set PONDERING_MIRROR to a folder",
        "url",
        f"at {raw}/set/letters by hand",
        hashlib.sha256(CONTENT).hexdigest(),
    ):
        assert part in text
    assert landed(raw) == []


def test_credentials_are_never_told(server: Any, raw: Path, caplog: Any, capfd: Any) -> None:
    host = server.url.removeprefix("http://")
    urls = [f"http://user:hidden@{host}/{name}?token=hidden#hidden" for name in ("404", "stall")]
    urls += ["http://user:hidden@127.0.0.1:1/x?token=hidden", "http://user:hidden@[bad/x"]
    said: list[str] = []
    with pytest.raises(UserError) as error:
        fetch_all(
            [source(*urls)],
            raw,
            f"http://user:hidden@{host}/mirror-404?token=hidden",
            say=said.append,
            stall_seconds=0.2,
        )
    told = [str(error.value), *said, caplog.text, *capfd.readouterr()]
    assert f"http://{host}/404 (HTTP 404)" in told[0]
    assert not any("hidden" in text for text in told)
    assert "hidden" not in shown("https://u:hidden@h:1/p?hidden#hidden")


def test_full_disk_while_receiving(server: Any, raw: Path) -> None:
    wanted = source(f"{server.url}/pieces", f"{server.url}/gz")
    with pytest.raises(RuntimeError):
        fetch_all([wanted], raw, None, say=_raise_when_resuming)
    (part,) = waiting(raw)
    part.unlink()
    part.symlink_to("/dev/full")  # every write to it: no space left on device
    with pytest.raises(UserError, match=r"no space left .* free at least") as error:
        fetch_all([wanted], raw, None)
    assert "\n" not in str(error.value)
    assert landed(raw) == []


def test_full_disk_while_unpacking_keeps_what_arrived(server: Any, raw: Path) -> None:
    small = gzip.compress(bytes(400_000))
    BODIES["small"] = small
    digest = hashlib.sha256(bytes(400_000)).hexdigest()
    wanted = source(f"{server.url}/small", bytes=400_000, sha256=digest)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(UserError, match=r"no space left .* kept and resumed"):
            fetch_all([wanted], raw, None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert landed(raw) == []
    assert [part.stat().st_size for part in waiting(raw)] == [len(small)]


def test_folder_that_cannot_be_made(server: Any, raw: Path) -> None:
    raw.write_text("a file")
    with pytest.raises(UserError, match="set/letters: cannot write"):
        fetch_all([source(f"{server.url}/gz")], raw, None)
