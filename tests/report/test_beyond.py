"""The part beyond the papers: a cell a method and task, and sentences that follow the tables."""

from __future__ import annotations

import math

import pandas as pd
from support.synthetic_results import made_up_results

from pondering.report.pages.beyond import Beyond, beyond_of
from pondering.results.results import Results


def found(results: Results) -> Beyond:
    return beyond_of(results, list(results.tables))


def sentence(results: Results, begins: str) -> str:
    (one,) = [each for each in found(results).sentences if each.startswith(begins)]
    return one


def with_errors(results: Results, name: str, **errors: list[float]) -> None:
    """Errors of the seeds of a mechanism, the same at all its settings and difficulties."""
    table = results.tables[name]
    for mechanism, each in errors.items():
        own = table["mechanism"] == mechanism
        table.loc[own, "error"] = table.loc[own, "seed"].map(dict(enumerate(each)))


def test_a_cell_has_setting_error_and_steps_with_their_intervals() -> None:
    results = made_up_results(diverged=None)
    with_errors(results, "parity", act=[0.1, 0.2, 0.3])
    table = results.tables["parity"]
    table.loc[table["mechanism"] == "act", "ponder_time"] = table["seed"] + 2.0
    page = found(results)
    row = next(cells for name, _, cells in page.rows if name == "parity")
    cell = row[page.columns.index("ACT")]
    # Student's t at two degrees of freedom, 4.303 x 0.1 / sqrt(3) and 4.303 / sqrt(3)
    assert cell[1:] == ("20.0% (0.0 to 44.8)", "3.0 steps (1.0 to 5.5)")
    assert len(row[page.columns.index("Plain network")]) == 1
    assert "DACT" not in page.columns


def test_a_method_that_was_not_run_has_an_empty_cell() -> None:
    results = made_up_results()
    table = results.tables["sort"]
    results.tables["sort"] = table[table["mechanism"] != "act"]
    page = found(results)
    row = next(cells for name, _, cells in page.rows if name == "sort")
    assert row[page.columns.index("ACT")] == ()


def test_the_sentences_turn_with_the_tables() -> None:
    results = made_up_results(diverged=None)
    with_errors(results, "comparison", act=[0.0, 0.01, 0.04], pondernet=[0.3, 0.5, 0.04])
    told = sentence(results, "Comparison (")
    assert "ACT 3 of 3" in told and "PonderNet 1 of 3" in told
    with_errors(results, "comparison", repeat=[0.5] * 3)
    assert "mechanisms ACT and PonderNet have fewer" in sentence(results, "Of 2 mechanisms")
    with_errors(results, "comparison", repeat=[0.0] * 3)
    assert "mechanisms none has fewer" in sentence(results, "Of 2 mechanisms")


def test_rules_are_held_against_the_best_fixed_n() -> None:
    results = made_up_results(diverged=None)
    rows = results.exits["comparison"]
    before = sentence(results, "Exit rules with a threshold")
    assert before.endswith("PonderNet 6 of 6.")  # of EXIT_RULES `fixed` is the worst but one
    slow = rows["rule"].isin(["state", "patience"])
    rows.loc[slow, "error"] += 0.5
    assert sentence(results, "Exit rules with a threshold").endswith("PonderNet 4 of 6.")
    rows.loc[rows["rule"] == "argmax", ["error", "ponder_time"]] = [0.0, 2.5]
    assert sentence(results, "The lowest error of any").endswith("by argmax, 0.0% at 2.5 steps.")


def test_on_other_tasks_mechanisms_are_counted_whose_best_rule_beats_every_fixed_n() -> None:
    results = made_up_results(diverged=None)
    others = [each for name, each in results.exits.items() if name != "comparison"]
    count = sum(each["mechanism"].nunique() for each in others)
    assert count > 1
    for rows in others:
        rows.loc[rows["rule"] != "fixed", "error"] += 1
    assert sentence(results, "On the other").endswith(f"for 0 of {count} mechanisms.")
    rows = others[0]
    one = (rows["mechanism"] == rows["mechanism"].iloc[0]) & (rows["rule"] == "argmax")
    rows.loc[one, "error"] = -1.0
    assert sentence(results, "On the other").endswith(f"for 1 of {count} mechanisms.")


def test_the_readout_names_what_loses_least_and_most() -> None:
    results = made_up_results(diverged=None)
    best = results.exits["comparison"]["setting"].unique()
    audit = pd.DataFrame([
        {"mechanism": "pondernet", "setting": setting, "seed": 0, "split": "test", "own": 0.1,
         "single": 0.15, "depth": 0.6, "refitted": math.nan, "status": "finished"}
        for setting in best
    ])  # fmt: skip
    results.readouts["comparison"] = audit
    assert "by +50.0 points (PonderNet)" in sentence(results, "Read by its last step, the")
    refitted = [each for each in found(results).sentences if "fitted anew" in each]
    assert not refitted, "nothing was fitted"


def test_without_its_tables_nothing_is_said() -> None:
    results = made_up_results()
    page = beyond_of(Results("quick", cards=results.cards), [])
    assert (page.rows, page.sentences) == ((), ())
