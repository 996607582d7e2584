"""Downloads: packings, checksums, mirrors, faults, proxies, and existing files."""

from __future__ import annotations

import gzip
import hashlib
import io
import threading
import time
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pondering.data import fetch
from pondering.data.fetch import fetch_all, shown
from pondering.params.downloads import Download, Source
from pondering.project.errors import UserError

# Not compressible, so that a packed body is long enough to break in the middle.
CONTENT = b"".join(hashlib.sha256(bytes([i % 256, i // 256])).digest() for i in range(10_000))
PACKED = gzip.compress(CONTENT, mtime=0)
ZIPPED = io.BytesIO()
with zipfile.ZipFile(ZIPPED, "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("inner/letters", CONTENT)
BODIES = {
    "gz": PACKED,
    "plain": CONTENT,
    "zip": ZIPPED.getvalue(),
    "gz-damaged": PACKED[:-5000],
    "zip-empty": b"PK\x05\x06" + bytes(18),
    "wrong": CONTENT[:-1] + b"x",
    "page": b"<!DOCTYPE html>\n<html><body>403 Forbidden</body></html>",
}


class Handler(BaseHTTPRequestHandler):
    """`/NAME` sends a body of `BODIES`, a status, or a truncated body; `asked` has all names."""

    server: Any

    def do_GET(self) -> None:
        name = self.path.partition("?")[0].rpartition("/")[2]
        self.server.requests.append(name)
        body = BODIES.get(name, PACKED)
        self.send_response(int(name) if name.isdigit() else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if name in BODIES or name.isdigit() else body[:1000])
        if name == "stall":
            time.sleep(1)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("PONDERING_MIRROR", raising=False)
    monkeypatch.setattr(fetch, "SECONDS", (1.0, 0.3))
    monkeypatch.setattr(fetch, "RETRIES", 0)
    running: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.requests = []
    running.url = f"http://127.0.0.1:{running.server_port}"
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


@pytest.fixture
def raw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("PONDERING_MIRROR", raising=False)
    return tmp_path / "raw"


def source(*urls: str, **changes: Any) -> Source:
    values: dict[str, Any] = {
        "unpacked": "set/letters",
        "bytes": len(CONTENT),
        "sha256": hashlib.sha256(CONTENT).hexdigest(),
        "urls": urls,
        "mirror": ("set/letters.gz", "set/letters"),
    }
    return Source(**values | changes)


def files_below(folder: Path) -> list[str]:
    """Every file below `folder`."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("kind", ["gz", "plain", "zip"])
def test_every_packing_is_unpacked(server: Any, raw: Path, kind: str) -> None:
    (raw.parent / ".partial").mkdir()
    (raw.parent / ".partial/packed").write_bytes(PACKED[:1000])  # a killed run leaves this
    found = fetch_all([source(f"{server.url}/{kind}")], raw, None)
    assert (raw / "set/letters").read_bytes() == CONTENT
    assert files_below(raw.parent) == ["raw/set/letters"]
    digest = hashlib.sha256(CONTENT).hexdigest()
    assert found == {"set/letters": {"bytes": len(CONTENT), "sha256": digest}}


@pytest.mark.parametrize(("name", "content"), [("letters", CONTENT), ("letters.gz", PACKED)])
def test_an_existing_file_needs_no_network(
    server: Any, raw: Path, name: str, content: bytes
) -> None:
    """A user may put the packed file there by hand."""
    (raw / "set").mkdir(parents=True)
    (raw / "set" / name).write_bytes(content)
    fetch_all([source(f"{server.url}/gz")], raw, None)
    assert (raw / "set/letters").read_bytes() == CONTENT
    assert server.requests == []


def test_a_mirror_comes_first_and_a_wrong_one_falls_back_to_urls(server: Any, raw: Path) -> None:
    mirror = raw.parent / "mirror"
    (mirror / "set").mkdir(parents=True)
    (mirror / "set/letters.gz").write_bytes(PACKED)
    fetch_all([source(f"{server.url}/gz")], raw / "1", str(mirror))
    assert server.requests == []
    fetch_all([source("http://127.0.0.1:1/never", mirror=("gz",))], raw / "2", server.url + "/")
    assert server.requests == ["gz"]
    (mirror / "set/letters.gz").write_bytes(gzip.compress(b"other"))
    messages: list[str] = []
    fetch_all([source(f"{server.url}/zip")], raw / "3", str(mirror), say=messages.append)
    assert server.requests == ["gz", "zip"]
    assert any(
        str(mirror) in line and "5 bytes unpacked, wrong sha256" in line for line in messages
    )
    assert all((raw / f"{k}/set/letters").read_bytes() == CONTENT for k in (1, 2, 3))


def test_the_environments_mirror_replaces_the_parameters(
    raw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, (environment, parameter, place) in enumerate(
        (("/from/env", "/from/params", "/from/env"), ("", "/from/params", "/from/params"))
    ):
        monkeypatch.setenv("PONDERING_MIRROR", environment)
        messages: list[str] = []
        with pytest.raises(UserError):
            fetch_all([source()], raw / str(number), parameter, say=messages.append)
        assert f"from {place}/set/letters" in messages[0]


def test_cut_keeps_the_beginning_of_a_file(server: Any, raw: Path) -> None:
    start = CONTENT[:70_000]
    digest = hashlib.sha256(start).hexdigest()
    wanted = source(f"{server.url}/gz", bytes=len(start), sha256=digest, cut=True)
    fetch_all([wanted], raw, None)
    assert (raw / "set/letters").read_bytes() == start


BAD = {
    "gz-damaged": "damaged archive",
    "zip-empty": "damaged archive",
    "wrong": "320,000 bytes unpacked, wrong sha256",
    "page": "wrong sha256",
    "stall": "broke off",
    "truncated": "broke off",
    "404": "HTTP 404",
    "500": "HTTP 500",
}


@pytest.mark.parametrize("fault", BAD)
def test_wrong_bytes_are_not_kept_and_the_next_url_is_tried(
    server: Any, raw: Path, fault: str
) -> None:
    with pytest.raises(UserError) as error:
        fetch_all([source(f"{server.url}/{fault}")], raw, None)
    assert f"/{fault} (" in str(error.value) and BAD[fault] in str(error.value)
    assert "\n" not in str(error.value)
    assert files_below(raw.parent) == []
    fetch_all([source(f"{server.url}/{fault}", f"{server.url}/gz")], raw, None)
    assert (raw / "set/letters").read_bytes() == CONTENT


def test_no_network_and_no_mirror_are_one_error_line(raw: Path, server: Any) -> None:
    with pytest.raises(UserError) as error:
        fetch_all([source("http://127.0.0.1:1/a.gz")], raw, str(raw / "nowhere"))
    text = str(error.value)
    assert "\n" not in text and text.startswith("set/letters:")
    for part in (
        "http://127.0.0.1:1/a.gz",
        f"{raw}/nowhere/set/letters.gz (no such file",
        f"put it at {raw}/set/letters, or packed at {raw}/set/letters.gz, or",
        "set PONDERING_MIRROR to a folder or an http(s) url that has set/letters.gz (320,000 bytes",
    ):
        assert part in text
    assert files_below(raw) == []


def test_credentials_are_never_printed(server: Any, raw: Path, caplog: Any, capfd: Any) -> None:
    host = server.url.removeprefix("http://")
    urls = [f"http://user:hidden@{host}/404?token=hidden#hidden"]
    urls += ["http://user:hidden@127.0.0.1:1/x?token=hidden", "http://user:hidden@[bad/x"]
    messages: list[str] = []
    with pytest.raises(UserError) as error:
        fetch_all([source(*urls)], raw, f"http://u:hidden@{host}/404?t=hidden", say=messages.append)
    texts = [str(error.value), *messages, caplog.text, *capfd.readouterr()]
    assert f"http://{host}/404 (HTTP 404)" in texts[0]
    assert not any("hidden" in text for text in texts)
    assert "hidden" not in shown("https://u:hidden@h:1/p?hidden#hidden")


def test_a_profile_needs_the_files_of_its_sets_in_order() -> None:
    file = {"bytes": 1, "sha256": "ab"}
    places = {"urls": ["https://h/{}.gz"], "mirror": ["set/{}.gz", "set/{}"]}
    download = Download.model_validate({
        "mirror": None,
        "needs": {"quick": [], "paper": ["two", "one"]},
        "sets": {
            "one": places | {"files": {"set/a": file, "other/b": file}},
            "two": places | {"files": {"set/c": file}, "cut": True},
        },
    })  # fmt: skip
    assert download.needed("quick", "set") == download.needed("reduced", "set") == ()
    assert [each.unpacked for each in download.needed("paper", "set")] == ["set/c", "set/a"]
    first = Source("set/c", 1, "ab", ("https://h/c.gz",), ("set/c.gz", "set/c"), True)
    assert download.needed("paper", "set")[0] == first
