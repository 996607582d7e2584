"""A real local HTTP server that misbehaves in every way a mirror can, and its fixtures."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import socket
import struct
import threading
import time
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pondering.params.downloads import Source

# Not compressible, so that a packed body is long enough to break in the middle.
CONTENT = b"".join(hashlib.sha256(bytes([i % 256, i // 256])).digest() for i in range(10_000))
PACKED = gzip.compress(CONTENT, mtime=0)


def zipped(name: str, content: bytes = CONTENT, more: tuple[str, ...] = ()) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, content)
        for other in more:
            file.writestr(other, b"other")
    return buffer.getvalue()


BODIES = {
    "gz": PACKED,
    "plain": CONTENT,
    "zip": zipped("inner/letters"),
    "zip-among-others": zipped("letters", more=("readme", "folder/")),
    "zip-climbing": zipped("../../letters"),
    "zip-climbing-beside": zipped("letters", more=("a/../../b",)),
    "zip-absolute": zipped("/etc/letters"),
    "zip-windows": zipped("..\\letters"),
    "zip-drive": zipped("C:letters"),
    "zip-bomb": zipped("letters", bytes(50_000_000)),
    "zip-two": zipped("one", more=("two",)),
    "zip-damaged": zipped("letters")[:-30],
    "zip-broken-inside": zipped("letters").replace(zipped("letters")[2000:2100], bytes(100)),
    "gz-bomb": gzip.compress(bytes(50_000_000)),
    "gz-damaged": PACKED[:2000] + bytes(100) + PACKED[2100:],
    "gz-cut": PACKED[:-5000],
    "short": CONTENT[:-1],
    "long": CONTENT + b"x",
    "wrong": CONTENT[:-1] + b"x",
    "empty": b"",
    "page": b"<!DOCTYPE html>\n<html><body>403 Forbidden</body></html>",
}
FAULTS = ("reset", "reset-at-once", "stall", "drip", "truncated", "endless", "loop", "bad-length")


class Handler(BaseHTTPRequestHandler):
    """`/NAME` sends a body of `BODIES` or does what is wrong; writes down what was asked."""

    protocol_version = "HTTP/1.1"
    server: Any

    def do_GET(self) -> None:
        name = self.path.strip("/").split("/")[0].split("?")[0]
        self.server.asked.append((name, self.headers.get("Range")))
        if name in BODIES:
            self._send(BODIES[name])
        elif name.isdigit():
            self._send(b"no", int(name))
        else:
            self.close_connection = True
            getattr(self, "do_" + name.replace("-", "_"))()

    def _send(self, body: bytes, status: int = 200, start: int = 0) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) - start))
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        self.end_headers()
        self.wfile.write(body[start:])

    def _head(self, length: int | None = len(PACKED)) -> None:
        self.send_response(200)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _reset(self) -> None:
        self.wfile.flush()
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()

    def do_reset(self) -> None:
        self._head()
        self.wfile.write(PACKED[:1000])
        self.wfile.flush()
        time.sleep(0.05)
        self._reset()

    def do_reset_at_once(self) -> None:
        self._reset()

    def do_stall(self) -> None:
        self._head()
        self.wfile.write(PACKED[:1000])
        self.server.done.wait(20)

    def do_drip(self) -> None:
        self._head()
        while not self.server.done.wait(0.05):
            self.wfile.write(b"\x1f")

    def do_truncated(self) -> None:
        self._head()
        self.wfile.write(PACKED[:100_000])

    def do_endless(self) -> None:
        self._head(None)
        while not self.server.done.is_set():
            self.wfile.write(b"\x1f\x8b" * 50_000)

    def do_loop(self) -> None:
        self.send_response(302)
        self.send_header("Location", "/loop")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_bad_length(self) -> None:
        self._head(10**15)

    def do_pieces(self) -> None:
        """Honours Range, but sends 60,000 bytes at a time and breaks off."""
        asked = re.match(r"bytes=(\d+)-", self.headers.get("Range") or "")
        start = int(asked[1]) if asked else 0
        if start >= len(PACKED):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(PACKED)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(PACKED) - start))
        self.send_header("Content-Range", f"bytes {start}-{len(PACKED) - 1}/{len(PACKED)}")
        self.end_headers()
        self.wfile.write(PACKED[start : start + 60_000])

    def do_ignores_range(self) -> None:
        """Breaks off once, then sends the whole from its beginning whatever is asked."""
        first = len([name for name, _ in self.server.asked if name == "ignores-range"]) == 1
        self._head()
        self.wfile.write(PACKED[:60_000] if first else PACKED)

    def do_changed(self) -> None:
        """Resumes, but with other bytes than those the first half came from."""
        if self.headers.get("Range"):
            start = int(self.headers["Range"][6:-1])
            self._send(bytes(start) + gzip.compress(b"new" * 10**5)[:1] * 999, 206, start)
        elif len([name for name, _ in self.server.asked if name == "changed"]) == 1:
            self._head()
            self.wfile.write(PACKED[:60_000])
        else:
            self._send(PACKED)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module", name="running")
def running_fixture() -> Iterator[ThreadingHTTPServer]:
    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:  # clients leave: that is the point
            pass

    server: Any = Server(("127.0.0.1", 0), Handler)
    server.done = threading.Event()
    server.asked = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.done.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(name="server")
def server_fixture(running: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.delenv("PONDERING_MIRROR", raising=False)
    running.asked.clear()
    running.url = f"http://127.0.0.1:{running.server_port}"
    return running


def source(*urls: str, **changes: Any) -> Source:
    values: dict[str, Any] = {
        "unpacked": "set/letters",
        "bytes": len(CONTENT),
        "sha256": hashlib.sha256(CONTENT).hexdigest(),
        "urls": urls,
        "mirror": ("set/letters.gz", "set/letters"),
    }
    return Source(**values | changes)


def names(server: Any) -> list[str]:
    return [name for name, _ in server.asked]


def landed(folder: Path) -> list[str]:
    """Every file below `folder`."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def waiting(folder: Path) -> list[Path]:
    """What waits, beside `folder`, for the rest of a download."""
    return sorted((folder.parent / ".partial").glob("*.part"))


@pytest.fixture(name="raw")
def raw_fixture(tmp_path: Path) -> Path:
    return tmp_path / "raw"
