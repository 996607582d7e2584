"""Downloads: packings, mirrors, faults, what is there already, and the params block."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from support.misbehaving_server import (  # noqa: F401
    BODIES,
    CONTENT,
    FAULTS,
    PACKED,
    landed,
    raw_fixture,
    running_fixture,
    server_fixture,
    source,
)

from pondering.data import fetch
from pondering.data.fetch import chosen_mirror, fetch_all, places, shown
from pondering.params.downloads import Download
from pondering.project.errors import UserError


@pytest.mark.parametrize("kind", ["gz", "plain", "zip"])
def test_every_packing_is_unpacked_in_place(server: Any, raw: Path, kind: str) -> None:
    found = fetch_all([source(f"{server.url}/{kind}")], raw, None)
    assert (raw / "set/letters").read_bytes() == CONTENT
    assert landed(raw) == ["set/letters"]
    assert not (raw.parent / ".partial").exists()
    digest = hashlib.sha256(CONTENT).hexdigest()
    assert found == {"set/letters": {"bytes": len(CONTENT), "sha256": digest}}


@pytest.mark.parametrize(("name", "content"), [("letters", CONTENT), ("letters.gz", PACKED)])
def test_a_file_that_is_there_needs_no_network(
    server: Any, raw: Path, name: str, content: bytes
) -> None:
    """Unpacked, or packed and put there by hand."""
    (raw / "set").mkdir(parents=True)
    (raw / "set" / name).write_bytes(content)
    fetch_all([source(f"{server.url}/gz")], raw, None)
    assert (raw / "set/letters").read_bytes() == CONTENT
    assert server.asked == []


def test_wrong_file_in_place_is_replaced_or_kept_and_named(server: Any, raw: Path) -> None:
    (raw / "set").mkdir(parents=True)
    target = raw / "set/letters"
    target.write_bytes(b"other")
    with pytest.raises(UserError, match=r"raw/set/letters \(5 bytes unpacked where"):
        fetch_all([source(f"{server.url}/wrong")], raw, None)
    assert target.read_bytes() == b"other"
    fetch_all([source(f"{server.url}/gz")], raw, None)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("name", ["set/letters.gz", "set/letters"])
def test_mirror_folder_comes_first(server: Any, raw: Path, name: str) -> None:
    mirror = raw.parent / "mirror"
    (mirror / "set").mkdir(parents=True)
    (mirror / name).write_bytes(PACKED if name.endswith("gz") else CONTENT)
    for form in (str(mirror), f"file://{mirror}"):
        raw = raw / str(len(form))
        fetch_all([source(f"{server.url}/gz")], raw, form)
        assert (raw / "set/letters").read_bytes() == CONTENT
    assert server.asked == []


def test_wrong_mirror_falls_back_to_urls(server: Any, raw: Path) -> None:
    mirror = raw.parent / "mirror"
    (mirror / "set").mkdir(parents=True)
    (mirror / "set/letters.gz").write_bytes(gzip.compress(b"other"))
    said: list[str] = []
    fetch_all([source(f"{server.url}/gz")], raw / "raw", str(mirror), say=said.append)
    assert (raw / "raw/set/letters").read_bytes() == CONTENT
    assert server.asked == ["gz"]
    assert any(str(mirror) in line and "5 bytes unpacked" in line for line in said)


def test_mirror_url_comes_first(server: Any, raw: Path) -> None:
    wanted = source("http://127.0.0.1:1/never", mirror=("gz",))
    fetch_all([wanted], raw, server.url + "/")
    assert server.asked == ["gz"]


def test_environment_wins_over_the_parameter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PONDERING_MIRROR", "/from/environment")
    assert chosen_mirror("/from/params") == "/from/environment"
    monkeypatch.setenv("PONDERING_MIRROR", "")
    assert chosen_mirror("/from/params") == "/from/params"
    monkeypatch.delenv("PONDERING_MIRROR")
    assert chosen_mirror(None) is None


def test_cut_takes_the_beginning_alone(server: Any, raw: Path) -> None:
    """Of what is downloaded, then of the whole file that is there."""
    (raw / "set").mkdir(parents=True)
    for size, urls in ((70_000, (f"{server.url}/gz",)), (10, ())):
        start, name = CONTENT[:size], f"set/letters-{size}"
        digest = hashlib.sha256(start).hexdigest()
        fetch_all([source(*urls, unpacked=name, bytes=size, sha256=digest, cut=True)], raw, None)
        assert (raw / name).read_bytes() == start
        (raw / "set/letters").write_bytes(CONTENT)


@pytest.mark.parametrize("mirror", ["ftp://user:hidden@host/x", "s3://bucket"])
def test_mirror_of_another_kind_is_refused(raw: Path, mirror: str) -> None:
    with pytest.raises(UserError, match="a folder or an http") as error:
        list(places(source(), raw, mirror))
    assert "hidden" not in str(error.value)


BAD = {
    "zip-two": "a zip of 2 files",
    "zip-damaged": "damaged archive",
    "gz-damaged": "damaged archive",
    "gz-cut": "damaged archive",
    "short": "319,999 bytes unpacked where 320,000",
    "long": "320,001 bytes unpacked where 320,000",
    "wrong": "wrong sha256",
    "page": "bytes unpacked where",
    "reset": "broke off",
    "stall": "stalled",
    "truncated": "broke off",
    "loop": "no connection",
    "404": "HTTP 404",
    "500": "HTTP 500",
}


def test_every_fault_of_the_server_is_among_the_bad_ones() -> None:
    assert set(BODIES) | set(FAULTS) <= set(BAD) | {"gz", "plain", "zip"}


@pytest.mark.parametrize("fault", BAD)
def test_wrong_bytes_never_land_and_the_next_url_is_tried(
    server: Any, raw: Path, fault: str
) -> None:
    with pytest.raises(UserError) as error:
        fetch_all([source(f"{server.url}/{fault}")], raw, None)
    assert f"/{fault} (" in str(error.value) and BAD[fault] in str(error.value)
    assert "\n" not in str(error.value)
    assert landed(raw.parent) == [".partial.lock"]
    fetch_all([source(f"{server.url}/{fault}", f"{server.url}/gz")], raw, None)
    assert landed(raw) == ["set/letters"]
    assert (raw / "set/letters").read_bytes() == CONTENT


def test_a_url_is_tried_again(server: Any, raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "RETRIES", 1)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with pytest.raises(UserError):
        fetch_all([source(f"{server.url}/truncated")], raw, None)
    assert server.asked == ["truncated", "truncated"]


def test_what_a_killed_run_left_is_removed(server: Any, raw: Path) -> None:
    (raw.parent / ".partial").mkdir()
    (raw.parent / ".partial/packed").write_bytes(PACKED[:1000])
    fetch_all([source(f"{server.url}/gz")], raw, None)
    assert landed(raw.parent) == [".partial.lock", "raw/set/letters"]


def test_no_network_and_no_mirror_in_one_line(raw: Path, server: Any) -> None:
    urls = ("http://127.0.0.1:1/a.gz", "http://127.0.0.1:1/b.gz")
    with pytest.raises(UserError) as error:
        fetch_all([source(*urls)], raw, str(raw / "nowhere"))
    text = str(error.value)
    assert "\n" not in text and text.startswith("set/letters:")
    for part in (
        *urls,
        f"{raw}/nowhere/set/letters.gz (no such file",
        "three ways out",
        "set PONDERING_MIRROR to a folder",
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
        fetch_all([source(*urls)], raw, f"http://u:hidden@{host}/404?t=hidden", say=said.append)
    told = [str(error.value), *said, caplog.text, *capfd.readouterr()]
    assert f"http://{host}/404 (HTTP 404)" in told[0]
    assert not any("hidden" in text for text in told)
    assert "hidden" not in shown("https://u:hidden@h:1/p?hidden#hidden")


BLOCK: dict[str, Any] = {
    "mirror": None,
    "needs": {"quick": [], "reduced": ["one"], "paper": ["two", "one"]},
    "files": {
        "one": {"a": source().model_dump(), "b": source(unpacked="set/b").model_dump()},
        "two": {"c": source(unpacked="set/c").model_dump()},
    },
}


def test_needed_by_profile_and_named_among_the_files() -> None:
    block = Download.model_validate(BLOCK)
    by_profile = {
        profile: [file.unpacked for file in block.needed(profile)]
        for profile in ("quick", "reduced", "paper")
    }
    assert by_profile == {
        "quick": [],
        "reduced": ["set/letters", "set/b"],
        "paper": ["set/c", "set/letters", "set/b"],
    }
    with pytest.raises(ValidationError, match="no data set 'three'; allowed: one, two"):
        Download.model_validate(BLOCK | {"needs": {"quick": ["three"]}})


@pytest.mark.parametrize(
    "change",
    [
        {"unpacked": "../letters"},
        {"unpacked": "/letters"},
        {"unpacked": ""},
        {"mirror": ("a/../../b",)},
        {"sha256": "abc"},
        {"bytes": 0},
        {"urls": ("ftp://host/file",)},
        {"surprise": 1},
    ],
)
def test_bad_sources_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        source(**change)


def test_nothing_needed_leaves_no_trace(raw: Path) -> None:
    assert fetch_all([], raw / "raw", None) == {}
    assert not raw.exists()
