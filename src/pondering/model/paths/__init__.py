"""Other ways to compute the numbers of the readable network, and the one door to them.

- `readable`: the network's own unroll, the papers' equations step by step (`network.py`).
- `fast`: torch's own calls, the gradient by hand, for ACT, fixed repeat and PonderNet of constant
  N. It is the path for a GPU.
- `compiled`: loops that Numba compiles, for a CPU.

A path that has no code for a cell and a mechanism leaves them to the next: compiled to fast, fast
to readable. So each function here returns None where the readable network has to compute.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from pondering.model.paths import skipping
from pondering.model.paths.compiled import has_loops
from pondering.model.paths.fast import every_step as fast_steps
from pondering.model.paths.fast import sequence as fast_sequence
from pondering.model.paths.fast.forward import Sequence

PathName = Literal["readable", "fast", "compiled"]


def sequence(
    path: PathName, cell: Any, heads: Any, halting: Any, drives: Tensor, mask: Tensor
) -> Sequence | None:
    """ACT and fixed repeat in training: a whole sequence as one operation.

    Args:
        path: the path that was chosen.
        cell: stacked, a `cells.Cell`.
        heads: the linear map of the hidden state to (output, halting logit).
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


def every_step(
    path: PathName,
    cell: Any,
    heads: Any,
    halting: Any,
    drive: Tensor,
    state: tuple[Tensor, ...],
    present: Tensor,
    crosses: bool,
) -> tuple[Any, ...] | None:
    """PonderNet of constant N: all steps of one input; see `fast.every_step.ponder`.

    Args:
        path, cell, heads, halting: as in `sequence`.
        drive: (K, B, E), the embedded input.
        state: tensors (K, B, H), what the previous input left.
        present: (K, B) bool, the rows that have an input.
        crosses: whether another input follows and reads the state.
    """
    if path == "readable" or not fast_steps.supports(cell, halting):
        return None
    unroll = fast_steps.unroll
    if torch.is_grad_enabled() and _compiles(path, cell, halting, drive):
        from pondering.model.paths.compiled import operations  # Numba takes a second to load

        unroll = operations.unroll
    return fast_steps.ponder(cell, heads, halting, drive, state, present, unroll, crosses)


def without_gradient(
    path: PathName,
    cell: Any,
    heads: Any,
    halting: Any,
    drive: Tensor,
    state: tuple[Tensor, ...],
    present: Tensor,
) -> skipping.Finished | None:
    """One input of a mechanism that scores the mixture; rows that have halted are not computed.

    Args: as in `every_step`.
    """
    if path == "readable" or halting.scores_every_step:
        return None
    return skipping.ponder(cell, heads, halting, drive, state, present)


def _compiles(path: PathName, cell: Any, halting: Any, like: Tensor) -> bool:
    """Whether the compiled path was chosen and has loops for this device and precision."""
    kind, hidden = type(cell), cell.state_sizes[0]
    return path == "compiled" and has_loops(kind, hidden, halting, like.device, like.dtype)
