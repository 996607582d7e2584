"""`pondering repro` runs `dvc repro` and trains the last stages of its queue in parallel.

DVC runs one stage after another. A training resumes from its checkpoint and waits while another
process trains the same run, so other processes may train the last stages while DVC is at the
first. They write checkpoints and nothing else; when DVC comes to such a stage, only its tables are
left to write. The results are the same, bit for bit, with any number of processes.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from pondering.cli.check import check
from pondering.params.read import load_params
from pondering.params.schema import Params
from pondering.project import locks
from pondering.project.command import stage
from pondering.project.errors import Interrupted, UserError
from pondering.train.build import pick_device
from pondering.train.plan import plan
from pondering.train.stage import train_all

AT_MOST = 4  # processes that train at once; each wants some hundred MB
DVC = [sys.executable, "-m", "dvc"]


@click.command()
@click.argument("stages", nargs=-1)
def ahead(stages: tuple[str, ...]) -> None:
    """Train the named STAGES (train@PROFILE-EXPERIMENT-MECHANISM) up to their last checkpoints.

    A stage that another process trains is left to that process.
    """
    with stage():
        for name in stages:
            profile, _, run = name.partition("@")[2].partition("-")
            experiment, _, mechanism = run.rpartition("-")
            work = plan(load_params(Path("params.yaml"), profile), experiment, mechanism, Path())
            if not locks.held(work.folder / "lock"):
                with locks.alone(work.folder):
                    train_all(work)  # the tables are DVC's to write


@click.command()
@click.pass_context
def repro(ctx: click.Context) -> None:
    """Run what changed (`dvc repro`), with every core training.

    Trainings that it started stop at a checkpoint when it ends, killed or not.
    """
    with stage(), locks.leading(Path()):
        params = load_params()
        if not _changed():
            click.echo("repro: everything is up to date")
            return
        ctx.invoke(check)
        helpers, trainings = _processes(params) - 1, []
        if helpers > 0:
            click.echo("repro: the data first (dvc repro datasets)")
            _dvc("repro", "datasets")
            trainings = [name for name in _changed() if name.startswith("train")]
        click.echo("repro: running what changed (dvc repro)")
        with _company(trainings, helpers):
            _dvc("repro")


def _processes(params: Params) -> int:
    """How many processes train at once: one on a GPU, else what the cores carry."""
    if pick_device(params.device).type != "cpu":
        return 1
    known = hasattr(os, "sched_getaffinity")  # not on macOS
    cores = len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
    return min(AT_MOST, cores // params.compute.threads)


def _changed() -> list[str]:
    """Names of the stages that DVC would run, in its order.

    Raises:
        UserError: another DVC is at work, or a killed one has left damaged files.
    """
    done = subprocess.run([*DVC, "status", "--json"], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return list(json.loads(done.stdout))
    said = done.stderr.strip()
    if busy := re.search(r"\(PID \d+\): .*", said):
        raise UserError(
            f"another run is at work in this folder, {busy[0]}; wait for its end, or stop it. "
            "If that is no dvc, a killed one left .dvc/tmp/rwlock behind; delete it"
        )
    if "RWLock-file" in said:
        raise UserError("a killed dvc left .dvc/tmp/rwlock cut off; delete it")
    if "dvc.lock" in said:
        said += " If a killed dvc has cut it off, `git checkout dvc.lock` or delete it"
    raise UserError(f"dvc status: {said}")


@contextmanager
def _company(trainings: list[str], helpers: int) -> Iterator[None]:
    """Train these stages in other processes, the last one first, until the block ends."""
    command = [sys.executable, "-m", "pondering.cli", "ahead", *trainings[::-1]]
    null = subprocess.DEVNULL  # DVC's run says it all
    wanted = min(helpers, len(trainings) - 1)
    others = [subprocess.Popen(command, stdout=null, stderr=null) for _ in range(wanted)]
    if others:
        click.echo(f"repro: training the last stages in parallel, processes: {len(others)}")
    try:
        yield
    finally:
        for other in others:
            other.terminate()
        for other in others:
            other.wait()


def _dvc(*arguments: str) -> None:
    """Run DVC in the foreground; its failure is this command's.

    The terminal sends Ctrl-C to DVC as well, which ends by itself; a termination is passed on.

    Raises:
        Interrupted: after Ctrl-C, when DVC has ended.
    """
    child = subprocess.Popen([*DVC, *arguments])
    before = signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    try:
        status = child.wait()
    except KeyboardInterrupt:
        child.wait()
        raise Interrupted("stopped; `make repro` goes on from there") from None
    finally:
        signal.signal(signal.SIGTERM, before)
    if status:
        sys.exit(status if status > 0 else 128 - status)
