"""`pondering ui`: MLflow's own pages over the trainings of this project."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys

import click

from pondering.params.read import load_params
from pondering.params.schema import PROFILES
from pondering.project.errors import UserError

# Curves of the first experiment. Sorted by time, MLflow would fold its replicas away.
FIRST = (
    "#/experiments/1/runs?workflowType=machine_learning&compareRunsMode=CHART"
    "&orderByKey=params.%60mechanism%60&orderByAsc=true"
)


@click.command("ui", short_help="Open MLflow's own pages.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=click.IntRange(1, 65535), default=5000, show_default=True)
@click.option("--allowed-hosts", metavar="NAMES", help="Passed to MLflow: host names, by commas.")
def ui(host: str, port: int, allowed_hosts: str | None) -> None:
    """Open MLflow's own pages; the first time loads the published results.

    Each replica is a run; filter by params.tau = "0.01". Sort by another column than Created, or
    MLflow folds the replicas under the run of their experiment. MLflow has no password: it listens
    on this machine alone, unless --host says otherwise.
    """
    load_params()  # or this is no project, and nothing shall be written
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise UserError(f"{host}:{port}: {error.strerror}; choose another --port") from None
    try:
        from pondering.track.load import load

        load(PROFILES)
    except UserError:
        raise
    except Exception as error:  # MLflow's, SQLAlchemy's or Alembic's, by what is wrong
        reason = " ".join(str(error).split())[:300]
        raise UserError(f"mlflow.db: {reason}; move the file away and try again") from error
    command = [sys.executable, "-m", "mlflow", "server", "--workers", "1"]
    command += ["--backend-store-uri", "sqlite:///mlflow.db", "--host", host, "--port", str(port)]
    command += ["--allowed-hosts", allowed_hosts] if allowed_hosts else []
    command += ["--uvicorn-opts", "--log-level warning --no-access-log"]
    click.echo(f"MLflow (Ctrl-C ends it): http://{host}:{port}/{FIRST}")
    sys.exit(_serve(command))


def _serve(command: list[str]) -> int:
    """Run MLflow's server until it ends, or Ctrl-C ends it with all processes that it has."""
    quiet = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "PYTHONWARNINGS": "ignore"}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    server = subprocess.Popen(command, env=os.environ | quiet, start_new_session=True)
    try:
        return server.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)  # it has nothing of its own to save
