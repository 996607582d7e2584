"""How a network is used: after `eval()`, with the batch first, in which precisions."""

from __future__ import annotations

import pytest
import torch
from support.pinned import MECHANISMS, ROWS, build, inputs_for, score_against, targets_for

from pondering.model.cells import LSTM, TanhRNN
from pondering.model.halting import ACT, PonderNet, PonderRecord
from pondering.model.network import Network
from pondering.model.paths import compiled
from pondering.model.stacking import stack

FIELDS = tuple(name for name in PonderRecord._fields if name not in ("computed", "state"))


def test_pondernet_samples_after_eval_and_not_before() -> None:
    network = build("gru", PonderNet(0.2, 0.1, 8))
    inputs = inputs_for("gru", times=40)
    assert network(inputs).outputs is not None
    network.eval()
    first, again, other = (
        network(inputs, generator=torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
    )
    assert first.weights is not None
    assert set(first.weights.unique().tolist()) == {0.0, 1.0}
    assert torch.equal(first.ponder_time, again.ponder_time)
    assert not torch.equal(first.ponder_time, other.ponder_time)
    torch.manual_seed(3)
    drawn = network(inputs).ponder_time
    assert not torch.equal(drawn, network(inputs).ponder_time), "the default generator goes on"
    torch.manual_seed(3)
    assert torch.equal(drawn, network(inputs).ponder_time)
    whole = network(inputs, halting=network.halting)
    network.train()
    assert torch.equal(whole.mixture, network(inputs).mixture), "the mechanism as it trains"


@pytest.mark.parametrize("name", ["act", "none"])
def test_eval_changes_nothing_where_halting_is_deterministic(name: str) -> None:
    network, inputs = build("gru", MECHANISMS[name][0]), inputs_for("gru")
    trained = network(inputs)
    found = network.eval()(inputs)
    for field in ("weights", "mixture", "ponder_time"):
        assert torch.equal(getattr(trained, field), getattr(found, field)), field


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_batch_may_come_first(name: str) -> None:
    network, inputs, targets = (
        build("lstm", MECHANISMS[name][0]),
        inputs_for("lstm", 4),
        targets_for(4),
    )
    mask = torch.ones(4, ROWS, dtype=torch.bool)
    mask[2:, 1] = False
    plain = network(inputs, mask, keep_state=True)
    network.batch_first = True
    turned = network(inputs.transpose(0, 1), mask.T, keep_state=True)
    for field in FIELDS:
        got, want = getattr(turned, field), getattr(plain, field)
        if want is None:
            assert got is None
            continue
        axes = (1, 2) if field in ("weights", "outputs", "halt_logits") else (0, 1)
        assert torch.equal(got, want.transpose(*axes)), field
    assert plain.state is not None and turned.state is not None
    assert all(torch.equal(a, b) for a, b in zip(plain.state, turned.state, strict=True))
    score = network.halting.objective(score_against(targets), plain)
    other = network.halting.objective(score_against(targets.transpose(0, 1)), turned)
    assert torch.equal(score.T, other)


def test_a_wrong_shape_or_a_stack_with_the_batch_first_is_refused() -> None:
    network = Network(TanhRNN(2, 3), ACT(0.1), 1, batch_first=True)
    with pytest.raises(ValueError, match=r"shape \(4, 2\) .*\(B, T, D\)"):
        network(torch.zeros(4, 2))
    with pytest.raises(ValueError, match=r"mask: shape \(7, 4\)"):
        network(torch.zeros(4, 7, 2), torch.ones(7, 4, dtype=torch.bool))
    with pytest.raises(ValueError, match="batch_first"):
        stack([network, network], ACT(torch.tensor([0.1, 0.2])))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_coarse_precisions_are_refused_in_a_line(dtype: torch.dtype) -> None:
    network = Network(TanhRNN(2, 3), ACT(0.1), 1)
    with pytest.raises(ValueError, match=r"^precision: .* are not allowed; float32 with"):
        network.to(dtype)(torch.zeros(4, 5, 2, dtype=dtype))
    with pytest.raises(ValueError, match=r"^precision: inputs of torch.float64 and"):
        network.float()(torch.zeros(4, 5, 2, dtype=torch.float64))
    with (
        torch.autocast("cpu", dtype=torch.bfloat16),
        pytest.raises(ValueError, match=r"^autocast: is not allowed"),
    ):
        network(torch.zeros(4, 5, 2))


def test_settings_of_another_count_than_the_networks_are_refused() -> None:
    """They would be taken for another axis: a penalty by time in place of by replica."""
    pair = torch.tensor([0.1, 0.2])
    inputs = torch.zeros(2, 4, 2)
    for halting in (ACT(pair), PonderNet(pair), PonderNet(0.2, kl=("p_prior", "prior_p"))):
        network = Network(TanhRNN(2, 3), halting, 1)
        with pytest.raises(ValueError, match=r": 2 values are not allowed; one"):
            network(inputs)
    single = Network(TanhRNN(2, 3), ACT(0.1), 1)
    with pytest.raises(
        ValueError, match=r"^tau: 2 values are not allowed; one, or one for each of 3"
    ):
        stack([single] * 3, ACT(pair))(torch.zeros(2, 3, 4, 2))


def test_what_pondernet_cannot_score_is_said() -> None:
    network = build("gru", PonderNet(0.2, 0.1, 4))
    inputs, targets = inputs_for("gru"), targets_for()
    with pytest.raises(ValueError, match=r"^objective: the record has no outputs of every step"):
        network.halting.objective(score_against(targets), network.eval()(inputs))
    with pytest.raises(ValueError, match=r"^mask: torch.float32 is not allowed; bool is"):
        network(inputs, torch.ones(inputs.shape[:2]))


@pytest.mark.parametrize("epsilon", [0.3, 0.05])
def test_sampling_stops_where_training_does(epsilon: float) -> None:
    network = build("tanh_rnn", PonderNet(0.2, 0.1, 30, epsilon))
    inputs = inputs_for("tanh_rnn", times=1, rows=40)
    most = network(inputs).ponder_time
    network.eval()
    drawn = [
        network(inputs, generator=torch.Generator().manual_seed(s)).ponder_time for s in range(30)
    ]
    assert (torch.stack(drawn) <= most).all()
    assert (torch.stack(drawn).amax(0) == most).any() and (most < 30).any()


def test_the_halting_unit_may_read_the_cell_too() -> None:
    network = Network(LSTM(2, 3), ACT(0.1), 4, reads="state")
    assert network.heads.rest is not None and network.heads.rest.shape == (1, 3)
    with pytest.raises(ValueError, match=r"^reads: 'state' is not allowed"):
        Network(TanhRNN(2, 3), ACT(0.1), 1, reads="state")
    with pytest.raises(ValueError, match=r"^reads: 'c' is unknown; allowed: h, state"):
        Network(LSTM(2, 3), ACT(0.1), 1, reads="c")  # type: ignore[arg-type]


def test_without_numba_a_stack_takes_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(TanhRNN(2, 32), ACT(0.1), 1)
    pair = stack([network, network], ACT(torch.tensor([0.1, 0.2])))
    inputs = torch.randn(1, 2, 64, 2, generator=torch.Generator().manual_seed(0))
    fast = pair(inputs, path="fast")
    assert not torch.equal(pair(inputs).mixture, fast.mixture), "the paths round differently"
    monkeypatch.setattr(compiled, "installed", lambda: False)
    assert torch.equal(pair(inputs).mixture, fast.mixture)
