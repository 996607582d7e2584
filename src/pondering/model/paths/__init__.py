"""Other ways to compute the numbers of the readable network, and the one door to them.

- `readable`: the papers' equations step by step.
- `fast`: torch's own calls, the gradient by hand, for ACT, fixed repeat and PonderNet.
- `compiled`: loops that Numba compiles, for ACT and fixed repeat on a CPU; the default. In the
  pipeline a training on a GPU is done by `kernels` then, which are whole updates, no passes.

A path that has no code for a cell and a mechanism, or lacks Numba, leaves them to the next:
compiled to fast, fast to readable. So `sequence`, `every_step` and `without_gradient` return None
where another has to compute.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from pondering.model.paths import compiled, readable, skipping
from pondering.model.paths.fast import every_step as fast_steps
from pondering.model.paths.fast import sequence as fast_sequence
from pondering.model.paths.fast.forward import Sequence
from pondering.model.paths.readable import Ponder

PathName = Literal["readable", "fast", "compiled"]


def sequence(
    path: PathName, cell: Any, heads: Any, halting: Any, drives: Tensor, mask: Tensor
) -> Sequence | None:
    """ACT and fixed repeat in training: a whole sequence as one operation.

    Args:
        path: the path that was chosen.
        cell: stacked, a `cells.Cell`.
        heads: `heads.Heads`, which read output and halting logit off the state.
        halting: the mechanism.
        drives: (T, K, B, E), the embedded inputs.
        mask: (T, K, B) bool, False where a sequence is over.
    """
    if path == "readable" or not fast_sequence.supports(cell, halting):
        return None
    if _compiles(path, cell, halting, drives):
        from pondering.model.paths.compiled import operations  # Numba takes a second to load

        return operations.ponder(cell, heads, halting, drives, mask)
    return fast_sequence.ponder(cell, heads, halting, drives, mask)


def ponder(
    path: PathName,
    cell: Any,
    heads: Any,
    halting: Any,
    drive: Tensor,
    state: tuple[Tensor, ...],
    present: Tensor,
    crosses: bool,
) -> Ponder:
    """One input by the path, or by the readable one where the path has no code for it.

    Args:
        path, cell, heads, halting: as in `sequence`.
        drive: (..., B, E), the embedded input.
        state: tensors (..., B, H), what the previous input left.
        present: (..., B) bool, the rows that have an input.
        crosses: whether another input follows and reads the state. Where none does, a path may
            return the old state.
    """
    work = cell, heads, halting, drive, state, present
    found = every_step(path, *work, crosses) if present.dim() == 2 else None
    if found is None and not torch.is_grad_enabled():
        found = without_gradient(path, *work)
    return readable.ponder(*work) if found is None else found


def every_step(
    path: PathName,
    cell: Any,
    heads: Any,
    halting: Any,
    drive: Tensor,
    state: tuple[Tensor, ...],
    present: Tensor,
    crosses: bool,
) -> Ponder | None:
    """PonderNet: all N steps of one input of stacked replicas, (K, B) rows.

    Args: as in `ponder`.
    """
    if path == "readable" or not fast_steps.supports(cell, heads, halting):
        return None
    return fast_steps.ponder(cell, heads, halting, drive, state, present, crosses)


def without_gradient(
    path: PathName,
    cell: Any,
    heads: Any,
    halting: Any,
    drive: Tensor,
    state: tuple[Tensor, ...],
    present: Tensor,
) -> Ponder | None:
    """One input of a mechanism that scores the mixture; rows that have halted are not computed.

    Args: as in `ponder`, for a single network or stacked replicas.
    """
    if path == "readable" or halting.scores_every_step or not bool(present.any()):
        return None
    skip = skipping.ponder if present.dim() == 2 else skipping.ponder_alone
    return skip(cell, heads, halting, drive, state, present)


def _compiles(path: PathName, cell: Any, halting: Any, like: Tensor) -> bool:
    """Whether the compiled path was chosen and has loops for this device and precision."""
    if path != "compiled":
        return False
    known = compiled.has_loops(type(cell), halting, like.device, like.dtype)
    return known and compiled.installed()
