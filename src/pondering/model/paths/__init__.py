"""The paths: other ways to compute the numbers of the readable network.

- `readable`: the papers' equations step by step.
- `fast`: torch's calls with the gradient by hand, for ACT, fixed repeat and PonderNet.
- `compiled`: loops that Numba compiles, for ACT and fixed repeat on a CPU; the default. In a
  training of the pipeline on a GPU, `kernels` computes whole updates instead.

A path that has no code for a cell and a mechanism, or lacks Numba, gives way to the next one:
compiled to fast, fast to readable.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from pondering.model.paths import compiled, readable, skipping
from pondering.model.paths.fast import every_step
from pondering.model.paths.fast import sequence as fast
from pondering.model.paths.fast.forward import SequenceRecord
from pondering.model.paths.readable import InputRecord

PathName = Literal["readable", "fast", "compiled"]


def sequence(
    path: PathName, cell: Any, heads: Any, halting: Any, drives: Tensor, mask: Tensor
) -> SequenceRecord | None:
    """Ponder all inputs of a sequence as one operation, from a state of zeros, with a gradient.

    Args:
        path: the path of the network.
        cell: stacked, a `cells.Cell`.
        heads: stacked, `heads.Heads`.
        halting: the mechanism.
        drives: (T, K, B, E), the embedded inputs.
        mask: (T, K, B) bool, False after the end of a sequence.

    Returns:
        the record; None where the path has no such operation.
    """
    kind = type(cell)
    if path == "readable" or not fast.supports(kind, halting):
        return None
    loops = path == "compiled" and compiled.has_loops(kind, halting, drives.device, drives.dtype)
    if loops and compiled.installed():
        from pondering.model.paths.compiled import operations  # Numba takes a second to load

        return operations.ponder(cell, heads, halting, drives, mask)
    return fast.ponder(cell, heads, halting, drives, mask)


def ponder(
    path: PathName,
    cell: Any,
    heads: Any,
    halting: Any,
    drive: Tensor,
    state: tuple[Tensor, ...],
    present: Tensor,
    crosses: bool,
) -> InputRecord:
    """Ponder one input.

    Without a gradient a mechanism that scores the mixture skips the rows that have halted.

    Args:
        path, cell, heads, halting: as in `sequence`; also of a single network.
        drive: (..., B, E), the embedded input.
        state: tensors (..., B, H), from the previous input.
        present: (..., B) bool, the rows that have an input.
        crosses: whether the next input reads the state. If not, a path may return the old state.
    """
    work = cell, heads, halting, drive, state, present
    stacked = present.dim() == 2
    if path == "readable":
        return readable.ponder(*work)
    if stacked and every_step.supports(cell, heads, halting):
        return every_step.ponder(*work, crosses)
    if not torch.is_grad_enabled() and not halting.scores_every_step:
        return skipping.ponder(*work) if stacked else skipping.ponder_single(*work)
    return readable.ponder(*work)
