"""A task, a figure and a claim of one's own: a file or an entry each, and a line that names it."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from support import fresh, stages, tiny

TASK = '''"""Which of two signs most of the numbers have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from pondering.tasks.base import Batch, SyntheticTask, frozen_set


@dataclass(frozen=True)
class Majority(SyntheticTask):
    """`size` signs, an odd number, of which `difficulty` are negative."""

    name: ClassVar[str] = "majority"
    title: ClassVar[str] = "Majority"
    question: ClassVar[str] = "Which sign do most of the numbers have?"
    counts: ClassVar[str] = "negative signs"

    size: int = 3

    @property
    def summary(self) -> str:
        return f"{self.size} signs"

    @property
    def input_size(self) -> int:
        return self.size

    @property
    def output_size(self) -> int:
        return 1

    def draw(self, rng: np.random.Generator, count: int, difficulty: float | None = None) -> Batch:
        many = rng.integers(0, self.size + 1, count) if difficulty is None else [difficulty] * count
        signs = np.where(np.arange(self.size) < np.asarray(many)[:, None], -1.0, 1.0)
        inputs = rng.permuted(signs, axis=1)[None].astype(np.float32)
        here = np.ones((1, count), bool)
        targets = (inputs.sum(-1) > 0).astype(np.int64)
        return Batch(inputs, targets, here, here, np.asarray(many, np.float32))

    def evaluation_sets(self, examples: int, part: str = "test") -> dict[str, Batch]:
        return {"test": frozen_set(self, "test", range(self.size + 1), examples, part)}

    def describe(self, outputs: Tensor, batch: Batch, row: int) -> list[dict[str, str]]:
        said = {"input": "".join("+-"[int(x < 0)] for x in batch.inputs[0, row])}
        answers = ("target", batch.targets[0, row]), ("prediction", outputs[0, row, 0] > 0)
        return [said | {name: str(int(value)) for name, value in answers}]

    def parse(self, text: str) -> Batch:
        signs = np.array([1.0 if sign == "+" else -1.0 for sign in text], np.float32)[None, None]
        here = np.ones((1, 1), bool)
        targets = (signs.sum(-1) > 0).astype(np.int64)
        return Batch(signs, targets, here, here, (signs < 0).sum(-1)[0].astype(np.float32))
'''
FIGURE = '''"""Errors on majority."""

from __future__ import annotations

from matplotlib.figure import Figure

from pondering.results.results import Results

CAPTION = "Errors on majority."


def draw(results: Results, experiment: str) -> Figure | None:
    """Error against the number of negative signs."""
    table = results.tables.get(experiment)
    if table is None:
        return None
    figure = Figure(layout="constrained")
    means = table.groupby("difficulty")["error"].mean()
    figure.add_subplot().plot(means.index, means)
    return figure
'''
LINE = """    _beyond(
        "majority", ("majority",), "Majority", majority, experiment="majority",
    ),
)  # fmt: skip
"""
CLAIM = """
  - id: X1
    paper: None
    figure: none
    figures: [beyond-majority]
    title: ACT learns majority
    statement: ACT learns which sign most numbers have.
    paper_value: None.
    measured: Error of both.
    measure: error_with_and_without
    arguments: {experiment: majority, tau_at_most: 1.0, solved_below: 0.4}
    criteria:
      - {quantity: act_error, at_most: 0.9, core: true}
    judged_at: [quick, reduced, paper]
    minimum_seeds: 1
    scale_reason: none.
    paper_size: {majority: {}}
"""


def replaced(path: Path, old: str, new: str) -> None:
    before, found, after = path.read_text().rpartition(old)
    assert found, old
    path.write_text(f"{before}{new}{after}")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished tiny project, and after it every stage of a new experiment."""
    root = tmp_path_factory.mktemp("task") / "p"
    shutil.copytree(stages.finished_project(), root)
    shutil.copytree(stages.ROOT / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(stages.ROOT / "claims.yaml", root)
    package = root / "src/pondering"
    (package / "tasks/majority.py").write_text(TASK)
    (package / "report/figures/majority.py").write_text(FIGURE)
    tasks, figures = package / "tasks/__init__.py", package / "report/figures/catalogue.py"
    line = "from pondering.tasks.parity import Parity\n"
    replaced(tasks, line, f"from pondering.tasks.majority import Majority\n{line}")
    replaced(tasks, '    "parity": Parity,', '    "majority": Majority,\n    "parity": Parity,')
    line = "from pondering.report.figures.spec import Family, FigureSpec\n"
    replaced(figures, line, f"from pondering.report.figures import majority\n{line}")
    replaced(figures, "\n)  # fmt: skip\n", f"\n{LINE}")
    with (root / "claims.yaml").open("a") as claims:
        claims.write(CLAIM)
    values = tiny.document()
    block = copy.deepcopy(values["tiny"])
    block["common"]["task"] = {"name": "majority"}
    block["quick"]["task"] = block["paper"]["task"] = {"size": 3}
    values["majority"] = block
    for each in ("tiny", "majority"):  # the page reads every profile's block
        values[each]["reduced"] = copy.deepcopy(values[each]["quick"])
    tiny.write(root, values)
    names = "--profile quick --experiment majority"
    training = [f"train {names} --mechanism {each}" for each in ("repeat", "act", "pondernet")]
    work = (f"datasets {names}", *training, f"evaluate {names}")
    for done in fresh.run(root, *work, "report --profile quick"):
        assert (done.status, done.err) == (0, ""), done
    return root


def test_a_new_task_is_in_the_tables_and_can_be_shown(project: Path) -> None:
    table = pd.read_csv(project / "data/results/quick/tables/majority.csv")
    assert set(table["difficulty"]) == {0, 1, 2, 3}
    (shown,) = fresh.run(project, "show majority --mechanism act --input +-+")
    assert shown.status == 0 and "+-+" in shown.out


def test_a_new_figure_is_drawn_and_on_the_page(project: Path) -> None:
    assert (project / "data/results/quick/figures/beyond-majority.svg").is_file()
    assert "Errors on majority." in (project / "data/results/quick/index.html").read_text()


def test_a_new_claim_is_judged(project: Path) -> None:
    claims = json.loads((project / "data/results/quick/claims.json").read_text())
    assert "X1" in str(claims)


def test_the_experiments_that_were_there_stay_up_to_date(project: Path) -> None:
    for name in ("repeat", "act", "pondernet"):
        (done,) = fresh.run(project, f"train --profile quick --experiment tiny --mechanism {name}")
        assert done.status == 0 and "all of 4 replicas are trained" in done.out
