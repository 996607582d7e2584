"""Which inputs are shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.trained_project import trained

from pondering.params.read import load_params
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.show.replay import evaluation_sets, pick
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
