"""The benchmark: its plain loop agrees with the package, and its table is complete."""

from __future__ import annotations

import csv
import importlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from torch import Tensor

import pondering
from pondering.model.cells import CELLS
from pondering.model.halting import ACT, Halting, PonderNet
from pondering.model.network import Network
from pondering.params.read import load_params
from pondering.tasks import make_task
from pondering.tasks.base import random_stream
from pondering.train.trainer import forward

FOLDER = Path(pondering.__file__).resolve().parents[2] / "benchmarks"
HIDDEN, ROWS = 5, 7
TASKS: dict[str, dict[str, Any]] = {
    "parity": {
        "name": "parity", "bits": 6, "layout": "leading", "train_nonzero": [1, 6],
        "test_nonzero": {"test": [1, 6]},
    },
    "logic": {"name": "logic", "gates": 2, "length": [1, 3]},
}  # fmt: skip


@pytest.fixture(scope="module")
def bench() -> Any:
    """The script as a module; `plain` is imported beside it."""
    sys.path.insert(0, str(FOLDER))
    try:
        yield importlib.import_module("bench")
    finally:
        sys.path.remove(str(FOLDER))


def readable(cell: str, halting: Halting, inputs: int) -> Network:
    """A float64 network on the readable path; large weights make rows halt at different steps."""
    generator = torch.Generator().manual_seed(3)
    kind: Any = CELLS[cell]
    network = Network(kind(inputs, HIDDEN, True, generator), halting, 1, -0.5).double()
    network.path = "readable"
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator).double())
        network.heads.weight[-1] *= 2.0
    return network


def gradients_by_our_names(twin: Any, inputs: int) -> dict[str, Tensor]:
    """The plain network's gradients in the shapes of the package's parameters."""
    grads = {name: parameter.grad for name, parameter in twin.named_parameters()}
    return {
        "heads.weight": torch.cat([grads["output.weight"], grads["halt.weight"]]),
        "heads.bias": torch.cat([grads["output.bias"], grads["halt.bias"]]),
        "cell.input.weight": grads["cell.weight_ih"][:, :inputs],
        "cell.flag": grads["cell.weight_ih"][:, inputs],
        "cell.input.bias": grads["cell.bias_ih"],
        "cell.recurrent": grads["cell.weight_hh"],
    }


@pytest.mark.parametrize(("name", "cell"), [("parity", "tanh_rnn"), ("logic", "lstm")])
@pytest.mark.parametrize("mechanism", ["act", "pondernet"])
def test_plain_loop_has_the_loss_and_gradients_of_the_readable_network(
    bench: Any, cell: str, mechanism: str, name: str
) -> None:
    plain = bench.plain
    halting: Halting = ACT(0.25, 0.01, 8) if mechanism == "act" else PonderNet(0.3, 0.5, 4)

    def ponder(*arguments: Any) -> Any:
        return getattr(plain, mechanism)(*arguments, *settings)

    settings = (0.25, 0.01, 8) if mechanism == "act" else (0.3, 0.5, 4)
    task: Any = make_task(TASKS[name], name)
    batch = task.draw(random_stream("bench", name), ROWS).torch()
    batch = batch._replace(inputs=batch.inputs.double())
    network = readable(cell, halting, task.input_size)
    losses, pondered = forward(network, task, batch, 0)
    torch.autograd.backward(losses.mean())
    twin = bench.twin(network, cell)
    loss = plain.loss(twin, ponder, plain.Sequences(*batch[:4]))
    torch.autograd.backward(loss)
    torch.testing.assert_close(loss, losses.mean(), rtol=1e-10, atol=1e-12)
    found = gradients_by_our_names(twin, task.input_size)
    wanted = {name: parameter.grad for name, parameter in network.named_parameters()}
    assert found.keys() == wanted.keys()
    for each, gradient in wanted.items():
        torch.testing.assert_close(found[each], gradient, rtol=1e-8, atol=1e-10)
    if mechanism == "act":
        assert len(pondered.ponder_time[batch.mask].unique()) > 1


def test_the_cases_are_of_the_papers_profile(bench: Any) -> None:
    params = load_params(FOLDER.parent / "params.yaml", "paper")
    for case in bench.CASES:
        config = params.experiment(case.experiment)
        assert config.replicas(case.mechanism)
        assert all(value > 0 for value in bench.plain_mechanism(case, config).keywords.values())


def test_the_table_has_the_plain_loop_and_every_path(
    bench: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "CASES", [bench.Case("parity", "act", 2, gain=8.0)])
    options = ["--device", "cpu", "--seconds", "0", "--out", str(tmp_path)]
    done = CliRunner().invoke(bench.main, options, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    (written,) = tmp_path.glob("*.csv")
    rows = list(csv.DictReader(written.open()))
    assert [row["path"] for row in rows] == ["plain", "readable", "fast", "compiled"]
    assert [row["replicas"] for row in rows] == ["1", "2", "2", "2"]
    rates = [float(row["run_updates_per_s"]) for row in rows]
    for row, rate in zip(rows, rates, strict=True):
        assert rate > 0 and 3 < float(row["ponder_time"]) < 4 and row["threads"] == "1"
        assert float(row["times_plain"]) == pytest.approx(rate / rates[0], rel=1e-2)
        share = float(row["useful_work"]) / float(rows[0]["useful_work"])
        assert share == pytest.approx(rate / rates[0], rel=1e-2) and row["memory_mb"] == ""
        networks, updates = 740, 16_000_000
        assert float(row["grid_hours"]) == pytest.approx(networks * updates / rate / 3600, rel=1e-2)


def test_useful_work_counts_the_steps_taken(bench: Any) -> None:
    """By hand: work at each step of each row, and once a row for inputs, without a gradient."""
    network = readable("tanh_rnn", ACT(0.25, 0.01, 8), 6).float()
    task: Any = make_task(TASKS["parity"], "parity")
    config: Any = SimpleNamespace(training=SimpleNamespace(batch=ROWS))
    steps, work = bench.ponder_time_and_work(network, task, config, torch.device("cpu"))
    a_step = HIDDEN * HIDDEN + 2 * HIDDEN
    assert work == pytest.approx(ROWS * (6 * steps * a_step + 4 * HIDDEN * 6))
