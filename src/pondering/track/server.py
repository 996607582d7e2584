"""MLflow's own UI over the project's database, which follows trainings while it is open."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from pondering.project.errors import UserError
from pondering.track.database import address, exclusive
from pondering.track.fill import rebuild
from pondering.track.follow import Follower
from pondering.track.store import Store
from pondering.track.views import page

_HOST = "127.0.0.1"  # the UI has no password: docs/clusters.md says how to share it safely
_TRIES = 50
_SECONDS_BETWEEN_LOOKS = 2.0


def ui(root: Path, port: int) -> int:
    """Run MLflow's own UI on 127.0.0.1 and fill MLflow from the trainings that are at work.

    Args:
        root: the project.
        port: where to listen; the next free one is taken, and named, where it is taken.

    Returns:
        the server's exit status; 0 where Ctrl-C ended it.

    Raises:
        UserError: no port is free.
    """
    print("MLflow is filled from the tables; the first time takes some seconds", flush=True)
    rebuild(root)
    free = free_port(port)
    if free != port:
        print(f"port {port} is taken, using {free}")
    store = Store(root)
    where = page(f"http://{_HOST}:{free}", store.first())
    print(f"MLflow's UI (Ctrl-C ends it): {where}", flush=True)
    with _serving(store, free) as server:
        try:
            _follow(store, server)
        except KeyboardInterrupt:
            return 0
    return server.returncode


@contextlib.contextmanager
def _serving(store: Store, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """MLflow's server as a child of this process: it ends with the block."""
    command = [sys.executable, "-m", "mlflow", "server", "--host", _HOST, "--port", str(port)]
    command += ["--backend-store-uri", address(store.root), "--workers", "1"]
    command += ["--artifacts-destination", str(store.artifacts)]
    command += ["--uvicorn-opts", "--log-level warning --no-access-log"]
    environment = os.environ | {
        # No jobs are run from this UI: their executor would only start more processes.
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "PYTHONWARNINGS": "ignore",  # MLflow's own deprecations are not the user's
    }
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    # A session of its own, because MLflow's server is itself a child of MLflow's command.
    server = subprocess.Popen(command, env=environment, start_new_session=True)
    try:
        yield server
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)  # it has nothing of its own to save
        server.wait()


def _follow(store: Store, server: subprocess.Popen[bytes]) -> None:
    """Bring growing curves to MLflow until the server ends."""
    follower, warned = Follower(store), False
    while server.poll() is None:
        try:
            with exclusive(store.root):
                follower.step()
        except Exception as error:
            follower = Follower(store)  # begins anew
            if not warned:
                reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
                print(f"warning: MLflow does not follow trainings now ({reason})", file=sys.stderr)
            warned = True
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(_SECONDS_BETWEEN_LOOKS)


def free_port(port: int) -> int:
    """The first port from `port` on that nothing listens on at 127.0.0.1."""
    for candidate in range(port, min(port + _TRIES, 65536)):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((_HOST, candidate))
            except OSError:
                continue
            return candidate
    raise UserError(f"--port {port}: none of the {_TRIES} ports from there on is free")
