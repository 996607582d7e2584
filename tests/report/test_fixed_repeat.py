"""Fixed repeats against ACT: the names of points, and the updates until a task is solved."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes
from support.panels import drawn, line_with
from support.synthetic_results import curves_of, only, table_of

from pondering.report.figures import fixed_repeat, style
from pondering.results.results import Results


def hollow(axes: Axes) -> list[tuple[float, float]]:
    marks = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    return [(float(m.get_xdata()[0]), float(m.get_ydata()[0])) for m in marks]


def test_fixed_repeats_are_named_too(results: Results) -> None:
    upper, lower = drawn(fixed_repeat.draw(results, "addition")).axes
    names = {text.get_text() for text in upper.texts}
    assert {f"{style.TIMES}2", f"{style.TIMES}3", "τ 0.001", "τ 0.1"} <= names
    assert "seeds not within 6k updates" in [text.get_text() for text in lower.texts]
    assert max(lower.get_yticks()) < lower.patches[0].get_y(), "no tick in the strip"


def test_low_errors_beside_high_ones_stand_apart() -> None:
    table = table_of("parity_fojo", {"repeat": [1, 2], "act": [1e-3, 1e-2, 0.03]}, 3)
    wanted = {1.0: 0.2, 2.0: 0.02, 1e-3: 0.01, 1e-2: 0.015, 0.03: 0.16}
    table["error"], table["ponder_time"] = table["setting"].map(wanted), 2.0
    results = only("parity_fojo", tables={"parity_fojo": table})
    upper = drawn(fixed_repeat.draw(results, "parity_fojo")).axes[0]
    assert upper.get_yscale() == "log"


def test_a_seed_is_solved_at_its_first_update_below_two_percent_or_counted() -> None:
    curves = pd.DataFrame(
        [("act", 0.1, 0, 100, 0.02), ("act", 0.1, 0, 200, 0.01), ("act", 0.1, 0, 300, 0.01),
         ("act", 0.1, 1, 200, 0.01), ("act", 0.1, 2, 100, 0.5), ("act", 0.1, 2, 200, math.nan)],
        columns=["mechanism", "setting", "seed", "update", "error"],
    )  # fmt: skip
    table = table_of("parity_fojo", {"repeat": [2], "act": [0.1]}, 3)
    part = only("parity_fojo", tables={"parity_fojo": table}, curves={"parity_fojo": curves})
    lower = drawn(fixed_repeat.draw(part, "parity_fojo")).axes[1]
    last = len(lower.get_xticks()) - 1
    assert line_with(lower, [last - 0.25, last], [200, 200])
    assert line_with(lower, [last - 0.35, last + 0.35], [200, 200])
    assert "1/3" in [text.get_text() for text in lower.texts]


def test_fojos_updates_are_hollow_and_what_never_solved_it_lies_in_the_strip() -> None:
    table = table_of("parity_fojo", {"repeat": [1, 2], "act": [1e-3, 3e-3]}, 1)
    curves = curves_of("parity_fojo", {"repeat": [1, 2], "act": [1e-3, 3e-3]}, 1)
    part = only("parity_fojo", tables={"parity_fojo": table}, curves={"parity_fojo": curves})
    lower = drawn(fixed_repeat.draw(part, "parity_fojo")).axes[1]
    labels = [text.get_text() for text in lower.get_xticklabels()]
    assert labels[0] == "plain" and "τ 0.003" in labels, "ours and theirs on one axis"
    shown = {labels[round(x)]: y for x, y in hollow(lower)}
    assert shown[f"{style.TIMES}2"] == 22_000 and shown["τ 0.005"] == 356_000
    assert "τ 0.003" not in shown
    strip = lower.patches[0].get_y()
    assert shown["plain"] > strip > 356_000 and shown["τ 0.1"] > strip
