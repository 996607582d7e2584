"""Names of points in a figure: none is left out, none covers a marker or another name."""

from __future__ import annotations

import dataclasses

import pytest
from matplotlib.axes import Axes
from matplotlib.text import Text
from support.synthetic_results import made_up_results

from pondering.report.figures import FIGURES, gallery, style

CROWDS = [
    # the ponder and error of addition and of parity, as one profile had them
    [(1.0, 0.152, ""), (1.18, 0.0759, "τ 0.1"), (2.07, 0.081, "τ 0.01"), (2.25, 0.09, "τ 9e-4"),
     (3.0, 0.078, f"{style.TIMES}3")],
    [(1.0, 0.245, ""), (1.0, 0.208, "τ 0.1"), (1.54, 0.162, "τ 0.01"), (8.0, 0.246, "τ 1e-3"),
     (2.37, 0.0287, "τ 3e-3"), (2.0, 0.0251, f"{style.TIMES}2"), (3.0, 0.0549, f"{style.TIMES}3")],
]  # fmt: skip


def touching(axes: Axes, points: list[tuple[float, float, str]]) -> list[str]:
    """The names that cover a marker or another name, by the boxes of a finished drawing."""
    axes.figure.canvas.draw()
    # an annotation's own extent includes its arrow
    boxes = {text.get_text(): Text.get_window_extent(text) for text in axes.texts}
    centres = axes.transData.transform([(x, y) for x, y, _ in points])
    bad = []
    for name, box in boxes.items():
        others = [other for key, other in boxes.items() if key != name]
        if any(box.contains(*c) for c in centres) or any(box.overlaps(other) for other in others):
            bad.append(name)
    return bad


@pytest.mark.parametrize("points", CROWDS)
def test_every_point_has_its_name_beside_it(points: list[tuple[float, float, str]]) -> None:
    with style.style():
        figure, (axes, _) = style.new_figure([2.3, 2.3])
        axes.plot([x for x, _, _ in points], [y for _, y, _ in points], ls="", marker="o", ms=6)
        axes.margins(0.12, 0.15)
        style.from_zero(axes)
        style.name_points(axes, points)
        style.heading(figure, "A title", "of a figure")
        assert sorted(t.get_text() for t in axes.texts) == sorted(n for *_, n in points if n)
        assert touching(axes, points) == []


def test_fixed_repeats_are_named_too() -> None:
    results = made_up_results(points=5)
    (spec,) = (spec for spec in FIGURES if spec.id == "beyond-repeat-addition")
    figure = spec.draw(results)
    assert figure is not None
    upper, lower = figure.axes
    assert {f"{style.TIMES}2", f"{style.TIMES}3", "τ 1e-3", "τ 0.1"} <= {
        text.get_text() for text in upper.texts
    }
    assert "not within 6k updates" in [text.get_text() for text in lower.texts]
    assert max(lower.get_yticks()) <= 6000


def test_gallery_and_its_words_show_the_same_digits() -> None:
    (first, *_) = traces = made_up_results(points=3).traces["mnist"]
    many = [{**first, "which": which} for which in ("most",) * 9 + ("fewest",) * 2]
    assert len(gallery.gallery_traces(many)) == gallery.GALLERY_COLUMNS + 2
    results = made_up_results(points=3)
    assert gallery.words(results, "mnist").startswith(f"{len(traces)} digits; most expected steps")
    crowded = dataclasses.replace(results, traces={"mnist": many})
    assert gallery.words(crowded, "mnist").startswith(f"{gallery.GALLERY_COLUMNS + 2} digits")
