"""Which numerical path a training takes; it changes last digits, so it is in no replica's hash."""

from __future__ import annotations

from typing import Literal

import torch

from pondering.model.cells import CELLS
from pondering.model.paths import PathName
from pondering.model.paths.compiled import has_loops
from pondering.params.schema import ExperimentConfig
from pondering.project.errors import UserError
from pondering.train import kernels
from pondering.train.build import make_halting

LANES = {"readable": 16, "compiled": 16, "fast": 32}  # floats that a path's functions take at once


def path_of(
    wanted: Literal["readable", "fast", "auto"],
    config: ExperimentConfig,
    mechanism: str,
    device: torch.device,
) -> PathName:
    """The path of an experiment's training.

    Args:
        wanted: readable, fast, or auto: `compiled` where there are loops for it (on a CPU) or
            kernels (on a GPU), else `fast`.

    Raises:
        UserError: auto, on a CPU where Numba is missing or cannot store its code.
    """
    if wanted != "auto":
        return wanted
    if device.type == "cuda":
        return "fast" if kernels.missing(config, mechanism, device) else "compiled"
    if device.type != "cpu":
        return "fast"
    try:
        from pondering.model.paths.compiled import operations  # noqa: F401
    except (ImportError, OSError, RuntimeError) as error:  # the last: no cache folder
        reason = str(error).partition(" for file")[0]
        raise UserError(
            f"params.yaml: compute.path: auto: {reason}; pip install 'pondering[compiled]', "
            "set NUMBA_CACHE_DIR to a folder that can be written, or set the path to fast"
        ) from None
    halting = make_halting(config, config.replicas(mechanism)[0])
    return "compiled" if has_loops(CELLS[config.network.cell], halting, device) else "fast"
