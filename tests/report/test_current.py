"""Drawing only what changed: after the same results nothing, after one table its figures."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from support.published import ROOT

from pondering.report.figures import FIGURES, FigureSpec, current
from pondering.report.figures.spec import style
from pondering.report.pages import site
from pondering.results.results import Results

IDS = ("graves-04", "graves-05", "graves-12", "beyond-layout")
PARITY = ["graves-04", "graves-05", "beyond-layout"]
Report = Callable[[], list[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What the four figures read of a profile, as committed, without figures."""
    for name in ("parity", "parity_scattered", "addition"):
        for path in (ROOT / "reports/quick").glob(f"*/{name}[-.]*"):
            if path.parent.name in ("tables", "curves", "traces", "cards"):
                copied = tmp_path / "quick" / path.parent.name / path.name
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, copied)
    return tmp_path / "quick"


@pytest.fixture
def report(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    """Brings four figures up to date and tells which were drawn."""
    drawn: list[str] = []
    draw = FigureSpec.draw

    def noted(spec: FigureSpec, results: Results) -> Figure | None:
        drawn.append(spec.id)
        return draw(spec, results)

    monkeypatch.setattr(FigureSpec, "draw", noted)
    monkeypatch.setattr(site, "FIGURES", tuple(each for each in FIGURES if each.id in IDS))

    def run() -> list[str]:
        drawn.clear()
        found = site._draw(site.FIGURES, Results.load(folder.parent, "quick"), folder / "figures")
        assert list(found) == list(IDS)
        return list(drawn)

    return run


def test_only_what_changed_is_drawn_and_all_bytes_are_those_of_a_whole_report(
    folder: Path, report: Report
) -> None:
    assert report() == list(IDS)
    first = _bytes(folder)
    assert report() == []
    assert _bytes(folder) == first
    table = folder / "tables/parity.csv"
    table.write_text("\n".join(table.read_text().splitlines()[:-1]) + "\n")
    assert report() == PARITY
    changed = _bytes(folder)
    shutil.rmtree(folder / "figures")
    assert report() == list(IDS)
    assert _bytes(folder) == changed


def test_a_figure_that_is_damaged_or_missing_is_drawn_again(folder: Path, report: Report) -> None:
    report()
    whole = _bytes(folder)
    for name in ("graves-12.svg", "graves-12.png"):
        path = folder / "figures" / name
        path.write_bytes(whole[name][:-1])
        assert report() == ["graves-12"]
        path.unlink()
        assert report() == ["graves-12"]
        assert _bytes(folder) == whole
    (folder / "figures" / site.SEALS).write_text("[")
    assert report() == list(IDS)


@pytest.mark.parametrize(
    ("file", "old", "new", "changed"),
    [
        ("style/look.py", "WIDTH = 5.0", "WIDTH = 5.5", list(IDS)),
        ("layout.py", "list(handles.values()), 3", "list(handles.values()), 2", ["beyond-layout"]),
        ("layout.py", "def caption(", "X = 1\n\n\ndef caption(", []),
        ("layout.py", "elements leading or scattered, which", "elements, which", []),
    ],
)
def test_a_changed_program_draws_what_depends_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, old: str, new: str,
    changed: list[str],
) -> None:  # fmt: skip
    before = _keys()
    package = tmp_path / current.TOP
    shutil.copytree(current.PACKAGE, package)
    path = package / "report/figures" / file
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    monkeypatch.setattr(current, "PACKAGE", package)
    try:
        assert [name for name, key in _keys().items() if key != before[name]] == changed
    finally:
        monkeypatch.undo()
        _forget()


@pytest.mark.parametrize("spec", FIGURES, ids=lambda spec: spec.id)
def test_a_figure_reads_no_experiment_that_it_does_not_name(
    spec: FigureSpec, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = ("tables", "curves", "traces", "cards")
    own = {
        kind: {name: each for name, each in getattr(results, kind).items()
               if name in spec.experiment}
        for kind in kinds
    }  # fmt: skip
    monkeypatch.setattr(style, "heading", lambda *_: None)  # which takes most of the time
    whole, part = spec.draw(results), spec.draw(dataclasses.replace(results, **own))
    assert (whole is None) == (part is None)
    if whole is not None and part is not None:
        assert _lines(whole) == _lines(part)


def test_results_that_come_from_no_file_are_always_drawn(results: Results) -> None:
    assert {current.figure_key(spec, results) for spec in FIGURES} == {None}


def _keys() -> dict[str, str | None]:
    _forget()
    results = Results.load(ROOT / "reports", "quick")
    return {spec.id: current.figure_key(spec, results) for spec in FIGURES if spec.id in IDS}


def _forget() -> None:
    current._program.cache_clear()
    current._address.cache_clear()


def _bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "figures").iterdir())}


def _lines(figure: Figure) -> list[str]:
    """What a figure draws, in short."""
    return [
        repr((type(each).__name__, getattr(each, "get_text", str)(),
              line.tolist() if (line := getattr(each, "get_xydata", lambda: None)()) is not None
              else ""))
        for axes in figure.axes for each in axes.get_children()
    ]  # fmt: skip
