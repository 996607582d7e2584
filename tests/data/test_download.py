"""Downloads that go well: packings, mirrors, what is there already, and the params block."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from support.misbehaving_server import (  # noqa: F401
    CONTENT,
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
from pondering.data.places import chosen_mirror, places
from pondering.params.downloads import Download
from pondering.project.errors import UserError


@pytest.mark.parametrize("kind", ["gz", "plain", "zip", "zip-among-others"])
def test_every_packing_is_unpacked_in_place(server: Any, raw: Path, kind: str) -> None:
    found = fetch_all([source(f"{server.url}/{kind}")], raw, None)
    assert (raw / "set/letters").read_bytes() == CONTENT
    assert landed(raw) == ["set/letters"]
    assert not waiting(raw)
    digest = hashlib.sha256(CONTENT).hexdigest()
    assert found == {"set/letters": {"bytes": len(CONTENT), "sha256": digest}}


def test_present_file_needs_no_network(server: Any, raw: Path) -> None:
    (raw / "set").mkdir(parents=True)
    (raw / "set/letters").write_bytes(CONTENT)
    fetch_all([source(f"{server.url}/gz")], raw, None)
    assert server.asked == []


def test_wrong_file_in_place_is_replaced_or_kept_and_named(server: Any, raw: Path) -> None:
    (raw / "set").mkdir(parents=True)
    target = raw / "set/letters"
    target.write_bytes(b"other")
    with pytest.raises(UserError, match=r"there, but its sha256 is wrong"):
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
    assert names(server) == ["gz"]
    assert any(str(mirror) in line and "5 bytes unpacked" in line for line in said)


def test_mirror_url_comes_first(server: Any, raw: Path) -> None:
    wanted = source("http://127.0.0.1:1/never", mirror=("gz",))
    fetch_all([wanted], raw, server.url + "/")
    assert names(server) == ["gz"]


def test_packed_file_put_by_hand_is_taken(server: Any, raw: Path) -> None:
    (raw / "set").mkdir(parents=True)
    (raw / "set/letters.gz").write_bytes(PACKED)
    fetch_all([source(f"{server.url}/gz")], raw, None)
    assert (raw / "set/letters").read_bytes() == CONTENT
    assert server.asked == []


def test_environment_wins_over_the_parameter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PONDERING_MIRROR", "/from/environment")
    assert chosen_mirror("/from/params") == "/from/environment"
    monkeypatch.setenv("PONDERING_MIRROR", "")
    assert chosen_mirror("/from/params") == "/from/params"
    monkeypatch.delenv("PONDERING_MIRROR")
    assert chosen_mirror(None) is None


@pytest.mark.parametrize("kind", ["gz", "plain", "zip"])
def test_cut_takes_the_beginning_alone(server: Any, raw: Path, kind: str) -> None:
    start = CONTENT[:70_000]
    wanted = source(
        f"{server.url}/{kind}",
        unpacked="set/letters-70000",
        bytes=len(start),
        sha256=hashlib.sha256(start).hexdigest(),
        cut=True,
    )
    fetch_all([wanted], raw, None)
    assert (raw / "set/letters-70000").read_bytes() == start


def test_cut_from_the_whole_file_that_is_there(raw: Path) -> None:
    (raw / "set").mkdir(parents=True)
    (raw / "set/letters").write_bytes(CONTENT)
    digest = hashlib.sha256(CONTENT[:10]).hexdigest()
    wanted = source(unpacked="set/letters-10", bytes=10, sha256=digest, cut=True)
    fetch_all([wanted], raw, None)
    assert (raw / "set/letters-10").read_bytes() == CONTENT[:10]


@pytest.mark.parametrize("mirror", ["ftp://user:hidden@host/x", "s3://bucket"])
def test_mirror_of_another_kind_is_refused(raw: Path, mirror: str) -> None:
    with pytest.raises(UserError, match="a folder or an http") as error:
        list(places(source(), raw, mirror))
    assert "hidden" not in str(error.value)


BLOCK: dict[str, Any] = {
    "mirror": None,
    "needs": {"quick": [], "reduced": ["one"], "paper": ["two", "one"]},
    "files": {
        "one": {"a": source().model_dump(), "b": source(unpacked="set/b").model_dump()},
        "two": {"c": source(unpacked="set/c").model_dump()},
    },
}


def test_needed_by_profile() -> None:
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


def test_needs_must_name_known_data() -> None:
    with pytest.raises(ValidationError, match="no data set 'three'; allowed: one, two"):
        Download.model_validate(BLOCK | {"needs": {"quick": ["three"]}})


def test_nothing_needed_leaves_no_trace(raw: Path) -> None:
    assert fetch_all([], raw / "raw", None) == {}
    assert not (raw / "raw").exists()
