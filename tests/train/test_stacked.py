"""`Sweep`: each network trains as it would alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from pondering import (
    ACT,
    DACT,
    LSTM,
    Adapted,
    Certainty,
    Correctness,
    FixedRepeat,
    Network,
    PonderNet,
    RandomDepth,
    Sweep,
)
from pondering.model.cells import State
from pondering.params.mechanisms import MECHANISMS

Score = Callable[[Tensor, Tensor], Tensor]
TIMES, ROWS, INPUTS, OUTPUTS, UPDATES = 2, 5, 3, 2, 12
SEEDS, CLIP = (0, 7, 3), 0.5


class Gated(nn.Module):
    """A cell with layers of torch, which know no replica axes."""

    def __init__(self) -> None:
        super().__init__()
        self.state_sizes = (4,)
        self.gate, self.new = (nn.Linear(INPUTS + 5, 4) for _ in range(2))
        self.norm = nn.LayerNorm(4)

    def embed(self, x: Tensor) -> Tensor:
        return x

    def step(self, drive: Tensor, state: State, first: bool) -> State:
        (h,) = state
        flag = drive.new_full((*drive.shape[:-1], 1), float(first))
        read = torch.cat([drive, flag, h], -1)
        gate = torch.sigmoid(self.gate(read))
        return (gate * h + (1 - gate) * self.norm(torch.tanh(self.new(read))),)


CELLS = {
    "gated": Gated,
    "lstm": lambda: LSTM(INPUTS, 4),
}
TRIED: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "act": (lambda **s: ACT(max_steps=4, **s), [{"tau": 0.1}, {"tau": 0.01, "tau_warmup": 5}]),
    "pondernet": (
        lambda **s: PonderNet(max_steps=4, **s),
        [{"lambda_p": 0.3}, {"lambda_p": 0.2, "beta": 0.5, "kl": "prior_p"}],
    ),
    "repeat": (FixedRepeat, [{"rho": 1}, {"rho": 3}]),
    "random_depth": (
        lambda **s: RandomDepth(max_steps=4, **s), [{"alpha": 1.0}, {"alpha": 0.5}],
    ),
    "correctness": (  # exploration differs in a stack: see Correctness
        lambda **s: Correctness(max_steps=4, explore=0.0, **s), [{"weight": 0.5}, {"weight": 0.1}],
    ),
    "certainty": (lambda **s: Certainty(max_steps=4, **s), [{"theta": 0.9}, {"theta": 0.6}]),
    "dact": (lambda **s: DACT(max_steps=4, **s), [{"tau": 0.1}, {"tau": 0.01}]),
}  # fmt: skip
CLASSES = ("correctness", "certainty", "dact")
"""Mechanisms that need answers in classes."""


def test_every_mechanism_is_tried() -> None:
    assert TRIED.keys() == MECHANISMS.keys()


def score(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs - targets).square().mean(-1)


def class_score(outputs: Tensor, targets: Tensor) -> Tensor:
    chosen = (targets[..., :1] > 0).long().expand(*outputs.shape[:-1], 1)
    return -outputs.log_softmax(-1).gather(-1, chosen)[..., 0]


def data(update: int) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs, targets and mask of six networks, each (T, K, B, ...)."""
    generator = torch.Generator().manual_seed(update)
    shape = (TIMES, 2 * len(SEEDS), ROWS)
    inputs = torch.randn(*shape, INPUTS, generator=generator, dtype=torch.float64)
    mask = torch.rand(shape, generator=generator) < 0.8
    return inputs, inputs[..., :OUTPUTS].sign(), mask


def alone(network: Network, score: Score, rate: float, k: int) -> list[float]:
    """Train network k in a plain loop with torch's Adam; returns its losses."""
    optimiser, losses = torch.optim.Adam(network.parameters(), rate), []
    for update in range(UPDATES):
        inputs, targets, mask = (part[:, k] for part in data(update))
        halting = network.halting.at_update(update)
        pondered = network(inputs, mask, halting=halting)
        of_each = halting.objective(lambda y, wanted=targets: score(y, wanted), pondered)
        loss = of_each.sum(0).mean()
        optimiser.zero_grad()
        loss.backward()
        gradients = [p.grad for p in network.parameters() if p.grad is not None]
        norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
        for gradient in gradients:
            gradient.mul_(CLIP / norm.clamp(min=CLIP))
        optimiser.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize(
    ("cell", "mechanism"),
    [*(("gated", each) for each in TRIED), ("lstm", "act")],
)
def test_each_network_trains_to_the_numbers_of_a_plain_loop(cell: str, mechanism: str) -> None:
    kind, settings = TRIED[mechanism]
    rates, loss = [0.02, 0.005], class_score if mechanism in CLASSES else score

    def make(**setting: Any) -> Network:
        return Network(CELLS[cell](), kind(**setting), OUTPUTS).double()

    sweep = Sweep(make, loss, SEEDS, settings, rates, CLIP)
    losses = torch.stack([sweep.step(*data(update)) for update in range(UPDATES)], 1)
    assert [(each.setting, each.seed) for each in sweep.members] == [
        (setting, seed) for setting in settings for seed in SEEDS
    ]
    inputs, _, mask = data(UPDATES)
    record = sweep.evaluate(inputs, mask)
    generator = torch.random.get_rng_state()
    for k, (member, trained) in enumerate(zip(sweep.members, sweep.networks(), strict=True)):
        torch.manual_seed(member.seed)
        network = make(**member.setting)
        wanted = alone(network, loss, rates[k // len(SEEDS)], k)
        torch.testing.assert_close(losses[k].tolist(), wanted, rtol=1e-9, atol=1e-12)
        assert type(trained.cell) is type(network.cell) and trained.halting == network.halting
        for (name, got), want in zip(trained.named_parameters(), network.parameters(), strict=True):
            torch.testing.assert_close(got, want, rtol=1e-8, atol=1e-10, msg=name)
        if mechanism != "pondernet":  # its step is sampled
            mixture = network.eval()(inputs[:, k], mask[:, k]).mixture
            there = mask[:, k]
            torch.testing.assert_close(record.mixture[:, k][there], mixture[there])
    torch.random.set_rng_state(generator)


def small(tau: float = 0.01) -> Network:
    return Network(Gated(), ACT(tau, max_steps=3), OUTPUTS)


def test_data_without_a_replica_axis_are_shared() -> None:
    shared, separate = (Sweep(small, score, SEEDS) for _ in range(2))
    inputs, targets, mask = (part[:, 0] for part in data(0))
    inputs, targets = inputs.float(), targets.float()
    for _ in range(3):
        spread = [torch.stack([part] * len(SEEDS), 1) for part in (inputs, targets, mask)]
        assert shared.step(inputs, targets, mask).equal(separate.step(*spread))
    assert shared.evaluate(inputs, mask).mixture.equal(separate.evaluate(*spread[::2]).mixture)
    assert shared.evaluate(inputs, mask).ponder_time.shape == (TIMES, len(SEEDS), ROWS)


def test_a_network_whose_loss_is_nan_stops_and_leaves_the_others_alone() -> None:
    ill, well = (Sweep(small, score, SEEDS, learning_rate=0.1) for _ in range(2))
    for update in range(4):
        inputs, targets, _ = (part[:, : len(SEEDS)] for part in data(update))
        inputs, targets = inputs.float(), targets.float()
        well.step(inputs, targets)
        if update == 2:
            before = [p[1].clone() for p in ill.network.parameters()]
            inputs = inputs.clone()
            inputs[:, 1] = torch.nan
        losses = ill.step(inputs, targets)
        assert losses.isnan().tolist() == [False, update == 2, False]
    assert ill.alive.tolist() == [True, False, True] and well.alive.all()
    assert all(p[1].equal(then) for p, then in zip(ill.network.parameters(), before, strict=True))
    for got, want in zip(ill.network.parameters(), well.network.parameters(), strict=True):
        assert got[[0, 2]].equal(want[[0, 2]])
    assert float(ill.evaluate(inputs).ponder_time.sum()) > 0


def test_a_sweep_keeps_its_rates_on_the_host() -> None:
    """Some devices have no float64."""
    optimiser = Sweep(small, score, SEEDS, device="meta")._optimiser
    assert optimiser.learning_rate.device.type == "cpu"
    assert all(each.device.type == "meta" and each.dtype != torch.float64
               for each in (*optimiser.means, *optimiser.parameters))  # fmt: skip


def test_networks_that_cannot_be_stacked_are_refused() -> None:
    def kinds(kind: Any) -> Network:
        return Network(Gated(), kind(0.5), 1)

    for kind, name, values in (
        (ACT, "max_steps", (2, 3)),
        (ACT, "epsilon", (0.01, 0.5)),  # (K,) would count as one for each row
        (ACT, "carry", ("mean_field", "last")),
        (Correctness, "detach", (True, False)),
        (RandomDepth, "progressive", (True, False)),
    ):
        made = [{"halting": kind(0.5, **{name: value})} for value in values]
        with pytest.raises(ValueError, match=f"^settings: {name} cannot differ"):
            Sweep(lambda halting: Network(Gated(), halting, 1), score, (0,), made)
    with pytest.raises(ValueError, match=r"nn\.LSTMCell: torch cannot map it"):
        Sweep(lambda: Network(Adapted(nn.LSTMCell(3, 4)), ACT(0.1), 1), score, (0,))
    with pytest.raises(ValueError, match="several classes"):
        Sweep(kinds, score, (0,), [{"kind": ACT}, {"kind": PonderNet}])
    with pytest.raises(ValueError, match="at least one of each"):
        Sweep(small, score, ())
