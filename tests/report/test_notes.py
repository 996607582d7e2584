"""Every number of a result in NOTES, computed again from the published tables.

A source is a claim's quantity (`G1 plain_error`), or what a mechanism does at a setting (`parity
act 0.003 error`): `error` and `steps` are means over seeds, `solved` counts the networks below 5%
(logic: 2%), `seen` is the share of test inputs that training had met, `hardest` the mean error at
the highest difficulty, `after_2` the error after two steps. `parity-recipe | today | act` counts
the networks of a mechanism that an arm of a screen has solved.
"""

from __future__ import annotations

import json
import re
from functools import cache

import pandas as pd
import pytest
from support.published import ROOT

from pondering.results.results import Results
from pondering.results.statistics import SOLVED_ERROR
from pondering.results.tables import evaluated, headline, replica_means

REDUCED = ROOT / "reports/reduced"
NOTES = (REDUCED / "NOTES.md").read_text(encoding="utf-8")
CHECKED = [
    ("in {} networks at tau 0.001", "parity act 0.001 solved"),
    ("in {} at 0.003", "parity act 0.003 solved"),
    ("in {} at 0.01. A plain network", "parity act 0.01 solved"),
    ("A plain network does in {}", "parity repeat 1 solved"),
    ("At tau 0.03 the median error is {}", "G1 act_error"),
    ("to a median of {}", "G1 plain_error"),
    ("networks take {} steps, whatever", "parity act 0.003 steps"),
    ("errors rise by {}", "Q2 error_difference"),
    ("Two fixed steps solve {} networks", "parity repeat 2 solved"),
    ("solved {} networks by the recipe before", "parity-recipe | today | act"),
    ("It solved {} with a tenth", "parity-recipe | slow halting unit | act"),
    ("and {} from a halting bias of 3", "parity-recipe | halting bias 3 | act"),
    ("solved {} on fresh seeds", "parity-combination | slow halting unit, bias 3 | act"),
    ("from a bias of 3 {} networks", "bias_leading act[halt_bias=3] 0.001 solved"),
    ("from 1 they are {}", "bias_leading act 0.001 solved"),
    ("solved [{}]", "parity-pondernet | today | pondernet"),
    ("in {} networks at tau 0.005", "parity_interpolation act 0.005 solved"),
    ("in {} at 0.01. At the best", "parity_interpolation act 0.01 solved"),
    ("PonderNet errs on {} and ACT", "parity_interpolation pondernet 0.6 error"),
    ("and ACT on {}. Nearly all", "parity_interpolation act 0.0005 error"),
    ("Training had met {}", "parity_interpolation pondernet 0.4 seen"),
    ("and networks take {}. At 0.9", "parity_interpolation pondernet 0.1 steps"),
    ("and they take {}. So short", "parity_interpolation pondernet 0.9 steps"),
    ("PonderNet computes {}", "B3 compute_ratio"),
    ("PonderNet errs on {} and ACT on", "parity_extrapolation/extrapolation pondernet 0.4 error"),
    ("and ACT on {} of inputs", "parity_extrapolation/extrapolation act 0.002 error"),
    ("right on more than {} there", "Q5/pondernet accuracy_beyond_12_of_24"),
    ("ACT errs on {} of sequences", "logic act 0.003 error"),
    ("the plain network on {}. At ten", "logic repeat 1 error"),
    ("ACT takes {} more than at five", "G5 rise"),
    ("At tau 0.01 {} networks", "logic act 0.01 solved"),
    ("ACT errs on {} of sums", "addition act 0.001 error"),
    ("on four digits alone on {}", "addition act 0.001 hardest"),
    ("Three fixed steps err on {}. Low", "addition repeat 3 error"),
    ("Sorting gains {}", "G8 relative_gain"),
    ("err less, on {}", "sort repeat 3 error"),
    ("against {}. So more", "sort act 0 error"),
    ("ACT changes little: {}", "G9 difference"),
    ("PonderNet is right on {}", "M1 pondernet_accuracy"),
    ("number of elements by {}", "Q1 pondernet_correlation"),
    ("ACT's by {}", "Q1 act_correlation"),
    ("they change by {}, at", "Q7/ways_to_halt steps_difference_at_the_usual_beta"),
    ("at a tenth of it by {}", "Q7/ways_to_halt steps_difference_at_beta_0.001"),
    ("at ten times it by {}", "Q7/ways_to_halt steps_difference_at_beta_0.1"),
    ("three steps err on {}", "comparison repeat 3 error"),
    ("ten on {}", "comparison repeat 10 error"),
    ("it errs on {} after", "comparison correctness 0.5 error"),
    ("after {} steps, made", "comparison correctness 0.5 steps"),
    ("two steps on {}", "comparison correctness 0.5 after_2"),
    ("at 0.9 it errs on {}", "comparison certainty 0.9 error"),
    ("all twenty steps on {}", "comparison certainty 1 error"),
]  # fmt: skip


@cache
def results() -> Results:
    return Results.load(ROOT / "reports", "reduced")


@cache
def estimates() -> dict[str, str]:
    judged = json.loads((REDUCED / "claims.json").read_text(encoding="utf-8"))
    found = {}
    for claim in judged["claims"]:
        for each in claim["estimates"]:
            part = each.get("part", "").lower().replace(" ", "_")
            for where in {claim["id"], f"{claim['id']}/{part}"}:
                found[f"{where} {each['quantity']}"] = each["text"].split(" (")[0]
    return found


def percent(share: float) -> str:
    """Two digits."""
    return f"{100 * share:.0f}%" if share >= 0.0995 else f"{100 * share:.1f}%"


def screened(name: str, arm: str, mechanism: str) -> str:
    rows = pd.read_csv(REDUCED / f"search/{name}.csv").query("mechanism == @mechanism")
    rows = rows[rows["arm"] == arm].sort_values("update")
    last = rows.groupby(["setting", "seed"])["error"].last()
    return f"{(last < SOLVED_ERROR).sum()} of {len(last)}"


def computed(source: str) -> str:
    """The text that a number's source gives."""
    if " | " in source:
        return screened(*source.split(" | "))
    if re.match(r"[GBMFQ]\d", source):
        return estimates()[source]
    place, mechanism, setting, what = source.split()
    experiment, _, split = place.partition("/")

    def own(rows: pd.DataFrame) -> pd.DataFrame:
        return rows[(rows["mechanism"] == mechanism) & (rows["setting"] == float(setting))]

    if what.startswith("after_"):
        rows = own(results().exits[experiment]).query("split == 'test' and rule == 'fixed'")
        return percent(rows[rows["ponder_time"] == float(what[6:])]["error"].mean())
    table = results().tables[experiment]
    rows = own(evaluated(table, split=split) if split else headline(table))
    if what == "seen":
        return percent(rows["seen"].mean())
    if what == "hardest":
        return percent(rows[rows["difficulty"] == rows["difficulty"].max()]["error"].mean())
    means = replica_means(rows)
    if what == "solved":
        below = 0.02 if experiment == "logic" else SOLVED_ERROR
        return f"{(means['error'] < below).sum()} of {len(means)}"
    return (
        f"{means['ponder_time'].mean():.1f}" if what == "steps" else percent(means["error"].mean())
    )


@pytest.mark.parametrize(("words", "source"), CHECKED)
def test_a_number_is_that_of_the_tables(words: str, source: str) -> None:
    assert words.format(computed(source)) in " ".join(NOTES.split()), computed(source)


def test_the_notes_are_short() -> None:
    assert len(NOTES.split()) <= 1600
