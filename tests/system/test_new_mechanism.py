"""A mechanism of one's own: a file, a line of registration and its values, and no more."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support import fresh, stages, tiny

NEW = '''"""Halting at a threshold."""

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
TINY = ("--profile quick", "--experiment tiny")
SHOW = "show tiny --mechanism threshold"


def extended(folder: Path, entry: str = ENTRY, **block: Any) -> Path:
    """The finished tiny project with a copy of the package, a new mechanism and its values."""
    shutil.copytree(stages.finished_project(), folder)
    shutil.copytree(stages.ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__*__"))
    shutil.copy(stages.ROOT / "claims.yaml", folder)
    for path in (stages.ROOT / "src").rglob("__init__.py"):
        shutil.copy(path, folder / path.relative_to(stages.ROOT))
    package = folder / "src/pondering"
    (package / "model/halting/threshold.py").write_text(NEW, encoding="utf-8")
    table = package / "params/mechanisms.py"
    before, mark, after = table.read_text(encoding="utf-8").rpartition("}  # fmt: skip")
    table.write_text(f"{before}{entry}{mark}{after}", encoding="utf-8")
    values = tiny.document(**({"threshold": block} if block else {}))
    values["tiny"]["reduced"] = copy.deepcopy(values["tiny"]["quick"])
    tiny.write(folder, values)
    return folder


def as_parity(reports: Path) -> None:
    """The tables, curves and card of `tiny` again under the name that figures know."""
    shutil.copy(reports / "cards/tiny.json", reports / "cards/parity.json")
    for path in [reports / "tables/tiny.csv", *(reports / "curves/tiny").glob("*.csv")]:
        target = reports / str(path.relative_to(reports)).replace("tiny", "parity")
        target.parent.mkdir(exist_ok=True)
        pd.read_csv(path).assign(experiment="parity").to_csv(target, index=False)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """After every stage, with the other mechanisms' training from before."""
    root = extended(tmp_path_factory.mktemp("new") / "p", theta=[0.4, 0.6], sharpness=2.0)
    work = ("datasets", "train --mechanism threshold", "train --mechanism act", "evaluate")
    for done in fresh.run(root, *(" ".join((each, *TINY)) for each in work)):
        assert (done.status, done.err) == (0, ""), done
    as_parity(root / "data/results/quick")
    (done,) = fresh.run(root, "report --profile quick")
    assert (done.status, done.err) == (0, ""), done
    return root


def test_its_rows_are_in_every_table(project: Path) -> None:
    table = pd.read_csv(project / "data/results/quick/tables/tiny.csv")
    own = table[table["mechanism"] == "threshold"]
    pairs = {(0.4, 0), (0.4, 7), (0.6, 0), (0.6, 7)}
    assert set(zip(own["setting"], own["seed"], strict=True)) == pairs
    assert set(own["prediction"]) == {"mixture"} and own["remainder"].isna().all()
    assert own["ponder_time"].between(1, 4).all() and own["ponder_time"].max() > 1
    curves = pd.read_csv(project / "data/results/quick/curves/tiny/threshold.csv")
    assert set(curves["mechanism"]) == {"threshold"} and curves["update"].max() == 30
    traces = json.loads((project / "data/results/quick/traces/tiny.json").read_text())["traces"]
    assert "threshold" in {trace["mechanism"] for trace in traces}
    record = json.loads(
        (project / "data/results/quick/networks/tiny/threshold/run.json").read_text()
    )
    own_values = {"theta": [0.4, 0.6], "sharpness": 2.0, "learning_rate": None, "updates": None}
    assert record["config"]["threshold"] == own_values
    assert not {"act", "pondernet", "repeat"} & set(record["config"])


def test_it_is_on_the_page_and_in_the_figures(project: Path) -> None:
    reports = project / "data/results/quick"
    page, text = ((reports / name).read_text() for name in ("index.html", "report.md"))
    assert "Threshold with sharpness = 2" in page
    assert len(re.findall(r"^\| Threshold \| θ = 0\.[46] ", text, re.MULTILINE)) == 2  # splits
    figure = (reports / "figures/beyond-pondernet.svg").read_text()
    assert "Threshold" in figure and "#e69f00" in figure.lower()
    spared = (reports / "figures/beyond-repeat-parity.svg").read_text()  # ACT's own comparison
    assert "Threshold" not in spared
    assert "<strong>threshold</strong>: commit " in page


def test_it_is_shown_published_and_judged_beside_the_others(project: Path) -> None:
    shown, own, claims = fresh.run(project, SHOW, f"{SHOW} --input +-0", "claims --profile quick")
    assert "threshold, theta 0." in shown.out and "evaluated: error" in shown.out
    assert re.search(r"^answer  (odd|even), (right|wrong)$", own.out, re.MULTILINE)
    assert claims.out.startswith("Profile quick")
    assert {done.status for done in (shown, own, claims)} == {0}
    (published,) = fresh.run(project, "publish quick")
    assert (published.status, published.err) == (0, "")
    index = json.loads((project / "reports/quick/models/tiny/index.json").read_text())
    record = json.loads((project / "data/results/quick/provenance/tiny/threshold.json").read_text())
    assert record["command"] == "dvc repro train@quick-tiny"
    assert index["threshold"]["published"]
    assert index["threshold"]["setting"] in (0.4, 0.6)
    code = (
        "from pondering import from_pretrained\n"
        "print(from_pretrained('tiny/threshold', 'reports/quick/models').network.halting)"
    )
    own_package = os.environ | {"PYTHONPATH": str(project / "src")}
    loaded = subprocess.check_output([sys.executable, "-c", code], cwd=project, env=own_package)
    assert loaded.startswith(b"Threshold(theta=") and b"sharpness=2.0" in loaded


def test_the_other_mechanisms_stay_as_trained(project: Path) -> None:
    """Their hashes do not know of it."""
    before = stages.finished_project()
    for name in ("repeat", "act", "pondernet"):
        for file in (
            f"data/results/quick/networks/tiny/{name}/run.json",
            f"data/results/quick/curves/tiny/{name}.csv",
        ):
            assert (project / file).read_bytes() == (before / file).read_bytes()


def test_an_experiment_that_does_not_name_it_goes_on_unchanged(tmp_path: Path) -> None:
    """Neither its parameters nor its hashes, trainings and tables know of the entry."""
    work = [" ".join((each, *TINY)) for each in ("train --mechanism act", "evaluate")]
    found = []
    for name, entry in (("before", ""), ("after", ENTRY)):
        root = extended(tmp_path / name, entry)
        for done in fresh.run(root, *work):
            assert (done.status, done.err) == (0, ""), done
        (refused,) = fresh.run(root, " ".join(("train --mechanism threshold", *TINY)))
        assert refused.status == 2 and "threshold" in refused.err and "Trace" not in refused.err
        written = [*(root / "data/results/quick/tables").iterdir(), root / "params.yaml"]
        written += [*(root / "data/results/quick/curves/tiny").iterdir()]
        kept = {str(path.relative_to(root)): path.read_bytes() for path in written}
        runs = {path.name for path in (root / "data/replicas").iterdir()}
        found.append((kept, runs))
    assert found[0] == found[1] and len(found[0][0]) > 3


def test_a_change_of_its_file_trains_it_again_and_no_other(project: Path, tmp_path: Path) -> None:
    root = shutil.copytree(project, tmp_path / "p")
    path, stored = root / "src/pondering/model/halting/threshold.py", root / "data/replicas"
    train = [" ".join((f"train --mechanism {each}", *TINY)) for each in ("act", "threshold")]
    before = {each.name for each in stored.iterdir()}
    path.write_text(path.read_text() + "\n# a remark\n")
    assert [done.status for done in fresh.run(root, *train)] == [0, 0]
    assert {each.name for each in stored.iterdir()} == before
    path.write_text(path.read_text().replace("n == self.max_steps", "n + 1 == self.max_steps"))
    known, changed = fresh.run(root, *train)
    assert "are trained" in known.out and changed.status == 0
    assert len({each.name for each in stored.iterdir()} - before) == 4


WRONG: dict[str, dict[str, Any]] = {
    "theta.1: 'x' is not allowed: Input should": {"theta": [0.4, "x"]},
    "sharpness: 0 is not allowed: Input should": {"theta": [0.4], "sharpness": 0},
    "thetas: unknown key; allowed: learning_rate, updates, seeds, theta, sharpness": {
        "thetas": [0.4]
    },
    "theta: missing": {},
}


def test_a_wrong_value_is_one_line(project: Path) -> None:
    for number, block in enumerate(WRONG.values()):
        values = tiny.document(threshold=block)
        (project / f"wrong{number}").mkdir()
        tiny.write(project / f"wrong{number}", values)
    commands = [f"claims --profile quick --root wrong{number}" for number in range(len(WRONG))]
    for number, (done, said) in enumerate(zip(fresh.run(project, *commands), WRONG, strict=True)):
        assert (done.status, done.out) == (2, "")
        line = f"error: wrong{number}/params.yaml: tiny.quick.threshold.{said}"
        assert done.err.startswith(line) and done.err.count("\n") == 1, done.err
