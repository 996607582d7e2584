"""The fast path: rows that have halted leave the computation.

In a dense unroll every row pays for the slowest. Here the rows still running are packed together,
per replica and padded to the largest count, whenever a good share of them has halted. The numbers
are those of the readable path in `network.py`, up to the order of summation; the tests pin forward
and gradient of every mechanism and cell to it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from pondering.halting import Halting, Progress

KEPT_SHARE = 0.8  # repack once at most this share of the packed rows is running ...
WORTH = 2e6  # ... and the others would cost this many multiplications at every further step


def is_worth(running: int, packed: int, work: int) -> bool:
    """Whether repacking pays: `work` is the multiplications of one row of every replica."""
    return not running or (running <= KEPT_SHARE * packed and (packed - running) * work > WORTH)


class Finished(NamedTuple):
    """Rows (K, B) in their own order again, all halted."""

    totals: tuple[Tensor, ...]  # (K, B, H) each: sum of p_n s_n
    progress: Progress
    weights: list[Tensor]  # empty: the fast path keeps no weights of single steps
    computed: int


class _Permute(torch.autograd.Function):
    """Rows in another order; the gradient is the inverse order, not a slow scattered sum."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, order: Tensor, inverse: Tensor) -> Tensor:
        ctx.save_for_backward(inverse)
        return x.flatten(0, 1).index_select(0, order).view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (inverse,) = ctx.saved_tensors
        (gradient,) = gradients
        return gradient.flatten(0, 1).index_select(0, inverse).view_as(gradient), None, None


class Order(NamedTuple):
    """A permutation of the rows within each replica, as indices into (K x B) flat rows."""

    forward: Tensor
    inverse: Tensor

    @classmethod
    def of(cls, ranks: Tensor) -> Order:
        """From row numbers (K, B)."""
        start = torch.arange(ranks.shape[0], device=ranks.device).unsqueeze(-1) * ranks.shape[1]
        inverse = torch.empty_like(ranks).scatter_(1, ranks, row_numbers(ranks))
        return cls((ranks + start).flatten(), (inverse + start).flatten())

    def rows(self, x: Tensor) -> Tensor:
        """Reorder (K, B, ...), without a gradient."""
        return x.flatten(0, 1).index_select(0, self.forward).view_as(x)

    def back(self, x: Tensor) -> Tensor:
        """The inverse of `rows`."""
        return x.flatten(0, 1).index_select(0, self.inverse).view_as(x)

    def apply(self, x: Tensor) -> Tensor:
        """Reorder (K, B, ...)."""
        permuted: Tensor = _Permute.apply(x, self.forward, self.inverse)  # type: ignore[no-untyped-call]
        return permuted


def ponder(
    cell: Any, heads: Any, halting: Halting, drive: Tensor, state: Any, present: Tensor
) -> Finished:
    """Ponder one input of K stacked replicas, packing the rows that still run.

    Args:
        cell: stacked, see `cells`.
        heads: linear map of the hidden state to (output, halting logit).
        halting: a mechanism that scores the mixture alone.
        drive: (K, B, E), the embedded input.
        state: tensors (K, B, H), what the previous input left.
        present: (K, B) bool, the rows that have an input.
    """
    progress = halting.start(present)
    totals = tuple(torch.zeros_like(part) for part in state)
    rows = row_numbers(present)
    pieces: list[tuple[Tensor, tuple[Tensor, ...], Progress]] = []
    weight_of, bias_of = heads.weight[:, -1:, :].mT, heads.bias[:, -1:].unsqueeze(-1)
    n = computed = 0
    work = drive.shape[0] * drive.shape[2] * state[0].shape[2]
    size = int(most_running(present))
    if size < present.shape[1]:
        rows, drive, state, totals, progress = _repack(
            size, pieces, rows, drive, state, totals, progress
        )
    while size:
        n += 1
        computed += rows.numel()
        alive = progress.running.unsqueeze(-1)
        fresh = cell.step(drive, state, n == 1)
        state = tuple(torch.where(alive, a, b) for a, b in zip(fresh, state, strict=True))
        logit = torch.baddbmm(bias_of, state[0], weight_of).squeeze(-1)
        weight, progress = halting.step(n, logit, progress)
        totals = tuple(
            halting.carry(total, weight, part) for total, part in zip(totals, state, strict=True)
        )
        running = 0 if n == halting.max_steps else int(most_running(progress.running))
        if is_worth(running, size, work):
            rows, drive, state, totals, progress = _repack(
                running, pieces, rows, drive, state, totals, progress
            )
            size = running
    return _reunite(pieces, computed)


def row_numbers(rows: Tensor) -> Tensor:
    """0 .. B-1 for every replica, (K, B)."""
    return torch.arange(rows.shape[-1], device=rows.device).expand(rows.shape)


def most_running(running: Tensor) -> Tensor:
    """The largest number of running rows in any replica."""
    return running.sum(-1).amax()


def _repack(
    size: int,
    pieces: list[Any],
    rows: Tensor,
    drive: Tensor,
    state: tuple[Tensor, ...],
    totals: tuple[Tensor, ...],
    progress: Progress,
) -> Any:
    """Sort running rows to the front, keep `size` of them, set the rest, all halted, aside."""
    ranks = torch.sort(progress.running, dim=-1, descending=True, stable=True).indices
    order = Order.of(ranks)
    rows = order.apply(rows)
    totals = tuple(order.apply(part) for part in totals)
    progress = Progress(*(order.apply(part) for part in progress))
    split = [size, rows.shape[1] - size]
    kept_totals, done_totals = _halves(totals, split)
    kept_progress, done_progress = _halves(progress, split)
    pieces.append((rows[:, size:], done_totals, Progress(*done_progress)))
    if size:
        drive = order.apply(drive)[:, :size]
        state = tuple(order.apply(part)[:, :size] for part in state)
    return rows[:, :size], drive, state, kept_totals, Progress(*kept_progress)


def _halves(parts: tuple[Tensor, ...], split: list[int]) -> tuple[Any, Any]:
    halves = [torch.split(part, split, dim=1) for part in parts]
    return tuple(first for first, _ in halves), tuple(second for _, second in halves)


def _reunite(pieces: list[Any], computed: int) -> Finished:
    """Bring all rows back into their own order."""
    rows = torch.cat([piece[0] for piece in pieces], dim=1)
    order = Order.of(rows.argsort(dim=-1))
    totals = [torch.cat(parts, dim=1) for parts in zip(*(p[1] for p in pieces), strict=True)]
    fields = [torch.cat(parts, dim=1) for parts in zip(*(p[2] for p in pieces), strict=True)]
    return Finished(
        tuple(order.apply(total) for total in totals),
        Progress(*(order.apply(part) for part in fields)),
        [],
        computed,
    )
