"""Reading result files: absent files, and files refused in one line."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
from support.synthetic_results import FEW, card_of, curves_of, table_of, traces_of

from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.results.results import Results


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    reports = tmp_path / "reports"
    for name in ("tables", "curves", "traces", "cards"):
        (reports / "quick" / name).mkdir(parents=True)
    table_of("mnist_rotated", FEW, 2).to_csv(reports / "quick/tables/mnist_rotated.csv")
    curves = curves_of("parity_scattered", FEW, 2, diverged=("act", 0.1, 1))
    for mechanism, rows in curves.groupby("mechanism"):
        path = reports / f"quick/curves/parity_scattered/{mechanism}.csv"
        path.parent.mkdir(exist_ok=True)
        rows.to_csv(path, index=False)
    traces = {"experiment": "sort", "traces": traces_of("sort")}
    for each in traces["traces"]:
        steps = each["steps"]
        each["steps"] = {name: [step[name] for step in steps] for name in steps[0]}
    (reports / "quick/traces/sort.json").write_text(json.dumps(traces))
    for name in ("mnist_rotated", "parity_scattered"):
        content = dataclasses.asdict(card_of(name))
        (reports / f"quick/cards/{name}.json").write_text(json.dumps(content))
    return reports


def test_existing_files_are_read(folder: Path) -> None:
    results = Results.read(folder / "quick", "quick")
    assert list(results.tables) == ["mnist_rotated"]
    assert list(results.curves) == ["parity_scattered"]
    wanted = curves_of("parity_scattered", FEW, 2, diverged=("act", 0.1, 1))
    curves = results.curves["parity_scattered"]
    assert len(curves) == len(wanted)
    assert curves["error"].isna().sum() == wanted["error"].isna().sum() == 30
    assert set(curves["mechanism"]) == {"act", "pondernet", "repeat"}
    assert results.traces["sort"] == traces_of("sort")
    assert results.stand_ins(["parity", "mnist_rotated", "mnist_rotated"]) == [
        "scikit-learn's handwritten digits, 8 x 8 pixels"
    ]


def test_frozen_readouts_are_read(tmp_path: Path) -> None:
    """Q2, Q5 and Q6 need these tables, which no stage writes."""
    frozen = tmp_path / "reports/reduced/frozen"
    frozen.mkdir(parents=True)
    name = "parity-readout.csv"
    shutil.copy(Path(__file__).parents[2] / "reports/reduced/frozen" / name, frozen)
    assert list(Results.of(Layout(tmp_path, "reduced")).readouts) == ["parity"]
    assert Results.of(Layout(tmp_path, "quick")) == Results("quick"), "there is no file"
    readouts = Results.read(Path(__file__).parents[2] / "reports/reduced", "reduced").readouts
    assert len(readouts) == 19
    assert readouts["parity"]["mean_halting"].notna().any()
    assert readouts["comparison_beyond"]["fourfold"].notna().any()


def test_a_table_without_rows_is_absent(folder: Path) -> None:
    table_of("parity", FEW, 1).head(0).to_csv(folder / "quick/tables/parity.csv")
    assert "parity" not in Results.read(folder / "quick", "quick").tables


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        ("reports/quick/tables/parity.csv", "", "not a readable CSV"),
        ("reports/quick/tables/parity.csv", "experiment,mechanism\nparity,act\n", "'setting'"),
        ("reports/quick/traces/sort.json", "{", "no traces"),
        ("reports/quick/traces/sort.json", '{"traces": [{"steps": [{}]}]}', "no traces"),
        ("reports/quick/cards/parity.json", '{"what": "bits"}', "stand_in: Field required"),
        ("reports/quick/cards/parity.json", '{"what": "", "stand_in": "no"}', "valid boolean"),
    ],
)
def test_malformed_files_are_refused_by_name(
    folder: Path, file: str, content: str, expected: str
) -> None:
    path = folder.parent / file
    path.write_text(content)
    with pytest.raises(UserError) as caught:
        Results.read(folder / "quick", "quick")
    message = str(caught.value)
    assert str(path) in message and expected in message and "\n" not in message


def test_the_line_of_a_merge_mark_is_named(folder: Path) -> None:
    path = folder / "quick/tables/mnist_rotated.csv"
    head, *rows = path.read_text().splitlines()
    path.write_text("\n".join([head, rows[0], "<<<<<<< HEAD", *rows[1:]]))
    with pytest.raises(UserError, match=r"rotated\.csv: line 3: no row of this table"):
        Results.read(folder / "quick", "quick")
