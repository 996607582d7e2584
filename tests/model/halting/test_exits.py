"""Exit rules in evaluation; `test_network.py` compares their steps with the oracle."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.pinned import build, inputs_for, same_answers

from pondering.model import stacking
from pondering.model.halting import Exit, History, PonderNet, relative_change

STEPS, TIMES, ROWS = 6, 3, 8
TRAINED = PonderNet(0.3, max_steps=STEPS)


@pytest.mark.parametrize("path", ["readable", "fast", "compiled"])
def test_stacked_replicas_with_a_threshold_each_stop_as_each_does_alone(path: Any) -> None:
    counts, singles = (2, 5), [build("lstm", TRAINED, seed) for seed in (10, 2)]
    network, inputs = stacking.stack(singles, TRAINED), inputs_for("lstm", TIMES, ROWS)
    mask = torch.arange(TIMES)[:, None] < torch.tensor([3, 2, 1, 3, 3, 2, 3, 3])
    thresholds = torch.tensor(counts).unsqueeze(1)
    both = [part.unsqueeze(1).expand(TIMES, 2, *part.shape[1:]) for part in (inputs, mask)]
    with torch.no_grad():
        found = network(*both, halting=Exit(same_answers(thresholds), STEPS), path=path)
        for k, (single, count) in enumerate(zip(singles, counts, strict=True)):
            alone = single(inputs, mask, halting=Exit(same_answers(count), STEPS))
            assert torch.equal(found.ponder_time[:, k], alone.ponder_time)
            torch.testing.assert_close(found.mixture[:, k], alone.mixture)
            assert torch.equal(found.expected_steps[:, k], alone.ponder_time.float())


def test_a_rule_reads_the_steps_of_the_current_input_alone() -> None:
    lengths: list[tuple[int, int, int]] = []

    def rule(history: History) -> torch.Tensor:
        lengths.append((len(history.halt_logits), len(history.outputs), len(history.states)))
        assert history.states[-1].shape == (3, 6), "both parts of an LSTM's state"
        return torch.zeros(3, dtype=torch.bool)

    build("lstm", TRAINED)(inputs_for("lstm", 2), halting=Exit(rule, 3))
    assert lengths == [(1, 1, 1), (2, 2, 2)] * 2, "no rule decides at the last step"


def test_the_relative_change_is_one_at_the_first_step_and_zero_at_rest() -> None:
    still, moved = torch.zeros(1, 2), torch.tensor([[3.0, 4.0]])
    assert relative_change((moved,)).tolist() == [1.0]
    assert relative_change((moved, 2 * moved)).tolist() == [0.5]
    assert relative_change((still,)).tolist() == relative_change((still, still)).tolist() == [0.0]
