"""Cell, heads and halting mechanism: the loop over the inputs of a sequence.

What happens at one input is the ponder loop of `paths/readable.py`; for stacked replicas `paths`
has faster ways to the same numbers.
"""

from __future__ import annotations

from typing import Any, get_args

import torch
from torch import Generator, Tensor, nn

from pondering.model import paths
from pondering.model.cells import State
from pondering.model.halting import Halting, Pondered
from pondering.model.heads import Heads, Reads
from pondering.model.paths import PathName
from pondering.model.paths.fast.forward import Sequence
from pondering.model.paths.readable import Ponder

PRECISIONS = (torch.float32, torch.float64)


class Network(nn.Module):
    """A recurrent network that ponders each input before it moves on.

    In training mode the network halts as its mechanism says. After `eval()` it halts as its paper
    evaluates it (`Halting.at_inference`): PonderNet samples its step.

    `DistributedDataParallel` takes it as it is: every parameter has a gradient. `DataParallel`
    cannot gather its record, whose parts have their batch axis at different places.

    A `state_dict` holds parameters alone, not the mechanism and its settings: make the network with
    the mechanism that it was trained with. `from_pretrained` and the pipeline's files keep both.

    Args:
        cell: one ponder step, any module with the members of `cells.Cell`.
        halting: ACT, PonderNet, FixedRepeat or any object with the members of `Halting`.
        output_size: C.
        halt_bias: initial bias b_h of the halting unit; 1 in Graves 2016, Sec. 3.
        generator: source of the heads' initial values.
        reads: what the halting unit reads, `h` or the whole `state`; see `heads.Heads`. A mechanism
            whose halting unit does not learn reads nothing more than h.
        batch_first: whether inputs, mask and record have the batch before time: (B, T, ...).

    Raises:
        ValueError: `reads` does not fit the cell.

    Example: `Network(LSTM(2, 64), ACT(tau=1e-3), 15)(inputs)` for inputs (T, B, 2).
    """

    def __init__(
        self,
        cell: Any,
        halting: Halting,
        output_size: int,
        halt_bias: float = 1.0,
        generator: Generator | None = None,
        reads: Reads = "h",
        batch_first: bool = False,
    ) -> None:
        super().__init__()
        self.cell: Any = cell  # a module with the members of cells.Cell
        self.halting = halting
        self.batch_first = batch_first
        self.path = "compiled"
        self.heads = Heads(
            tuple(cell.state_sizes), output_size, reads if halting.learns else "h", generator
        )
        with torch.no_grad():
            self.heads.bias[-1] = halt_bias

    @property
    def path(self) -> PathName:
        """How stacked replicas ponder; a network without replica axis takes the readable path.

        `compiled` is `fast` without a word where it has no loops, and where Numba is missing:
        `pip install 'pondering[compiled]'`.

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
        generator: Generator | None = None,
    ) -> Pondered:
        """Ponder over every input vector of a sequence.

        Args:
            inputs: (T, ..., B, D) floats of the network's precision, or (T, ..., B) integers for
                one-hot vectors.
            mask: (T, ..., B) bool, False where a sequence is over: there weights and steps are
                zero and the state stands still, whatever the inputs are there (NaN, for example).
                The readable path computes such rows all the same. A loss is zero there, but a
                target that is NaN makes its gradient NaN: fill it. None: all True.
            state: what the first input finds, finite tensors (..., B, H) of the cell's
                `state_sizes`, as `Pondered.state` of an earlier part of the sequence. None: zeros.
            keep_state: whether the record shall have the state after the last input. With a state
                in or out every input is computed by itself, which is slower in training.
            halting: another mechanism than the network's own, for this pass; it halts as it is.
            path: another path than the network's own, for this pass. A gradient of a gradient needs
                `readable`; the others refuse it.
            generator: what halting is sampled from after `eval()`; None: torch's default one. See
                `halting/sampled.py` for draws that do not depend on the batch.

        Returns:
            the record of all T inputs; N is the most steps any row took. T = 0 is allowed.

        Raises:
            ValueError: the inputs lack an axis, or are integers with one too many; mask or state
                have another shape than their rows; mask is not bool; settings are not one a
                replica; inputs or network are neither float32 nor float64; autocast is on.
            IndexError: an integer is outside the one-hot vector.
        """
        if halting is None:
            halting = self.halting if self.training else self.halting.at_inference(generator)
        path = path or self.path
        self._refuse_precision(inputs)
        self._refuse_settings(halting)
        rows = self._rows(inputs)
        if mask is None:
            mask = torch.ones(rows, dtype=torch.bool, device=inputs.device)
        elif mask.dtype != torch.bool:
            raise ValueError(f"mask: {mask.dtype} is not allowed; bool is")
        elif mask.shape != rows:
            raise ValueError(f"mask: shape {tuple(mask.shape)} is not that of the rows, {rows}")
        elif inputs.is_floating_point() and not mask.all():
            inputs = torch.where(mask.unsqueeze(-1), inputs, 0.0)  # or NaN would reach gradients
        if self.batch_first:
            inputs, mask = inputs.transpose(0, 1), mask.transpose(0, 1)
        kept = keep_state or state is not None
        state = self._first_state(state, mask.shape, inputs)
        done = self._pondered(inputs, mask, state, kept, halting, path)
        return batch_first(done) if self.batch_first else done

    def _pondered(
        self,
        inputs: Tensor,
        mask: Tensor,
        state: State,
        kept: bool,
        halting: Halting,
        path: PathName,
    ) -> Pondered:
        """All inputs, (T, ..., B, D), at once where the path can, else one by one."""
        if not len(inputs):
            return self._nothing(mask, state if kept else None)
        drives = self._embed(inputs)
        if torch._C._are_functorch_transforms_active():  # torch.func.grad and the like
            path = "readable"
        if mask.dim() == 3 and torch.is_grad_enabled() and not kept:
            done = paths.sequence(path, self.cell, self.heads, halting, drives, mask)
            if done is not None:
                return self._record(done)
        records: list[Ponder] = []
        for t, (drive, present) in enumerate(zip(drives, mask, strict=True), 1):
            crosses = kept or t < len(drives)
            record = paths.ponder(
                path, self.cell, self.heads, halting, drive, state, present, crosses
            )
            there, before = present.unsqueeze(-1), state
            state = tuple(
                torch.where(there, new, old) for new, old in zip(record.state, state, strict=True)
            )
            features = state[0]
            if halting.carry == "last":  # what crosses is not what the heads read
                features = torch.where(there, record.features, before[0])
            records.append(record._replace(features=features))
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

    def _refuse_precision(self, inputs: Tensor) -> None:
        """Refuse what would be rounded too coarsely for halting sums, or fail somewhere inside.

        Raises:
            ValueError: see `forward`.
        """
        own = self.heads.weight.dtype
        if torch.is_autocast_enabled(inputs.device.type):
            raise ValueError("autocast: is not allowed; leave it by torch.autocast(enabled=False)")
        if own not in PRECISIONS or (inputs.is_floating_point() and inputs.dtype != own):
            raise ValueError(
                f"precision: inputs of {inputs.dtype} and parameters of {own} are not allowed; "
                "float32 with float32 and float64 with float64 are"
            )

    def _refuse_settings(self, halting: Halting) -> None:
        """Refuse settings of so many values that they would be taken for other axes.

        Raises:
            ValueError: a single network has a setting for each replica, or a stack of K has another
                count than K.
        """
        replicas = len(self.heads.weight) if self.heads.weight.dim() == 3 else None
        for name, value in vars(halting).items():
            several = isinstance(value, tuple) or (isinstance(value, Tensor) and value.dim() > 0)
            if several and len(value) != replicas:
                wanted = "one" if replicas is None else f"one, or one for each of {replicas}, is"
                raise ValueError(f"{name}: {len(value)} values are not allowed; {wanted}")

    def _rows(self, inputs: Tensor) -> tuple[int, ...]:
        """(T, ..., B), once the inputs have all axes; (B, T) where the batch is first.

        Raises:
            ValueError: they lack one, or have one too many for `batch_first`.
        """
        floats = inputs.is_floating_point()
        stacked = self.heads.weight.dim() == 3
        rows = tuple(inputs.shape[:-1] if floats else inputs.shape)
        if len(rows) < 2 + stacked or (self.batch_first and len(rows) > 2):
            axes = "(T, K, B" if stacked else "(B, T" if self.batch_first else "(T, B"
            wanted = f"{axes}, D) floats or {axes}) integers"
            raise ValueError(f"inputs: shape {tuple(inputs.shape)} is not allowed; {wanted} are")
        if not floats and len(rows) > 2 + stacked:
            given = f"{inputs.dtype} of shape {tuple(inputs.shape)}"
            raise ValueError(f"inputs: {given} are not allowed; features are floats: x.float()")
        return rows

    def _nothing(self, mask: Tensor, state: State | None) -> Pondered:
        """The record of no inputs: every part has a first axis of length 0."""
        none = self.heads.weight.new_zeros(mask.shape)
        mixture = none.new_zeros(*mask.shape, self.heads.weight.shape[-2] - 1)
        every = none.unsqueeze(0), mixture.unsqueeze(0)
        return Pondered(*every, mixture, none, none, none, none, 0, state)

    def _record(self, done: Sequence) -> Pondered:
        """The record of a whole sequence that a path has pondered."""
        mixture = self._outputs_of(_folded(done.features, -2), len(done.features))
        return Pondered(None, None, mixture, *done[1:])

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
            features = [record.features for record in records]
            mixture = self._outputs_of(torch.cat(features, dim=-2), len(features))
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
            halt_logits=_joined([record.halt_logits for record in records]),
        )

    def _outputs_of(self, features: Tensor, times: int) -> Tensor:
        """The output head of (..., T x B, H): (T, ..., B, C)."""
        return _unfolded(self.heads(features)[..., :-1], times)


def batch_first(record: Pondered) -> Pondered:
    """The record of inputs (B, T, D): (N, B, T, ...) where a part has steps, else (B, T, ...)."""
    by_step = ("weights", "outputs", "halt_logits")
    turned: dict[str, Any] = {
        name: part.transpose(1, 2) if name in by_step else part.transpose(0, 1)
        for name, part in record._asdict().items()
        if isinstance(part, Tensor)
    }
    return record._replace(**turned)


def _folded(x: Tensor, rows: int) -> Tensor:
    """Time into the rows, from (T, ..., B, ...) to (..., T x B, ...); `rows`: B's axis."""
    return x.movedim(0, rows - 1).flatten(rows - 1, rows)


def _unfolded(rows: Tensor, times: int) -> Tensor:
    """From (..., T x B, F) to (T, ..., B, F)."""
    shape = (*rows.shape[:-2], times, rows.shape[-2] // times, rows.shape[-1])
    return rows.reshape(shape).movedim(-3, 0)


def _joined(parts: list[Tensor | None]) -> Tensor | None:
    """T tensors (N, ...) as one (N, T, ...), zero where one has fewer steps; None without any."""
    there = [part for part in parts if part is not None]
    most = max(map(len, there), default=0)
    for t, part in enumerate(there):
        if len(part) < most:
            there[t] = torch.cat([part, part.new_zeros(most - len(part), *part.shape[1:])])
    return torch.stack(there, dim=1) if there else None
