"""The figure of an edit has both lines of every setting, in errors and in steps."""

from __future__ import annotations

from support.panels import line_with
from support.synthetic_results import FEW, card_of, table_of

from pondering.report.figures.before_after import figure_changes
from pondering.results.changes import changes


def test_before_is_dashed_and_hollow_and_after_is_not() -> None:
    before = table_of("parity", FEW, 3)
    after = before.copy()
    own = after["mechanism"] == "act"
    after.loc[own, ["error", "ponder_time"]] *= 1.5
    after.loc[own & (after["setting"] == 0.1), "setting"] = 0.2
    found = list(changes(before, after))
    figure = figure_changes(found, {"parity": card_of("parity")}, "a: 1 → 2", "HEAD")
    errors, steps = figure.axes
    for axes, value in ((errors, "error"), (steps, "ponder_time")):
        for table, setting in ((before, 0.1), (after, 0.2), (before, 0.01), (after, 0.01)):
            rows = table[(table["mechanism"] == "act") & (table["setting"] == setting)]
            means = rows.groupby("difficulty")[value].mean()
            assert line_with(axes, means.index, means)
        hollow = [
            line.get_linestyle() for line in axes.lines if line.get_markerfacecolor() == "#FDFDFD"
        ]
        assert hollow == ["--"] * 3 and len(axes.lines) == 6
    (legend,) = figure.subfigs[0].legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == ["ACT, τ = 1e-3", "ACT, τ = 0.01", "ACT, τ = 0.1 → τ = 0.2"]
