"""Every number of a result in NOTES.md equals the published tables.

A source is the first argument of `number`.
"""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import pytest
from support.published import ROOT

from pondering.report.pages.story import number
from pondering.results.results import Results
from pondering.results.tables import headline

REDUCED = ROOT / "reports/reduced"
NOTES = (REDUCED / "NOTES.md").read_text(encoding="utf-8")
CHECKED = [
    ("in {} networks at tau 0.001", "parity act 0.001 solved"),
    ("in {} at 0.003", "parity act 0.003 solved"),
    ("in {} at 0.01. A plain network", "parity act 0.01 solved"),
    ("A plain network does in {}", "parity repeat 1 solved"),
    ("At tau 0.03 the median error is {}", "G1 act_error"),
    ("to a median of {}", "G1 plain_error"),
    ("plain networks err on {}, as", "Q9 plain_error"),
    ("ACT solves {} at tau up to 0.01", "parity_fojo act 0.001,0.01 solved"),
    ("0.01, {} at 0.03", "parity_fojo act 0.03 solved"),
    ("two fixed steps solve {}, with", "parity_fojo repeat 2 solved"),
    ("networks take {}, whatever", "parity act 0.003 steps"),
    ("errors rise by {}", "Q2 error_difference"),
    ("Two fixed steps solve {} networks", "parity repeat 2 solved"),
    ("solved {} networks by the recipe before", "screen parity-recipe act today"),
    ("It solved {} with a tenth", "screen parity-recipe act slow halting unit"),
    ("and {} from a halting bias of 3", "screen parity-recipe act halting bias 3"),
    ("solved {} on fresh seeds", "screen parity-combination act slow halting unit, bias 3"),
    ("from a bias of 3 {} networks", "bias_leading act[halt_bias=3] 0.001 solved"),
    ("from 1 they are {}", "bias_leading act 0.001 solved"),
    ("last twenty, {} more", "Q3 Halting bias, leading bits/solved_more_at_bias_3: interval"),
    ("solved [{}]", "screen parity-pondernet pondernet today"),
    ("PonderNet errs on {} and ACT on 0.79%", "parity_sixteen pondernet 0.4 error"),
    ("and ACT on {} (Q10)", "parity_sixteen act 0.001 error"),
    ("ACT solves {} at tau 0.0005 and 0.001", "parity_sixteen act 0.0005,0.001 solved"),
    ("solves {} at lambda_p 0.4", "parity_sixteen pondernet 0.4 solved"),
    ("but {} above", "parity_sixteen pondernet 0.6,0.8,0.9 solved"),
    ("a median of {} (Q12)", "Q12 steps"),
    ("three err on {}.", "parity_sixteen repeat 3 error"),
    ("in {} networks at tau 0.005", "parity_interpolation act 0.005 solved"),
    ("in {} at 0.01. At the best", "parity_interpolation act 0.01 solved"),
    ("PonderNet errs on {} and ACT", "parity_interpolation pondernet 0.6 error"),
    ("and ACT on {}. Nearly all", "parity_interpolation act 0.0005 error"),
    ("and networks take {} on average", "parity_interpolation pondernet 0.1 steps"),
    ("and they take {}. So short", "parity_interpolation pondernet 0.9 steps"),
    ("PonderNet computes {}", "B3 compute_ratio"),
    ("PonderNet errs on {} and ACT on", "parity_extrapolation/extrapolation pondernet 0.4 error"),
    ("and ACT on {} of inputs", "parity_extrapolation/extrapolation act 0.002 error"),
    ("right on a median of {}", "Q5 Ways to halt, farther, PonderNet/accuracy_beyond"),
    ("ACT errs on {} of sequences", "logic act 0.003 error"),
    ("the plain network on {}. Over tau", "logic repeat 1 error"),
    ("ACT takes {} more at ten gates", "G5 rise"),
    ("ACT errs on {} of sums", "addition act 0.001 error"),
    ("Three fixed steps err on {}.", "addition repeat 3 error"),
    ("Sorting gains {}", "G8 relative_gain"),
    ("err less, on {}", "sort repeat 3 error"),
    ("against {}.", "sort act 0 error"),
    ("over its three penalties it needs {}", "G9 difference"),
    ("PonderNet is right on {}", "M1 pondernet_accuracy"),
    ("number of elements by {}", "Q1 pondernet_correlation"),
    ("ACT's by {}", "Q1 act_correlation"),
    ("Without a prior {} of thirty", "Q1 solved_without_prior"),
    ("correlate by {}: the prior", "Q1 correlation_without_prior: interval"),
    ("at the usual beta by {}, at", "Q7 Ways to halt, the usual beta/steps_difference_at_beta"),
    ("at a tenth of it by {}", "Q7 Ways to halt, beta 0.001/steps_difference_at_beta"),
    ("at ten times it by {}", "Q7 Ways to halt, beta 0.1/steps_difference_at_beta"),
    ("at lambda_p 0.4 from {} to", "comparison pondernet[beta=0.1] 0.4 error"),
    ("to {}. On digits neither", "comparison pondernet[beta=0.1,kl=prior_p] 0.4 error"),
    ("three steps err on {}", "comparison repeat 3 error"),
    ("ten on {}", "comparison repeat 10 error"),
    ("it errs on {} after", "comparison correctness 0.5 error"),
    ("after {}, made", "comparison correctness 0.5 steps"),
    ("at 0.9 it errs on {}", "comparison certainty 0.9 error"),
    ("all twenty steps on {}", "comparison certainty 1 error"),
]  # fmt: skip


@cache
def published() -> tuple[Results, Any]:
    judged = json.loads((REDUCED / "claims.json").read_text(encoding="utf-8"))
    return Results.read(REDUCED, "reduced"), judged


@pytest.mark.parametrize(("words", "source"), CHECKED)
def test_a_number_of_the_notes_equals_the_tables(words: str, source: str) -> None:
    found = number(source, *published(), REDUCED / "search")
    assert words.format(found) in " ".join(NOTES.split()), found


def met(elements: int, updates: int, nonzero: range) -> float:
    """The expected share of test inputs, over some difficulties, that batches of 128 have held."""
    drawn = 128 * updates / elements  # of each number of nonzero elements, at random places
    different = [math.comb(elements, n) * 2**n for n in nonzero]
    return sum(-math.expm1(-drawn / each) for each in different) / len(nonzero)


def test_other_numbers_of_the_notes_equal_the_tables() -> None:
    results = Results.read(ROOT / "reports/reduced", "reduced")
    tables = {name: headline(table) for name, table in results.tables.items()}
    rows = tables["parity_interpolation"].query("mechanism == 'pondernet' and setting == 0.4")
    seen, more = rows["seen"].mean(), met(16, 60_000, range(1, 17))
    assert met(12, 20_000, range(1, 13)) == pytest.approx(seen, abs=0.005)
    rare = tables["parity_sixteen"].query("7 <= difficulty <= 14")
    best = rare.query("mechanism == 'pondernet' and setting == 0.4")["error"].mean()
    act = rare.query("mechanism == 'act' and setting == 0.001")["error"].mean()
    words = f"and {met(16, 60_000, range(7, 15)):.0%} of those with 7 to 14 of 16 elements."
    assert f"{words} There PonderNet errs on {best:.1%}, ACT on {act:.2%}." in NOTES
    for text in (NOTES, (ROOT / "README.md").read_text(encoding="utf-8")):
        assert f"Training had met {seen:.0%} and {more:.0%} of these" in text
    rows = tables["logic"].query("mechanism == 'act' and setting == 0.01")
    solved = rows.groupby("seed")["error"].mean() < 0.02
    assert f"At tau 0.01 {solved.sum()} of {len(solved)} networks" in NOTES
    rows = tables["addition"].query("mechanism == 'act' and setting == 0.001 and difficulty == 4")
    assert f"on four digits alone on {rows['error'].mean():.0%}." in NOTES
    rows = results.exits["comparison"].query("mechanism == 'correctness' and setting == 0.5")
    rows = rows.query("split == 'test' and rule == 'fixed' and ponder_time == 2")
    assert f"made to take two steps on {rows['error'].mean():.1%} (Q6)" in NOTES
    rows = results.exits["comparison_beyond"].query("mechanism == 'correctness' and setting == 0.5")
    rows = rows.query("split == 'extrapolation' and rule == 'fixed' and ponder_time == 20")
    assert f"Beyond 8 of 16 elements it errs on {rows['error'].mean():.0%}." in NOTES
