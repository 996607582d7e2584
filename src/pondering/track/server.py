"""MLflow's own UI over the project's database."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

from pondering.project.errors import UserError
from pondering.track.database import migrate, quiet_mlflow
from pondering.track.place import Place
from pondering.track.store import Store
from pondering.track.views import address

_HOST = "127.0.0.1"  # the UI has no password: README says how to share it safely
_TRIES = 50


def ui(root: Path, port: int = 5000) -> None:
    """Replace this process by MLflow's own UI on 127.0.0.1.

    Args:
        root: the project.
        port: where to listen; the next free one is taken, and named, where it is taken.

    Raises:
        UserError: no port is free, the database is locked, or runs are tracked by a server, which
            has a UI of its own.
    """
    place = Place.of(root)
    if place.artifacts is None:
        raise UserError(f"MLFLOW_TRACKING_URI={place.name}: open that server's own UI instead")
    migrate(place)
    free = free_port(port)
    if free != port:
        print(f"port {port} is taken, using {free}")
    page = address(f"http://{_HOST}:{free}", Store(place).newest())
    print(f"MLflow's UI (Ctrl-C ends it): {page}", flush=True)
    quiet_mlflow()
    # No jobs are run from this UI: their executor would only start more processes.
    os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"
    os.environ["PYTHONWARNINGS"] = "ignore"  # MLflow's own deprecations are not the user's
    command = [sys.executable, "-m", "mlflow", "server", "--host", _HOST, "--port", str(free)]
    command += ["--backend-store-uri", place.uri, "--workers", "1"]
    command += ["--artifacts-destination", str(place.artifacts)]
    command += ["--uvicorn-opts", "--log-level warning --no-access-log"]
    os.execv(sys.executable, command)


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
