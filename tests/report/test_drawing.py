"""Files of figures: in several processes, and under any settings of matplotlib."""

from __future__ import annotations

import xml.etree.ElementTree
from pathlib import Path

import matplotlib as mpl
import pytest
from support.panels import must

from pondering.report.figures import FIGURES, FigureSpec, draw_all, save
from pondering.results.results import Results

BY_ID = {spec.id: spec for spec in FIGURES}
SOME = [BY_ID[name] for name in ("graves-05", "graves-23", "mnist-gallery")]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_figures_drawn_in_processes_equal_those_drawn_one_by_one(
    results: Results, tmp_path: Path
) -> None:
    found = draw_all(SOME, results, tmp_path / "all")
    assert list(found) == [spec.id for spec in SOME]
    for spec in SOME:
        save(must(spec.draw(results)), tmp_path / "alone" / f"{spec.id}.svg")
        svg = (tmp_path / "alone" / f"{spec.id}.svg").read_text(encoding="utf-8")
        assert "<text" in svg and "<dc:date>" not in svg
        view = xml.etree.ElementTree.fromstring(svg).get("viewBox", "").split()
        assert found[spec.id] == tuple(round(float(each)) for each in view[2:])
    assert files(tmp_path / "all") == files(tmp_path / "alone")


def test_figures_without_data_are_not_drawn_and_other_files_stay(tmp_path: Path) -> None:
    (tmp_path / "beyond-front.svg").write_text("a picture of an earlier version")
    assert draw_all(SOME, Results("quick"), tmp_path) == {}
    assert list(files(tmp_path)) == ["beyond-front.svg"]


@pytest.mark.parametrize("spec", SOME, ids=lambda spec: spec.id)
def test_a_users_settings_of_matplotlib_change_no_figure(
    spec: FigureSpec, results: Results, tmp_path: Path
) -> None:
    settings = {"text.usetex": True, "font.size": 20, "lines.linestyle": ":", "savefig.dpi": 30,
           "savefig.bbox": "tight", "image.origin": "lower", "path.sketch": (1, 100, 2),
           "axes.prop_cycle": mpl.cycler(color=["red"]), "svg.fonttype": "path"}  # fmt: skip
    save(must(spec.draw(results)), tmp_path / "one.svg")
    with mpl.rc_context(settings), mpl.style.context("dark_background"):
        before = dict(mpl.rcParams)
        save(must(spec.draw(results)), tmp_path / "two.svg")
        assert dict(mpl.rcParams) == before, "the user's settings have changed"
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
