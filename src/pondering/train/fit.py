"""Whether an experiment's cell and schedule suit its task, and its mechanisms take their values."""

from __future__ import annotations

from pondering.model.cells import CELLS
from pondering.params.read import ExperimentConfig
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
            device draws no text and no images; a mechanism's class refuses a setting, an option or
            another argument.
    """
    for mechanism in config.mechanisms:
        for replica in config.replicas(mechanism):
            try:
                make_halting(config, replica)
            except UserError as error:
                if isinstance(error.__context__, ValueError):  # the class refuses a value
                    said = f"params.yaml: {where}.{mechanism}.{error.__context__}"
                    raise UserError(said) from None
                raise
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
    if config.training.validation is not None and not images:
        raise UserError(
            f"params.yaml: {where}.training.validation: {task.name} has no validation set; "
            "allowed: null"
        )
