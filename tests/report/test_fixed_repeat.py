"""Fixed repeats against ACT: the names of points, and the updates until a task is solved."""

from __future__ import annotations

import math

import pandas as pd
from support.panels import drawn, line_with
from support.synthetic_results import only, table_of

from pondering.report.figures import fixed_repeat, style
from pondering.results.results import Results


def test_fixed_repeats_are_named_too(results: Results) -> None:
    upper, lower = drawn(fixed_repeat.draw(results, "addition")).axes
    names = {text.get_text() for text in upper.texts}
    assert {f"{style.TIMES}2", f"{style.TIMES}3", "τ 1e-3", "τ 0.1"} <= names
    assert "not within 6k updates" in [text.get_text() for text in lower.texts]
    assert max(lower.get_yticks()) <= 6000


def test_a_seed_is_solved_at_its_first_update_below_two_percent_or_never() -> None:
    curves = pd.DataFrame(
        [("act", 0.1, 0, 100, 0.02), ("act", 0.1, 0, 200, 0.01), ("act", 0.1, 0, 300, 0.01),
         ("act", 0.1, 1, 100, 0.5), ("act", 0.1, 1, 200, math.nan)],
        columns=["mechanism", "setting", "seed", "update", "error"],
    )  # fmt: skip
    table = table_of("parity", {"repeat": [2], "act": [0.1]}, 2)
    part = only("parity", tables={"parity": table}, curves={"parity": curves})
    lower = drawn(fixed_repeat.draw(part, "parity")).axes[1]
    assert line_with(lower, [0.8, 1.2], [200, 1.14 * 300])
    assert line_with(lower, [0.65, 1.35], [(200 + 1.14 * 300) / 2] * 2)
