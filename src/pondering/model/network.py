"""Cell, heads and halting mechanism: the ponder loop of one input, and the loop over inputs.

`Network.ponder` is the readable path: every row computes every step until the last one has halted.
For stacked replicas `paths` has faster ways to the same numbers; the tests hold them to it.
"""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

import torch
from torch import Generator, Tensor, nn

from pondering.model import paths
from pondering.model.cells import Linear, State
from pondering.model.halting import Halting, HaltingState, Pondered
from pondering.model.paths import PathName
from pondering.model.paths.fast.forward import Sequence


class Ponder(NamedTuple):
    """One input vector's pondering, N steps of rows (..., B)."""

    weights: Tensor | None  # (N, ..., B): p_n; None where halted rows are left out
    outputs: Tensor | None  # (N, ..., B, C): y_n, if every step is scored, else None
    mixture: Tensor | None  # (..., B, C): sum of p_n y_n, if every step is scored, else None
    state: State  # sum of p_n s_n, which crosses to the next input
    halting_state: HaltingState  # after the last step
    computed: int  # rows x steps evaluated


class Network(nn.Module):
    """A recurrent network that ponders each input before it moves on.

    Args:
        cell: one ponder step, any module with the members of `cells.Cell`.
        halting: ACT, PonderNet, FixedRepeat or any object with the members of `Halting`.
        output_size: C.
        halt_bias: initial bias b_h of the halting unit; 1 in Graves 2016, Sec. 3.
        generator: source of the heads' initial values.

    Example: `Network(LSTM(2, 64), ACT(tau=1e-3), 15)(inputs)` for inputs (T, B, 2).
    """

    def __init__(
        self,
        cell: Any,
        halting: Halting,
        output_size: int,
        halt_bias: float = 1.0,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        self.cell: Any = cell  # a module with the members of cells.Cell
        self.halting = halting
        self.path = "compiled"
        # Both heads in one product: rows 0 .. C-1 give y_n (Eq. 4), row C the halting unit (Eq. 5).
        self.heads = Linear(cell.state_sizes[0], output_size + 1, generator)
        with torch.no_grad():
            self.heads.bias[-1] = halt_bias

    @property
    def path(self) -> PathName:
        """How stacked replicas ponder; a network without replica axis takes the readable path.

        Raises:
            ValueError: set to a name that is none of `PathName`.
        """
        return self._path

    @path.setter
    def path(self, name: PathName) -> None:
        if name not in get_args(PathName):
            raise ValueError(f"path: {name!r} is unknown; allowed: {', '.join(get_args(PathName))}")
        self._path = name

    def forward(
        self,
        inputs: Tensor,
        mask: Tensor | None = None,
        *,
        state: State | None = None,
        keep_state: bool = False,
        halting: Halting | None = None,
        path: PathName | None = None,
    ) -> Pondered:
        """Ponder over every input vector of a sequence.

        Args:
            inputs: (T, ..., B, D) floats, or (T, ..., B) integers for one-hot vectors.
            mask: (T, ..., B) bool, False where a sequence is over: there nothing is computed,
                weights are zero and the state stands still, whatever the inputs are there (NaN,
                for example). None: all True.
            state: what the first input finds, tensors (..., B, H) of the cell's `state_sizes`, as
                `Pondered.state` of an earlier part of the sequence. None: zeros.
            keep_state: whether the record shall have the state after the last input. With a state
                in or out every input is computed by itself, which is slower in training.
            halting: another mechanism than the network's own, for this pass.
            path: another path than the network's own, for this pass. A gradient of a gradient needs
                `readable`; the others refuse it.

        Returns:
            the record of all T inputs; N is the most steps any row took. T = 0 is allowed.

        Raises:
            ValueError: the inputs lack an axis; mask or state have another shape than their rows.
            IndexError: an integer is outside the one-hot vector.
        """
        halting, path = halting or self.halting, path or self.path
        rows = self._rows(inputs)
        if mask is None:
            mask = torch.ones(rows, dtype=torch.bool, device=inputs.device)
        elif mask.shape != rows:
            raise ValueError(f"mask: shape {tuple(mask.shape)} is not that of the rows, {rows}")
        elif inputs.is_floating_point() and not mask.all():
            inputs = torch.where(mask.unsqueeze(-1), inputs, 0.0)  # or NaN would reach gradients
        kept = keep_state or state is not None
        state = self._first_state(state, rows, inputs)
        if not len(inputs):
            return self._nothing(rows, state if kept else None)
        drives = self._embed(inputs)
        if mask.dim() != 3:
            path = "readable"  # the others are for stacked replicas
        if torch.is_grad_enabled() and not kept:
            done = paths.sequence(path, self.cell, self.heads, halting, drives, mask)
            if done is not None:
                return self._record(done)
        records: list[Ponder] = []
        for t, (drive, present) in enumerate(zip(drives, mask, strict=True), 1):
            record = self._ponder(path, halting, drive, state, present, kept or t < len(drives))
            there = present.unsqueeze(-1)
            state = tuple(
                torch.where(there, new, old) for new, old in zip(record.state, state, strict=True)
            )
            records.append(record._replace(state=state))
        whole = self._gather(records)
        return whole._replace(state=state) if kept else whole

    def _first_state(self, state: State | None, rows: tuple[int, ...], like: Tensor) -> State:
        """The state that the first input finds: zeros where none is given.

        Raises:
            ValueError: one of another shape is.
        """
        wanted = [(*rows[1:], size) for size in self.cell.state_sizes]
        if state is None:
            zero = self.heads.weight.new_zeros(())
            return tuple(zero.new_zeros(shape, device=like.device) for shape in wanted)
        if (given := [tuple(part.shape) for part in state]) != wanted:
            raise ValueError(f"state: shapes {given} are not allowed; {wanted} are")
        return state

    def _rows(self, inputs: Tensor) -> tuple[int, ...]:
        """(T, ..., B), once the inputs have all axes.

        Raises:
            ValueError: they lack one.
        """
        floats = inputs.is_floating_point()
        stacked = self.heads.weight.dim() == 3
        rows = tuple(inputs.shape[:-1] if floats else inputs.shape)
        if len(rows) < 2 + stacked:
            axes = "(T, K, B" if stacked else "(T, B"
            wanted = f"{axes}, D) floats or {axes}) integers"
            raise ValueError(f"inputs: shape {tuple(inputs.shape)} is not allowed; {wanted} are")
        return rows

    def _nothing(self, rows: tuple[int, ...], state: State | None) -> Pondered:
        """The record of no inputs: every part has a first axis of length 0."""
        none = self.heads.weight.new_zeros(rows)
        outputs = self.heads.weight.shape[-2] - 1
        mixture = none.new_zeros(*rows, outputs)
        return Pondered(None, None, mixture, none, none, none, none, 0, state)

    def _record(self, done: Sequence) -> Pondered:
        """The record of a whole sequence that a path has pondered."""
        mixture = self._heads_of(_folded(done.features, -2), len(done.features))
        return Pondered(None, None, mixture, *done[1:])

    def _ponder(
        self,
        path: PathName,
        halting: Halting,
        drive: Tensor,
        state: State,
        present: Tensor,
        crosses: bool,
    ) -> Ponder:
        """One input by the path, or by the readable one where the path does not apply.

        Args:
            crosses: whether another input follows and reads the state. Where none does, a path
                may return the old state.
        """
        work = (path, self.cell, self.heads, halting, drive, state, present)
        if (every := paths.every_step(*work, crosses)) is not None:
            return Ponder(*every)
        if not torch.is_grad_enabled():
            found = paths.without_gradient(*work)
            if found is not None:
                return Ponder(None, None, None, *found)
        return self.ponder(halting, drive, state, present)

    def ponder(self, halting: Halting, drive: Tensor, state: State, present: Tensor) -> Ponder:
        """Ponder one input: step until every row has halted.

        Args:
            halting: the mechanism.
            drive: (..., B, E), the embedded input.
            state: tensors (..., B, H), what the previous input left.
            present: (..., B) bool, the rows that have an input.
        """
        halting_state = halting.start(present)
        totals = tuple(torch.zeros_like(part) for part in state)
        weights: list[Tensor] = []
        outputs: list[Tensor] = []
        mixture: Tensor | None = None
        n = 0
        while n == 0 or (n < halting.max_steps and bool(halting_state.running.any())):
            n += 1
            running = halting_state.running.unsqueeze(-1)
            fresh = self.cell.step(drive, state, n == 1)
            state = tuple(torch.where(running, a, b) for a, b in zip(fresh, state, strict=True))
            head = self.heads(state[0])
            weight, halting_state = halting.step(n, head[..., -1], halting_state)
            totals = tuple(
                halting.carry(total, weight, part)
                for total, part in zip(totals, state, strict=True)
            )
            weights.append(weight)
            if halting.scores_every_step:
                y = head[..., :-1]
                mixture = torch.zeros_like(y) if mixture is None else mixture
                mixture = halting.carry(mixture, weight, y)
                outputs.append(y)
        every = torch.stack(outputs) if outputs else None
        computed = n * present.numel()
        return Ponder(torch.stack(weights), every, mixture, totals, halting_state, computed)

    def _embed(self, inputs: Tensor) -> Tensor:
        """The cell's `embed` of all T inputs in one call, time folded into the rows."""
        folded = _folded(inputs, -2 if inputs.is_floating_point() else -1)
        return _unfolded(self.cell.embed(folded), len(inputs))

    def _gather(self, records: list[Ponder]) -> Pondered:
        """Stack T records; unless every step is scored the mixture is the head of sum p_n s_n.

        The heads are linear and p sums to one, so sum p_n (W s_n + b) = W (sum p_n s_n) + b: one
        product per input in place of one per step. A masked row then has the head of its old
        state as mixture; where every step is scored it has zero.
        """
        weights = _joined([record.weights for record in records])
        outputs = _joined([record.outputs for record in records])
        mixtures = [record.mixture for record in records if record.mixture is not None]
        if mixtures:
            mixture = torch.stack(mixtures)
        else:
            states = [record.state[0] for record in records]
            mixture = self._heads_of(torch.cat(states, dim=-2), len(states))
        ends = [record.halting_state for record in records]
        return Pondered(
            weights=weights,
            outputs=outputs,
            mixture=mixture,
            ponder_time=torch.stack([each.steps for each in ends]),
            remainder=torch.stack([each.remainder for each in ends]),
            cost=torch.stack([each.cost for each in ends]),
            expected_steps=torch.stack([each.expected_steps for each in ends]),
            computed=sum(record.computed for record in records),
        )

    def _heads_of(self, states: Tensor, times: int) -> Tensor:
        """The output head of (..., T x B, H): (T, ..., B, C)."""
        return _unfolded(self.heads(states)[..., :-1], times)


def _folded(x: Tensor, rows: int) -> Tensor:
    """Time into the rows, from (T, ..., B, ...) to (..., T x B, ...); `rows`: B's axis."""
    return x.movedim(0, rows - 1).flatten(rows - 1, rows)


def _unfolded(rows: Tensor, times: int) -> Tensor:
    """From (..., T x B, F) to (T, ..., B, F)."""
    shape = (*rows.shape[:-2], times, rows.shape[-2] // times, rows.shape[-1])
    return rows.reshape(shape).movedim(-3, 0)


def _joined(parts: list[Tensor | None]) -> Tensor | None:
    """T tensors (N, ...) as one (T, N, ...), zero where one has fewer steps; None without any."""
    there = [part for part in parts if part is not None]
    most = max(map(len, there), default=0)
    for t, part in enumerate(there):
        if len(part) < most:
            there[t] = torch.cat([part, part.new_zeros(most - len(part), *part.shape[1:])])
    return torch.stack(there) if there else None
