"""`pondering check`: params.yaml, whole, and the trainings in dvc.yaml."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pondering.cli.stages import check_trainings
from pondering.params.mechanisms import MECHANISMS
from pondering.params.read import PROFILES, load_params
from pondering.params.schema import ExperimentConfig
from pondering.project.errors import UserError

if TYPE_CHECKING:  # torch takes seconds to import
    from pondering.model.halting import Halting
    from pondering.tasks.base import Task

FAULTS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


@click.command()
def check() -> None:
    """Check params.yaml whole: every experiment and task of every profile.

    Of each mechanism some steps are tried.
    """
    from pondering.tasks import make_task
    from pondering.train.build import check_path, make_halting, pick_device

    active, tried = load_params(), set[str]()
    check_path(active.compute.path, pick_device(active.device))
    for profile in PROFILES:
        params = load_params(profile=profile)
        check_trainings(Path(), params)
        for name, config in params.experiments.items():
            task = make_task(config.task, name)
            trained = [each for each in config.mechanisms if config.seeds_of(each)]
            _check_fit(name, profile, config, task, trained)
            for mechanism in trained:
                halting = make_halting(config, config.replicas(mechanism))
                if mechanism not in tried:
                    _check_step(mechanism, halting, len(config.replicas(mechanism)))
                    tried.add(mechanism)
    count = len(active.experiments)
    click.echo(f"check: params.yaml is sound; profile {active.profile}, {count} experiments")


def _check_fit(
    name: str, profile: str, config: ExperimentConfig, task: Task, trained: list[str]
) -> None:
    """Refuse a cell or a schedule that the task cannot have.

    Args:
        trained: its mechanisms that have seeds.
    """
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
    for mechanism in trained[:1]:
        make_network(config, task, config.replicas(mechanism)[:1])
    if config.training.validation is not None and not images:
        raise UserError(
            f"{where}.training.validation: {task.name} has no validation set; allowed: null"
        )


def _check_step(mechanism: str, halting: Halting, replicas: int) -> None:
    """Refuse a mechanism whose `step` does not answer as `model/halting/contract.py` says."""
    import torch

    where = f"{MECHANISMS[mechanism].path}: step"
    rows = replicas, replicas + 1  # of unequal length, or a setting (K,) would fit rows (B,)
    present = torch.ones(rows, dtype=torch.bool)
    present[:, 0] = False
    output, sums = torch.zeros(*rows, 2), torch.zeros(rows)
    try:
        state = halting.start(present)
        for n in range(1, halting.max_steps + 1):
            state = halting.look(output, (output,), state)
            weight, state = halting.step(n, torch.zeros(rows), state)
            parts = {"p_n": weight, "running": state.running, "steps": state.steps}
            for name, part in parts.items():
                if part.shape != rows:
                    shape = tuple(part.shape)
                    raise UserError(f"{where}: {name} is {shape}; (K, B) is due, here {rows}")
            sums += weight
    except FAULTS as error:
        *_, place = traceback.extract_tb(error.__traceback__)
        raise UserError(f"{where}: {error} ({place.filename}, line {place.lineno})") from None
    if not torch.allclose(sums, present.float(), atol=1e-4):
        raise UserError(
            f"{where}: over max_steps, p_n sums to {float(sums[0, 1]):.3g} in a row, and to "
            f"{float(sums[0, 0]):.3g} in one without input; 1 and 0 are due"
        )
