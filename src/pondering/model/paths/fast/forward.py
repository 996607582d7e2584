"""The forward pass of `sequence.py`, and the tape for its backward pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from pondering.model.cells import State
from pondering.model.halting import HaltingState
from pondering.model.paths.fast.kernels import Kernel
from pondering.model.paths.skipping import Rows, all_rows, products, repack


class SequenceRecord(NamedTuple):
    """The pondering of T inputs by K stacked replicas."""

    features: Tensor  # (T, K, B, H): sum of p_n h_n; without an input, the h before
    ponder_time: Tensor  # (T, K, B), and the next three, as in `PonderRecord`
    remainder: Tensor
    cost: Tensor
    expected_steps: Tensor
    computed: int  # rows x steps


class Step(NamedTuple):
    """One ponder step of n packed rows, for the backward pass."""

    hidden: Tensor | None  # (n, H) hidden state before the step; None: zero
    saved: State  # tensors of the cell's kernel for its gradient
    state: State  # (n, H) each, after the step
    weight: Tensor  # (n,) p_n
    goes_on: Tensor  # (n,) bool: the row takes another step
    active: list[int]  # rows by replica that had not halted before it


class Repack(NamedTuple):
    """Halted rows left out between two steps."""

    before: Rows  # the rows before
    units: Tensor  # their halting units' weights
    indices: Tensor  # (n',) the indices of the rows that stay


class InputTape(NamedTuple):
    """The pondering of one input; the backward pass reads the events from last to first."""

    events: list[Step | Repack]
    rows: Rows  # of the last step
    units: Tensor  # (n, H) their halting units' weights


class Job(NamedTuple):
    """The arguments without gradient."""

    kernel: Kernel  # of the cell
    halting: Any  # ACT or FixedRepeat
    mask: Tensor  # (T, K, B) bool, False after the end of a sequence
    parts: int  # tensors of the state


class Forward:
    """The forward pass; after `run` the object is the tape of the backward pass.

    Args:
        job: the arguments without gradient.
        drives: (T, K, B, W), the embedded inputs.
        flag: (K, W), added to the drive at the first step, or None.
        recurrent: (K, W, H), W_s.
        halt_weight: (K, H), the halting unit's weights; (K, 2 H) where it reads [h; c].
        halt_bias: (K, 1), its bias.
    """

    def __init__(
        self,
        job: Job,
        drives: Tensor,
        flag: Tensor | None,
        recurrent: Tensor,
        halt_weight: Tensor,
        halt_bias: Tensor,
    ) -> None:
        self.job, self.recurrent, self.halt_bias = job, recurrent, halt_bias
        self.transposed = recurrent.mT
        self.times, self.replicas, self.size = job.mask.shape
        self.width, self.hidden = recurrent.shape[1:]
        self.flag = None if flag is None else flag.unsqueeze(1)
        self.drives = drives
        # Each row has a copy of the halting unit's weights. So the sum over H has one shape, and
        # one rounding, whichever rows are packed.
        self.all_units = halt_weight.repeat_interleave(self.size, 0)
        # One product per replica would be slow on a GPU.
        self.everyone = all_rows(job.mask[0], padded=drives.is_cuda)
        self.complete = job.mask.flatten(1).all(1).tolist()
        self.present = job.mask.sum(2).tolist()
        self.tapes: list[InputTape] = []
        self.computed = 0

    def run(self) -> SequenceRecord:
        """Ponder the inputs in their order."""
        rows = self.replicas * self.size
        state: State = tuple(
            self.drives.new_zeros(rows, self.hidden) for _ in range(self.job.parts)
        )
        features, records = [], []  # by input
        for time in range(self.times):
            mean, crossing, end = self._input(time, state)
            if self.complete[time]:
                state = crossing
            else:
                present = self.job.mask[time].reshape(rows, 1)
                mean = torch.where(present, mean, state[0])
                state = tuple(
                    torch.where(present, a, b) for a, b in zip(crossing, state, strict=True)
                )
            features.append(mean)
            records.append((end.steps, end.remainder, end.cost, end.expected_steps))
        joined = stacked(features).view(self.times, self.replicas, self.size, -1)
        steps, remainder, cost, expected = map(torch.stack, zip(*records, strict=True))
        return SequenceRecord(joined, steps, remainder, cost, expected, self.computed)

    def _input(self, time: int, state: State) -> tuple[Tensor, State, HaltingState]:
        """Step until every row has halted.

        Returns:
            sum p_n h_n, (K x B, H); the state that crosses to the next input, (K x B, H) each; the
            halting state.
        """
        halting, kernel, parts = self.job.halting, self.job.kernel, len(state)
        keeps_last = halting.carry == "last"
        halting_state = halting.start(self.job.mask[time])
        rows, units, active = self.everyone, self.all_units, self.present[time]
        drive = self.drives[time]
        flagged = drive if self.flag is None else drive + self.flag
        drive, first = drive.flatten(0, 1), flagged.flatten(0, 1)
        # sum p_n s_n; then s_N, where it crosses.
        totals = [torch.zeros_like(part) for part in state * (1 + keeps_last)]
        logits = drive.new_zeros(self.replicas * self.size)
        home = totals  # of all rows, once some are left out
        events: list[Step | Repack] = []
        n = 0
        while any(active):
            fewer = repack(n, rows, halting_state.running, active, self.width * self.hidden)
            if fewer is not None:
                home = _put(rows, home, totals)
                events.append(Repack(rows, units, fewer[1]))
                rows, indices = fewer
                state = tuple(part.index_select(0, indices) for part in state)
                totals = [part.index_select(0, indices) for part in totals]
                units = units.index_select(0, indices)
                first = first.index_select(0, indices) if n == 0 else first
                drive = drive.index_select(0, indices)
            n += 1
            begins = n == 1 and time == 0  # the state is zero, and so is W_s s
            hidden = None if begins else state[0]
            base = first if n == 1 else drive
            if not begins:
                pre = products(rows, state[0], self.transposed).add_(base)
            else:  # the kernel overwrites `pre`; with a flag, `first` is not needed again
                pre = base.clone() if self.flag is None else base
            state, saved = kernel.forward(pre, state)
            if halting.learns:
                logits = rows.put(logits, (self.halting_input(state, units) * units).sum(1))
            logit = logits.view(self.replicas, self.size) + self.halt_bias
            running = rows.pick(halting_state.running.flatten()) if keeps_last else None
            weight, halting_state = halting.step(n, logit, halting_state)
            share, goes_on = rows.pick(weight.flatten()), rows.pick(halting_state.running.flatten())
            column = share.unsqueeze(1)
            for total, part in zip(totals[:parts], state, strict=True):
                total.addcmul_(column, part)
            if running is not None:
                going = running.unsqueeze(1)
                ends = zip(state, totals[parts:], strict=True)
                totals[parts:] = [torch.where(going, part, end) for part, end in ends]
            events.append(Step(hidden, saved, state, share, goes_on, active))
            self.computed += sum(rows.counts)
            active = [] if n == halting.max_steps else halting_state.running.sum(1).tolist()
        self.tapes.append(InputTape(events, rows, units))
        done = tuple(_put(rows, home, totals))
        return done[0], done[-parts:], halting_state

    @staticmethod
    def halting_input(state: State, units: Tensor) -> Tensor:
        """The part of a state that the halting units (n, H) or (n, 2 H) read: h, or [h; c]."""
        return state[0] if units.shape[1] == state[0].shape[1] else torch.cat(state, 1)


def _put(rows: Rows, home: list[Tensor], totals: list[Tensor]) -> list[Tensor]:
    """`home`, all rows' totals (K x B, H), with the computed rows set to `totals`."""
    return [rows.put(all_of, part) for all_of, part in zip(home, totals, strict=True)]


def take_tape(ctx: Any) -> Any:
    """The tape of the forward pass, which the backward pass overwrites.

    Raises:
        RuntimeError: a second backward pass, or weights were changed since the forward pass.
    """
    if ctx.tape is None:
        raise RuntimeError("a second backward pass: not allowed; path='readable' allows it")
    tape, ctx.tape = ctx.tape, None
    _ = ctx.saved_tensors  # raises where a weight was changed in place
    return tape


def output_gradients(gradients: tuple[Any, ...]) -> tuple[Tensor | None, Tensor | None]:
    """dL/d features and dL/dR, from the gradients of a `SequenceRecord`; None: zero."""
    given = SequenceRecord(*gradients)
    parts = [each for each in (given.remainder, given.cost) if each is not None]
    return given.features, torch.stack(parts).sum(0) if parts else None


def stacked(parts: list[Tensor]) -> Tensor:
    """T tensors (...) as one (T, ...), without a copy where T is 1."""
    return parts[0].unsqueeze(0) if len(parts) == 1 else torch.stack(parts)
