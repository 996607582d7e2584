"""Numbers, axes and colours of all figures."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import to_hex, to_rgb
from support.panels import must

from pondering.report.figures import error_by_penalty, layout, scales, sequences, style
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
