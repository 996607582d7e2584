"""Numbers, axes, colours and files of all figures, under any settings of matplotlib."""

from __future__ import annotations

import xml.etree.ElementTree
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from support.panels import must

from pondering.report.figures import (
    FIGURES,
    FigureSpec,
    draw_all,
    error_by_penalty,
    layout,
    save,
    scales,
    sequences,
    style,
)
from pondering.results.results import Results


def contrast(one: str, other: str) -> float:
    """The contrast of two colours by WCAG 2.2."""

    def light(colour: str) -> float:
        srgb = to_rgb(colour)
        linear = [((c + 0.055) / 1.055) ** 2.4 if c > 0.04045 else c / 12.92 for c in srgb]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    bright, dim = sorted((light(one), light(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def test_every_colour_reads_on_the_paper() -> None:
    for look in style.line_styles(range(20)).values():
        assert contrast(look["color"], style.PAPER) >= 2, look
    for ink in (style.INK, style.SOFT, style.WARNING, style.GREY, style.WRONG):
        assert contrast(ink, style.PAPER) >= 4.5, ink


def test_large_counts_are_short_and_an_even_choice_has_both_ends() -> None:
    assert [scales.count(v) for v in (0, 500, 1500, 2e6, 3e9)] == ["0", "500", "1.5k", "2M", "3bn"]
    assert style.spread([5, 1, 4, 2, 3], 3) == [1, 3, 5]


def test_ticks_of_steps_double_where_a_seed_took_many_steps() -> None:
    figure, (few, many) = layout.new_figure([1, 1])
    for axes, highest in ((few, 3.0), (many, 19.3)):
        axes.plot([1, highest], [0, 1])
        scales.steps_axis(axes, highest)
    figure.draw_without_rendering()
    assert few.get_xscale() == "linear"
    assert list(many.get_xticks()) == [1, 2, 4, 8, 16] and many.get_xscale() == "log"


def test_a_mechanism_has_one_colour_in_every_figure(results: Results) -> None:
    bars = must(error_by_penalty.draw(results, "logic")).axes[0].patches
    wanted = ["plain", *["act"] * 3, *["repeat"] * 4]
    shown = [to_hex(bar.get_facecolor()) for bar in bars]
    assert shown == [style.MECHANISM_COLOUR[name].lower() for name in wanted]
    trace = must(sequences.draw(results, "addition")).axes[0].patches[0]
    assert to_hex(trace.get_facecolor()) == style.MECHANISM_COLOUR["act"].lower()
    assert style.WRONG not in style.MECHANISM_COLOUR.values()


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
