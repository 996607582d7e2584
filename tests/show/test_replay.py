"""Which inputs are shown, and that a network is shown as it is evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from support.trained_project import trained

from pondering import (
    ACT,
    DACT,
    Certainty,
    Correctness,
    FixedRepeat,
    Network,
    PonderNet,
    RandomDepth,
    TanhRNN,
)
from pondering.model.halting import Halting
from pondering.params.read import load_params
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.show.replay import evaluation_sets, pick, replay
from pondering.tasks import make_task
from pondering.tasks.digits.task import Digits


def test_without_the_data_only_inputs_of_ones_own(tmp_path: Path) -> None:
    task = Digits(0.0, (), (), "mnist", 5000)
    with pytest.raises(
        UserError, match=r"mnist\.npz: no such file; with `profile: reduced` .*--input$"
    ):
        evaluation_sets(task, Layout(tmp_path, "reduced"), "mnist", 10)


def test_picked_examples_come_from_every_split() -> None:
    config = load_params(trained() / "params.yaml").experiment("parity")
    values = config.task | {"test_nonzero": {"near": [1, 2], "far": [7, 8]}}
    sets = make_task(values, "parity").evaluation_sets(3)
    found = pick(sets, 4)
    assert [(each.split, each.difficulty) for each in found] == [
        ("near", 1), ("near", 2), ("far", 7), ("far", 8),
    ]  # fmt: skip


HALTING: dict[str, Halting] = {
    "act": ACT(0.01, max_steps=5), "pondernet": PonderNet(0.3, max_steps=5),
    "repeat": FixedRepeat(3), "correctness": Correctness(0.5, max_steps=5),
    "certainty": Certainty(0.02, max_steps=5), "dact": DACT(0.01, max_steps=5),
    "random_depth": RandomDepth(1.0, max_steps=5),
}  # fmt: skip


@pytest.mark.parametrize("name", HALTING)
def test_a_network_is_shown_as_it_is_evaluated(name: str) -> None:
    """PonderNet alone halts by chance: it is shown whole, with a sample."""
    config = load_params(trained() / "params.yaml").experiment("parity")
    task, generator = make_task(config.task, "parity"), torch.Generator()
    network = Network(TanhRNN(task.input_size, 8), HALTING[name], task.output_size).eval()
    for chosen in pick(task.evaluation_sets(4), 8):
        (moment,) = replay(network, task, chosen.batch, generator.manual_seed(1))
        evaluated = network(chosen.batch.inputs, generator=generator.manual_seed(1))
        steps = int(evaluated.ponder_time)
        if name == "pondernet":
            assert moment.sampled is not None and moment.sampled.steps == steps
        else:
            assert moment.sampled is None and moment.ponder_time == steps
            said = network.halting.predict(evaluated)
            assert moment.prediction == task.describe(said, chosen.batch, 0)[0]["prediction"]
