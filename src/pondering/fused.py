"""The fastest path: one input's whole pondering as one operation with its gradient by hand.

Automatic differentiation spends most of a small network's time on bookkeeping: a node per
elementwise operation, a weight gradient per step. Here the forward pass keeps what the backward
pass needs and nothing else, rows that have halted leave the computation as in `packing.py`, and
weight gradients are one product over all ponder steps. For ACT the halting units' gradient is the
one Graves derives (Eqs. 14-20), asked of the mechanism. Pinned to the readable path by the tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pondering.halting import Progress
from pondering.kernels import KERNELS, Kernel, State
from pondering.packing import Order, is_worth, most_running, row_numbers


class _Step(NamedTuple):
    """What the backward pass needs of one ponder step, for packed rows (K, B')."""

    hidden: Tensor  # (K, B', H) hidden state before the step
    kept: State
    state: State  # after the step
    weight: Tensor  # (K, B')
    goes_on: Tensor  # (K, B') bool: the row takes another step


class _Repack(NamedTuple):
    """Between two steps: rows were reordered and only the first `size` of them kept."""

    order: Order
    before: int
    size: int


class _Tape(NamedTuple):
    """One input's pondering as the backward pass walks it, last to first."""

    kernel: Kernel
    recurrent: Tensor  # (K, E, H)
    halt_weight: Tensor  # (K, H, 1)
    gradient_of: Callable[..., Tensor]
    events: list[_Step | _Repack]
    home: Order  # from the order in which rows were set aside back to their own
    sizes: tuple[int, int]  # E and B


class _Ponder(torch.autograd.Function):
    """(drive, flag, recurrent, halt weight and bias, state) -> totals and progress."""

    @staticmethod
    def forward(ctx: Any, job: Any, *inputs: Any) -> tuple[Tensor, ...]:
        totals, progress, tape = _forward(job, *inputs)
        ctx.tape = tape
        ctx.has_flag = inputs[1] is not None
        ctx.mark_non_differentiable(progress.running, progress.steps, progress.expected)
        ctx.set_materialize_grads(False)
        return (*totals, *progress)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        count = len(gradients) - len(Progress._fields)
        progress = Progress._make(gradients[count:])
        parts = [g for g in (progress.remainder, progress.cost) if g is not None]
        d_cost = torch.stack(parts).sum(0) if parts else None
        found = _backward(ctx.tape, list(gradients[:count]), d_cost)
        drive, flag, recurrent, weight, bias, state = found
        ctx.tape = None
        return None, drive, flag if ctx.has_flag else None, recurrent, weight, bias, *state


class _Job(NamedTuple):
    kernel: Kernel
    halting: Any
    present: Tensor
    computed: list[int]  # rows evaluated at each step


def supports(cell: Any, halting: Any) -> bool:
    """Whether `ponder` knows the cell's kernel and the mechanism's own gradient."""
    return type(cell) in KERNELS and hasattr(halting, "logit_gradient")


def ponder(
    cell: Any, heads: Any, halting: Any, drive: Tensor, state: State, present: Tensor
) -> tuple[State, Progress, int]:
    """Ponder one input of K stacked replicas; arguments as `packing.ponder`.

    Returns:
        sum of p_n s_n, (K, B, H) each; the progress; rows x steps computed.
    """
    job = _Job(KERNELS[type(cell)], halting, present, [])
    weight, bias = heads.weight[:, -1:, :].mT, heads.bias[:, -1:].unsqueeze(-1)
    flag = None if cell.flag is None else cell.flag.unsqueeze(-2)
    found = _Ponder.apply(job, drive, flag, cell.recurrent, weight, bias, *state)  # type: ignore[no-untyped-call]
    progress = Progress._make(found[len(state) :])
    return found[: len(state)], progress, sum(job.computed)


def _forward(
    job: _Job,
    drive: Tensor,
    flag: Tensor | None,
    recurrent: Tensor,
    halt_weight: Tensor,
    halt_bias: Tensor,
    *state: Tensor,
) -> tuple[State, Progress, _Tape]:
    kernel, halting, present, _ = job
    progress = halting.start(present)
    totals: State = tuple(torch.zeros_like(part) for part in state)
    rows = row_numbers(present)
    events: list[_Step | _Repack] = []
    pieces: list[tuple[Tensor, State, Progress]] = []
    size, n = int(most_running(present)), 0
    if size < present.shape[1]:
        rows, drive, state, totals, progress = _pack(
            size, events, pieces, rows, drive, state, totals, progress
        )
    while size:
        n += 1
        flagged = drive + flag if n == 1 and flag is not None else drive
        pre = torch.baddbmm(flagged, state[0], recurrent.mT)
        hidden = state[0]
        state, kept = kernel.forward(pre, state)
        logit = torch.baddbmm(halt_bias, state[0], halt_weight).squeeze(-1)
        weight, progress = halting.step(n, logit, progress)
        for total, part in zip(totals, state, strict=True):
            total.addcmul_(weight.unsqueeze(-1), part)
        events.append(_Step(hidden, kept, state, weight, progress.running))
        job.computed.append(rows.numel())
        running = 0 if n == halting.max_steps else int(most_running(progress.running))
        if is_worth(running, size, recurrent.numel()):
            rows, drive, state, totals, progress = _pack(
                running, events, pieces, rows, drive, state, totals, progress
            )
            size = running
    home = Order.of(torch.cat([piece[0] for piece in pieces], dim=1).argsort(dim=-1))
    joined = [torch.cat(parts, 1) for parts in zip(*(p[1] for p in pieces), strict=True)]
    fields = [torch.cat(parts, 1) for parts in zip(*(p[2] for p in pieces), strict=True)]
    tape = _Tape(
        kernel, recurrent, halt_weight, halting.logit_gradient, events, home,
        (recurrent.shape[1], present.shape[1]),
    )  # fmt: skip
    own = tuple(home.rows(total) for total in joined)
    return own, Progress._make(home.rows(part) for part in fields), tape


def _pack(
    size: int,
    events: list[_Step | _Repack],
    pieces: list[Any],
    rows: Tensor,
    drive: Tensor,
    state: State,
    totals: State,
    progress: Progress,
) -> Any:
    """Keep the running rows, at most `size` per replica, and set the others aside."""
    ranks = torch.sort(progress.running, dim=-1, descending=True, stable=True).indices
    order = Order.of(ranks)
    events.append(_Repack(order, rows.shape[1], size))
    rows = order.rows(rows)
    sorted_totals = [order.rows(total) for total in totals]
    fields = [order.rows(part) for part in progress]
    aside = Progress._make(part[:, size:] for part in fields)
    pieces.append((rows[:, size:], tuple(total[:, size:] for total in sorted_totals), aside))
    if size:
        drive = order.rows(drive)[:, :size].contiguous()
        state = tuple(order.rows(part)[:, :size].contiguous() for part in state)
    kept = tuple(total[:, :size].contiguous() for total in sorted_totals)
    return rows[:, :size], drive, state, kept, Progress._make(part[:, :size] for part in fields)


def _backward(
    tape: _Tape, d_totals: list[Tensor | None], d_cost: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, list[Tensor]]:
    """Walk the tape from the last step to the first.

    Returns:
        gradients of drive, flag, recurrent, halt weight, halt bias, and the old state.
    """
    walk = _Walk(tape, d_totals, d_cost)
    for event in reversed(tape.events):
        if isinstance(event, _Repack):
            walk.unpack(event)
        else:
            walk.step(event)
    return walk.finish()


class _Walk:
    """The gradients in flight, for the rows of the current packing."""

    def __init__(self, tape: _Tape, d_totals: list[Tensor | None], d_cost: Tensor | None) -> None:
        self.tape = tape
        replicas = tape.recurrent.shape[0]
        like = tape.recurrent
        width, self.rows_at_home = tape.sizes
        hidden = tape.recurrent.shape[2]
        shape = (replicas, self.rows_at_home)
        full = [torch.zeros(*shape, hidden, dtype=like.dtype, device=like.device)
                if g is None else g for g in d_totals]  # fmt: skip
        cost = (
            torch.zeros(shape, dtype=like.dtype, device=like.device) if d_cost is None else d_cost
        )
        # Rows lie in the order in which they were set aside; the first of these are the earliest.
        self.aside_totals = [tape.home.back(g) for g in full]
        self.aside_cost = tape.home.back(cost)
        self.end = self.rows_at_home
        empty = like.new_empty
        self.d_state = [empty(replicas, 0, hidden) for _ in d_totals]
        self.d_drive = empty(replicas, 0, width)
        self.totals = [empty(replicas, 0, hidden) for _ in d_totals]
        self.cost = empty(replicas, 0)
        self.last = empty(replicas, 0)
        self.products: list[tuple[Tensor, Tensor]] = []
        self.halts: list[tuple[Tensor, Tensor]] = []
        self.d_flag: Tensor | None = None

    def unpack(self, event: _Repack) -> None:
        """Put the rows that were set aside behind the others, and take the order before."""
        count = event.before - event.size
        start = self.end - count
        back = event.order.back

        def joined(kept: Tensor, aside: Tensor | None) -> Tensor:
            if aside is None:
                aside = kept.new_zeros(kept.shape[0], count, *kept.shape[2:])
            return back(torch.cat([kept, aside], dim=1))

        self.totals = [
            joined(kept, aside[:, start : self.end])
            for kept, aside in zip(self.totals, self.aside_totals, strict=True)
        ]
        self.cost = joined(self.cost, self.aside_cost[:, start : self.end])
        self.d_state = [joined(part, None) for part in self.d_state]
        self.d_drive = joined(self.d_drive, None)
        self.last = joined(self.last, None)
        self.end = start

    def step(self, event: _Step) -> None:
        """One ponder step backwards."""
        scores = sum(
            (total * part).sum(-1) for total, part in zip(self.totals, event.state, strict=True)
        )
        # Walking back, a row's score is kept from its last step on.
        self.last = torch.where(event.goes_on, self.last, scores)
        # Where a row goes on its weight is the halting unit, p_n = h_n.
        d_logit = self.tape.gradient_of(scores, self.last, self.cost, event.weight)
        d_logit = torch.where(event.goes_on, d_logit, 0.0).unsqueeze(-1)
        weight = event.weight.unsqueeze(-1)
        d_state = [
            torch.addcmul(part, weight, total)
            for part, total in zip(self.d_state, self.totals, strict=True)
        ]
        d_state[0].baddbmm_(d_logit, self.tape.halt_weight.mT)
        d_pre, rest = self.tape.kernel.backward(event.kept, d_state)
        self.products.append((d_pre, event.hidden))
        self.halts.append((d_logit, event.state[0]))
        self.d_drive = self.d_drive + d_pre
        self.d_state = [torch.bmm(d_pre, self.tape.recurrent), *rest]

    def finish(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, list[Tensor]]:
        """Weight gradients, each as one product over the rows of all steps."""
        if not self.products:
            zero = torch.zeros_like
            recurrent, halt = zero(self.tape.recurrent), zero(self.tape.halt_weight)
            bias = halt.new_zeros(len(halt), 1, 1)
            return self.d_drive, self.d_drive.sum(1, True), recurrent, halt, bias, self.d_state
        d_pre, hidden = (torch.cat(parts, 1) for parts in zip(*self.products, strict=True))
        d_logit, states = (torch.cat(parts, 1) for parts in zip(*self.halts, strict=True))
        flag = self.products[-1][0].sum(1, keepdim=True)
        recurrent = torch.bmm(d_pre.mT, hidden)
        halt = torch.bmm(states.mT, d_logit)
        return self.d_drive, flag, recurrent, halt, d_logit.sum(1, keepdim=True), self.d_state
