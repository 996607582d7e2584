"""The table of an experiment: failures, the best settings, and training in words."""

from __future__ import annotations

import math

import pandas as pd
from support.synthetic_results import card_of, made_up_results

from pondering.report.pages.summary import summary_rows, unequal_training


def test_a_row_counts_failures_as_errors() -> None:
    table = made_up_results(seeds=4).tables["parity"]
    diverged = (table["mechanism"] == "act") & (table["seed"] == 3)
    table.loc[diverged, ["status", "error", "ponder_time"]] = ["diverged", 1.0, math.nan]
    found = {row.setting: row for row in summary_rows(table, card_of("parity"))}
    act = found["τ = 0.001"]
    assert (act.note, act.solved) == ("1 diverged", "3 of 4")
    mean, interval = act.error.split("% (")
    assert float(mean) > 25 and interval.endswith("100.0)")  # cut to the range of an error
    assert found["ρ = 1"].method == "Plain network"  # noqa: RUF001
    table.loc[table["seed"] == 0, "status"] = "running"
    assert summary_rows(table, card_of("parity"))[0].note == "unfinished"


def test_the_best_setting_of_each_method_is_marked_and_options_are_other_methods() -> None:
    table = made_up_results(seeds=3, diverged=None).tables["parity"]
    act = table["mechanism"] == "act"
    table.loc[act, "error"] = table.loc[act, "setting"]
    other = table[act].assign(mechanism="act[halt_bias=-3]")
    rows = summary_rows(pd.concat([table, other]), card_of("parity"))
    best = [(row.method, row.setting) for row in rows if row.best]
    lowest = f"τ = {table.loc[act, 'setting'].min():g}"
    assert ("ACT", lowest) in best and ("ACT, halt_bias -3", lowest) in best
    assert len({method for method, _ in best}) == len(best)


def test_a_text_has_bits_on_each_split_and_nobody_solves_it() -> None:
    table, card = made_up_results(seeds=1).tables["wikipedia"], card_of("wikipedia")
    table["error"] = (table["split"] == "heldout") + 1.25
    rows = [row for row in summary_rows(table, card) if row.method == "Plain network"]
    assert [row.error for row in rows] == ["1.250 bits", "2.250 bits"]
    assert {row.solved for row in rows} == {""}


def test_trainings_of_different_length_are_named() -> None:
    curves = made_up_results().curves["parity"]
    assert unequal_training(curves, ["repeat", "act", "pondernet"]) == ""
    ours = curves["mechanism"] == "pondernet"
    curves["update"] = curves["update"].mask(ours, curves["update"] / 5)
    text = unequal_training(curves, ["act", "pondernet"])
    assert text == "Updates of the longest training: ACT 6,000, PonderNet 1,200."
