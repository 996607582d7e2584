"""What a halting mechanism answers, and the records that it fills.

The network emits one halting logit per ponder step n = 1, 2, ... and row; an untrained halting unit
starts near sigmoid(halt_bias). A mechanism answers four questions (a path of `model/paths` may
know it and compute the same faster):

- `step`: which weight p_n this step gets, and who is still running (after a `look` at the step);
- `carry`: which state crosses to the next input;
- `objective`: how the task's score of the outputs becomes the loss;
- `predict`: which output is the prediction.

`MeanField` has defaults for what else `Halting` names: where a row begins, what changes from update
to update, where the gradient is cut.

All tensors are (..., B): rows B, optional replica axes in front. Settings (tau, lambda_p, beta,
rho) are numbers, or tensors (K,) with one value per replica; any field of a mechanism that is a
tuple or a tensor with axes counts as one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeVar, get_args

import torch
from torch import Generator, Tensor

Setting = Tensor | float
Score = Callable[[Tensor], Tensor]
Carry = Literal["mean_field", "last"]
EXITS = (
    "sampled", "expected", "argmax", "cumulated", "threshold", "patience", "state", "divergence",
    "certainty", "fixed", "oracle",
)  # fmt: skip
"""Rules that end the ponder of a trained network at evaluation, without any training.

`sampled`, `expected`, `argmax`, `cumulated` and `threshold` read the halting logits, `patience`,
`divergence`, `certainty` and `oracle` the outputs, `state` the states, `fixed` nothing.
"""


@dataclass(frozen=True)
class HaltingState:
    """Where each row stands after some ponder steps of one input; all (..., B).

    A mechanism that has to remember more adds fields in a subclass, beside its own class.
    """

    running: Tensor  # bool: the row has not halted
    steps: Tensor  # steps the row has taken; N(t) once it has halted
    remainder: Tensor  # R(t), the weight left for the last step, once it has halted; 0 if none
    expected_steps: Tensor  # sum of n p_n so far, without gradient

    @property
    def cost(self) -> Tensor:
        """What the mechanism's objective penalises, in its own unit; here nothing, zero."""
        return torch.zeros_like(self.steps)


S = TypeVar("S", bound=HaltingState)


class Pondered(NamedTuple):
    """What a mechanism sees of one pass: T inputs, N ponder steps at most."""

    weights: Tensor | None  # (N, T, ..., B) p_n, zero once halted; None on a path that drops them
    outputs: Tensor | None  # (N, T, ..., B, C) y_n, if the mechanism scores every step
    mixture: Tensor  # (T, ..., B, C) sum of p_n y_n
    ponder_time: Tensor  # (T, ..., B) N(t), steps until the row halted
    remainder: Tensor  # (T, ..., B) R(t)
    cost: Tensor  # (T, ..., B) `HaltingState.cost` of the mechanism's own state
    expected_steps: Tensor  # (T, ..., B) sum of n p_n, without gradient
    computed: int  # rows x steps that were evaluated, halted ones included
    state: tuple[Tensor, ...] | None = None  # (..., B, H) each, after the last input, if asked for
    halt_logits: Tensor | None = None  # (N, T, ..., B) a_n, of the readable path with `outputs`


class Halting(Protocol):
    """The contract; see the module's description."""

    scores_every_step: ClassVar[bool]  # whether `objective` needs outputs, not their mixture alone
    learns: ClassVar[bool]  # whether the halting unit takes part in the gradient
    exits: ClassVar[tuple[str, ...]]  # which of `EXITS` may stop it; () where its own rule alone

    @property
    def max_steps(self) -> int:
        """M or N: no row takes more steps."""
        ...

    def start(self, running: Tensor) -> HaltingState:
        """No step taken yet; rows that are False in `running` never ponder."""
        ...

    def look(self, output: Tensor, hidden: tuple[Tensor, ...], state: Any) -> HaltingState:
        """See what step n made, besides its halting logit, right before `step` weighs it.

        Only the readable path shows it. A mechanism that looks has `scores_every_step` True, by
        which it is run by that path.

        Args:
            output: (..., B, C), y_n.
            hidden: the cell's state s_n, (..., B, H) each.
            state: what `start` or the step before has returned.

        Returns:
            the same with what shall be remembered.
        """
        ...

    def step(self, n: int, halt_logit: Tensor, state: Any) -> tuple[Tensor, HaltingState]:
        """Take step n = 1, 2, ...

        Args:
            n: the step's number.
            halt_logit: (..., B), the halting unit before its sigmoid.
            state: what `start` or the step before has returned.

        Returns:
            p_n, (..., B), and the state after the step. p_n is zero for rows that had halted before
            or never ran. For every other row it sums to one over the steps, so that step max_steps
            takes all that is left: the heads are applied once, to sum p_n s_n.
        """
        ...

    @property
    def carry(self) -> Carry:
        """Which state crosses to the next input: sum p_n s_n (`mean_field`) or s_N (`last`)."""
        ...

    def cuts(self, n: int) -> bool | Tensor:
        """Whether no gradient flows from step n to the state that it starts from.

        Only the readable path asks; a mechanism that cuts has `scores_every_step` True.

        Returns:
            one answer for all rows, or bool (K, 1) for each of K replicas.
        """
        ...

    def objective(self, score: Score, pondered: Pondered) -> Tensor:
        """Loss of each input vector, (T, ..., B), from the task's score of outputs.

        `score` gets (T, ..., B, C), or (N, T, ..., B, C) of a mechanism that asks for every step at
        once, and gives the same without C; targets without N broadcast to both. Where there is no
        input the loss is zero, whatever the score is.
        """
        ...

    def at_update(self, update: int) -> Halting:
        """The mechanism that trains at an update, 0 for the first: its pass and its objective."""
        ...

    def predict(self, pondered: Pondered) -> Tensor:
        """The output that counts as the prediction, (T, ..., B, C)."""
        ...

    def ponder_time(self, pondered: Pondered) -> Tensor:
        """The reported steps per input vector, (T, ..., B)."""
        ...

    def at_inference(self, generator: Generator | None = None) -> Halting:
        """The mechanism as it halts in evaluation.

        Args:
            generator: source of what is sampled; None: torch's default one.
        """
        ...


class MeanField:
    """What the mechanisms share: the prediction is averaged under p_n (Graves Eq. 9).

    A base for mechanisms. They add `step`, `objective`, `at_inference`, `max_steps`,
    `scores_every_step` and `learns`, and `start` where they have a state of their own; `repeat.py`
    is the shortest example.
    """

    carry: Carry = "mean_field"
    exits: ClassVar[tuple[str, ...]] = ()

    def start(self, running: Tensor) -> HaltingState:
        """No step taken yet, for rows (..., B)."""
        return HaltingState(running, zeros(running), zeros(running), zeros(running))

    def at_update(self, update: int) -> Self:
        """The same at every update."""
        return self

    def look(self, output: Tensor, hidden: tuple[Tensor, ...], state: Any) -> Any:
        """Nothing but the halting logit counts: the state as it is."""
        return state

    def cuts(self, n: int) -> bool | Tensor:
        """Never: the gradient reaches every step."""
        return False

    def predict(self, pondered: Pondered) -> Tensor:
        """The mean-field output, (T, ..., B, C)."""
        return pondered.mixture

    def ponder_time(self, pondered: Pondered) -> Tensor:
        """N(t), the steps until the row halted, (T, ..., B)."""
        return pondered.ponder_time


def zeros(running: Tensor) -> Tensor:
    """A counter of rows (..., B) at zero; each has a tensor of its own."""
    return torch.zeros(running.shape, device=running.device)


def stopped(n: int, stops: Tensor, halt_logit: Tensor, state: S) -> tuple[Tensor, S]:
    """A step n that ends rows with all their weight: p_n, 1 where a row stops, and the state.

    Args:
        stops: (..., B) bool, of rows that are running.
        halt_logit: (..., B), whose precision p_n has.
    """
    weight = stops.to(halt_logit.dtype)
    return weight, replace(
        state,
        running=state.running & ~stops,
        steps=state.steps + state.running,
        expected_steps=state.expected_steps + n * weight,
    )


def where_present(loss: Tensor, pondered: Pondered) -> Tensor:
    """A loss (T, ..., B), zero where there was no input."""
    return torch.where(pondered.ponder_time > 0, loss, 0.0)


def refuse_unless(fits: bool | Tensor, name: str, value: object, allowed: str) -> None:
    """Refuse an argument of a mechanism.

    Args:
        fits: whether it is allowed; of a setting (K,), each of them.
        name, value: the argument.
        allowed: what may stand there, in words.

    Raises:
        ValueError: one line that names all three.
    """
    if not bool(torch.as_tensor(fits).all()):
        raise ValueError(f"{name}: {value} is not allowed; {allowed} is")


def refuse_no_count(name: str, value: object) -> None:
    """Refuse what is no whole number from 1 on.

    Raises:
        ValueError: as `refuse_unless`.
    """
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    refuse_unless(whole, name, value, "a whole number from 1 on")


def refuse_no_word(name: str, value: object, words: Any) -> None:
    """Refuse what is none of the words of a `Literal`.

    Raises:
        ValueError: as `refuse_unless`.
    """
    refuse_unless(value in get_args(words), name, value, " or ".join(get_args(words)))


def per_row(setting: Setting, like: Tensor) -> Tensor:
    """A setting (K,) as (K, 1), so that it broadcasts over rows (K, B); a number stays one.

    Use it wherever a setting meets a tensor of rows.
    """
    value = torch.as_tensor(setting, dtype=like.dtype)
    return value.unsqueeze(-1) if value.dim() else value


def added(values: Tensor) -> Tensor:
    """The sum over the first axis, in its order, so that no element's depends on its neighbours.

    torch's own order depends on how many elements stand beside, as replicas of a stack do.
    """
    return sum(values.unbind(), values.new_zeros(()))
