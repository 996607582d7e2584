"""Whether an experiment's cell and schedule suit its task, and its mechanisms take their values."""

from __future__ import annotations

from inspect import signature

from pondering.model.cells import CELLS
from pondering.params.schema import ExperimentConfig
from pondering.project.errors import UserError
from pondering.tasks.base import Task
from pondering.train.build import make_halting
from pondering.train.draws import DRAWS


def check_fit(where: str, config: ExperimentConfig, task: Task) -> None:
    """Refuse a cell or a schedule that the task cannot have, and what a mechanism refuses.

    Args:
        where: the experiment's block in params.yaml, as `parity.quick`.

    Raises:
        UserError: images need a cell that reads them, and only they have a validation set; the
            device draws no text and no images; the cell has no forget gate; a mechanism's class
            refuses a setting, an option or another argument.
    """
    for mechanism in config.mechanisms:
        variants = {(each.setting, each.options): each for each in config.replicas(mechanism)}
        for replica in variants.values():
            try:
                make_halting(config, replica)
            except ValueError as error:
                raise UserError(f"params.yaml: {where}.{mechanism}.{error}") from None
    if config.training.draws == "device" and task.name not in DRAWS:
        raise UserError(
            f"params.yaml: {where}.training.draws: device: {task.name} is drawn on the host alone; "
            "allowed: host"
        )
    images, cell = hasattr(task, "validation_batch"), config.network.cell
    fitting = [name for name, kind in CELLS.items() if hasattr(kind, "side") == images]
    if cell not in fitting:
        raise UserError(
            f"params.yaml: {where}.network.cell: {cell!r} cannot read {task.name}; "
            f"allowed: {', '.join(fitting)}"
        )
    takes = [name for name, kind in CELLS.items() if "forget_bias" in signature(kind).parameters]
    if (bias := config.network.forget_bias) is not None and cell not in takes:
        raise UserError(
            f"params.yaml: {where}.network.forget_bias: {bias:g} is not allowed: {cell} has no "
            f"forget gate; allowed: null, or network.cell: {' or '.join(takes)}"
        )
    if config.training.validation is not None and not images:
        raise UserError(
            f"params.yaml: {where}.training.validation: {task.name} has no validation set; "
            "allowed: null"
        )
