"""`pondering check`: params.yaml, whole."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from pondering.model.cells import CELLS
from pondering.params.read import MECHANISMS, PROFILES, load_params
from pondering.params.schema import ExperimentConfig
from pondering.project.command import stage
from pondering.project.errors import UserError
from pondering.tasks import make_task
from pondering.tasks.base import Task
from pondering.train.build import cell_class, check_path, make_halting, pick_device


@click.command()
@click.option("--alone", is_flag=True, help="Refuse as well while a `dvc repro` is at work here.")
def check(alone: bool) -> None:
    """Check params.yaml whole: every experiment and task of every profile."""
    with stage():
        if alone:
            _refuse_company(Path())
        active = load_params()
        check_path(active.compute.path, pick_device(active.device))
        for profile in PROFILES:
            for name, config in load_params(profile=profile).experiments.items():
                task = make_task(config.task, name)
                _check_fit(name, profile, config, task)
                for mechanism in MECHANISMS:
                    make_halting(config, mechanism, config.settings(mechanism))
        count = len(active.experiments)
        click.echo(f"check: params.yaml is sound; profile {active.profile}, {count} experiments")


def _refuse_company(root: Path) -> None:
    """DVC refuses by itself what another process has begun, in many lines: here it is one."""
    try:
        held = json.loads((root / ".dvc/tmp/rwlock").read_text(encoding="utf-8"))
        readers = [reader for each in held.get("read", {}).values() for reader in each]
        for info in [*held.get("write", {}).values(), *readers]:
            os.kill(int(info["pid"]), 0)  # raises unless there is such a process
            raise UserError(
                f"another run is at work in this folder (process {info['pid']}: {info['cmd']}); "
                "wait for its end, or stop it"
            )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return  # nobody there, or nothing that we can read: DVC looks for itself


def _check_fit(name: str, profile: str, config: ExperimentConfig, task: Task) -> None:
    """Refuse a cell or a schedule that the task cannot have."""
    images = hasattr(task, "validation_batch")
    where = f"params.yaml: {name}.{profile}"
    cell = config.network.cell
    if hasattr(cell_class(cell), "side") != images:
        allowed = ", ".join(each for each in CELLS if hasattr(CELLS[each], "side") == images)
        raise UserError(
            f"{where}.network.cell: {cell!r} cannot read {task.name}; allowed: {allowed}"
        )
    if config.training.validation is not None and not images:
        raise UserError(
            f"{where}.training.validation: {task.name} has no validation set; allowed: null"
        )
