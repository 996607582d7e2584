"""Other ways to compute the numbers of the readable network, and the one door to them.

`readable` is the network's own unroll, the papers' equations step by step. `fast` computes ACT,
fixed repeats and PonderNet of constant N with torch's own calls and the gradient by hand; on a GPU
it is the path. `compiled` has loops for a CPU. A path that has nothing for a cell and a mechanism
leaves them to the next one: compiled to fast, fast to readable.

Each function here answers None where no path applies, and then the readable network computes.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from pondering.model.paths import skipping
from pondering.model.paths.compiled import has_loops
from pondering.model.paths.fast import fused, unrolled

PathName = Literal["readable", "fast", "compiled"]


def sequence(
    path: PathName, cell: Any, heads: Any, halting: Any, drives: Tensor, mask: Tensor
) -> fused.Sequence | None:
    """ACT and fixed repeat in training: a whole sequence as one operation.

    Args:
        drives: (T, K, B, E), the embedded inputs.
        mask: (T, K, B) bool, False where a sequence is over.
    """
    if path == "readable" or not fused.supports(cell, halting):
        return None
    if _compiles(path, cell, halting, drives):
        from pondering.model.paths.compiled import operations  # Numba takes a second to load

        return operations.ponder(cell, heads, halting, drives, mask)
    return fused.ponder(cell, heads, halting, drives, mask)


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
    """PonderNet of constant N: all steps of one input; see `unrolled.ponder`.

    Args:
        drive: (K, B, E), the embedded input.
        state: tensors (K, B, H), what the previous input left.
        present: (K, B) bool, the rows that have an input.
        crosses: whether another input follows and reads the state.
    """
    if path == "readable" or not unrolled.supports(cell, halting):
        return None
    unroll = unrolled.unroll
    if torch.is_grad_enabled() and _compiles(path, cell, halting, drive):
        from pondering.model.paths.compiled import operations  # Numba takes a second to load

        unroll = operations.unroll
    return unrolled.ponder(cell, heads, halting, drive, state, present, unroll, crosses)


def without_gradient(
    path: PathName,
    cell: Any,
    heads: Any,
    halting: Any,
    drive: Tensor,
    state: tuple[Tensor, ...],
    present: Tensor,
) -> skipping.Finished | None:
    """One input of a mechanism that scores the mixture; rows that have halted leave."""
    if path == "readable" or halting.scores_every_step:
        return None
    return skipping.ponder(cell, heads, halting, drive, state, present)


def _compiles(path: PathName, cell: Any, halting: Any, like: Tensor) -> bool:
    """Whether the compiled path was chosen and has loops for numbers like these."""
    kind, hidden = type(cell), cell.state_sizes[0]
    return path == "compiled" and has_loops(kind, hidden, halting, like.device, like.dtype)
