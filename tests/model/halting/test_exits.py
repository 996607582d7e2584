"""Exits at evaluation, run through networks, against the oracle's reading of each rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from oracle import oracle
from support.pinned import CLASSIC, build, inputs_for, model_of, values_of

from pondering.model import stacking
from pondering.model.halting import (
    Exit,
    History,
    PonderNet,
    Rule,
    relative_change,
)

STEPS, TIMES, ROWS, SEED = 6, 3, 8, 10  # of a network whose answers change between steps
TRAINED = PonderNet(0.3, max_steps=STEPS)
THRESHOLDS = {"threshold": (0.4, 0.55), "patience": (2, 5), "state": (0.9, 0.05)}


def halts(theta: Any) -> Rule:
    """h_n > theta."""
    return lambda seen: torch.sigmoid(seen.halt_logits[-1]) > theta


def same(count: Any) -> Rule:
    """The last `count` answers were alike, the argmax of y_n."""

    def rule(seen: History) -> torch.Tensor:
        answers = torch.stack(seen.outputs).argmax(-1)
        alike = (answers == answers[-1]).flip(0).long().cumprod(0).sum(0)
        return alike >= count

    return rule


def rests(theta: Any) -> Rule:
    """|s_n - s_(n-1)| / |s_n| < theta."""
    return lambda seen: relative_change(seen.states) < theta


def slow_halts(theta: float) -> Callable[[oracle.Pondering], bool]:
    return lambda done: 1 / (1 + np.exp(-done.logits[-1])) > theta


def slow_same(count: int) -> Callable[[oracle.Pondering], bool]:
    def stops(done: oracle.Pondering) -> bool:
        answers = [int(np.argmax(y)) for y in done.outputs]
        return len(answers) >= count and len(set(answers[-count:])) == 1

    return stops


def slow_rests(theta: float) -> Callable[[oracle.Pondering], bool]:
    def stops(done: oracle.Pondering) -> bool:
        now, *before = (np.concatenate(state) for state in done.states[::-1])
        moved = now - before[0] if before else now
        return float(np.sqrt((moved**2).sum() / (now**2).sum())) < theta

    return stops


RULES = {
    "threshold": (halts, slow_halts),
    "patience": (same, slow_same),
    "state": (rests, slow_rests),
}


def present() -> torch.Tensor:
    """Sequences of different lengths, one with a gap: (T, B)."""
    mask = torch.arange(TIMES)[:, None] < torch.tensor([3, 2, 1, 3, 3, 2, 3, 3])
    mask[1, -1] = False
    return mask


def run(cell: str, name: str, theta: float) -> tuple[Any, list[Any]]:
    network, inputs, mask = build(cell, TRAINED, SEED), inputs_for(cell, TIMES, ROWS), present()
    fast, slow = RULES[name]
    found = network(inputs, mask, halting=Exit(fast(theta), STEPS), keep_state=True)
    model, rule = model_of(cell, values_of(network)), oracle.exit_where(slow(theta), STEPS)
    wanted = [
        oracle.unroll(model, rule, inputs[:, b].numpy(), mask[:, b].numpy()) for b in range(ROWS)
    ]
    return found, wanted


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("cell", CLASSIC)
def test_a_rule_stops_a_network_where_the_oracle_does(cell: str, name: str, which: int) -> None:
    found, wanted = run(cell, name, THRESHOLDS[name][which])
    for b, sequence in enumerate(wanted):
        for t, done in enumerate(sequence):
            if done is None:
                assert (found.ponder_time[t, b], found.weights[:, t, b].sum()) == (0, 0)
                continue
            assert found.ponder_time[t, b] == done.steps
            assert found.weights[: done.steps, t, b].tolist() == done.weights
            np.testing.assert_allclose(
                found.mixture[t, b].numpy(force=True), done.output, rtol=1e-10
            )
        last = [done for done in sequence if done is not None][-1]
        for got, part in zip(found.state, last.state, strict=True):
            np.testing.assert_allclose(got[b].numpy(force=True), part, rtol=1e-10)


@pytest.mark.parametrize("name", RULES)
def test_the_cases_stop_early_late_and_at_the_cap(name: str) -> None:
    counts = {
        int(steps)
        for cell in CLASSIC
        for theta in THRESHOLDS[name]
        for steps in run(cell, name, theta)[0].ponder_time[present()]
    }
    assert len(counts) > 2 and STEPS in counts and min(counts) < STEPS - 1


@pytest.mark.parametrize("path", ["readable", "fast", "compiled"])
@pytest.mark.parametrize("name", RULES)
def test_stacked_replicas_stop_as_each_does_alone_with_its_own_threshold(
    name: str, path: Any
) -> None:
    singles = [build("lstm", TRAINED, seed) for seed in (SEED, 2)]
    network, make = stacking.stack(singles, TRAINED), RULES[name][0]
    inputs, mask = inputs_for("lstm", TIMES, ROWS), present()
    own = torch.tensor(THRESHOLDS[name]).unsqueeze(1)
    both = [part.unsqueeze(1).expand(TIMES, 2, *part.shape[1:]) for part in (inputs, mask)]
    with torch.no_grad():
        found = network(*both, halting=Exit(make(own), STEPS), path=path)
        for k, (single, theta) in enumerate(zip(singles, THRESHOLDS[name], strict=True)):
            alone = single(inputs, mask, halting=Exit(make(theta), STEPS))
            assert torch.equal(found.ponder_time[:, k], alone.ponder_time)
            torch.testing.assert_close(found.mixture[:, k], alone.mixture)
            assert torch.equal(found.expected_steps[:, k], alone.ponder_time.float())


def test_the_rule_decides_which_state_crosses() -> None:
    """On a sequence the second input meets another state, and so has other outputs."""
    network, inputs = build("gru", TRAINED), inputs_for("gru", 2)
    runs = {n: network(inputs, halting=Exit(lambda seen, n=n: _at(seen, n), STEPS)) for n in (1, 4)}
    stored = runs[4].outputs[:4]
    torch.testing.assert_close(runs[1].outputs[:1, 0], stored[:1, 0])
    assert not torch.isclose(runs[1].mixture[1], stored[0, 1]).any()


def _at(seen: History, n: int) -> torch.Tensor:
    return torch.full_like(seen.halt_logits[-1], len(seen.outputs) >= n, dtype=torch.bool)


def test_what_is_seen_is_of_this_input_alone_and_ends_with_the_step() -> None:
    lengths: list[tuple[int, int, int]] = []

    def rule(seen: History) -> torch.Tensor:
        lengths.append((len(seen.halt_logits), len(seen.outputs), len(seen.states)))
        assert seen.states[-1].shape == (3, 6), "both parts of an LSTM's state"
        return torch.zeros(3, dtype=torch.bool)

    build("lstm", TRAINED)(inputs_for("lstm", 2), halting=Exit(rule, 3))
    assert lengths == [(1, 1, 1), (2, 2, 2)] * 2, "at the cap every row stops anyway"


def test_the_first_change_is_one_and_rest_is_none() -> None:
    still, moved = torch.zeros(1, 2), torch.tensor([[3.0, 4.0]])
    assert relative_change((moved,)).tolist() == [1.0]
    assert relative_change((moved, 2 * moved)).tolist() == [0.5]
    assert relative_change((still,)).tolist() == relative_change((still, still)).tolist() == [0.0]


def test_no_step_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^max_steps: 0 is not allowed"):
        Exit(halts(0.5), 0)
