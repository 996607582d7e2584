"""The published replicas of the project: in a clone without networks they count as trained."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

from pondering.params.read import deep_merge, load_params
from pondering.params.schema import Params
from pondering.project.documents import read_yaml
from pondering.train import program
from pondering.train.replica import by_hash
from pondering.train.stage import missing_of

ROOT = Path(__file__).parents[2]
LISTED = ROOT / "reports/reduced/replicas.csv"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    (tmp_path / "reports/reduced").mkdir(parents=True)
    shutil.copy(LISTED, tmp_path / "reports/reduced")
    return tmp_path


def reduced(folder: Path, **over: dict[str, Any]) -> Params:
    """The project's own parameters, with values of experiments changed."""
    values, path = read_yaml(ROOT / "params.yaml"), folder / "params.yaml"
    for name, block in over.items():
        values[name]["reduced"] = deep_merge(values[name]["reduced"], block)
    path.write_text(json.dumps(values))
    return load_params(path, "reduced")


def missing(params: Params, root: Path) -> dict[tuple[str, str], int]:
    """How many replicas are to be trained, by experiment and mechanism."""
    found = {}
    for name, config in params.experiments.items():
        for mechanism in config.mechanisms:
            planned = by_hash(params, name, mechanism)
            if count := len(missing_of(params, name, root, planned)):
                found[name, mechanism] = count
    return found


def test_nothing_is_to_be_trained(clone: Path) -> None:
    found = missing(reduced(clone), clone)
    assert not found, (
        f"{sum(found.values())} published networks would be trained again. If every number stays "
        f"as it was, byte for byte, add to src/pondering/train/same_program.csv:\n{_lines()}"
    )
    more = reduced(clone, logic={"act": {"tau": [0.001], "seeds": [*range(21)]}})
    assert missing(more, clone) == {("logic", "act"): 1}


def test_todays_evaluation_is_the_one_that_measured_them() -> None:
    """So rows of further seeds may stand beside theirs."""
    for path in (ROOT / "reports/reduced/provenance").glob("*.json"):
        then, now = json.loads(path.read_text())["program"], program.evaluation()
        assert then == now, (
            f"{path}: if every number stays as it was, byte for byte, add to "
            f"src/pondering/train/same_program.csv: evaluation,{then},{now},why"
        )


def _lines() -> str:
    """What the table lacks: the hashes of the parts when the list was committed, and today."""
    log = ["git", "-C", str(ROOT), "log", "-1", "--format=%H", "--", str(LISTED)]
    commit = subprocess.run(log, capture_output=True, text=True, check=True).stdout.strip()
    archive = ["git", "-C", str(ROOT), "archive", commit, "src/pondering"]
    content = subprocess.run(archive, capture_output=True, check=True).stdout
    folder = ROOT / ".pytest_cache/published"
    with tarfile.open(fileobj=io.BytesIO(content)) as archived:
        archived.extractall(folder, filter="data")
    lines = {}
    for config in load_params(ROOT / "params.yaml", "reduced").experiments.values():
        for mechanism in config.mechanisms:
            names = config.task["name"], config.network.cell, mechanism
            then = program.parts(*names, folder / "src/pondering")
            now = program.parts(*names)
            lines |= {f"{p},{then[p]},{now[p]},why": None for p in then if then[p] != now[p]}
    shutil.rmtree(folder)
    return "\n".join(lines)
