"""Which edits of the source train which replicas of params.yaml again."""

from __future__ import annotations

import csv
import importlib
import inspect
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

from pondering.model.cells import CELLS
from pondering.params.mechanisms import MECHANISMS
from pondering.params.read import load_params
from pondering.project.errors import UserError
from pondering.tasks import TASKS
from pondering.train import program
from pondering.train.replica import by_hash
from pondering.train.stage import missing_of

ROOT = Path(__file__).parents[2]
REDUCED = load_params(ROOT / "params.yaml", "reduced")
TRAININGS = {(n, m): c for n, c in REDUCED.experiments.items() for m in c.mechanisms}
Programs = dict[tuple[str, str], dict[str, str]]


@pytest.fixture(scope="module")
def package_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(program.PACKAGE, tmp_path_factory.mktemp("source") / "pondering")


@pytest.fixture
def package(package_copy: Path) -> Iterator[Path]:
    """A copy of the package; a test's edits are undone."""
    before = {path: path.read_bytes() for path in package_copy.rglob("*.py")}
    yield package_copy
    for path in package_copy.rglob("*.py"):
        if path not in before:
            path.unlink()
        elif path.read_bytes() != before[path]:
            path.write_bytes(before[path])
    program._hash.cache_clear()
    program._tree.cache_clear()


@pytest.fixture(scope="module")
def original(package_copy: Path) -> Programs:
    return hashes(package_copy)


def hashes(package: Path) -> Programs:
    """The program of each training."""
    program._hash.cache_clear()
    program._tree.cache_clear()
    return {
        (name, mechanism): program.parts(
            config.task["name"], config.network.cell, mechanism, package
        )
        for (name, mechanism), config in TRAININGS.items()
    }


def trained_again(package: Path, before: Programs) -> set[tuple[str, str]]:
    """The trainings whose program has changed."""
    after = hashes(package)
    return {each for each in before if before[each] != after[each]}


def replace_text(path: Path, old: str, new: str) -> None:
    """Replace every occurrence of a text in a file."""
    text = path.read_text()
    assert old in text, (path, old)
    path.write_text(text.replace(old, new))


def runs(**names: str) -> set[tuple[str, str]]:
    """The trainings with this task, cell or mechanism."""
    found = set()
    for (name, mechanism), config in TRAININGS.items():
        used = {"task": config.task["name"], "cell": config.network.cell, "mechanism": mechanism}
        if names.items() <= used.items():
            found.add((name, mechanism))
    return found


def test_comments_docstrings_annotations_and_messages_train_nothing(
    package: Path, original: Programs
) -> None:
    for part, names in (("task", TASKS), ("cell", CELLS), ("mechanism", MECHANISMS)):
        for name in names:
            for path in program.files(part, name, package):
                path.write_text(f"# A remark.\n{path.read_text()}")
    for path in program.files("network", package=package):
        path.write_text(re.sub(r'\A""".*?"""', '"""Else."""', path.read_text(), flags=re.DOTALL))
    replace_text(package / "train/trainer.py", "-> list[str]:", "-> Any:")
    replace_text(
        package / "tasks/base.py", "from pondering.project.errors", "from pondering.errors"
    )
    replace_text(package / "train/build.py", "torch finds no GPU", "there is no GPU")
    assert trained_again(package, original) == set()


@pytest.mark.parametrize(
    ("path", "old", "new", "reached"),
    [
        ("tasks/parity.py", '"-": -1', '"-": -2', runs(task="parity")),
        ("tasks/wikipedia/made_text.py", "(3, 13)", "(3, 12)", runs(task="wikipedia")),
        ("model/cells/lstm.py", "torch.tanh", "torch.sigmoid", runs(cell="lstm")),
        ("model/halting/act.py", "warmup, 1.0)", "warmup, 2.0)", runs(mechanism="act")),
        ("model/halting/pondernet.py", "(n - 1) *", "(n - 2) *", runs(mechanism="pondernet")),
        ("train/adam.py", "0.999", "0.99", {*TRAININGS}),
        ("train/batches.py", "AT_ONCE = 8", "AT_ONCE = 4", {*TRAININGS}),
        ("model/paths/compiled/loops/tape.py", "from ", "MORE = 1\nfrom ", {*TRAININGS}),
        ("model/paths/kernels/__init__.py", "SLOTS = 64", "SLOTS = 32", set()),
        ("train/draws/parity.py", "import", "MORE = 1\nimport", set()),  # nothing published uses it
        ("evaluate/measure.py", "import", "MORE = 1\nimport", set()),
    ],
)  # fmt: skip
def test_a_changed_constant_trains_the_replicas_that_use_it(
    package: Path,
    original: Programs,
    path: str,
    old: str,
    new: str,
    reached: set[tuple[str, str]],
) -> None:
    replace_text(package / path, old, new)
    assert trained_again(package, original) == reached


def test_a_new_task_cell_or_mechanism_trains_no_other(package: Path, original: Programs) -> None:
    for path, registry in (
        ("tasks/copy_task.py", "tasks/__init__.py"),
        ("model/cells/small.py", "model/cells/__init__.py"),
        ("model/halting/threshold.py", "params/mechanisms.py"),
    ):
        (package / path).write_text("VALUE = 1\n")
        with (package / registry).open("a") as file:
            file.write("\nMORE = {}\n")
    assert trained_again(package, original) == set()


def test_a_name_without_a_file_is_refused(package: Path) -> None:
    (package / "model/cells/gru.py").unlink()
    (package / "model/cells/gru_cell.py").write_text("class GRU: ...\n")
    program._hash.cache_clear()
    with pytest.raises(
        UserError, match=r"^params\.yaml: network\.cell: 'gru' is .* no src/.*/cells/gru\.py$"
    ):
        program.parts("parity", "gru", "act", package)
    with pytest.raises(UserError, match=r"mechanism: 'other' is unknown; .*/halting/other\.py$"):
        program.parts("parity", "lstm", "other", package)


def test_the_class_of_every_name_lies_in_its_files() -> None:
    classes: list[tuple[str, str, Any]] = [("task", name, kind) for name, kind in TASKS.items()]
    classes += [("cell", name, kind) for name, kind in CELLS.items()]
    for name, entry in MECHANISMS.items():
        module, _, kind = entry.path.partition(":")
        classes.append(("mechanism", name, getattr(importlib.import_module(module), kind)))
    for part, name, kind in classes:
        assert Path(inspect.getfile(kind)) in program.files(part, name), (part, name)


def test_same_program_leads_from_an_edit_to_the_first_hash(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two edits in a row lead back to the first hash."""

    def loop() -> str:
        return hashes(package)["parity", "act"]["loop"]

    monkeypatch.setattr(program, "_same_program", dict)
    found = [loop()]
    for old, new in (("betas", "decays"), ("decays", "shares")):
        replace_text(package / "train/adam.py", old, new)
        found.append(loop())
    assert len({*found}) == 3
    monkeypatch.setattr(program, "_same_program", lambda: dict(zip(found[1:], found, strict=False)))
    assert loop() == found[0]


def test_the_committed_table_leads_back_to_a_first_hash() -> None:
    with program.SAME.open(newline="") as file:
        rows = list(csv.DictReader(file))
    same = {row["new"]: row["old"] for row in rows}
    assert len(same) == len(rows), "a hash has two lines"
    TopologicalSorter({new: [old] for new, old in same.items()}).prepare()  # refuses a circle
    assert all(row["part"] in {*program.LISTED, "evaluation"} and row["why"] for row in rows)


REPLICAS = ROOT / "reports/reduced/replicas.csv"


def test_every_published_network_counts_as_trained(tmp_path: Path) -> None:
    (tmp_path / "reports/reduced").mkdir(parents=True)
    shutil.copy(REPLICAS, tmp_path / "reports/reduced")
    params, found = REDUCED.model_copy(update={"root": tmp_path}), {}
    for name, config in params.experiments.items():
        for mechanism in config.mechanisms:
            planned = by_hash(params, name, mechanism)
            if count := len(missing_of(params, name, planned)):
                found[name, mechanism] = count
    assert not found, (
        f"{sum(found.values())} published networks would be trained again. If every number stays "
        f"as it was, byte for byte, add to src/pondering/train/same_program.csv:\n{_lines()}"
    )


def test_todays_evaluation_is_the_published_one() -> None:
    """Rows of added seeds may then stand in the published tables."""
    for path in (ROOT / "reports/reduced/provenance").glob("*.json"):
        then, now = json.loads(path.read_text())["program"], program.evaluation()
        assert then == now, (
            f"{path}: if every number stays as it was, byte for byte, add to "
            f"src/pondering/train/same_program.csv: evaluation,{then},{now},why"
        )


def _lines() -> str:
    """The lines that same_program.csv lacks: hashes at the list's commit, and today."""
    folder = ROOT / ".pytest_cache/published"
    folder.mkdir(parents=True, exist_ok=True)
    commit = f"$(git log -1 --format=%H -- {REPLICAS})"
    command = f"git archive {commit} src/pondering | tar -x -C {folder}"
    subprocess.run(command, shell=True, cwd=ROOT, check=True)
    lines = {}
    for config in load_params(ROOT / "params.yaml", "reduced").experiments.values():
        for mechanism in config.mechanisms:
            names = config.task["name"], config.network.cell, mechanism
            then = program.parts(*names, folder / "src/pondering")
            now = program.parts(*names)
            lines |= {f"{p},{then[p]},{now[p]},why": None for p in then if then[p] != now[p]}
    shutil.rmtree(folder)
    return "\n".join(lines)
