"""A user's mechanism, cell, task, figure and claim: a file or an entry each, and a line."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support import stages, tiny
from support.repros import copy_program, shell

# Fixed repeat, a cell and parity under new names; the mechanism has a new value, `more`.
AGAIN = {
    "class FixedRepeat": "class Again",
    "    rho: Setting\n": "    rho: Setting\n    more: int = 0\n",
    "per_row(self.rho, halt_logit)": "per_row(self.rho, halt_logit) + self.more",
    "return int(": "return self.more + int(",
}
ENTRY = """
MECHANISMS["again"] = Mechanism(
    "Again", "rho", "r", "Count", "pondering.model.halting.again:Again", (),
    {"more": ("Count", 0)}, learns=False,
)
"""
SMALL = {"class TanhRNN": "class Small"}
CELL = """
from pondering.model.cells.small import Small
CELLS["small"] = Small
"""
SIGNS = {"class Parity": "class Signs", '"parity"': '"signs"', '"Parity"': '"Signs"'}
TASK = """
from pondering.tasks.signs import Signs
TASKS["signs"] = Signs
"""
FIGURE = '''"""Errors on signs."""

from matplotlib.figure import Figure

CAPTION = "Errors on signs."


def draw(results, experiment):
    """Error against the difficulty."""
    if experiment not in results.tables:
        return None
    figure = Figure(layout="constrained")
    means = results.tables[experiment].groupby("difficulty")["error"].mean()
    figure.add_subplot().plot(means.index, means)
    return figure
'''
CATALOGUE_LINE = """
from pondering.report.figures import signs
FIGURES = (*FIGURES, _figure("beyond-signs", "", "signs", "Signs", signs))
"""
CLAIM = """
X1:
  paper: None
  figure: none
  figures: [beyond-signs]
  title: ACT learns signs
  statement: ACT learns whether the number of signs is odd.
  paper_value: None.
  measured: Error of both.
  measure: penalty.error_with_and_without
  arguments: {experiment: signs, tau_at_most: 1.0, solved_below: 0.4}
  core: {act_error: [share, error of ACT, {at_most: 0.9}]}
  beside: {"*": [number, "*"]}
  judged_from: quick
  minimum_seeds: 1
  paper_size: {signs: {}}
"""


def write_variant(path: Path, source: str, changes: dict[str, str]) -> None:
    """Write a copy of a neighbouring file with these texts replaced."""
    text = path.with_name(source).read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The finished tiny project after the package was extended and every stage ran again."""
    root = shutil.copytree(stages.finished_project(), tmp_path_factory.mktemp("new") / "p")
    copy_program(root)
    shutil.copy(stages.ROOT / "claims.yaml", root)
    package = root / "src/pondering"
    write_variant(package / "model/halting/again.py", "repeat.py", AGAIN)
    write_variant(package / "model/cells/small.py", "tanh_rnn.py", SMALL)
    write_variant(package / "tasks/signs.py", "parity.py", SIGNS)
    (package / "report/figures/signs.py").write_text(FIGURE)
    append(package / "params/mechanisms.py", ENTRY)
    append(package / "model/cells/__init__.py", CELL)
    append(package / "tasks/__init__.py", TASK)
    append(package / "report/figures/catalogue.py", CATALOGUE_LINE)
    append(root / "claims.yaml", CLAIM)
    values = tiny.document(again={"rho": [1, 2], "more": 1})
    values["signs"] = copy.deepcopy(values["tiny"])
    values["signs"]["common"]["task"]["name"] = "signs"
    values["signs"]["common"]["network"]["cell"] = "small"
    for each in ("tiny", "signs"):  # the page reads every profile's block
        values[each]["reduced"] = copy.deepcopy(values[each]["quick"])
    tiny.write(root, values)
    shell(root, "python pipeline/datasets.py --profile quick parity signs")
    before = len([*(root / "data/replicas").iterdir()])
    stage(root, "train", "tiny")
    new = len([*(root / "data/replicas").iterdir()]) - before
    assert new == 4, "the hash of another mechanism has changed"
    for name, experiment in (("train", "signs"), ("evaluate", "tiny"), ("evaluate", "signs")):
        stage(root, name, experiment)
    shell(root, "python pipeline/report.py --profile quick")
    return root


def stage(root: Path, name: str, experiment: str) -> str:
    """Run a stage; returns its output."""
    return shell(root, f"python pipeline/{name}.py --profile quick --experiment {experiment}")


def read(project: Path, name: str) -> Any:
    return json.loads((project / "data/results/quick" / name).read_text())


def test_a_mechanism_is_in_every_table_and_changes_no_other(project: Path) -> None:
    table = pd.read_csv(project / "data/results/quick/tables/tiny.csv")
    rows = table[table["mechanism"] == "again"]
    assert set(rows["seed"]) == {0, 7}
    assert (rows["ponder_time"] == rows["setting"] + 1).all()
    curves = pd.read_csv(project / "data/results/quick/curves/tiny/again.csv")
    assert set(curves["mechanism"]) == {"again"} and curves["update"].max() == 30
    traces = read(project, "traces/tiny.json")["traces"]
    assert "again" in {each["mechanism"] for each in traces}
    assert "Again with more = 1" in (project / "data/results/quick/index.html").read_text()
    before = pd.read_csv(stages.finished_project() / "data/results/quick/tables/tiny.csv")
    rest = table[table["mechanism"] != "again"].reset_index(drop=True)
    pd.testing.assert_frame_equal(rest, before, check_exact=True)


def test_a_mechanism_is_shown_published_loaded_and_refused(project: Path, tmp_path: Path) -> None:
    shown = shell(project, "pondering show tiny --mechanism again --input +-0")
    assert "again, rho " in shown and "answer  " in shown
    shell(project, "pondering publish quick")
    code = "print(from_pretrained('tiny/again', 'reports/quick/models').network.halting)"
    text = shell(project, f'python -c "from pondering import from_pretrained; {code}"')
    assert text.startswith("Again(rho=") and "more=1" in text
    tiny.write(tmp_path, tiny.document(again={"rho": [1], "more": 0}))
    text = shell(project, f"cd {tmp_path} && pondering show tiny --input +-0", status=2)
    assert "tiny.again.more: 0 is not allowed: Input should" in text and text.count("\n") == 1


def test_a_task_with_a_cell_is_trained_shown_drawn_and_judged(project: Path) -> None:
    curves = pd.read_csv(project / "data/results/quick/curves/signs/act.csv")
    losses = [curves[curves["update"] == update]["loss"].mean() for update in (3, 30)]
    assert losses[1] < losses[0]
    table = pd.read_csv(project / "data/results/quick/tables/signs.csv")
    assert set(table["difficulty"]) == {1, 2, 3}
    assert "+-+" in shell(project, "pondering show signs --mechanism act --input +-+")
    assert (project / "data/results/quick/figures/beyond-signs.svg").is_file()
    page = (project / "data/results/quick/index.html").read_text()
    assert "Errors on signs." in page and "Small of 16 units" in page
    assert "X1" in {each["id"] for each in read(project, "claims.json")["claims"]}
