"""Skip the rows that have halted: the rows that are still running are packed side by side.

The halting state keeps all rows (K, B) in their order. The cell's states are packed as (n, H), the
rows of one replica side by side. The packing of a replica, and each sum over its rows, depends on
that replica alone. So a neighbour that halts late, or turns into NaN, changes no bit of it. That
takes one product per replica, which is slow on a GPU and impossible around a user's cell. There
all replicas keep equally many rows ("padded").

`ponder` runs any stacked cell without a gradient, `ponder_single` the cell of a single network.
`fast/sequence.py` trains.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import grouped_mm

from pondering.model.halting import Halting
from pondering.model.paths.readable import InputRecord, add_share

KEPT_SHARE = 0.8  # pack again once at most this share of a replica's rows is running ...
WORTH = 1e5  # ... and the other rows would cost this many multiplications at every later step


class Rows(NamedTuple):
    """The n rows of K replicas that are computed, in their order."""

    inside: Tensor  # (K, B) bool: whether the row is computed
    places: Tensor | None  # (n,) index of the row among all K x B rows; None: all are computed
    ends: Tensor | None  # (K,) int32: the end of each replica's rows in n; None likewise
    counts: list[int]  # n by replica
    size: int  # B
    padded: bool  # replicas always have equal counts

    @property
    def in_one_piece(self) -> bool:
        """Whether every replica has n / K rows, so that one batched product is enough."""
        return self.padded or self.places is None

    def pick(self, home: Tensor) -> Tensor:
        """The computed rows (n, ...) of all rows (K x B, ...)."""
        return home if self.places is None else home.index_select(0, self.places)

    def put(self, home: Tensor, values: Tensor) -> Tensor:
        """All rows (K x B, ...), the computed ones set to `values` (n, ...); changes `home`."""
        return values if self.places is None else home.index_copy_(0, self.places, values)

    def by_replica(self, x: Tensor) -> tuple[Tensor, ...]:
        """Computed rows (n, ...) as K tensors, one a replica."""
        return torch.split(x, self.counts)


def all_rows(present: Tensor, padded: bool) -> Rows:
    """Every row of (K, B)."""
    replicas, size = present.shape
    return Rows(torch.ones_like(present), None, None, [size] * replicas, size, padded)


def repack(
    n: int, rows: Rows, running: Tensor, active: list[int], work: int
) -> tuple[Rows, Tensor] | None:
    """Leave out rows that have halted, where that saves more than it costs.

    This is tried after 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, ... steps.

    Args:
        n: steps taken.
        rows: the rows computed so far, n of them.
        running: (K, B) bool, rows that have not halted.
        active: running rows by replica.
        work: multiplications of one row's step.

    Returns:
        the fewer rows, n' of them, and their indices (n',) among the n; None: keep all rows.
    """
    odd = n // (n & -n) if n else 1
    if odd not in (1, 3):
        return None
    if rows.padded:
        active = [max(active)] * len(active)
    worth = WORTH / len(active) if rows.padded else WORTH
    counts = [
        few if few <= KEPT_SHARE * count and (count - few) * work > worth else count
        for count, few in zip(rows.counts, active, strict=True)
    ]
    if counts == rows.counts:
        return None
    # Running rows first, then halted rows up to the count.
    halted = rows.inside & ~running
    rank = halted.cumsum(1) + running.sum(1, keepdim=True)
    most = torch.tensor(counts, device=running.device)
    inside = running | (halted & (rank <= most.unsqueeze(1)))
    chosen = inside.flatten()
    indices = rows.pick(chosen).nonzero().squeeze(1)
    places, ends = chosen.nonzero().squeeze(1), most.cumsum(0, dtype=torch.int32)
    return rows._replace(inside=inside, places=places, ends=ends, counts=counts), indices


def products(rows: Rows, x: Tensor, weights: Tensor) -> Tensor:
    """Each replica's rows times its matrix: (n, O), for x (n, I) and weights (K, I, O)."""
    if rows.in_one_piece:
        return torch.bmm(x.view(len(weights), -1, x.shape[1]), weights).flatten(0, 1)
    if _fits_grouped_mm(x, weights):
        return grouped_mm(x, weights, offs=rows.ends)
    parts = zip(rows.by_replica(x), weights, strict=True)
    return torch.cat([part @ weight for part, weight in parts])


def _fits_grouped_mm(*parts: Tensor) -> bool:
    """Whether grouped_mm takes these: float32, and rows or columns of whole 16 bytes."""
    return all(x.dtype == torch.float32 and max(x.stride()[-2:]) % 4 == 0 for x in parts)


class WeightGradient:
    """The gradient of weights (K, O, I): the sum of d x^T over all rows and steps, by replica.

    A packed replica has few rows a step. They wait for one product over all steps. Whether a
    replica waits depends on that replica alone, so neighbours change none of its sums.

    Args:
        like: (K, O, I), the weights.
    """

    def __init__(self, like: Tensor) -> None:
        self.like = like
        self.sum: Tensor | None = None  # None: still zero
        self.waiting: list[list[tuple[Tensor, Tensor]]] = [[] for _ in like]  # (d, x) by replica

    def add(self, rows: Rows, d: Tensor, x: Tensor, active: list[int]) -> None:
        """Add one step.

        Args:
            rows: the rows of the step.
            d: (n, O), the gradient of the products; zero for a replica without `active` rows.
            x: (n, I), the factors of the weights.
            active: by replica, rows that had not halted before the step.
        """
        if rows.in_one_piece:
            count = len(self.like)
            transposed, factor = d.view(count, -1, d.shape[1]).mT, x.view(count, -1, x.shape[1])
            if self.sum is None:
                self.sum = torch.bmm(transposed, factor)
            else:
                self.sum.baddbmm_(transposed, factor)
            return
        for k, piece in enumerate(zip(rows.by_replica(d), rows.by_replica(x), strict=True)):
            if not active[k]:  # only zeros, but adding them could change the rounding
                continue
            if rows.counts[k] == rows.size:  # not packed: the same sum as without packing
                self.sum = torch.zeros_like(self.like) if self.sum is None else self.sum
                self.sum[k].addmm_(piece[0].T, piece[1])
            else:
                self.waiting[k].append(piece)

    def total(self) -> Tensor:
        """The gradient (K, O, I); called once, at the end."""
        pieces = [piece for each in self.waiting for piece in each]
        if not pieces:
            return torch.zeros_like(self.like) if self.sum is None else self.sum
        d, x = (torch.cat(parts) for parts in zip(*pieces, strict=True))
        counts = [sum(len(part) for part, _ in each) for each in self.waiting]
        if _fits_grouped_mm(d, x):
            ends = torch.tensor(counts, device=d.device).cumsum(0, dtype=torch.int32)
            late = grouped_mm(d.T, x, offs=ends)
        else:
            parts = zip(torch.split(d, counts), torch.split(x, counts), strict=True)
            late = torch.stack([one.T @ other for one, other in parts])
        return late if self.sum is None else self.sum.add_(late)


@torch.no_grad()
def ponder(
    cell: Any, heads: Any, halting: Halting, drive: Tensor, state: Any, present: Tensor
) -> InputRecord:
    """Ponder one input of K stacked replicas around any cell, without a gradient.

    Args: as in `readable.ponder`, with rows (K, B). The mechanism scores the mixture alone.
    """
    replicas, size = present.shape
    halting_state, rows = halting.start(present), all_rows(present, padded=True)
    parts, keeps_last = len(state), halting.carry == "last"
    home = [torch.zeros_like(part).flatten(0, 1) for part in state * (1 + keeps_last)]
    totals = [part.view(replicas, size, -1) for part in home]  # sum p_n s_n; then s_N, if kept
    logits = drive.new_zeros(replicas * size)
    unit, bias = heads.weight[:, -1:, :].mT, heads.bias[:, -1:].unsqueeze(-1)
    work = drive.shape[2] * state[0].shape[2]
    active = present.sum(1).tolist()
    n = computed = 0
    while any(active):
        fewer = repack(n, rows, halting_state.running, active, work)
        if fewer is not None:
            home = _put(rows, home, totals)
            rows, indices = fewer
            drive, *state = (_pick(part, indices, replicas) for part in (drive, *state))
            totals = [_pick(part, indices, replicas) for part in totals]
        n += 1
        computed += sum(rows.counts)
        state = cell.step(drive, tuple(state), n == 1)
        logit = torch.baddbmm(bias, state[0], unit).squeeze(-1)
        if heads.rest is not None:
            logit += (torch.cat(state[1:], -1) * heads.rest).sum(-1)
        logits = rows.put(logits, logit.flatten())
        running = rows.pick(halting_state.running.flatten()).view(replicas, -1, 1)
        weight, halting_state = halting.step(n, logits.view(replicas, size), halting_state)
        share = rows.pick(weight.flatten()).view(replicas, -1)
        last = [torch.where(running, a, b) for a, b in zip(state, totals[parts:], strict=False)]
        totals = [add_share(total, share, part) for total, part in zip(totals, state, strict=False)]
        totals += last
        active = [0] if n == halting.max_steps else halting_state.running.sum(1).tolist()
    done = tuple(part.view(replicas, size, -1) for part in _put(rows, home, totals))
    return InputRecord(None, None, None, done[0], done[-parts:], halting_state, computed)


@torch.no_grad()
def ponder_single(
    cell: Any, heads: Any, halting: Halting, drive: Tensor, state: Any, present: Tensor
) -> InputRecord:
    """Ponder one input of a single network, without a gradient.

    Args: as in `readable.ponder`, with rows (B,). The mechanism scores the mixture alone.
    """
    halting_state = halting.start(present)
    totals = tuple(torch.zeros_like(part) for part in state)
    last = tuple(part.clone() for part in state)
    logits = drive.new_zeros(present.shape)
    rows, computed = present.nonzero().squeeze(1), 0
    weights: list[Tensor] = []
    drive, state = drive[rows], tuple(part[rows] for part in state)
    while len(rows):
        computed += len(rows)
        state = cell.step(drive, state, not weights)
        logits[rows] = heads.read(state)[1]
        weight, halting_state = halting.step(len(weights) + 1, logits, halting_state)
        weights.append(weight)
        for total, end, part in zip(totals, last, state, strict=True):
            total[rows] = add_share(total[rows], weight[rows], part)
            end[rows] = part
        running = halting_state.running[rows]
        rows, drive, state = rows[running], drive[running], tuple(p[running] for p in state)
    ends = last if halting.carry == "last" else totals
    by_step = torch.stack(weights) if weights else drive.new_zeros(0, *present.shape)
    return InputRecord(by_step, None, None, totals[0], ends, halting_state, computed)


def _put(rows: Rows, home: list[Tensor], totals: list[Tensor]) -> list[Tensor]:
    """`home`, all rows' totals (K x B, H), with the computed rows set to `totals`."""
    pairs = zip(home, totals, strict=True)
    return [rows.put(all_of, part.flatten(0, 1)) for all_of, part in pairs]


def _pick(part: Tensor, indices: Tensor, replicas: int) -> Tensor:
    """Rows of (K, n, ...) by their indices, as many of every replica."""
    return part.flatten(0, 1).index_select(0, indices).view(replicas, -1, part.shape[2])
