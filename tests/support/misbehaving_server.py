"""A real local HTTP server that gives a file in every packing or misbehaves, and its fixtures."""

from __future__ import annotations

import gzip
import hashlib
import io
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

from pondering.data import fetch
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
    "zip-two": zipped("one", more=("two",)),
    "zip-damaged": zipped("letters")[:-30],
    "gz-damaged": PACKED[:2000] + bytes(100) + PACKED[2100:],
    "gz-cut": PACKED[:-5000],
    "short": CONTENT[:-1],
    "long": CONTENT + b"x",
    "wrong": CONTENT[:-1] + b"x",
    "page": b"<!DOCTYPE html>\n<html><body>403 Forbidden</body></html>",
}
FAULTS = ("reset", "stall", "truncated", "loop")


class Handler(BaseHTTPRequestHandler):
    """`/NAME` sends a body of `BODIES` or does what is wrong; writes down what was asked."""

    protocol_version = "HTTP/1.1"
    server: Any

    def do_GET(self) -> None:
        name = self.path.strip("/").split("/")[0].split("?")[0]
        self.server.asked.append(name)
        if name in BODIES:
            self._send(BODIES[name])
        elif name.isdigit():
            self._send(b"no", int(name))
        else:
            self.close_connection = True
            getattr(self, "do_" + name.replace("-", "_"))()

    def _send(self, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _head(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(PACKED)))
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

    def do_stall(self) -> None:
        self._head()
        self.wfile.write(PACKED[:1000])
        self.server.done.wait(20)

    def do_truncated(self) -> None:
        self._head()
        self.wfile.write(PACKED[:100_000])

    def do_loop(self) -> None:
        self.send_response(302)
        self.send_header("Location", "/loop")
        self.send_header("Content-Length", "0")
        self.end_headers()

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
    monkeypatch.setattr(fetch, "SECONDS", (1.0, 0.3))
    monkeypatch.setattr(fetch, "RETRIES", 0)
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


def landed(folder: Path) -> list[str]:
    """Every file below `folder`."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture(name="raw")
def raw_fixture(tmp_path: Path) -> Path:
    return tmp_path / "raw"
