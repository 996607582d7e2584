"""Each stacked replica behaves as if it were alone."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from support.pinned import (
    CLASSIC,
    ROWS,
    TIMES,
    UserCell,
    build,
    fits,
    inputs_for,
    labels_for,
    score_of,
)
from torch import Tensor, nn

from pondering.model.cells import TanhRNN
from pondering.model.halting import (
    ACT,
    DACT,
    Certainty,
    Correctness,
    FixedRepeat,
    Halting,
    PonderNet,
    PonderRecord,
    RandomDepth,
)
from pondering.model.network import Network
from pondering.model.stacking import gradient_norms, select, stack
from pondering.params.mechanisms import MECHANISMS

EXACT: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-13}
BY_STEP = ("weights", "outputs")
FIELDS = (*BY_STEP, "mixture", "ponder_time", "remainder", "cost", "expected_steps")
REPLICAS = 3
UPDATE = 17  # at which RandomDepth draws another depth for the second replica alone
SETTINGS = torch.tensor([0.25, 0.5, 0.125], dtype=torch.float64)
BETAS = torch.tensor([1.0, 0.25, 0.5], dtype=torch.float64)

# A mechanism from one setting and one beta, or from (K,) of each.
KINDS: dict[str, Callable[[Any, Any], Halting]] = {
    "act": lambda s, _: ACT(s, epsilon=0.1, max_steps=5),
    "act_last": lambda s, _: ACT(s, epsilon=0.1, max_steps=5, carry="last"),
    "pondernet": lambda s, beta: PonderNet(s, beta, max_steps=4),
    "pondernet_last": lambda s, beta: PonderNet(s, beta, 4, kl=_directions(s), carry="last"),
    "pondernet_eps": lambda s, beta: PonderNet(s, beta, max_steps=5, epsilon=_epsilons(s)),
    "repeat": lambda s, _: FixedRepeat((s * 8).round()),  # 2, 4 and 1
    "correctness": lambda s, _: Correctness(s, 5, explore=0.0),
    "certainty": lambda s, _: Certainty(s, 5).at_inference(),
    "dact": lambda s, _: DACT(s, 5),
    "random_depth": lambda s, _: RandomDepth(s, 5).at_update(UPDATE),
}


def test_every_mechanism_is_stacked_here() -> None:
    assert MECHANISMS.keys() <= KINDS.keys()


def _epsilons(settings: Any) -> Any:
    """Epsilon of each replica: the first stops late, the second early, the third never."""
    values = {0.25: 0.05, 0.5: 0.4, 0.125: 0.0}
    one = torch.as_tensor(settings).dim() == 0
    if one:
        return values[float(settings)] or None
    return torch.tensor([values[s] for s in settings.tolist()], dtype=torch.float64)


def _directions(settings: Any) -> Any:
    """Direction of each replica's KL: only the second has the prior first."""
    words = {0.25: "p_prior", 0.5: "prior_p", 0.125: "p_prior"}
    values = torch.as_tensor(settings).tolist()
    return tuple(words[s] for s in values) if isinstance(values, list) else words[values]


CELLS = (*CLASSIC, "conv_mlp", "user")
EVERY = [(cell, kind) for cell in CELLS for kind in KINDS if fits(cell, kind)]


def solo(cell: str, halting: Halting, seed: int) -> Network:
    if cell == "user":
        return Network(UserCell(), halting, 2, 0.0, torch.Generator().manual_seed(seed)).double()
    return build(cell, halting, seed)


def sweep(cell: str, kind: str) -> tuple[list[Network], Network, Tensor, Tensor]:
    """K solo networks, the same stacked, inputs (T, K, B, D), labels (T, K, B)."""
    solos = [solo(cell, KINDS[kind](SETTINGS[k], BETAS[k]), seed=k) for k in range(REPLICAS)]
    times, rows = (1, 2) if cell == "conv_mlp" else (TIMES, ROWS)
    inputs = torch.stack([inputs_for(cell, times, rows, seed=k) for k in range(REPLICAS)], 1)
    labels = torch.stack([labels_for(times, rows, seed=k) for k in range(REPLICAS)], 1)
    stacked = stack(solos, KINDS[kind](SETTINGS, BETAS))
    stacked.path = "readable"
    return solos, stacked, inputs, labels


def backward(network: Network, inputs: Tensor, labels: Tensor, mask: Tensor | None = None) -> Any:
    """Mean over rows, sum over replicas, as in training."""
    pondered = network(inputs, mask)
    network.halting.objective(score_of(labels), pondered).sum(0).mean(-1).sum().backward()
    return pondered


def fields_of(pondered: PonderRecord, replicas: Any = ...) -> dict[str, Tensor]:
    """The record's fields for some replicas; outputs of steps without weight become zero."""
    found = {}
    for name in FIELDS:
        value = getattr(pondered, name)
        if name == "outputs" and value is not None:
            value = torch.where(pondered.weights.unsqueeze(-1) > 0, value, 0.0)
        if value is not None:
            found[name] = value[:, :, replicas] if name in BY_STEP else value[:, replicas]
    return found


def assert_close(got: dict[str, Tensor], want: dict[str, Tensor], **tolerance: float) -> None:
    """Steps after the last one of `want` must be zero."""
    assert got.keys() == want.keys()
    for name, value in want.items():
        assert not got[name][len(value) :].any(), name
        torch.testing.assert_close(
            got[name][: len(value)], value, **tolerance, msg=lambda m, n=name: f"{n}: {m}"
        )


@pytest.mark.parametrize(("cell", "kind"), EVERY)
def test_stacked_replicas_equal_solo_runs(cell: str, kind: str) -> None:
    solos, stacked, inputs, labels = sweep(cell, kind)
    generator = torch.Generator().manual_seed(0)
    mask = torch.rand(inputs.shape[:3], generator=generator) < 0.8
    mask[0] = True
    together = backward(stacked, inputs, labels, mask)
    for k, network in enumerate(solos):
        alone = backward(network, inputs[:, k], labels[:, k], mask[:, k])
        assert_close(fields_of(together, k), fields_of(alone), **EXACT)
        for (name, a), b in zip(network.named_parameters(), stacked.parameters(), strict=True):
            assert b.grad is not None, name
            grad = torch.zeros_like(a) if a.grad is None else a.grad
            torch.testing.assert_close(b.grad[k], grad, **EXACT, msg=lambda m, n=name: f"{n}: {m}")


@pytest.mark.parametrize(("cell", "kind"), EVERY)
def test_a_nan_replica_leaves_the_others_bit_identical(cell: str, kind: str) -> None:
    """In float32, as training runs: forward, gradients and gradient norms."""
    _, stacked, inputs, labels = sweep(cell, kind)
    stacked, inputs, others = stacked.float(), inputs.float(), [0, 2]
    sick = copy.deepcopy(stacked)
    with torch.no_grad():
        for parameter in sick.parameters():
            parameter[1] = torch.nan
    good, bad = backward(stacked, inputs, labels), backward(sick, inputs, labels)
    assert_close(fields_of(bad, others), fields_of(good, others), rtol=0, atol=0)
    for (name, a), b in zip(stacked.named_parameters(), sick.parameters(), strict=True):
        if a.grad is not None and b.grad is not None:
            assert torch.equal(a.grad[others], b.grad[others]), name
            assert a.grad[others].isfinite().all()
    norms = gradient_norms(sick.parameters())
    assert torch.equal(norms[others], gradient_norms(stacked.parameters())[others])
    assert norms[1].isnan(), "a NaN replica must show as NaN"


def test_stack_and_select_copy() -> None:
    """Training the stack changes neither its sources nor what was selected from it."""
    solos, stacked, _, _ = sweep("gru", "act")
    before = [p.detach().clone() for p in solos[0].parameters()]
    picked = select(stacked, 0, solos[0].halting)
    with torch.no_grad():
        for parameter in stacked.parameters():
            parameter.add_(1.0)
    for want, a, b in zip(before, solos[0].parameters(), picked.parameters(), strict=True):
        assert torch.equal(a, want)
        assert torch.equal(b, want)
    assert all(p.requires_grad and p.is_leaf for p in stacked.parameters())
    assert all(p.requires_grad and p.is_leaf for p in picked.parameters())


def test_gradient_norms_take_numbers_and_leave_out_missing_gradients() -> None:
    """A scalar parameter of a cell is (K,) in a stack."""
    scalar, missing = nn.Parameter(torch.zeros(3)), nn.Parameter(torch.zeros(3, 2))
    scalar.grad = torch.tensor([1.0, -2.0, 3.0])
    assert gradient_norms([scalar, missing]).tolist() == [1.0, 2.0, 3.0]


class Odd(TanhRNN):
    """A cell with a part that `stack` cannot copy."""

    def __init__(self, what: str) -> None:
        super().__init__(2, 3)
        if what == "buffers":
            self.register_buffer("count", torch.zeros(1))
        elif what == "shared parameters":
            self.twin = self.input
        elif what == "parametrised":
            nn.utils.parametrizations.weight_norm(self.input)
        elif what == "normalised":
            nn.utils.weight_norm(self.input)


@pytest.mark.parametrize("what", ["buffers", "shared parameters", "parametrised", "normalised"])
@pytest.mark.filterwarnings("ignore:.*weight_norm.*:FutureWarning")
def test_a_cell_that_a_stack_cannot_copy_is_refused(what: str) -> None:
    network = Network(Odd(what), FixedRepeat(1), 1)
    with pytest.raises(ValueError, match="cannot be stacked"):
        stack([network, network], FixedRepeat(1))


def test_networks_of_different_cells_or_sizes_are_refused() -> None:
    single = Network(TanhRNN(2, 3), FixedRepeat(1), 1)
    frozen = Network(TanhRNN(2, 3), FixedRepeat(1), 1)
    frozen.cell.recurrent.requires_grad_(False)
    others = [frozen, Network(TanhRNN(2, 3, first_step_flag=False), FixedRepeat(1), 1)]
    others += [Network(Odd("nothing"), FixedRepeat(1), 1)]
    for other in others:
        with pytest.raises(ValueError, match="other cells, sizes or parameters"):
            stack([single, other], FixedRepeat(1))
    with pytest.raises(ValueError, match="buffers"):
        stack([single, Network(Odd("buffers"), FixedRepeat(1), 1)], FixedRepeat(1))


def test_a_frozen_parameter_stays_frozen() -> None:
    network = Network(TanhRNN(2, 3), FixedRepeat(1), 1)
    network.cell.recurrent.requires_grad_(False)
    stacked = stack([network, network], FixedRepeat(1))
    assert not stacked.cell.recurrent.requires_grad and stacked.heads.weight.requires_grad
