"""What a halting mechanism defines, and the records that it reads and writes.

The network emits one halting logit per ponder step n = 1, 2, ... and row. An untrained halting unit
starts near sigmoid(halt_bias). A mechanism answers four questions:

- `step`: the weight p_n of this step, and which rows go on;
- `carry`: the state that crosses to the next input;
- `objective`: the loss, from the task's score of the outputs;
- `predict`: the output that counts as the prediction.

All tensors are (..., B): rows B, with optional replica axes in front. A setting (tau, lambda_p,
beta, rho) is a number, or a tensor (K,) with one value per replica.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar, get_args

import torch
from torch import Generator, Tensor

Setting = Tensor | float
Score = Callable[[Tensor], Tensor]
Carry = Literal["mean_field", "last"]


@dataclass(frozen=True)
class HaltingState:
    """The progress of each row after some ponder steps of one input; all (..., B).

    A mechanism that has to remember more adds fields in a subclass.
    """

    running: Tensor  # bool: the row has not halted
    steps: Tensor  # steps that the row has taken; N(t) once it has halted
    remainder: Tensor  # R(t), the weight left for the last step, once it has halted; 0 if none
    expected_steps: Tensor  # sum of n p_n so far, without gradient

    @property
    def cost(self) -> Tensor:
        """What the objective penalises, in the mechanism's unit; zero here."""
        return torch.zeros_like(self.steps)


S = TypeVar("S", bound=HaltingState)


class PonderRecord(NamedTuple):
    """One pass of a network: T inputs, N ponder steps at most."""

    weights: Tensor | None  # (N, T, ..., B) p_n, zero once halted; None on a path that drops them
    outputs: Tensor | None  # (N, T, ..., B, C) y_n, if the mechanism scores every step
    mixture: Tensor  # (T, ..., B, C) sum of p_n y_n
    ponder_time: Tensor  # (T, ..., B) N(t), steps until the row halted
    remainder: Tensor  # (T, ..., B) R(t)
    cost: Tensor  # (T, ..., B) `HaltingState.cost`
    expected_steps: Tensor  # (T, ..., B) sum of n p_n, without gradient
    computed: int  # rows x steps that were evaluated, halted ones included
    state: tuple[Tensor, ...] | None = None  # (..., B, H) each, after the last input, if asked for
    halt_logits: Tensor | None = None  # (N, T, ..., B) a_n, of the readable path with `outputs`


class Halting(ABC):
    """The base of the mechanisms. A mechanism is a frozen dataclass; its fields are its settings.

    It defines `max_steps` and `step`, and overrides what differs. `repeat.py` is the shortest
    example. By default the prediction is the mean-field output sum p_n y_n (Graves Eq. 9).
    """

    max_steps: int  # M or N: no row takes more steps
    carry: Carry = "mean_field"  # what crosses to the next input: sum p_n s_n, or s_N (`last`)
    scores_every_step: ClassVar[bool] = False  # whether `objective` needs every y_n
    learns: ClassVar[bool] = True  # whether the halting unit takes part in the gradient

    def start(self, running: Tensor) -> HaltingState:
        """The state before step 1; rows that are False in `running` never ponder."""
        return HaltingState(*counters(running))

    def look(self, output: Tensor, hidden: tuple[Tensor, ...], state: Any) -> Any:
        """Remember what step n computed, right before `step` weighs it.

        Only the readable path calls it. A mechanism that looks sets `scores_every_step`.

        Args:
            output: (..., B, C), y_n.
            hidden: the cell's state s_n, (..., B, H) each.
            state: from `start` or the step before.

        Returns:
            the halting state, with what is remembered.
        """
        return state

    @abstractmethod
    def step(self, n: int, halt_logit: Tensor, state: Any) -> tuple[Tensor, HaltingState]:
        """Take step n = 1, 2, ...

        Args:
            n: the number of the step.
            halt_logit: (..., B), the halting unit before its sigmoid.
            state: from `start` or the step before.

        Returns:
            p_n, (..., B), and the state after the step. p_n is zero for rows that had halted or
            never ran. For every other row p_n sums to one over the steps; step max_steps takes all
            that is left. So the heads can be applied once, to sum p_n s_n.
        """

    def cuts(self, n: int) -> bool | Tensor:
        """Whether no gradient flows from step n to the state before it.

        Only the readable path asks. A mechanism that cuts sets `scores_every_step`.

        Returns:
            one answer for all rows, or bool (K, 1) for K replicas.
        """
        return False

    def objective(self, score: Score, record: PonderRecord) -> Tensor:
        """Loss of each input vector, (T, ..., B); zero where there is no input.

        Args:
            score: the task's loss of outputs, from (T, ..., B, C) to (T, ..., B). A mechanism that
                scores every step passes (N, T, ..., B, C); targets without N broadcast.
            record: the pass.
        """
        return where_present(score(record.mixture), record)

    def at_update(self, update: int) -> Self:
        """The mechanism that trains at an update, 0 for the first.

        One that draws while it trains gets a generator of the update's here, good for one pass:
        `correctness.py`.
        """
        return self

    def predict(self, record: PonderRecord) -> Tensor:
        """The output that counts as the prediction, (T, ..., B, C)."""
        return record.mixture

    def ponder_time(self, record: PonderRecord) -> Tensor:
        """The reported steps of each input vector, (T, ..., B)."""
        return record.ponder_time

    def at_inference(self, generator: Generator | None = None) -> Halting:
        """The mechanism that halts in evaluation.

        Args:
            generator: source of random numbers; None: torch's default one.
        """
        return self


def counters(running: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The four fields of `HaltingState` before step 1."""
    return running, zeros(running), zeros(running), zeros(running)


def zeros(running: Tensor) -> Tensor:
    """A counter of rows (..., B) at zero."""
    return torch.zeros(running.shape, device=running.device)


def halt_at(n: int, stops: Tensor, halt_logit: Tensor, state: S) -> tuple[Tensor, S]:
    """Step n of a mechanism that puts all weight on one step: p_n is 1 where a row stops.

    Args:
        stops: (..., B) bool, which running rows stop.
        halt_logit: (..., B), whose precision p_n has.
    """
    weight = stops.to(halt_logit.dtype)
    return weight, replace(
        state,
        running=state.running & ~stops,
        steps=state.steps + state.running,
        expected_steps=state.expected_steps + n * weight,
    )


def scored_steps(record: PonderRecord) -> tuple[Tensor, Tensor]:
    """Weights p_n, (N, T, ..., B), and outputs y_n, (N, T, ..., B, C), of every step.

    Raises:
        ValueError: the record has the mixture alone.
    """
    if record.weights is None or record.outputs is None:
        raise ValueError(
            "objective: the record has no outputs of every step; after eval() ask for them by "
            "network(inputs, halting=network.halting)"
        )
    return record.weights, record.outputs


def where_present(loss: Tensor, record: PonderRecord) -> Tensor:
    """A loss (T, ..., B), zero where there was no input."""
    return torch.where(record.ponder_time > 0, loss, 0.0)


def check_number(
    name: str, value: Any, interval: str, whole: bool = False, one: bool = False
) -> None:
    """Refuse a setting outside an interval, such as `[0, 1)`, or one that is not whole.

    Args:
        name, value: the setting, a number or a tensor (K,).
        one: whether (K,) is refused, too.

    Raises:
        ValueError: some number is not allowed.
    """
    numbers = torch.as_tensor(value)
    low, high = map(float, interval[1:-1].split(", "))
    fits = numbers >= low if interval[0] == "[" else numbers > low
    fits = fits & (numbers <= high if interval[-1] == "]" else numbers < high)
    if whole:
        fits = fits & (numbers == numbers.round())
    if not bool(fits.all()) or (one and numbers.dim() > 0):
        kind = "a whole number" if whole else "a number"
        raise ValueError(f"{name}: {value} is not allowed; {kind} in {interval} is")


def check_word(name: str, value: object, words: Any) -> None:
    """Refuse what is none of the words of a `Literal`.

    Raises:
        ValueError: the word is not allowed.
    """
    if value not in get_args(words):
        raise ValueError(f"{name}: {value} is not allowed; {' or '.join(get_args(words))} is")


def per_row(setting: Setting, like: Tensor) -> Tensor:
    """A setting (K,) as (K, 1), which broadcasts over rows (K, B); a number stays one.

    Use it wherever a setting meets a tensor of rows. (K, 1) lies on the device of `like`.
    """
    value = torch.as_tensor(setting, dtype=like.dtype)
    return value.unsqueeze(-1).to(like.device) if value.dim() else value


def ordered_sum(values: Tensor) -> Tensor:
    """The sum over the first axis, from the first to the last.

    The order of torch's sum depends on the other elements, such as the replicas of a stack.
    """
    return sum(values.unbind(), values.new_zeros(()))
