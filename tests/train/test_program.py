"""Which edits of the source train which replicas of the real params.yaml again."""

from __future__ import annotations

import csv
import importlib
import inspect
import itertools
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pondering.model.cells import CELLS
from pondering.params.mechanisms import MECHANISMS
from pondering.params.read import load_params
from pondering.project.errors import UserError
from pondering.tasks import TASKS
from pondering.train import program

ROOT = Path(__file__).parents[2]
REDUCED = load_params(ROOT / "params.yaml", "reduced")
TRAININGS = {(n, m): c for n, c in REDUCED.experiments.items() for m in c.mechanisms}


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(program.PACKAGE, tmp_path_factory.mktemp("source") / "pondering")


@pytest.fixture
def package(copied: Path) -> Iterator[Path]:
    """A copy of the package; what a test edits is undone."""
    before = {path: path.read_bytes() for path in copied.rglob("*.py")}
    yield copied
    for path in copied.rglob("*.py"):
        if path not in before:
            path.unlink()
        elif path.read_bytes() != before[path]:
            path.write_bytes(before[path])
    program._hash.cache_clear()
    program._tree.cache_clear()


def hashes(package: Path) -> dict[tuple[str, str], dict[str, str]]:
    """The program of each training."""
    program._hash.cache_clear()
    program._tree.cache_clear()
    return {
        (name, mechanism): program.parts(
            config.task["name"], config.network.cell, mechanism, package
        )
        for (name, mechanism), config in TRAININGS.items()
    }


def trained_again(package: Path, edits: Callable[[], object]) -> set[tuple[str, str]]:
    """The trainings whose program some edits change."""
    before = hashes(package)
    edits()
    after = hashes(package)
    return {each for each in before if before[each] != after[each]}


def edited(path: Path, old: str, new: str) -> None:
    """Replace a text that is there once or more."""
    text = path.read_text()
    assert old in text, (path, old)
    path.write_text(text.replace(old, new))


def with_task(name: str) -> set[tuple[str, str]]:
    return {each for each, config in TRAININGS.items() if config.task["name"] == name}


def with_cell(name: str) -> set[tuple[str, str]]:
    return {each for each, config in TRAININGS.items() if config.network.cell == name}


def with_mechanism(name: str) -> set[tuple[str, str]]:
    return {each for each in TRAININGS if each[1] == name}


def test_remarks_docstrings_annotations_and_messages_train_nothing(package: Path) -> None:
    def edits() -> None:
        for part, names in (("task", TASKS), ("cell", CELLS), ("mechanism", MECHANISMS)):
            for name in names:
                for path in program.files(part, name, package):
                    path.write_text(f"# A remark.\n{path.read_text()}")
        for path in program.files("network", package=package):
            path.write_text(
                re.sub(r'\A""".*?"""', '"""Else."""', path.read_text(), flags=re.DOTALL)
            )
        edited(package / "train/trainer.py", "-> list[str]:", "-> Any:")
        edited(package / "tasks/base.py", "from pondering.project.errors", "from pondering.errors")
        edited(package / "train/build.py", "is unknown; allowed:", "is not known; choose of")

    assert trained_again(package, edits) == set()


@pytest.mark.parametrize(
    ("path", "old", "new", "reached"),
    [
        ("tasks/parity.py", '"-": -1', '"-": -2', with_task("parity")),
        ("tasks/wikipedia/made_text.py", "(3, 13)", "(3, 12)", with_task("wikipedia")),
        ("model/cells/lstm.py", "torch.tanh", "torch.sigmoid", with_cell("lstm")),
        ("model/halting/act.py", "warmup, 1.0)", "warmup, 2.0)", with_mechanism("act")),
        ("model/halting/pondernet.py", "arange(1.0", "arange(2.0", with_mechanism("pondernet")),
        ("train/adam.py", "0.999", "0.99", {*TRAININGS}),
        ("train/batches.py", "AT_ONCE = 8", "AT_ONCE = 4", {*TRAININGS}),
        ("model/paths/compiled/loops/tape.py", "from ", "MORE = 1\nfrom ", {*TRAININGS}),
        ("model/paths/kernels/__init__.py", "SLOTS = 64", "SLOTS = 32", set()),
        ("train/draws/parity.py", "import", "MORE = 1\nimport", set()),  # nothing published uses it
        ("evaluate/measure.py", "import", "MORE = 1\nimport", set()),
    ],
)  # fmt: skip
def test_a_changed_constant_trains_what_uses_it(
    package: Path, path: str, old: str, new: str, reached: set[tuple[str, str]]
) -> None:
    assert trained_again(package, lambda: edited(package / path, old, new)) == reached


def test_a_new_task_cell_or_mechanism_trains_nothing_else(package: Path) -> None:
    def edits() -> None:
        for path, registry in (
            ("tasks/copy_task.py", "tasks/__init__.py"),
            ("model/cells/small.py", "model/cells/__init__.py"),
            ("model/halting/threshold.py", "params/mechanisms.py"),
        ):
            (package / path).write_text("VALUE = 1\n")
            with (package / registry).open("a") as file:
                file.write("\nMORE = {}\n")

    assert trained_again(package, edits) == set()


def test_a_name_without_a_file_is_refused(package: Path) -> None:
    (package / "model/cells/gru.py").unlink()
    (package / "model/cells/gru_cell.py").write_text("class GRU: ...\n")
    program._hash.cache_clear()
    with pytest.raises(UserError, match=r"model/cells/gru\.py: no such file; a cell lies in one"):
        program.parts("parity", "gru", "act", package)
    with pytest.raises(UserError, match=r"model/halting/other\.py: no such file; a mechanism"):
        program.parts("parity", "lstm", "other", package)


def test_the_class_of_every_name_lies_in_its_files() -> None:
    classes: list[tuple[str, str, Any]] = [("task", name, kind) for name, kind in TASKS.items()]
    classes += [("cell", name, kind) for name, kind in CELLS.items()]
    for name, entry in MECHANISMS.items():
        module, _, kind = entry.path.partition(":")
        classes.append(("mechanism", name, getattr(importlib.import_module(module), kind)))
    for part, name, kind in classes:
        assert Path(inspect.getfile(kind)) in program.files(part, name), (part, name)


def test_an_edit_of_equal_numbers_counts_as_what_it_was(
    package: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two in a row lead back to the first."""
    adam, found = package / "train/adam.py", []
    monkeypatch.setattr(program, "SAME", tmp_path / "same.csv")
    (tmp_path / "same.csv").write_text("part,old,new,why\n")
    for name in ("betas", "decays", "shares"):
        adam.write_text(adam.read_text().replace(found[-1][0] if found else "betas", name))
        program._same_program.cache_clear()
        found.append((name, hashes(package)["parity", "act"]["loop"]))
    lines = [f"loop,{old},{new},a name\n" for (_, old), (_, new) in itertools.pairwise(found)]
    (tmp_path / "same.csv").write_text("part,old,new,why\n" + "".join(lines))
    program._same_program.cache_clear()
    assert len({sha256 for _, sha256 in found}) == 3
    assert hashes(package)["parity", "act"]["loop"] == found[0][1]
    program._same_program.cache_clear()


def test_the_committed_table_leads_back_to_a_first_hash() -> None:
    with program.SAME.open(newline="") as file:
        rows = list(csv.DictReader(file))
    same = {row["new"]: row["old"] for row in rows}
    assert len(same) == len(rows), "a hash counts as two"
    for start in same:
        steps, sha256 = 0, start
        while sha256 in same:
            steps, sha256 = steps + 1, same[sha256]
            assert steps <= len(same), "a circle"
    assert all(row["part"] in {*program.LISTED, "evaluation"} and row["why"] for row in rows)
