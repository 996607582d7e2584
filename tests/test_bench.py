"""The benchmark: its plain loop learns what the package's networks learn, its aims are judged.

`system/test_bench_runs.py` runs it whole.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import pondering
from pondering.model.cells import CELLS
from pondering.model.halting import ACT, FixedRepeat, Halting, PonderNet
from pondering.model.network import Network
from pondering.params.replica import Replica
from pondering.tasks import make_task
from pondering.tasks.base import Batch, Task, random_stream
from pondering.train.batches import Stream
from pondering.train.build import make_network
from pondering.train.trainer import forward

FOLDER = Path(pondering.__file__).resolve().parents[2] / "benchmarks"
MODULES = (
    "plain", "cases", "subjects", "bench", "measure", "totals", "processes", "parts", "page",
    "gpu_by_count", "aims",
)  # fmt: skip
HIDDEN, ROWS = 5, 7
TASKS: dict[str, dict[str, Any]] = {
    "parity": {
        "name": "parity", "bits": 6, "layout": "leading", "train_nonzero": [1, 6],
        "test_nonzero": {"test": [1, 6]},
    },
    "logic": {"name": "logic", "gates": 2, "length": [1, 3]},
    "addition": {"name": "addition", "digits": 2, "length": [1, 3]},
    "wikipedia": {"name": "wikipedia", "source": "generated", "sequence": 8},
}  # fmt: skip


@pytest.fixture(scope="module")
def bench() -> Any:
    """The benchmark's own modules, by name."""
    sys.path.insert(0, str(FOLDER))
    try:
        yield {name: importlib.import_module(name) for name in MODULES}
    finally:
        sys.path.remove(str(FOLDER))


def drawn(name: str) -> tuple[Task, Batch]:
    """A task and a batch of it in float64, some sequences shorter than others."""
    task: Any = make_task(TASKS[name], name)
    if name == "wikipedia":  # whole numbers, for one-hot vectors
        return task, Batch(*task.training_block(0, 0, ROWS)).torch().take(slice(ROWS))
    batch = task.draw(random_stream("bench", name), ROWS).torch()
    return task, batch._replace(inputs=batch.inputs.double())


def readable(cell: str, halting: Halting, inputs: int, outputs: int) -> Network:
    """A network on the readable path, its weights large enough for rows to halt apart."""
    generator = torch.Generator().manual_seed(3)
    kind: Any = CELLS[cell]
    network = Network(kind(inputs, HIDDEN, cell != "conv_mlp", generator), halting, outputs, -0.5)
    network = network.double()
    network.path = "readable"
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "filters" not in name:
                parameter.copy_(torch.randn(parameter.shape, generator=generator).double())
        network.heads.weight[-1] *= 0.3 if cell == "conv_mlp" else 2.0
    return network


def gradients_by_our_names(twin: Any, cell: str, inputs: int) -> dict[str, Tensor]:
    """The plain network's gradients, put together as the package's parameters are."""

    def of(name: str) -> Tensor:
        parameter = twin.get_parameter(name)
        return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad

    found = {
        f"heads.{part}": torch.cat([of(f"output.{part}"), of(f"halt.{part}")])
        for part in ("weight", "bias")
    }
    if cell == "conv_mlp":
        for ours, theirs in (("filters1", "conv1.weight"), ("bias1", "conv1.bias"),
                             ("filters2", "conv2.weight"), ("bias2", "conv2.bias")):  # fmt: skip
            found[f"cell.{ours}"] = of(f"cell.{theirs}")
        for part in ("embedding.weight", "embedding.bias", "out.weight", "out.bias"):
            found[f"cell.{part}"] = of(f"cell.{part}")
        found["cell.join.weight"], found["cell.recurrent.weight"] = of("cell.join.weight").chunk(
            2, dim=1
        )
        found["cell.join.bias"] = found["cell.recurrent.bias"] = of("cell.join.bias")
        return found
    found["cell.input.weight"] = of("cell.weight_ih")[:, :inputs]
    found["cell.flag"] = of("cell.weight_ih")[:, inputs]
    found["cell.input.bias"] = of("cell.bias_ih")
    found["cell.recurrent"] = of("cell.weight_hh")
    if cell == "gru":
        found["cell.candidate_bias"] = of("cell.bias_hh")[2 * HIDDEN :]
    return found


def ponder_of(plain: Any, halting: Halting) -> Any:
    def ponder(*arguments: Any) -> Any:
        if isinstance(halting, ACT):
            return plain.act(*arguments, halting.tau, halting.epsilon, halting.max_steps)
        if isinstance(halting, PonderNet):
            settings = (halting.lambda_p, halting.beta, halting.max_steps)
            return plain.pondernet(*arguments, *settings)
        assert isinstance(halting, FixedRepeat)
        return plain.repeat(*arguments, halting.max_steps)

    return ponder


def assert_twins_agree(bench: Any, cell: str, halting: Halting, task: Task, batch: Batch) -> None:
    """Equal losses and equal gradients of the package's network and of the plain one."""
    network = readable(cell, halting, task.input_size, task.output_size)
    losses, pondered = forward(network, task, batch)
    torch.autograd.backward(losses.mean())
    plain = bench["plain"]
    twin = bench["subjects"].twin(network)
    loss = plain.loss(twin, ponder_of(plain, halting), plain.Sequences(*batch[:4]))
    torch.autograd.backward(loss)
    torch.testing.assert_close(loss, losses.mean(), rtol=1e-10, atol=1e-12)
    found = gradients_by_our_names(twin, cell, task.input_size)
    wanted = {name: p.grad for name, p in network.named_parameters()}
    assert found.keys() == wanted.keys()
    for name, gradient in wanted.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-8, atol=1e-10)
    if isinstance(halting, ACT) and batch.inputs.is_floating_point():  # bytes halt together here
        assert len(pondered.ponder_time[batch.mask].unique()) > 1


@pytest.mark.parametrize("task_name", TASKS)
@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm", "gru"])
@pytest.mark.parametrize(
    "halting",
    [ACT(0.25, 0.01, 8), PonderNet(0.3, 0.5, max_steps=4), FixedRepeat(2)],
    ids=["act", "pondernet", "repeat"],
)
def test_plain_loop_has_the_loss_and_gradients_of_the_readable_network(
    bench: Any, cell: str, halting: Halting, task_name: str
) -> None:
    assert_twins_agree(bench, cell, halting, *drawn(task_name))


@pytest.mark.parametrize("halting", [ACT(0.25, 0.01, 8), PonderNet(0.2, 0.5, 3)], ids=str)
def test_plain_loop_agrees_on_images(bench: Any, halting: Halting) -> None:
    config = bench["subjects"].configuration("mnist", True)
    task = make_task(config.task, "mnist")
    batch = Batch(*(part[:, 0] for part in Stream(task, [0], ROWS).batch(0)[:4]), torch.zeros(ROWS))
    assert_twins_agree(
        bench, "conv_mlp", halting, task, batch._replace(inputs=batch.inputs.double())
    )


@pytest.mark.parametrize(("regime", "lowest", "highest"), [("fresh", 2, 2), ("spread", 3, 4)])
def test_regimes_ponder_as_they_say_at_the_paper_s_size(
    bench: Any, regime: str, lowest: float, highest: float
) -> None:
    subjects = bench["subjects"]
    config = subjects.configuration("parity", False)
    task = make_task(config.task, "parity")
    network = make_network(config, task, [Replica("act", 0.001, 0)])
    stream = Stream(task, [0], config.training.batch)
    batches = [stream.batch(update) for update in range(3)]
    first = network.heads.weight.clone()
    unit = subjects.FRESH if regime == "fresh" else subjects.find_spread(network, batches)
    with torch.no_grad():
        network.heads.weight.copy_(first)
    subjects.set_halting(network, unit)
    steps, inputs, most = subjects.count_ponder(network, batches)
    assert inputs == 3 * 128
    assert lowest <= steps / inputs <= highest
    assert most == 2 if regime == "fresh" else most >= 20


def test_useful_work_is_that_of_the_products(bench: Any) -> None:
    work = bench["subjects"].useful_work
    config = bench["subjects"].configuration("parity", False)
    task = make_task(config.task, "parity")
    # 64 inputs, 128 units, one output: forward, then the gradients of weights and of states.
    projection = 2 * 64 * 128 * 2
    step = 2 * (128 * 128 + 128) * 3
    output = 2 * 128 * 3
    assert work(config, task, "act", 10, 4) == pytest.approx(4 * (projection + output) + 10 * step)
    expected = 4 * projection + 10 * (step + output)
    assert work(config, task, "pondernet", 10, 4) == pytest.approx(expected)
    halting_unit = 2 * 128 * 3
    expected = 4 * (projection + output) + 10 * (step - halting_unit)
    assert work(config, task, "repeat", 10, 4) == pytest.approx(expected)


def test_targets_are_judged_by_their_bounds(bench: Any) -> None:
    target = bench["cases"].TARGETS[0]  # at least 6x, at least 65%
    judged = bench["bench"].judged
    own = target.case._asdict() | {"ms": {"Adam": 3.0, "logging": 1.0}}

    def row(ratio: float, share: float) -> dict[str, Any]:
        values = {"ratio": {"median": ratio}, "useful_share": {"median": share}}
        return target.case._asdict() | values | {"ratio_alone": {"median": 7.0}}

    met = judged(target, [row(6.1, 0.66)], [own], False, False)
    assert met["met"] is True and met["alone"] == "7x" and not met["largest_part"]
    missed = judged(target, [row(5.9, 0.66)], [own], False, False)
    assert missed["met"] is False and missed["largest_part"] == "Adam, 75%"
    assert missed["measured"] == "5.9x against plain: **missed**, 66% useful work: met"
    assert missed["at_full_rate"] == "8.94x"
    assert judged(target, [row(6.1, 0.64)], [own], False, False)["met"] is False
    note = target.case._asdict() | {"note": "too slow here"}
    said = judged(target, [note], [], False, False)["measured"]
    assert said == "not measured: too slow here"
    assert judged(target, [row(6.1, 0.66)], [], True, False)["met"] is None  # a GPU's row


@pytest.mark.parametrize("quick", [True, False])
def test_each_device_has_its_rows_once(bench: Any, quick: bool) -> None:
    every, shrunken = bench["cases"].cases, bench["cases"].shrunken
    gpu, cpu = (every(gpu, quick) for gpu in (True, False))
    assert len(set(gpu)) == len(gpu) and len(set(cpu)) == len(cpu)
    assert {case.path for case in cpu} == {"fast", "compiled"}
    assert {case.path for case in gpu} == {"fast"}  # a GPU has no loops
    assert sum(case.threads for case in cpu) == 1 and not any(case.threads for case in gpu)
    for target in bench["cases"].TARGETS:
        assert (shrunken(target.case) if quick else target.case) in (gpu if target.gpu else cpu)


def test_every_experiment_has_both_sizes(bench: Any) -> None:
    for name in {case.experiment for case in bench["cases"].cases(True, False)}:
        for quick in (True, False):
            config = bench["subjects"].configuration(name, quick)
            assert make_task(config.task, name).output_size > 0
