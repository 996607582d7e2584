"""Random depth: which steps are drawn, and which of them have a gradient."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from oracle import oracle
from support.classes import agrees, labels_for, same_gradients, score_of
from support.pinned import ROWS, build, inputs_for, model_of, values_of
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
@pytest.mark.parametrize(("cut", "depth"), [(0, 4), (2, 5), (5, 6)])
def test_loss_and_gradient_are_the_oracles(cell: str, cut: int, depth: int) -> None:
    """The first n steps are held; what they read and make has no gradient."""
    halting = RandomDepth(1.0, STEPS, depth=depth, cut=cut)
    network, inputs, labels = build(cell, halting), inputs_for(cell, 1), labels_for(1)
    values = values_of(network)
    held = model_of(cell, values)
    zero = tuple(np.zeros(size) for size in held.state_sizes)
    starts = [held.steps(inputs[0, b].numpy(), zero, cut).states for b in range(ROWS)]

    def slow(changed: dict[str, np.ndarray]) -> float:
        model, total = model_of(cell, changed), 0.0
        for b in range(ROWS):
            state = starts[b][-1] if cut else zero
            x = model.embed(inputs[0, b].numpy())
            for n in range(cut + 1, depth + 1):
                state = model.cell(np.append(x, 1.0 if n == 1 else 0.0), state)
            total += oracle.cross_entropy(model.W_y @ state[0] + model.b_y, int(labels[0, b]))
        return total / ROWS

    pondered = network(inputs)
    assert (pondered.ponder_time == depth).all() and pondered.outputs.shape[0] == depth
    loss = network.halting.objective(score_of(labels), pondered).sum(0).mean()
    assert float(loss.detach()) == pytest.approx(slow(values), rel=1e-9)
    loss.backward()
    same_gradients(network, oracle.central_differences(slow, values))


@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm"])
@pytest.mark.parametrize("depth", [1, 4])
def test_on_masked_sequences_it_is_the_oracles_fixed_repeat(cell: str, depth: int) -> None:
    """Without a cut it is, for one update, a network of a fixed number of steps."""
    halting = RandomDepth(1.0, STEPS, progressive=False, depth=depth)
    rule = oracle.repeat(depth)
    agrees(cell, halting, rule, lambda done, label, _: oracle.cross_entropy(done.output, label))


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
