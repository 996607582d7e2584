"""Exit rules on sequences, run through a network: a rule also decides which state crosses.

Every rule at each of its thresholds is a route through the steps of a sequence. All routes are
walked together, position by position. Rows of one example whose routes have stopped at the same
steps so far are in the same state: they are computed once, as a node.

`expected` hands on the state sum p_n s_n. `sampled` has one draw a row and position, of the seed.
`oracle` is, as on single vectors, the first fixed n from which all answers of the sequence are
right whatever greater n every position is given; no rule that changes n along a sequence is bound
by it. Where a position has no target, as those of numbers to sort, rules read outputs that nothing
has trained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

import numpy as np
import torch
from torch import Tensor

from pondering.evaluate.rules import RULES, Array, Outcome, Shown, need
from pondering.model.halting import Exit, ExitState, Seen, relative_change
from pondering.model.network import Network
from pondering.model.paths import readable
from pondering.tasks.base import Batch, Task, random_stream

ROWS = 16384
"""Examples x routes walked at a time, which bounds the memory."""
Choose = Callable[[Shown, int, Array], Array]
"""From what the nodes of position t have shown, and their examples (R,): where each of V routes
stops there, (V, R), 1 to N, or 0 for the mixture of all steps."""


def never(seen: Seen) -> Tensor:
    """A rule by which all rows take all N steps."""
    return torch.zeros_like(seen.halt_logits[-1], dtype=torch.bool)


def thresholds(network: Network, batch: Batch, rules: Sequence[str]) -> dict[str, Array]:
    """Thresholds of each rule from what the steps show on every route of a fixed n.

    Args:
        network: of one replica, without replica axis.
        batch: the validation set, tensors (T, B, ...).
        rules: names in `RULES`.
    """
    kept: list[tuple[Array, ...]] = []
    depths = np.arange(1, network.halting.max_steps + 1)

    def choose(shown: Shown, t: int, examples: Array) -> Array:
        there = batch.mask[t].cpu().numpy()[examples]
        every = shown.halt_logits, shown.outputs, shown.change
        kept.append(tuple(each[:, there] for each in every))
        return np.repeat(depths[:, None], len(examples), axis=1)

    for _ in walk(network, batch, choose):
        pass
    joined = (np.concatenate(each, axis=1) for each in zip(*kept, strict=True))
    shown = Shown(*joined, parts=softmaxes(batch))
    return {rule: RULES[rule].thresholds(shown) for rule in rules}


def softmaxes(batch: Batch) -> int:
    """Of how many softmaxes, or sigmoids, each output consists."""
    count: int = batch.targets.shape[2:].numel()
    return count


def outcomes(
    network: Network, task: Task, batch: Batch, at: Mapping[str, Array], seed: int
) -> dict[str, Outcome]:
    """Mean steps per input and error of every sequence, by rule: (M, B) for its M thresholds.

    Args:
        network: of one replica, without replica axis.
        batch: tensors (T, B, ...).
        at: the thresholds of each rule; `fixed` has every n where `oracle` is among them.
        seed: of the replica, for the draws of `sampled`.
    """
    count = len(batch.difficulty)
    draws = random_stream("sampled exit", seed).random((len(batch.mask), count))
    routed = {rule: each for rule, each in at.items() if rule != "oracle"}
    ends = np.cumsum([len(each) for each in routed.values()])
    rows = max(1, ROWS // int(ends[-1]))
    pieces = [slice(start, start + rows) for start in range(0, count, rows)]
    parts = [_of_rows(network, task, batch.take(each), routed, draws[:, each]) for each in pieces]
    steps, error = (np.concatenate(each, axis=1) for each in zip(*parts, strict=True))
    by_rule = zip(np.split(steps, ends[:-1]), np.split(error, ends[:-1]), strict=True)
    found = dict(zip(routed, by_rule, strict=True))
    if "oracle" in at:
        depths, errors = found["fixed"]
        place = need(errors)[None] - 1
        found["oracle"] = (
            np.take_along_axis(depths, place, axis=0), np.take_along_axis(errors, place, axis=0)
        )  # fmt: skip
    return found


def _of_rows(
    network: Network, task: Task, batch: Batch, at: Mapping[str, Array], draws: Array
) -> tuple[Array, Array]:
    """Mean steps and errors of all routes, (V, B) both, rule after rule."""

    def choose(shown: Shown, t: int, examples: Array) -> Array:
        return np.concatenate(
            [_stops(rule, each, shown, draws[t, examples]) for rule, each in at.items()]
        )

    taken, outputs = zip(*walk(network, batch, choose), strict=True)
    steps = np.sum(taken, axis=0) / batch.mask.sum(0).clamp(min=1).cpu().numpy()
    error = task.error(torch.stack(outputs), batch.replicate(len(steps)))
    return steps, error.double().cpu().numpy()


def _stops(rule: str, thetas: Array, shown: Shown, draws: Array) -> Array:
    """Where a rule stops each of R nodes at each of M thresholds, (M, R); see `Choose`."""
    if rule == "expected":
        return np.zeros((1, len(draws)), int)
    if rule == "sampled":
        passed = np.cumsum(shown.weights[:-1], axis=0) > draws
        drawn: Array = 1 + (~passed).sum(0)[None]
        return drawn
    steps = RULES[rule].steps
    assert steps is not None
    return steps(shown, thetas)


@torch.no_grad()
def walk(network: Network, batch: Batch, choose: Choose) -> Iterator[tuple[Array, Tensor]]:
    """Walk all routes through a batch, from zero states.

    Args:
        network: of one replica, without replica axis.
        batch: tensors (T, B, ...).
        choose: where each of V routes stops.

    Yields:
        for each position the steps of every route, (V, B), 0 where there is no input, and the
        output that it leaves with, (V, B, C).
    """
    count, parts = len(batch.difficulty), softmaxes(batch)
    like = network.heads.weight
    state = tuple(like.new_zeros(count, size) for size in network.cell.state_sizes)
    examples, nodes = np.arange(count), np.arange(count)[None]
    for t, inputs in enumerate(batch.inputs):
        there = batch.mask[t][examples]
        shown, states, outputs = _steps(network, inputs[examples], state, there, parts)
        chosen = np.where(there.cpu().numpy(), choose(shown, t, examples), 1)
        nodes = np.broadcast_to(nodes, (len(chosen), count))
        keys = np.take_along_axis(chosen, nodes, axis=1) * len(examples) + nodes
        places, nodes = np.unique(keys, return_inverse=True)
        nodes = nodes.reshape(keys.shape)
        numbers = np.arange(len(outputs))[:, None]
        steps = np.where(numbers > 0, numbers, shown.expected_steps).ravel()[places]
        left = outputs.flatten(0, 1)[places][nodes]
        yield np.where(batch.mask[t].cpu().numpy(), steps[nodes], 0.0), left
        state = tuple(part.flatten(0, 1)[places] for part in states)
        examples = examples[places % len(examples)]


def _steps(
    network: Network, inputs: Tensor, state: tuple[Tensor, ...], there: Tensor, parts: int
) -> tuple[Shown, tuple[Tensor, ...], Tensor]:
    """All N steps of one input of R nodes.

    Returns:
        what they show; states (1 + N, R, H) and outputs (1 + N, R, C), the mixtures first. Where
        there is no input all states are the old one.
    """
    every, most = torch.ones_like(there), network.halting.max_steps
    drive = network.cell.embed(inputs)
    full = Exit(never, most)
    done = readable.ponder(network.cell, network.heads, full, drive, state, every)
    seen = cast(ExitState, done.halting_state).seen
    changes = [relative_change(seen.states[: n + 1]) for n in range(most)]
    logits, outputs = torch.stack(seen.halt_logits), torch.stack(seen.outputs)
    arrays = (each.double().cpu().numpy() for each in (logits, outputs, torch.stack(changes)))
    shown = Shown(*arrays, parts=parts)
    weights = torch.from_numpy(shown.weights).to(outputs)[..., None]
    mixed = [
        torch.cat([(weights * each).sum(0, keepdim=True), each])
        for each in (torch.stack(seen.states), outputs)
    ]
    side = torch.where(there[..., None], mixed[0], torch.cat(state, -1))
    return shown, torch.split(side, network.cell.state_sizes, -1), mixed[1]
