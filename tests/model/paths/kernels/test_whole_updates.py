"""Whole updates by kernels, in Triton's interpreter, against the readable loop on a CPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from support import tiny
from torch import Tensor

from pondering.model.halting import ACT, FixedRepeat, Halting, PonderNet
from pondering.model.paths.kernels import update
from pondering.model.stacking import select, stack
from pondering.params.read import load_params
from pondering.train import checkpoint
from pondering.train.adam import StackedAdam
from pondering.train.cut import COPIES
from pondering.train.draws.stream import DeviceStream
from pondering.train.kernels import by_kernels
from pondering.train.trainer import Trainer

ROWS, UPDATES, MOST = 20, 5, 4  # 20 rows are a chunk of 32 with 12 empty ones
TRAINING: dict[str, Any] = {
    "updates": UPDATES, "batch": ROWS, "learning_rate": 0.01, "clip": 0.2, "log_points": 2,
    "halting_rate": 0.3, "decay": "linear",
}  # fmt: skip
LOGIC = {"name": "logic", "gates": 2, "length": [1, 3], "test_length": 2}
ACT_OF_TWO = ACT(torch.tensor([0.0, 0.3]), 0.01, MOST, tau_warmup=torch.tensor([0, 4]))
MIXED: dict[str, Halting] = {
    "act": ACT_OF_TWO,
    "repeat": FixedRepeat(torch.tensor([1.0, 3.0])),
    "pondernet": PonderNet(
        torch.tensor([0.4, 0.0]), torch.tensor([0.5, 0.01]), MOST, kl=("p_prior", "prior_p")
    ),
    "pondernet with epsilon": PonderNet(
        torch.tensor([0.2, 0.5]), 0.3, MOST, torch.tensor([0.3, 0.0]), ("prior_p", "p_prior")
    ),
    "lstm, act": ACT_OF_TWO,
    "lstm, repeat": FixedRepeat(torch.tensor([1.0, 2.0])),
}
"""Two replicas each. An LSTM reads sequences of logic, a tanh RNN parity."""


@pytest.fixture(autouse=True)
def _smooth(monkeypatch: pytest.MonkeyPatch) -> None:
    """With epsilon 1e-8 Adam would turn the rounding of a tiny gradient into a whole step."""
    monkeypatch.setattr(StackedAdam, "epsilon", 1e-3)


def sweep(folder: Path, name: str, **training: Any) -> Trainer:
    """Two replicas of seeds 0 and 7, whose rows halt at all steps from 1 to M."""
    values = tiny.document(task={"bits": 5, "train_nonzero": [1, 5]}, training=TRAINING | training)
    if name.startswith("lstm"):
        values["tiny"]["common"] |= {"task": LOGIC, "network": {"cell": "lstm"}}
        values["tiny"]["quick"]["task"] = {}
    config = load_params(tiny.write(folder, values)).experiment("tiny")
    first, _, _, last = config.replicas("act")
    made = tiny.sweep(config, "act", [first, last])
    made.network.path = "readable"
    made.network.halting = MIXED[name]
    with torch.no_grad():
        made.network.heads.weight *= 6
        made.network.heads.bias[:, -1] = torch.tensor([2.0, -1.0])
    return made


def train(sweep: Trainer, updates: int = UPDATES) -> Trainer:
    return tiny.train(sweep, updates)


def everything(sweep: Trainer) -> dict[str, Tensor]:
    """Every tensor of a checkpoint."""
    found = {name: each.detach().clone() for name, each in sweep.parameters.items()}
    found |= {name: each.clone() for name, each in sweep.optimiser.state().items()}
    names = ("alive", "diverged", "window", "computed_steps")
    found |= {name: getattr(sweep, name).clone() for name in names}
    return found | {"curves": torch.stack(sweep.curves), "update": torch.tensor(sweep.update)}


def assert_equal(a: dict[str, Tensor], b: dict[str, Tensor], **tolerance: float) -> None:
    assert a.keys() == b.keys()
    for name in a:
        torch.testing.assert_close(
            a[name], b[name], equal_nan=True, msg=lambda m, n=name: f"{n}: {m}", **tolerance
        )


@pytest.mark.parametrize("name", MIXED)
def test_updates_are_those_of_the_readable_loop(tmp_path: Path, name: str) -> None:
    """With a warm-up of tau, falling rates, a slower halting unit and clipped gradients."""
    updates = 2 if name.startswith("lstm") else UPDATES
    slow = train(sweep(tmp_path, name), updates)
    fast = train(by_kernels(sweep(tmp_path, name), slots=3), updates)
    assert_equal(everything(fast), everything(slow), rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("name", MIXED)
def test_the_gradient_is_that_of_the_readable_network(tmp_path: Path, name: str) -> None:
    """Adam's first mean is a tenth of the gradient. Some rows halt at once, some at M."""
    for rows in (1, 40):  # a row alone; two chunks
        training = {"batch": rows, "clip": None, "updates": 1, "log_points": 1}
        slow = train(sweep(tmp_path, name, **training), 1)
        fast = train(by_kernels(sweep(tmp_path, name, **training), slots=1), 1)
        if name == "act" and rows > 1:
            batch = slow.stream.batch(0)
            steps = slow.network(batch.inputs, batch.mask).ponder_time
            assert {1, MOST} <= set(steps.int().flatten().tolist())
        for want, got in zip(slow.optimiser.means, fast.optimiser.means, strict=True):
            torch.testing.assert_close(got, want, rtol=2e-5, atol=2e-8)


def test_rows_that_all_halt_at_once_or_at_the_last_step(tmp_path: Path) -> None:
    def biased(bias: float, made: Trainer) -> Trainer:
        with torch.no_grad():
            made.network.heads.bias[:, -1] = bias
        return made

    for bias, steps in ((50.0, 1), (-50.0, MOST)):
        slow = train(biased(bias, sweep(tmp_path, "act")), 2)
        fast = train(by_kernels(biased(bias, sweep(tmp_path, "act")), slots=2), 2)
        assert (fast.computed_steps == 2 * ROWS * steps).all()
        assert_equal(everything(fast), everything(slow), rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("name", ["act", "pondernet"])
def test_a_replica_that_diverges_stops_and_changes_no_bit_of_the_other(
    tmp_path: Path, name: str
) -> None:
    def result(poisoned: bool, wrap: Callable[[Trainer], Trainer]) -> dict[str, Tensor]:
        made = wrap(sweep(tmp_path, name))
        train(made, 2)
        if poisoned:
            with torch.no_grad():
                made.network.heads.bias[0, 0] = torch.nan
        return everything(train(made))

    def fast(made: Trainer) -> Trainer:
        return by_kernels(made, slots=2)

    alone, beside, slow = result(False, fast), result(True, fast), result(True, lambda s: s)
    assert_equal(beside, slow, rtol=1e-5, atol=2e-6)
    assert beside["diverged"].tolist() == [True, False]
    for key in alone.keys() - {"update", "curves"}:
        assert torch.equal(alone[key][1], beside[key][1]), key


def test_when_all_have_diverged_training_ends_with_that_update(tmp_path: Path) -> None:
    found = []
    for kernels in (False, True):
        made = sweep(tmp_path, "act", updates=30, log_points=3)
        made = by_kernels(made, slots=8) if kernels else made
        with torch.no_grad():
            made.network.cell.flag[:] = torch.inf
            made.network.heads.weight[:] = torch.inf
        found.append(everything(train(made, 30)))
    assert found[1]["update"] == 1
    assert_equal(*found, rtol=0, atol=0)


def test_training_continues_from_a_checkpoint_bit_by_bit(tmp_path: Path) -> None:
    """It stops within a logging window and continues with another number of slots."""
    whole = train(by_kernels(sweep(tmp_path, "act"), slots=4))
    begun = train(by_kernels(sweep(tmp_path, "act"), slots=1), 3)
    assert begun.update % begun.schedule.log_every
    checkpoint.save(begun, tmp_path / "checkpoint", "key")
    again = by_kernels(sweep(tmp_path, "act"), slots=3)
    checkpoint.load(again, tmp_path / "checkpoint")
    assert_equal(everything(train(again)), everything(whole), rtol=0, atol=0)


@pytest.mark.parametrize("name", ["act", "lstm, act"])
def test_the_device_draws_what_the_loop_draws(tmp_path: Path, name: str) -> None:
    """For any number of updates at once, and after a checkpoint."""

    def with_device_draws(made: Trainer) -> Trainer:
        seeds = [each.seed for each in made.replicas]
        made.stream = DeviceStream(made.task, seeds, made.schedule.batch)
        return made

    slow = train(with_device_draws(sweep(tmp_path, name)), 2)
    fast = train(with_device_draws(by_kernels(sweep(tmp_path, name), slots=2)), 2)
    assert_equal(everything(fast), everything(slow), rtol=1e-5, atol=2e-6)
    begun = train(with_device_draws(by_kernels(sweep(tmp_path, name), slots=1)), 1)
    checkpoint.save(begun, tmp_path / "checkpoint", "key")
    again = with_device_draws(by_kernels(sweep(tmp_path, name), slots=3))
    checkpoint.load(again, tmp_path / "checkpoint")
    assert_equal(everything(train(again, 2)), everything(fast), rtol=0, atol=0)


def test_a_graph_may_be_captured_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Launches that compile kernels change no number; a replay repeats its arguments."""

    def capture(work: Callable[[], None], device: torch.device) -> Callable[[], None]:
        launched: list[tuple[Any, Any, Any, Any]] = []
        before = everything_of[0]()
        work()
        assert_equal(before, everything_of[0](), rtol=0, atol=0)
        kernels = {each: each.run for each in (update.act.rows, update.adam.adam)}
        kernels[update.gradient.matrices] = update.gradient.matrices.run
        for kernel in kernels:
            monkeypatch.setattr(
                kernel, "run", lambda *a, k=kernel, **o: launched.append((k, a, o, None))
            )
        work()
        for kernel, run in kernels.items():
            monkeypatch.setattr(kernel, "run", run)
        assert len(launched) == 3 * 3

        def replay() -> None:
            for kernel, arguments, options, _ in launched:
                kernel.run(*arguments, **options)

        return replay

    everything_of: list[Callable[[], dict[str, Tensor]]] = []
    plain = train(by_kernels(sweep(tmp_path, "act"), slots=3))
    monkeypatch.setattr(update, "graph", capture)
    made = by_kernels(sweep(tmp_path, "act"), slots=3)
    everything_of.append(
        lambda: (
            {n: p.detach().clone() for n, p in made.parameters.items()}
            | {n: t.clone() for n, t in made.optimiser.state().items()}
            | {"window": made.window.clone(), "alive": made.alive.clone()}
        )
    )
    assert_equal(everything(train(made)), everything(plain), rtol=0, atol=0)


@pytest.mark.parametrize("name", ["act", "pondernet", "lstm, act"])
def test_the_estimate_of_memory_suffices(tmp_path: Path, name: str) -> None:
    """`train.cut` divides the free memory by this estimate."""
    made = by_kernels(sweep(tmp_path, name, batch=32))
    tensors = [each for each in made._updates._given.values() if isinstance(each, Tensor)]
    whole = {each.untyped_storage().data_ptr(): each.untyped_storage().nbytes() for each in tensors}
    numbers = sum(each.numel() for each in made.parameters.values())
    assert sum(whole.values()) <= 4 * (COPIES * numbers + 2 * made.kept)


def test_each_replica_trains_with_its_setting(tmp_path: Path) -> None:
    """Two replicas in one stack train as each does alone, bit for bit."""
    both = everything(train(by_kernels(sweep(tmp_path, "act"), slots=3), 3))
    alone = sweep(tmp_path, "act")
    halting = replace(ACT_OF_TWO, tau=torch.tensor([0.3]), tau_warmup=torch.tensor([4]))
    network = stack([select(alone.network, 1, halting)], halting)
    single = Trainer(network, alone.task, alone.replicas[1:], alone.schedule)
    one = everything(train(by_kernels(single, slots=3), 3))
    for name in alone.parameters:
        assert torch.equal(both[name][1], one[name][0]), name
