"""`pondering verify` against small repositories made for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from support import tiny
from support.repository import commit

from pondering.cli.main import main
from pondering.cli.verify import differences, same_machine
from pondering.project.errors import UserError

HEADER = "mechanism,setting,seed,split,difficulty,prediction,error,ponder_time\n"
ROW = "act,0.001,0,test,1,mixture,0.1,2.0\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "reports" / "quick"
    for name in ("tables", "provenance"):
        (folder / name).mkdir(parents=True)
    (folder / "tables" / "parity.csv").write_text(HEADER + ROW)
    origin = {"device": "a processor", "versions": {"torch": "2"}, "threads": 1}
    (folder / "provenance" / "parity-act.json").write_text(json.dumps(origin))
    commit(tmp_path)
    return tmp_path


def table(project: Path) -> Path:
    return project / "reports" / "quick" / "tables" / "parity.csv"


def test_a_changed_digit_is_a_difference_on_the_same_machine(project: Path) -> None:
    assert same_machine(project, "quick")
    assert list(differences(project, "quick", exactly=True)) == []
    table(project).write_text(HEADER + ROW.replace("0.1,", "0.1001,"))
    (found,) = differences(project, "quick", exactly=True)
    assert found.file == "reports/quick/tables/parity.csv"
    assert found.what.startswith("1 of 2 lines differ") and "0.1001" in found.what
    assert list(differences(project, "quick", exactly=False)) == []


@pytest.mark.parametrize(("old", "new"), [(",0.1,", ",0.3,"), ("2.0", "4.0"), ("0.001", "0.01")])
def test_a_moved_mean_is_a_difference_anywhere(project: Path, old: str, new: str) -> None:
    table(project).write_text(HEADER + ROW.replace(old, new))
    assert len(list(differences(project, "quick", exactly=False))) == 1


def test_a_new_table_is_a_difference_anywhere(project: Path) -> None:
    table(project).with_name("sort.csv").write_text(HEADER + ROW)
    for exactly in (True, False):
        (found,) = differences(project, "quick", exactly=exactly)
        assert found == ("reports/quick/tables/sort.csv", "is new: none is committed")


def test_the_command_names_each_difference(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny.write(project, tiny.document())
    monkeypatch.chdir(project)
    same = CliRunner().invoke(main, ["verify"])
    said = "verify: every table of quick agrees with the committed one, byte for byte\n"
    assert (same.exit_code, same.output) == (0, said)
    table(project).write_text(HEADER + ROW.replace("0.1,", "0.2,"))
    apart = CliRunner().invoke(main, ["verify"])
    first, last = apart.output.splitlines()
    assert apart.exit_code == 2
    assert first.startswith("reports/quick/tables/parity.csv: 1 of 2 lines differ: was 'act,0.001,")
    assert last == "error: files that do not agree byte for byte with the committed ones: 1"


def test_a_missing_table_is_a_difference(project: Path) -> None:
    table(project).unlink()
    (found,) = differences(project, "quick", exactly=False)
    assert found.what == "is missing now"


@pytest.mark.parametrize("key", ["device", "versions", "threads"])
def test_another_machine_is_noticed(project: Path, key: str) -> None:
    path = project / "reports" / "quick" / "provenance" / "parity-act.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: "other"}))
    assert not same_machine(project, "quick")


def test_the_machine_of_each_training_that_contributed_counts(project: Path) -> None:
    path = project / "reports/quick/provenance/parity-act.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps(record | {"earlier": [record]}))
    commit(project)
    path.write_text(json.dumps(record))
    assert same_machine(project, "quick")
    path.write_text(json.dumps(record | {"earlier": [record | {"device": "other"}]}))
    commit(project)
    path.write_text(json.dumps(record))
    assert not same_machine(project, "quick")


def test_an_evaluation_counts_once_its_record_is_published(project: Path) -> None:
    training = project / "reports/quick/provenance/parity-act.json"
    path, origin = training.with_stem("parity"), json.loads(training.read_text())
    path.write_text(json.dumps(origin | {"device": "other"}))
    assert not same_machine(project, "quick"), "a record that was not published"
    commit(project)
    assert same_machine(project, "quick")
    path.write_text(json.dumps(origin))
    assert not same_machine(project, "quick")


def test_a_record_is_no_table(project: Path) -> None:
    path = project / "reports/quick/provenance/parity.json"
    path.write_text('{"wall_seconds": 1}')
    commit(project)
    path.write_text('{"wall_seconds": 2}')
    assert list(differences(project, "quick", exactly=True)) == []


def test_without_a_repository_nothing_is_committed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UserError, match="reports/quick: nothing is committed there"):
        list(differences(tmp_path, "quick", exactly=True))
    assert capfd.readouterr().err == ""
