"""The fast path of ACT and fixed repeat in training: a sequence's pondering, its gradient by hand.

Automatic differentiation spends most of a small network's time on bookkeeping. Here the whole
sequence is one operation: the forward pass keeps what the backward pass needs and nothing else,
rows that have halted leave as in `packing.py`, and for ACT the halting units' gradient is the one
Graves derives (Eqs. 14-20), asked of the mechanism. Pinned to the readable path by the tests.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from pondering.model.halting import ACT, FixedRepeat, HaltingState
from pondering.model.paths.fast.kernels import KERNELS, Kernel, State
from pondering.model.paths.skipping import Rows, WeightGradient, all_rows, products, repack


class Sequence(NamedTuple):
    """T input vectors that K stacked replicas have pondered."""

    features: Tensor  # (T, K, B, H): sum of p_n s_n; where there is no input, the state before
    ponder_time: Tensor  # (T, K, B), as in `Pondered`, and the next three too
    remainder: Tensor
    cost: Tensor
    expected_steps: Tensor
    computed: int  # rows x steps


class _Step(NamedTuple):
    """What the backward pass needs of one ponder step, for n packed rows."""

    hidden: Tensor | None  # (n, H) hidden state before the step; None: zero
    kept: State
    state: State  # after the step
    weight: Tensor  # (n,)
    goes_on: Tensor  # (n,) bool: the row takes another step
    left: list[int]  # rows by replica that had not halted before it


class _Repack(NamedTuple):
    """Between two steps: only the rows `kept` of those before went on."""

    before: Rows
    units: Tensor
    kept: Tensor


class _Tape(NamedTuple):
    """One input's pondering as the backward pass walks it, last to first."""

    events: list[_Step | _Repack]
    rows: Rows  # of the last step
    units: Tensor


class _Job(NamedTuple):
    """What does not take part in differentiation."""

    kernel: Kernel
    halting: Any
    mask: Tensor  # (T, K, B) bool
    parts: int  # tensors of the state


def supports(cell: Any, halting: Any) -> bool:
    """Whether `ponder` knows the cell's kernel and the mechanism's own gradient, no subclass's."""
    return type(cell) in KERNELS and type(halting) in (ACT, FixedRepeat)


def ponder(cell: Any, heads: Any, halting: Any, drives: Tensor, mask: Tensor) -> Sequence:
    """Ponder every input of a sequence, from a state of zeros.

    Args:
        cell: stacked, see `cells`.
        heads: linear map of the hidden state to (output, halting logit).
        halting: ACT or FixedRepeat.
        drives: (T, K, B, E), the embedded inputs.
        mask: (T, K, B) bool, False where a sequence is over.
    """
    job = _Job(KERNELS[type(cell)], halting, mask, len(cell.state_sizes))
    weight, bias = heads.weight[:, -1, :], heads.bias[:, -1:]
    found = _Ponder.apply(job, drives, cell.flag, cell.recurrent, weight, bias)  # type: ignore[no-untyped-call]
    return Sequence(*found)


class _Ponder(torch.autograd.Function):
    """(drives, flag, recurrent, halt weight and bias) -> a `Sequence`."""

    @staticmethod
    def forward(ctx: Any, job: _Job, *inputs: Any) -> tuple[Any, ...]:
        walk = _Forward(job, *inputs)
        done = walk.run()
        ctx.walk = walk
        ctx.save_for_backward(*inputs[2:4])
        ctx.mark_non_differentiable(done.ponder_time, done.expected_steps)
        ctx.set_materialize_grads(False)
        return done

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Tensor | None, ...]:
        given = Sequence(*gradients)
        parts = [g for g in (given.remainder, given.cost) if g is not None]
        d_cost = torch.stack(parts).sum(0) if parts else None
        if ctx.walk is None:
            raise RuntimeError("a second backward pass: the first has used up the tape")
        _ = ctx.saved_tensors  # torch looks whether the weights are as they were
        walk = _Backward(ctx.walk, given.features, d_cost)
        ctx.walk = None
        return None, *walk.run()


class _Forward:
    """The sequence forwards; it stays behind as the tape of the backward pass."""

    def __init__(
        self,
        job: _Job,
        drives: Tensor,
        flag: Tensor | None,
        recurrent: Tensor,
        halt_weight: Tensor,
        halt_bias: Tensor,
    ) -> None:
        self.job, self.recurrent, self.halt_bias = job, recurrent, halt_bias
        self.turned = recurrent.mT
        self.times, self.replicas, self.size = job.mask.shape
        self.width, self.hidden = recurrent.shape[1:]
        self.flag = None if flag is None else flag.unsqueeze(1)
        self.drives = drives
        # Each row's halting unit, written out: one shape of sum whatever is packed.
        self.all_units = halt_weight.repeat_interleave(self.size, 0)
        # A GPU has no time for a product per replica.
        self.everyone = all_rows(job.mask[0], padded=drives.is_cuda)
        self.complete = job.mask.flatten(1).all(1).tolist()
        self.present = job.mask.sum(2).tolist()
        self.tapes: list[_Tape] = []
        self.computed = 0

    def run(self) -> Sequence:
        """Ponder one input after the other."""
        rows = self.replicas * self.size
        state: State = tuple(
            self.drives.new_zeros(rows, self.hidden) for _ in range(self.job.parts)
        )
        features, records = [], []  # by input
        for time in range(self.times):
            totals, halted = self._input(time, state)
            if self.complete[time]:
                state = totals
            else:
                there = self.job.mask[time].reshape(rows, 1)
                state = tuple(torch.where(there, a, b) for a, b in zip(totals, state, strict=True))
            features.append(state[0])
            records.append((halted.steps, halted.remainder, halted.cost, halted.expected_steps))
        joined = _stacked(features).view(self.times, self.replicas, self.size, -1)
        steps, remainder, cost, expected = map(torch.stack, zip(*records, strict=True))
        return Sequence(joined, steps, remainder, cost, expected, self.computed)

    def _input(self, time: int, state: State) -> tuple[State, HaltingState]:
        """Step until every row has halted: the rows' totals (K x B, H) and where they stand."""
        halting, kernel = self.job.halting, self.job.kernel
        halted = halting.start(self.job.mask[time])
        rows, units, left = self.everyone, self.all_units, self.present[time]
        drive = self.drives[time]
        flagged = drive if self.flag is None else drive + self.flag
        drive, first = drive.flatten(0, 1), flagged.flatten(0, 1)
        totals = [torch.zeros_like(part) for part in state]
        logits = drive.new_zeros(self.replicas * self.size)
        home: list[Tensor] | None = None  # all rows' totals, once some have left
        events: list[_Step | _Repack] = []
        n = 0
        while any(left):
            fewer = repack(n, rows, halted.running, left, self.width * self.hidden)
            if fewer is not None:
                home = _put(rows, home, totals)
                events.append(_Repack(rows, units, fewer[1]))
                rows, kept = fewer
                state = tuple(part.index_select(0, kept) for part in state)
                totals = [part.index_select(0, kept) for part in totals]
                units = units.index_select(0, kept)
                first = first.index_select(0, kept) if n == 0 else first
                drive = drive.index_select(0, kept)
            n += 1
            begins = n == 1 and time == 0  # the state is zero, and so is its product
            hidden = None if begins else state[0]
            base = first if n == 1 else drive
            if not begins:
                pre = products(rows, state[0], self.turned).add_(base)
            else:  # with a flag, `first` is not used again
                pre = base.clone() if self.flag is None else base
            state, saved = kernel.forward(pre, state)
            if halting.learns:
                logits = rows.put(logits, (state[0] * units).sum(1))
            logit = logits.view(self.replicas, self.size) + self.halt_bias
            weight, halted = halting.step(n, logit, halted)
            share, goes_on = rows.of(weight.flatten()), rows.of(halted.running.flatten())
            column = share.unsqueeze(1)
            for total, part in zip(totals, state, strict=True):
                total.addcmul_(column, part)
            events.append(_Step(hidden, saved, state, share, goes_on, left))
            self.computed += rows.total
            left = [] if n == halting.max_steps else halted.running.sum(1).tolist()
        self.tapes.append(_Tape(events, rows, units))
        return tuple(_put(rows, home, totals)), halted


def _stacked(parts: list[Tensor]) -> Tensor:
    """(T, ...), without a copy where T is 1."""
    return parts[0].unsqueeze(0) if len(parts) == 1 else torch.stack(parts)


def _put(rows: Rows, home: list[Tensor] | None, totals: list[Tensor]) -> list[Tensor]:
    """All rows' totals, those that are computed among them."""
    if home is None:
        return totals
    return [rows.put(all_of, part) for all_of, part in zip(home, totals, strict=True)]


class _Backward:
    """The sequence backwards, and each input's steps from the last to the first."""

    def __init__(self, tape: _Forward, d_features: Tensor | None, d_cost: Tensor | None) -> None:
        self.tape, self.halting, self.kernel = tape, tape.job.halting, tape.job.kernel
        self.count = tape.replicas * tape.size
        self.shape = (tape.replicas, tape.size, -1)
        self.zeros = tape.drives.new_zeros
        self.d_features = None if d_features is None else d_features.flatten(1, 2)
        self.d_cost = None if d_cost is None else d_cost.flatten(1, 2)
        self.d_recurrent = WeightGradient(tape.recurrent)
        self.d_units = torch.zeros_like(tape.all_units)
        self.d_bias = self.zeros(self.count)
        self.d_flag: Tensor | None = None

    def run(self) -> tuple[Tensor | None, ...]:
        """Gradients of drives, flag, recurrent, halt weight and halt bias."""
        tape = self.tape
        d_drives: list[Tensor] = []  # last to first
        d_state = [self.zeros(self.count, tape.hidden) for _ in range(tape.job.parts)]
        for time in reversed(range(tape.times)):
            if self.d_features is not None:
                late = self.d_features[time]
                d_state[0] = d_state[0] + late if d_drives else late
            there = None
            if not tape.complete[time]:
                there = tape.job.mask[time].reshape(-1, 1)
            d_totals = d_state
            if there is not None:
                d_totals = [torch.where(there, part, 0.0) for part in d_state]
            d_drive, d_first, d_old = self._input(time, d_totals)
            if d_drive is None:
                d_drive = self.zeros(self.count, tape.width)
            d_drives.append(d_drive.view(self.shape))
            if tape.flag is not None and d_first is not None:
                share = d_first.view(self.shape).sum(1)
                self.d_flag = share if self.d_flag is None else self.d_flag + share
            if there is not None:  # where there is no input the state stood still
                d_old = [torch.where(there, old, d) for old, d in zip(d_old, d_state, strict=True)]
            d_state = d_old
        return (
            _stacked(d_drives[::-1]),
            self.zeros(tape.replicas, tape.width)
            if self.d_flag is None and tape.flag is not None
            else self.d_flag,
            self.d_recurrent.total(),
            self.d_units.view(self.shape).sum(1),
            self.d_bias.view(self.shape[:2]).sum(1, keepdim=True),
        )

    def _input(
        self, time: int, d_totals: list[Tensor]
    ) -> tuple[Tensor | None, Tensor | None, list[Tensor]]:
        """One input backwards: gradients of drive, pre-activations at step 1, and old state."""
        events, rows, units = self.tape.tapes[time]
        cost = self.zeros(self.count) if self.d_cost is None else self.d_cost[time]
        last = self.zeros(self.count)  # dL/dp of each row's last step
        totals = [rows.of(part) for part in d_totals]
        d_state: list[Tensor] = []  # none yet: zero
        d_drive = d_pre = None
        for event in reversed(events):
            if isinstance(event, _Repack):
                # What had left comes in again: later steps gave it no gradient.
                rows, units = event.before, event.units
                totals = [rows.of(part) for part in d_totals]
                d_state = [_widened(part, rows, event.kept) for part in d_state]
                d_drive = None if d_drive is None else _widened(d_drive, rows, event.kept)
                d_pre = None if d_pre is None else _widened(d_pre, rows, event.kept)
                continue
            column = event.weight.unsqueeze(1)
            if d_state:
                d_state = [
                    part.addcmul_(column, total)
                    for part, total in zip(d_state, totals, strict=True)
                ]
            else:
                d_state = [column * total for total in totals]
            if self.halting.learns:
                last = self._halting_unit(rows, event, totals, last, cost, units, d_state[0])
            d_pre, rest = self.kernel.backward(event.kept, d_state)
            d_drive = d_pre if d_drive is None else d_drive + d_pre
            if event.hidden is not None:
                self.d_recurrent.add(rows, d_pre, event.hidden, event.left)
                d_state = [products(rows, d_pre, self.tape.recurrent), *rest]
        if d_drive is None:  # no row had an input
            d_state = [torch.zeros_like(part) for part in d_totals]
        return d_drive, d_pre, d_state

    def _halting_unit(
        self,
        rows: Rows,
        event: _Step,
        totals: list[Tensor],
        last: Tensor,
        cost: Tensor,
        units: Tensor,
        d_hidden: Tensor,
    ) -> Tensor:
        """Gradient of the step's halting units, added to all that it reaches; the new `last`."""
        scores = (totals[0] * event.state[0]).sum(1)
        for total, part in zip(totals[1:], event.state[1:], strict=True):
            scores += (total * part).sum(1)
        # Walking back, a row's score is kept from its last step on.
        final = torch.where(event.goes_on, rows.of(last), scores)
        # Where a row goes on its weight is the halting unit, p_n = h_n.
        d_logit = self.halting.logit_gradient(scores, final, rows.of(cost), event.weight)
        d_logit = torch.where(event.goes_on, d_logit, 0.0)
        column = d_logit.unsqueeze(1)
        d_hidden.addcmul_(column, units)
        share = rows.of(self.d_units).addcmul_(column, event.state[0])
        self.d_units = rows.put(self.d_units, share)
        self.d_bias = rows.put(self.d_bias, rows.of(self.d_bias).add_(d_logit))
        return rows.put(last, final)


def _widened(part: Tensor, rows: Rows, kept: Tensor) -> Tensor:
    """Rows `kept` of these, the others zero."""
    return part.new_zeros(rows.total, part.shape[1]).index_copy_(0, kept, part)
