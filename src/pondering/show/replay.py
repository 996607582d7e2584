"""Single inputs through one trained network, every ponder step of them kept, to be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Generator

from pondering.data.frozen import read_arrays, unpack
from pondering.model.halting import Halting, PonderNet, SampledHalting
from pondering.model.network import Network
from pondering.project.errors import UserError
from pondering.project.paths import Layout, to_run
from pondering.tasks.base import Batch, Task, TextTask


class Sampled(NamedTuple):
    """One input where the halting step was sampled."""

    steps: int
    prediction: str


@dataclass(frozen=True)
class Moment:
    """What the network did with one input vector.

    Args:
        input, target, prediction: in words, as the task describes them.
        right: whether the prediction is the target; None where there is no target.
        chance: probability of the target under the prediction; None where there is none.
        ponder_time: N(t), the steps computed.
        remainder: R(t), the weight given to the last step.
        expected_steps: sum of n p_n.
        weights: p_1 ... p_N.
        answers: what the output of step n alone says, N of them.
        chances: probability of the target under step n alone; empty where there is none.
        prior: PonderNet's prior over the same steps; empty for the other mechanisms.
        sampled: PonderNet halting by chance; None for the other mechanisms.
    """

    input: str
    target: str
    prediction: str
    right: bool | None
    chance: float | None
    ponder_time: int
    remainder: float
    expected_steps: float
    weights: tuple[float, ...]
    answers: tuple[str, ...]
    chances: tuple[float, ...]
    prior: tuple[float, ...]
    sampled: Sampled | None


class Chosen(NamedTuple):
    """An example before it is run."""

    split: str  # empty for the user's own
    difficulty: float | None  # None where it says nothing
    batch: Batch  # arrays or tensors (T, 1, ...)


class Example(NamedTuple):
    """An input of one vector or several, and what became of it."""

    split: str
    difficulty: float | None
    moments: list[Moment]
    text: bool  # whether the inputs are characters

    @property
    def judged(self) -> list[Moment]:
        """The inputs that have a target."""
        return [moment for moment in self.moments if moment.right is not None]


class _EveryOutput:
    """A mechanism that has the outputs of all steps kept, whatever its loss needs."""

    scores_every_step = True

    def __init__(self, halting: Halting) -> None:
        self._halting = halting

    def __getattr__(self, name: str) -> Any:
        return getattr(self._halting, name)


@torch.no_grad()
def replay(network: Network, task: Task, batch: Batch, generator: Generator) -> list[Moment]:
    """Run one example and keep all its steps.

    Args:
        network: without replica axis.
        batch: tensors (T, 1, ...).
        generator: for PonderNet's sampled halt.

    Returns:
        one `Moment` per input vector.
    """
    evaluated = network.halting.at_inference(generator)
    by_chance = isinstance(evaluated, SampledHalting)  # then all steps are shown, and a sample
    halting = network.halting if by_chance else evaluated
    watched: Any = _EveryOutput(halting)
    pondered = network(batch.inputs, batch.mask, halting=watched)
    guess = network(batch.inputs, batch.mask, halting=evaluated) if by_chance else None
    assert pondered.weights is not None and pondered.outputs is not None
    said = halting.predict(pondered)
    words = task.describe(said, batch, 0)
    by_step = [task.describe(each, batch, 0) for each in pondered.outputs]
    by_guess = None if guess is None else task.describe(guess.mixture, batch, 0)
    chance = torch.exp(-task.loss(said, batch))[:, 0]
    chances = torch.exp(-task.loss(pondered.outputs, batch))[..., 0]
    moments = []
    for t in range(int(batch.mask[:, 0].sum())):
        steps = int(pondered.ponder_time[t, 0])
        scored = bool(batch.scored[t, 0])
        sampled = None
        if guess is not None and by_guess is not None:
            sampled = Sampled(int(guess.ponder_time[t, 0]), by_guess[t]["prediction"])
        moment = Moment(
            **words[t],
            right=words[t]["prediction"] == words[t]["target"] if scored else None,
            chance=float(chance[t]) if scored else None,
            ponder_time=steps,
            remainder=float(pondered.remainder[t, 0]),
            expected_steps=float(pondered.expected_steps[t, 0]),
            weights=tuple(pondered.weights[:steps, t, 0].tolist()),
            answers=tuple(each[t]["prediction"] for each in by_step[:steps]),
            chances=tuple(chances[:steps, t].tolist()) if scored else (),
            prior=_prior(halting, steps),
            sampled=sampled,
        )
        moments.append(moment)
    return moments


def _prior(halting: Halting, steps: int) -> tuple[float, ...]:
    """The prior of PonderNet's lambda_p, cut after `steps` and normalised."""
    if not isinstance(halting, PonderNet):
        return ()
    weights = (1 - float(halting.lambda_p)) ** np.arange(steps)  # the factor lambda_p cancels
    return tuple((weights / weights.sum()).tolist())


def examples(network: Network, task: Task, chosen: Sequence[Chosen]) -> list[Example]:
    """Run examples one by one, through a network without replica axis."""
    generator, text = Generator().manual_seed(0), isinstance(task, TextTask)
    return [
        Example(split, difficulty, replay(network, task, batch.torch(), generator), text)
        for split, difficulty, batch in chosen
    ]


def evaluation_sets(task: Task, layout: Layout, experiment: str, count: int) -> dict[str, Batch]:
    """The frozen evaluation sets, or the same ones drawn again where no data are needed.

    Args:
        count: examples per difficulty, as frozen.

    Raises:
        UserError: the frozen file is not there and the task cannot do without.
    """
    frozen = layout.frozen(experiment)
    if frozen.is_file():
        return unpack(read_arrays(frozen))
    try:
        return task.evaluation_sets(count)
    except UserError:
        todo = f"{to_run('datasets', layout.profile, experiment)} first"
        raise UserError(
            f"{frozen}: no such file; {todo}, or give an input of your own: --input"
        ) from None


def pick(sets: dict[str, Batch], count: int, difficulty: float | None = None) -> list[Chosen]:
    """A few examples: of one difficulty, or spread from the easiest to the hardest.

    Args:
        sets: arrays by split.

    Raises:
        UserError: there are none of this difficulty.
    """
    rows: dict[float, list[tuple[str, int]]] = {}
    for split, batch in reversed(sets.items()):  # held-out text before the text trained on
        for index, level in enumerate(batch.difficulty):
            rows.setdefault(float(level), []).append((split, index))
    levels = sorted(rows)
    if difficulty is None:
        spread = np.linspace(0, len(levels) - 1, count).round().astype(int)
        wanted = [levels[index] for index in spread]
    else:
        wanted = [level for level in levels if np.isclose(level, difficulty)] * count
        if not wanted:
            where = f"--difficulty: {difficulty:g} is not in the evaluation set"
            raise UserError(f"{where}; allowed: {_listed(levels)}")
    left = {level: iter(rows[level]) for level in wanted}
    found = [(level, *row) for level in wanted if (row := next(left[level], None))]
    telling = len(levels) > 1
    return [
        Chosen(split, level if telling else None, sets[split].torch().take(torch.tensor([index])))
        for level, split, index in found
    ]


def _listed(levels: Sequence[float]) -> str:
    """Numbers in a line; a run of whole ones by its ends."""
    if len(levels) > 3 and np.array_equal(np.diff(levels), np.ones(len(levels) - 1)):
        return f"{levels[0]:g} to {levels[-1]:g}"
    return ", ".join(f"{level:g}" for level in levels)
