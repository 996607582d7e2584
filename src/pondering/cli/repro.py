"""`make repro`: DVC's run of the pipeline, with the other cores training what it comes to last.

DVC runs one stage after another. A training resumes from its checkpoint and waits for whoever holds
it, so other processes may train the last stages while DVC is at the first: they write checkpoints
and nothing else, and when DVC comes to such a stage only its tables are left to write. What is
written is the same, bit for bit, with any number of trainers; `dvc repro` alone has one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from pondering.cli.check import check
from pondering.cli.mending import mend_lock, mend_rwlock
from pondering.params.read import load_params
from pondering.project import locks
from pondering.project.command import stage
from pondering.project.errors import Interrupted, UserError
from pondering.train.plan import plan
from pondering.train.stage import train_all

AT_MOST = 4  # processes that train at once; each wants some hundred MB


@click.command()
@click.argument("stages", nargs=-1)
def ahead(stages: tuple[str, ...]) -> None:
    """Train the named STAGES (train@PROFILE-EXPERIMENT-MECHANISM) up to their last checkpoints.

    One that is being trained already is left to whoever does so.
    """
    leader = locks.Leader()
    with stage():
        for name in stages:
            profile, _, run = name.removeprefix("train@").partition("-")
            experiment, _, mechanism = run.rpartition("-")
            params = load_params(Path("params.yaml"), profile)
            work = plan(params, experiment, mechanism, Path())
            work.folder.mkdir(parents=True, exist_ok=True)
            if not leader.gone() and not locks.held(work.folder / "lock"):
                with locks.alone(work.folder):
                    train_all(work)  # the tables are DVC's to write


@click.command()
@click.pass_context
def repro(ctx: click.Context) -> None:
    """Run what changed (`dvc repro`), with every core training.

    Trainings that it started stop at a checkpoint when it ends, killed or not.
    """
    with stage(), locks.leading(Path()):
        _refuse_read_only(load_params().profile)
        mend_rwlock()
        mend_lock()
        if not _changed():
            click.echo("repro: everything is up to date")
            return
        ctx.invoke(check, alone=True)
        count = _trainers() - 1
        stages: list[str] = []
        if count > 0:
            click.echo("repro: the data first (dvc repro datasets)")
            _leave_unless_zero(_dvc("repro", "datasets"))
            stages = [name for name in _changed() if name.startswith("train@")]
        click.echo("repro: running what changed (dvc repro)")
        with _company(stages, count):
            status = _dvc("repro")
        _leave_unless_zero(status)


def _refuse_read_only(profile: str) -> None:
    """Find out now what DVC would say in many lines, hours later.

    Raises:
        OSError: nothing can be written to a folder, which it names.
    """
    for folder in (Path(), Path("data"), Path("reports"), Path("reports") / profile):
        if folder.is_dir():
            try:
                with tempfile.TemporaryFile(dir=folder):
                    pass
            except OSError as error:
                error.filename = str(folder)
                raise


def _trainers() -> int:
    """How many processes train at once: one on a GPU, else what the cores carry."""
    from pondering.train.build import pick_device

    params = load_params()
    if pick_device(params.device).type != "cpu":
        return 1
    known = hasattr(os, "sched_getaffinity")  # not on macOS
    cores = len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
    return min(AT_MOST, cores // params.compute.threads)


def _changed() -> list[str]:
    """Names of the stages that DVC would run, in its order."""
    command = [sys.executable, "-m", "dvc", "status", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise UserError(f"dvc status failed: {done.stderr.strip() or done.stdout}") from None
    return list(found)


@contextmanager
def _company(stages: list[str], count: int) -> Iterator[None]:
    """Other processes at work on the last stages first, until the block ends."""
    backwards = stages[::-1]
    command = [sys.executable, "-m", "pondering.cli", "ahead", *backwards]
    wanted = min(count, len(stages) - 1)
    null = subprocess.DEVNULL  # DVC's run says it all
    others = [subprocess.Popen(command, stdout=null, stderr=null) for _ in range(wanted)]
    if others:
        click.echo(f"repro: {len(others)} more of the cores train what DVC comes to last")
    try:
        yield
    finally:
        for other in others:
            other.terminate()
        for other in others:
            other.wait()


def _dvc(*arguments: str) -> int:
    """DVC in the foreground; Ctrl-C is its to answer first, a termination is passed on.

    Raises:
        Interrupted: after Ctrl-C, when DVC has ended.
    """
    child = subprocess.Popen([sys.executable, "-m", "dvc", *arguments])
    stopped = False

    def note(*_: object) -> None:
        nonlocal stopped
        stopped = True

    signals = (signal.SIGINT, signal.SIGTERM)
    handlers = (note, lambda *_: child.terminate())
    before = [signal.signal(*pair) for pair in zip(signals, handlers, strict=True)]
    try:
        status = child.wait()
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
    if stopped:
        raise Interrupted("stopped; `make repro` goes on from there")
    return status


def _leave_unless_zero(status: int) -> None:
    if status:
        sys.exit(status if status > 0 else 128 - status)
