"""Random depth: which steps are drawn, and which of them have a gradient."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from oracle import oracle
from support.classes import agrees, labels_for, score_of
from support.pinned import ROWS, build, inputs_for
from torch import Tensor

from pondering.model.halting import RandomDepth
from pondering.model.stacking import stack

STEPS = 6


def drawn(halting: RandomDepth, updates: int) -> list[tuple[int, int]]:
    each = [halting.at_update(update) for update in range(updates)]
    return [(int(now.cut), int(now.depth)) for now in each]


def test_progressive_depths_are_drawn_as_in_the_source() -> None:
    """n from U{0..N-1}, k from U{1..N-n}: P(n, n + k) = 1 / N / (N - n)."""
    counts = Counter(drawn(RandomDepth(1.0, 3), 3000))
    want = {
        (n, n + k): 1 / 3 / (3 - n) for n in range(3) for k in range(1, 3 - n + 1)
    }  # fmt: skip
    assert set(counts) == set(want)
    for pair, share in want.items():
        assert counts[pair] / 3000 == pytest.approx(share, abs=0.03), pair


def test_other_depths_are_uniform_and_keep_the_whole_gradient() -> None:
    counts = Counter(drawn(RandomDepth(1.0, 4, progressive=False), 3000))
    assert set(counts) == {(0, depth) for depth in (1, 2, 3, 4)}
    assert all(count / 3000 == pytest.approx(0.25, abs=0.03) for count in counts.values())


def test_alpha_is_the_share_of_updates_at_random_depth() -> None:
    halting = RandomDepth(torch.tensor([0.0, 0.3, 1.0]), 50)
    depths = torch.stack([halting.at_update(update).depth for update in range(1000)])
    assert (depths[:, 0] == 50).all()
    assert float((depths[:, 1] < 50).float().mean()) == pytest.approx(0.3, abs=0.05)
    both = depths[:, 1] < 50
    assert torch.equal(depths[both, 1], depths[both, 2])


@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm"])
@pytest.mark.parametrize(("cut", "depth"), [(0, 1), (0, 4), (2, 5), (5, 6)])
def test_loss_and_gradient_are_the_oracles_fixed_repeat(cell: str, cut: int, depth: int) -> None:
    """Of one update it is a fixed repeat, the states of whose first n steps are held."""
    halting = RandomDepth(1.0, STEPS, depth=depth, cut=cut)

    def loss(done: oracle.Pondering, label: int, _: oracle.Pondering) -> float:
        return oracle.cross_entropy(done.output, label)

    agrees(cell, halting, oracle.repeat(depth), loss, lambda n: cut > 0 and n == cut + 1)


def test_each_replica_of_a_stack_has_its_own_depth_and_cut() -> None:
    settings = torch.tensor([0.0, 1.0])
    solo = [
        build("lstm", RandomDepth(float(each), STEPS), seed) for seed, each in enumerate(settings)
    ]
    inputs, labels = inputs_for("lstm"), labels_for()
    stacked = stack(solo, RandomDepth(settings, STEPS))
    for update in range(6):
        stacked.zero_grad()
        now = stacked.halting.at_update(update)
        both: Tensor = inputs.unsqueeze(1).expand(2, 2, ROWS, 2)
        losses = now.objective(score_of(labels.unsqueeze(1)), stacked(both, halting=now))
        losses.sum().backward()
        for k, network in enumerate(solo):
            network.zero_grad()
            own = network.halting.at_update(update)
            one = own.objective(score_of(labels), network(inputs, halting=own))
            torch.testing.assert_close(losses[:, k], one)
            one.sum().backward()
            got = dict(stacked.named_parameters())["cell.recurrent"].grad[k]
            torch.testing.assert_close(got, network.cell.recurrent.grad)


def test_evaluation_takes_all_steps() -> None:
    network, inputs = build("lstm", RandomDepth(1.0, STEPS)), inputs_for("lstm")
    assert (network.eval()(inputs).ponder_time == STEPS).all()
    assert (network.halting.at_update(0).at_inference().depth) is None


@pytest.mark.parametrize("arguments", [{"alpha": 1.5}, {"alpha": -0.1}, {"max_steps": 0}])
def test_what_it_refuses(arguments: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments))):
        RandomDepth(**arguments)
