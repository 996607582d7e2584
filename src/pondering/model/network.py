"""Cell, heads and halting mechanism: the loop over the inputs of a sequence.

`paths/readable.py` has the ponder loop over the steps of one input. For stacked replicas `paths`
has faster ways to the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Generator, Tensor, nn

from pondering.model import paths
from pondering.model.cells import State
from pondering.model.halting import Halting, PonderRecord
from pondering.model.halting.contract import check_word
from pondering.model.heads import Heads, Reads
from pondering.model.paths import PathName
from pondering.model.paths.readable import InputRecord

PRECISIONS = (torch.float32, torch.float64)


class Network(nn.Module):
    """A recurrent network that ponders each input before it moves on.

    In training mode the network halts as its mechanism says. After `eval()` it halts as the paper
    evaluates it (`Halting.at_inference`): PonderNet samples its step.

    `DistributedDataParallel` takes the network as it is: every parameter has a gradient.
    `DataParallel` cannot gather the record, whose parts have their batch axis at different places.

    A `state_dict` holds the parameters alone. Make the network with the mechanism and settings that
    it was trained with; `from_pretrained` and the pipeline's files keep both.

    Args:
        cell: one ponder step, any module with the members of `cells.Cell`.
        halting: the mechanism.
        output_size: C.
        halt_bias: initial bias b_h of the halting unit; 1 in Graves 2016, Sec. 3.
        generator: source of the heads' initial values.
        reads: what the halting unit reads, `h` or the whole `state`; see `heads.Heads`. It is `h`
            for a mechanism whose halting unit does not learn.
        batch_first: whether inputs, mask and record have the batch before time: (B, T, ...).

    Attributes:
        path: that of stacked replicas; a network without replica axis takes the readable path.
            `compiled` becomes `fast` without a message where it has no loops, or where Numba is
            missing (`pip install 'pondering[compiled]'`).

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
        self.cell: Any = cell
        self.halting = halting
        self.batch_first = batch_first
        self.path: PathName = "compiled"
        reads = reads if halting.learns else "h"
        self.heads = Heads(tuple(cell.state_sizes), output_size, reads, generator)
        with torch.no_grad():
            self.heads.bias[-1] = halt_bias

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
    ) -> PonderRecord:
        """Ponder over every input vector of a sequence.

        Args:
            inputs: (T, ..., B, D) floats of the network's precision, or (T, ..., B) integers for
                one-hot vectors.
            mask: (T, ..., B) bool, False after the end of a sequence; None: all True. At a masked
                place weights and steps are zero and the state does not change, whatever the input
                is (NaN, for example). The loss is zero there too, but a target that is NaN makes
                its gradient NaN: fill it. The readable path computes masked rows all the same.
            state: the state before the first input, finite tensors (..., B, H) of the cell's
                `state_sizes`, such as `PonderRecord.state` of an earlier part of the sequence.
                None: zeros.
            keep_state: whether the record has the state after the last input. With a state in or
                out every input is computed alone, which is slower in training.
            halting: another mechanism for this pass; it halts as in training.
            path: another path for this pass. A gradient of a gradient needs `readable`.
            generator: source of random halting after `eval()`; None: torch's default one.
                `halting/sampled.py` says how to make draws independent of the batch.

        Returns:
            the record of all T inputs; N is the largest number of steps of any row.

        Raises:
            ValueError: the inputs lack an axis, have one too many, or are none (T = 0); mask or
                state have another shape than the rows; mask is not bool; a setting has another
                number of values than there are replicas; inputs or network are neither float32 nor
                float64; autocast is on; there is no such path.
            IndexError: an integer is outside the one-hot vector.
        """
        if halting is None:
            halting = self.halting if self.training else self.halting.at_inference(generator)
        path = path or self.path
        check_word("path", path, PathName)
        self._check_precision(inputs)
        self._check_settings(halting)
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
        keep_state = keep_state or state is not None
        state = self._first_state(state, inputs, mask.shape[1:])
        record = self._ponder(inputs, mask, state, keep_state, halting, path)
        return batch_first(record) if self.batch_first else record

    def _ponder(
        self,
        inputs: Tensor,
        mask: Tensor,
        state: State,
        keep_state: bool,
        halting: Halting,
        path: PathName,
    ) -> PonderRecord:
        """All inputs, (T, ..., B, D): as one operation if the path has it, else one by one."""
        drives = self._embed(inputs)
        if torch._C._are_functorch_transforms_active():  # torch.func.grad and the like
            path = "readable"
        if mask.dim() == 3 and torch.is_grad_enabled() and not keep_state:
            whole = paths.sequence(path, self.cell, self.heads, halting, drives, mask)
            if whole is not None:
                mixture = self._outputs(_fold_time(whole.features, -2), len(whole.features))
                return PonderRecord(None, None, mixture, *whole[1:])
        records: list[InputRecord] = []
        for t, (drive, present) in enumerate(zip(drives, mask, strict=True), 1):
            crosses = keep_state or t < len(drives)
            record = paths.ponder(
                path, self.cell, self.heads, halting, drive, state, present, crosses
            )
            is_present, before = present.unsqueeze(-1), state
            state = tuple(
                torch.where(is_present, new, old)
                for new, old in zip(record.state, state, strict=True)
            )
            features = state[0]
            if halting.carry == "last":  # the heads read the mean, the next input reads s_N
                features = torch.where(is_present, record.features, before[0])
            records.append(record._replace(features=features))
        gathered = self._gather(records)
        return gathered._replace(state=state) if keep_state else gathered

    def _first_state(self, state: State | None, inputs: Tensor, rows: Sequence[int]) -> State:
        """The state of rows (..., B) before the first input; zeros for None."""
        shapes = [(*rows, size) for size in self.cell.state_sizes]
        if state is None:
            zeros = self.heads.weight.new_zeros
            return tuple(zeros(shape, device=inputs.device) for shape in shapes)
        if (given := [tuple(part.shape) for part in state]) != shapes:
            raise ValueError(f"state: shapes {given} are not allowed; {shapes} are")
        return state

    def _check_precision(self, inputs: Tensor) -> None:
        """Refuse a precision that is too coarse for sums of halting probabilities."""
        precision = self.heads.weight.dtype
        if torch.is_autocast_enabled(inputs.device.type):
            raise ValueError("autocast: is not allowed; leave it by torch.autocast(enabled=False)")
        mixed = inputs.is_floating_point() and inputs.dtype != precision
        if precision not in PRECISIONS or mixed:
            raise ValueError(
                f"precision: inputs of {inputs.dtype} and parameters of {precision} are not "
                "allowed; float32 with float32 and float64 with float64 are"
            )

    def _check_settings(self, halting: Halting) -> None:
        """Refuse a setting with several values that are not one for each replica."""
        replicas = len(self.heads.weight) if self.heads.weight.dim() == 3 else None
        for name, value in vars(halting).items():
            several = isinstance(value, tuple) or (isinstance(value, Tensor) and value.dim() > 0)
            if several and len(value) != replicas:
                wanted = "one" if replicas is None else f"one, or one for each of {replicas},"
                raise ValueError(f"{name}: {len(value)} values are not allowed; {wanted} is")

    def _rows(self, inputs: Tensor) -> tuple[int, ...]:
        """The rows of inputs: (T, B), (T, K, B) for stacked replicas, (B, T) with batch first."""
        floats, replicas = inputs.is_floating_point(), self.heads.weight.shape[:-2]
        rows = tuple(inputs.shape[:-1] if floats else inputs.shape)
        known = len(rows) == 2 + len(replicas) and rows[1:-1] == replicas
        if not known or not rows[self.batch_first]:
            axes = ", ".join(("B", "T") if self.batch_first else ("T", *map(str, replicas), "B"))
            raise ValueError(
                f"inputs: {inputs.dtype} of shape {tuple(inputs.shape)} are not allowed; "
                f"({axes}, D) floats or ({axes}) integers are"
            )
        return rows

    def _embed(self, inputs: Tensor) -> Tensor:
        """The cell's `embed` of all T inputs in one call, time folded into the rows."""
        folded = _fold_time(inputs, -2 if inputs.is_floating_point() else -1)
        return _unfold_time(self.cell.embed(folded), len(inputs))

    def _gather(self, records: list[InputRecord]) -> PonderRecord:
        """Stack T records; unless every step is scored, the mixture is the head of sum p_n h_n.

        The heads are linear and p sums to one, so sum p_n (W h_n + b) = W (sum p_n h_n) + b: one
        product per input in place of one per step. A masked row then has the head of its old
        state as mixture; where every step is scored it has zero.
        """
        weights, outputs, mixtures, features, _, ends, computed, halt_logits = zip(
            *records, strict=True
        )
        if mixtures[0] is None:
            mixture = self._outputs(torch.cat(features, dim=-2), len(features))
        else:
            mixture = torch.stack(mixtures)
        return PonderRecord(
            weights=_pad_and_stack(weights),
            outputs=_pad_and_stack(outputs),
            mixture=mixture,
            ponder_time=torch.stack([end.steps for end in ends]),
            remainder=torch.stack([end.remainder for end in ends]),
            cost=torch.stack([end.cost for end in ends]),
            expected_steps=torch.stack([end.expected_steps for end in ends]),
            computed=sum(computed),
            halt_logits=_pad_and_stack(halt_logits),
        )

    def _outputs(self, features: Tensor, times: int) -> Tensor:
        """The output head of (..., T x B, H): (T, ..., B, C)."""
        return _unfold_time(self.heads(features)[..., :-1], times)


def batch_first(record: PonderRecord) -> PonderRecord:
    """The record of inputs (B, T, D): (N, B, T, ...) where a part has steps, else (B, T, ...)."""
    by_step = ("weights", "outputs", "halt_logits")
    parts: dict[str, Any] = {
        name: part.transpose(1, 2) if name in by_step else part.transpose(0, 1)
        for name, part in record._asdict().items()
        if isinstance(part, Tensor)
    }
    return record._replace(**parts)


def _fold_time(x: Tensor, rows: int) -> Tensor:
    """From (T, ..., B, ...) to (..., T x B, ...); `rows` is the axis of B."""
    return x.movedim(0, rows - 1).flatten(rows - 1, rows)


def _unfold_time(rows: Tensor, times: int) -> Tensor:
    """From (..., T x B, F) to (T, ..., B, F)."""
    shape = (*rows.shape[:-2], times, rows.shape[-2] // times, rows.shape[-1])
    return rows.reshape(shape).movedim(-3, 0)


def _pad_and_stack(parts: Sequence[Any]) -> Tensor | None:
    """T tensors (N_t, ...) as one (N, T, ...), padded by zeros; None if they are None.

    The gradient of torch's `pad_sequence` takes a time that grows as T squared.
    """
    if parts[0] is None:
        return None
    most = max(map(len, parts))
    padded = [
        part if len(part) == most
        else torch.cat([part, part.new_zeros(most - len(part), *part.shape[1:])])
        for part in parts
    ]  # fmt: skip
    return torch.stack(padded, dim=1)
