"""`pondering check`: params.yaml, whole, and the trainings in dvc.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pondering.cli.stages import check_trainings
from pondering.params.read import PROFILES, load_params
from pondering.params.schema import ExperimentConfig
from pondering.project.command import stage
from pondering.project.errors import UserError

if TYPE_CHECKING:  # torch takes seconds to import
    from pondering.tasks.base import Task


@click.command()
def check() -> None:
    """Check params.yaml whole: every experiment and task of every profile."""
    with stage():
        from pondering.tasks import make_task
        from pondering.train.build import check_path, make_halting, pick_device

        active = load_params()
        check_path(active.compute.path, pick_device(active.device))
        for profile in PROFILES:
            params = load_params(profile=profile)
            check_trainings(Path(), params)
            for name, config in params.experiments.items():
                task = make_task(config.task, name)
                _check_fit(name, profile, config, task)
                for mechanism in config.mechanisms:
                    make_halting(config, config.replicas(mechanism))
        count = len(active.experiments)
        click.echo(f"check: params.yaml is sound; profile {active.profile}, {count} experiments")


def _check_fit(name: str, profile: str, config: ExperimentConfig, task: Task) -> None:
    """Refuse a cell or a schedule that the task cannot have."""
    from pondering.model.cells import CELLS
    from pondering.train.build import cell_class, make_network

    images = hasattr(task, "validation_batch")
    where = f"params.yaml: {name}.{profile}"
    cell = config.network.cell
    if hasattr(cell_class(cell), "side") != images:
        allowed = ", ".join(each for each in CELLS if hasattr(CELLS[each], "side") == images)
        raise UserError(
            f"{where}.network.cell: {cell!r} cannot read {task.name}; allowed: {allowed}"
        )
    make_network(config, task, config.replicas(next(iter(config.mechanisms)))[:1])
    if config.training.validation is not None and not images:
        raise UserError(
            f"{where}.training.validation: {task.name} has no validation set; allowed: null"
        )
