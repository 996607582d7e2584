"""A figure's words as sentences and rows."""

from __future__ import annotations

from pondering.report.figures import FIGURES
from pondering.report.pages.told import Told, told
from pondering.results.results import Results


def test_values_are_rows_under_what_leads_to_them() -> None:
    (mean,) = told("Mean error: leading, ACT, τ = 0.01: 0.1; scattered, ACT: 0.2.")
    assert mean == Told(
        "Mean error", (("leading, ACT, τ = 0.01", "0.1"), ("scattered, ACT", "0.2"))
    )
    (plain,) = told("Plain network: accuracy 0.5, 1 step; ACT: accuracy 0.9, 2 steps.")
    assert plain == Told("", (("Plain network", "accuracy 0.5, 1 step"),
                              ("ACT", "accuracy 0.9, 2 steps")))  # fmt: skip
    (bare,) = told("Final error: τ = 1e-3 ends at 0.2; the plain network at 0.3.")
    assert bare == Told(
        "Final error", (("", "τ = 1e-3 ends at 0.2"), ("", "the plain network at 0.3"))
    )


def test_one_value_stays_a_sentence_and_sentences_are_apart() -> None:
    assert told("λp = 0.1: median 3.5 steps.") == [Told("λp = 0.1: median 3.5 steps.")]
    assert told("") == []
    first, second = told("Fronts: plain 33; ACT 60. In the second half it moves by 3 bits.")
    assert len(first.rows) == 2 and second == Told("In the second half it moves by 3 bits.")


def test_no_value_of_a_figure_is_lost(results: Results) -> None:
    for spec in FIGURES:
        words = spec.words(results)
        parts = [text for part in told(words) for text in (part.lead, *sum(part.rows, ()))]
        kept = "".join(parts).replace(":", "").replace(".", "").replace(" ", "")
        assert kept == "".join(c for c in words if c not in ":;. "), spec.id
