"""A mechanism, a task, a figure and a claim of one's own: a file or an entry each, and a line."""

from __future__ import annotations

import copy
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support import stages, tiny
from support.repros import shell

MECHANISM = '''"""Halting at a threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Generator, Tensor

from pondering.model.halting import (
    HaltingState,
    Halting,
    PonderRecord,
    Score,
    Setting,
    per_row,
)


@dataclass(frozen=True)
class Threshold(Halting):
    """The output of the first step whose halting unit is above theta."""

    theta: Setting
    max_steps: int
    sharpness: float = 1.0
    scores_every_step: ClassVar[bool] = False
    learns: ClassVar[bool] = False

    def step(self, n: int, halt_logit: Tensor, state: HaltingState) -> tuple[Tensor, HaltingState]:
        last = torch.sigmoid(self.sharpness * halt_logit) > per_row(self.theta, halt_logit)
        last = state.running & (last | torch.tensor(n == self.max_steps))
        weight = last.to(halt_logit.dtype)
        return weight, replace(
            state,
            running=state.running & ~last,
            steps=state.steps + state.running,
            expected_steps=state.expected_steps + n * weight,
        )

    def objective(self, score: Score, pondered: PonderRecord) -> Tensor:
        return score(pondered.mixture)

    def at_inference(self, generator: Generator) -> Threshold:
        return self
'''
ENTRY = (
    '    "threshold": Mechanism("Threshold", "theta", "θ", ranges.Number,'
    ' "pondering.model.halting.threshold:Threshold", ("max_steps",),'
    ' {"sharpness": (ranges.Positive, 1.0)}),\n'
)
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
CATALOGUED = """    _beyond(
        "majority", ("majority",), "Majority", majority, experiment="majority",
    ),
)  # fmt: skip
"""
CLAIM = """
  X1:
    paper: None
    figure: none
    figures: [beyond-majority]
    title: ACT learns majority
    statement: ACT learns which sign most numbers have.
    paper_value: None.
    measured: Error of both.
    measure: penalty.error_with_and_without
    arguments: {experiment: majority, tau_at_most: 1.0, solved_below: 0.4}
    quantities: *with_and_without
    criteria:
      act_error: {at_most: 0.9, core: true}
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
    """The finished tiny project with a copy of the package, extended; then its stages once more."""
    root = shutil.copytree(stages.finished_project(), tmp_path_factory.mktemp("new") / "p")
    shutil.copytree(stages.ROOT / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(stages.ROOT / "claims.yaml", root)
    package = root / "src/pondering"
    (package / "model/halting/threshold.py").write_text(MECHANISM)
    (package / "tasks/majority.py").write_text(TASK)
    (package / "report/figures/majority.py").write_text(FIGURE)
    last = "}  # fmt: skip"
    replaced(package / "params/mechanisms.py", last, f"{ENTRY}{last}")
    tasks, figures = package / "tasks/__init__.py", package / "report/figures/catalogue.py"
    line = "from pondering.tasks.parity import Parity\n"
    replaced(tasks, line, f"from pondering.tasks.majority import Majority\n{line}")
    replaced(tasks, '    "parity": Parity,', '    "majority": Majority,\n    "parity": Parity,')
    line = "from pondering.report.figures.spec import Family, FigureSpec\n"
    replaced(figures, line, f"from pondering.report.figures import majority\n{line}")
    replaced(figures, "\n)  # fmt: skip\n", f"\n{CATALOGUED}")
    with (root / "claims.yaml").open("a") as claims:
        claims.write(CLAIM)
    values = tiny.document(threshold={"theta": [0.4, 0.6], "sharpness": 2.0})
    block = copy.deepcopy(values["tiny"])
    block["common"]["task"] = {"name": "majority"}
    block["quick"]["task"] = block["paper"]["task"] = {"size": 3}
    values["majority"] = block
    for each in ("tiny", "majority"):  # the page reads every profile's block
        values[each]["reduced"] = copy.deepcopy(values[each]["quick"])
    tiny.write(root, values)
    shell(root, "python pipeline/datasets.py --profile quick parity majority")
    before = len([*(root / "data/replicas").iterdir()])
    stage(root, "train", "tiny")
    new = len([*(root / "data/replicas").iterdir()]) - before
    assert new == 4, "the other mechanisms' hashes do not know of it"
    for name, experiment in (("train", "majority"), ("evaluate", "tiny"), ("evaluate", "majority")):
        stage(root, name, experiment)
    shell(root, "python pipeline/report.py --profile quick")
    return root


def stage(root: Path, name: str, experiment: str) -> str:
    """What a stage says."""
    return shell(root, f"python pipeline/{name}.py --profile quick --experiment {experiment}")


def read(project: Path, name: str) -> Any:
    return json.loads((project / "data/results/quick" / name).read_text())


def test_a_mechanism_is_in_every_table_and_figure_and_changes_no_other(project: Path) -> None:
    table = pd.read_csv(project / "data/results/quick/tables/tiny.csv")
    own = table[table["mechanism"] == "threshold"]
    pairs = {(0.4, 0), (0.4, 7), (0.6, 0), (0.6, 7)}
    assert set(zip(own["setting"], own["seed"], strict=True)) == pairs
    assert own["ponder_time"].between(1, 4).all() and own["ponder_time"].max() > 1
    curves = pd.read_csv(project / "data/results/quick/curves/tiny/threshold.csv")
    assert set(curves["mechanism"]) == {"threshold"} and curves["update"].max() == 30
    assert "threshold" in {
        each["mechanism"] for each in read(project, "traces/tiny.json")["traces"]
    }
    assert "Threshold with sharpness = 2" in (project / "data/results/quick/index.html").read_text()
    before = pd.read_csv(stages.finished_project() / "data/results/quick/tables/tiny.csv")
    rest = table[table["mechanism"] != "threshold"].reset_index(drop=True)
    pd.testing.assert_frame_equal(rest, before, check_exact=True)


def test_a_mechanism_is_shown_published_and_loaded(project: Path) -> None:
    shown = shell(project, "pondering show tiny --mechanism threshold --input +-0")
    assert "threshold, theta 0." in shown
    assert re.search(r"^answer  (odd|even), (right|wrong)$", shown, re.MULTILINE)
    shell(project, "pondering publish quick")
    code = "print(from_pretrained('tiny/threshold', 'reports/quick/models').network.halting)"
    said = shell(project, f'python -c "from pondering import from_pretrained; {code}"')
    assert said.startswith("Threshold(theta=") and "sharpness=2.0" in said


def test_a_wrong_value_of_a_mechanism_is_one_line(project: Path, tmp_path: Path) -> None:
    tiny.write(tmp_path, tiny.document(threshold={"theta": [0.4], "sharpness": 0}))
    said = shell(project, f"cd {tmp_path} && pondering show tiny --input +-0", status=2)
    assert "tiny.threshold.sharpness: 0 is not allowed: Input should" in said
    assert said.count("\n") == 1


def test_a_task_is_in_the_tables_and_can_be_shown(project: Path) -> None:
    table = pd.read_csv(project / "data/results/quick/tables/majority.csv")
    assert set(table["difficulty"]) == {0, 1, 2, 3}
    assert "+-+" in shell(project, "pondering show majority --mechanism act --input +-+")


def test_a_figure_is_on_the_page_and_a_claim_is_judged(project: Path) -> None:
    assert (project / "data/results/quick/figures/beyond-majority.svg").is_file()
    assert "Errors on majority." in (project / "data/results/quick/index.html").read_text()
    assert "X1" in {each["id"] for each in read(project, "claims.json")["claims"]}
