"""The backward pass of `sequence.py`: gradients by hand, from the last step to the first.

The gradient of ACT's halting units is that of Graves 2016, Eqs. 14-20 (`ACT.logit_gradient`).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pondering.model.paths.fast.forward import Forward, Repack, Step, stacked
from pondering.model.paths.skipping import Rows, WeightGradient, products


class Backward:
    """The backward pass.

    Args:
        tape: the forward pass.
        d_features: (T, K, B, H), the gradient of sum p_n h_n; None: zero.
        d_cost: (T, K, B), the gradient of the remainder R; None: zero.
    """

    def __init__(self, tape: Forward, d_features: Tensor | None, d_cost: Tensor | None) -> None:
        self.tape, self.halting, self.kernel = tape, tape.job.halting, tape.job.kernel
        self.count = tape.replicas * tape.size
        self.shape = (tape.replicas, tape.size, -1)
        self.zeros = tape.drives.new_zeros
        self.d_features = None if d_features is None else d_features.flatten(1, 2)
        self.d_cost = None if d_cost is None else d_cost.flatten(1, 2)
        self.d_recurrent = WeightGradient(tape.recurrent)
        self.d_units = torch.zeros_like(tape.all_units)
        self.d_bias = self.zeros(self.count)
        self.d_flag = None if tape.flag is None else self.zeros(tape.replicas, tape.width)

    def run(self) -> tuple[Tensor | None, ...]:
        """Gradients of drives, flag, recurrent, halt weight and halt bias."""
        tape = self.tape
        d_drives: list[Tensor] = []  # last to first
        d_state = [self.zeros(self.count, tape.hidden) for _ in range(tape.job.parts)]
        for time in reversed(range(tape.times)):
            d_crossing = d_state
            if self.d_features is not None:
                late = self.d_features[time]
                d_state = [d_state[0] + late if d_drives else late, *d_state[1:]]
            d_totals, d_ends = d_state, []
            if self.halting.carry == "last":
                zeros = [torch.zeros_like(part) for part in d_state]
                d_totals = zeros if self.d_features is None else [late, *zeros[1:]]
                d_ends = d_crossing
            present = None
            if not tape.complete[time]:
                present = tape.job.mask[time].reshape(-1, 1)
                d_totals = [torch.where(present, part, 0.0) for part in d_totals]
            d_drive, d_old = self._input(time, d_totals, d_ends)
            d_drives.append(d_drive.view(self.shape))
            if present is not None:  # without an input the state did not change
                d_old = [
                    torch.where(present, old, d) for old, d in zip(d_old, d_state, strict=True)
                ]
            d_state = d_old
        return (
            stacked(d_drives[::-1]),
            self.d_flag,
            self.d_recurrent.total(),
            self.d_units.view(self.shape).sum(1),
            self.d_bias.view(self.shape[:2]).sum(1, keepdim=True),
        )

    def _input(
        self, time: int, d_totals: list[Tensor], d_ends: list[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        """The backward pass of one input.

        Args:
            d_totals: (K x B, H) each, the gradients of the sums of p_n s_n.
            d_ends: the gradients of the last states s_N, where they cross to the next input.

        Returns:
            the gradients of the drive, (K x B, W), and of the state before the input, (K x B, H)
            each.
        """
        events, rows, units = self.tape.tapes[time]
        if not events:  # no row had an input
            nothing = [torch.zeros_like(part) for part in d_totals]
            return self.zeros(self.count, self.tape.width), nothing
        cost = self.zeros(self.count) if self.d_cost is None else self.d_cost[time]
        last = self.zeros(self.count)  # dL/dp of each row's last step
        totals = [rows.pick(part) for part in d_totals]
        d_state: list[Tensor] = []  # empty: still zero
        d_drive: Any = None
        d_pre: Any = None  # of the pre-activations, (n, W)
        for event in reversed(events):
            if isinstance(event, Repack):
                # Rows that were left out return; later steps gave them no gradient.
                rows, units = event.before, event.units
                totals = [rows.pick(part) for part in d_totals]
                d_pre, d_drive, *d_state = (
                    _widened(part, rows, event.indices) for part in (d_pre, d_drive, *d_state)
                )
                continue
            column = event.weight.unsqueeze(1)
            if d_state:
                d_state = [
                    part.addcmul_(column, total)
                    for part, total in zip(d_state, totals, strict=True)
                ]
            else:
                d_state = [column * total for total in totals]
            if d_ends:  # the last step of a row has a weight, a step after it has none
                ends_here = (~event.goes_on & (event.weight > 0)).unsqueeze(1)
                for part, end in zip(d_state, d_ends, strict=True):
                    part.add_(torch.where(ends_here, rows.pick(end), 0.0))
            if self.halting.learns:
                last = self._halting_unit(rows, event, totals, last, cost, units, d_state)
            d_pre, rest = self.kernel.backward(event.saved, d_state)
            d_drive = d_pre if d_drive is None else d_drive + d_pre
            if event.hidden is not None:
                self.d_recurrent.add(rows, d_pre, event.hidden, event.active)
                d_state = [products(rows, d_pre, self.tape.recurrent), *rest]
        if self.d_flag is not None:  # the last `d_pre` is that of step 1
            self.d_flag += d_pre.view(self.shape).sum(1)
        return d_drive, d_state

    def _halting_unit(
        self,
        rows: Rows,
        event: Step,
        totals: list[Tensor],
        last: Tensor,
        cost: Tensor,
        units: Tensor,
        d_state: list[Tensor],
    ) -> Tensor:
        """Add the gradient of a step's halting units to the state, the weights and the bias.

        Args:
            totals: (n, H) each, gradients of sum p_n s_n.
            last: (K x B,), dL/dp of each row's last step, zero before that step is reached.
            cost: (K x B,), dL/dR.
            units: (n, H) or (n, 2 H), the halting units' weights.
            d_state: (n, H) each, the state's gradient; this is added to it.

        Returns:
            `last` with the rows whose last step this was.
        """
        scores = (totals[0] * event.state[0]).sum(1)
        for total, part in zip(totals[1:], event.state[1:], strict=True):
            scores += (total * part).sum(1)
        # The first step of a row in the backward pass is its last one: its score is stored.
        final = torch.where(event.goes_on, rows.pick(last), scores)
        # Where a row goes on, p_n = h_n.
        d_logit = self.halting.logit_gradient(scores, final, rows.pick(cost), event.weight)
        d_logit = torch.where(event.goes_on, d_logit, 0.0)
        column = d_logit.unsqueeze(1)
        for part, unit in zip(d_state, torch.split(units, self.tape.hidden, 1), strict=False):
            part.addcmul_(column, unit)
        read = self.tape.halting_input(event.state, units)
        share = rows.pick(self.d_units).addcmul_(column, read)
        self.d_units = rows.put(self.d_units, share)
        self.d_bias = rows.put(self.d_bias, rows.pick(self.d_bias).add_(d_logit))
        return rows.put(last, final)


def _widened(part: Tensor, rows: Rows, indices: Tensor) -> Tensor:
    """Gradients (n', F) of the rows `indices` as gradients (n, F) of all `rows`, zero elsewhere."""
    return part.new_zeros(sum(rows.counts), part.shape[1]).index_copy_(0, indices, part)
