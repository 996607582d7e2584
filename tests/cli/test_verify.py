"""The comparisons of `pondering verify`; tests/system/test_repro.py has a second run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import tiny
from support.argv import refusal
from support.repros import commit

from pondering.cli.verify import ERROR, STEPS, files_apart, numbers_apart

ROWS = "setting,seed,error\n0.1,0,0.25\n0.1,1,0.5\n"


def results(folder: Path) -> Path:
    names = ("tables/parity.csv", "curves/parity/act.csv", "exits/parity.csv", "traces/parity.json")
    for name in names:
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(ROWS)
    return folder


def test_a_changed_digit_and_a_missing_file_are_named(tmp_path: Path) -> None:
    here, there = results(tmp_path / "here"), results(tmp_path / "there")
    (here / "provenance").mkdir()
    (here / "provenance/parity.json").write_text("{}")  # records hold wall times
    assert list(files_apart(here, there)) == []
    (there / "curves/parity/act.csv").write_text(ROWS.replace("0.25", "0.2501"))
    (there / "tables/sort.csv").write_text(ROWS)
    (there / "exits/parity.csv").unlink()
    exits, new, curve = files_apart(here, there)
    assert exits == "exits/parity.csv: in one of the two runs alone"
    assert new == "tables/sort.csv: in one of the two runs alone"
    assert curve == "curves/parity/act.csv: here '0.1,0,0.25', then '0.1,0,0.2501'"


@pytest.mark.parametrize(
    ("name", "allowed"), [("act", ERROR), ("plain", ERROR), ("act_steps", STEPS)]
)
def test_a_number_may_move_a_little(tmp_path: Path, name: str, allowed: float) -> None:
    path = tmp_path / "parity.json"
    for moved, count in ((0.9 * allowed, 0), (1.1 * allowed, 1)):
        path.write_text(json.dumps({name: 1 - moved}))
        assert len(list(numbers_apart(json.dumps({name: 1.0}), path))) == count


def test_a_missing_number_counts_as_changed(tmp_path: Path) -> None:
    path = tmp_path / "parity.json"
    for after in (None, "{}", '{"plain": 0.1}'):
        if after:
            path.write_text(after)
        assert any("act was 0.1 and is nan" in each for each in numbers_apart('{"act": 0.1}', path))


def test_uncommitted_changes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    tiny.write(tmp_path, tiny.document())
    expected = "error: reports/quick/metrics: nothing is committed to compare with\n"
    assert refusal("verify") == expected
    (tmp_path / "reports/quick/metrics").mkdir(parents=True)
    (tmp_path / "reports/quick/metrics/tiny.json").write_text("{}")
    commit(tmp_path)
    tiny.write(tmp_path, tiny.document(seeds=[1]))
    expected = "error: this folder differs from the last commit; commit the changes first\n"
    assert refusal("verify") == expected
