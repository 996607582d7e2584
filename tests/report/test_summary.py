"""The tables of an experiment: failures, PonderNet's two predictions, settings in words."""

from __future__ import annotations

import math

from support.published import ROOT
from support.synthetic_results import card_of, made_up_results

from pondering.params.read import load_params
from pondering.report.pages.summary import (
    CARRIED,
    crossing_in_words,
    published_in_words,
    seeds_in_words,
    settings_in_words,
    summary_rows,
)
from pondering.results.results import Results


def test_a_summary_counts_failures_and_keeps_pondernets_two_predictions() -> None:
    table = made_up_results(seeds=4).tables["parity"]
    gone = (table["mechanism"] == "act") & (table["seed"] == 3)
    table.loc[gone, ["status", "error", "ponder_time"]] = ["diverged", 1.0, math.nan]
    found = {row.setting: row for row in summary_rows(table, card_of("parity"))}
    act = found["τ = 1e-3"]
    assert (act.seeds, act.diverged, act.solved) == (4, 1, "3 of 4")
    assert float(act.error.split()[0]) > 25
    assert float(act.median.removesuffix("%")) < 25  # one of four does not move it
    assert act.rate == "30 to 95%"  # Wilson's
    assert {"λp = 0.1", "λp = 0.1, expectation"} <= set(found)
    assert found["ρ = 1 (plain)"].diverged == 0  # noqa: RUF001


def test_a_published_network_says_how_many_of_its_seeds_solved_the_task() -> None:
    table = made_up_results(seeds=4).tables["parity"]
    act = (table["mechanism"] == "act") & (table["setting"] == 0.001)
    for seed, error in enumerate((0.3, 0.0, 0.049, 0.05)):
        table.loc[act & (table["seed"] == seed), "error"] = error
    table.loc[table["mechanism"] == "pondernet", "error"] = 0.5
    table.loc[table["setting"] == 0.3, "error"] = 0.004
    table.loc[table["mechanism"].eq("act") & ~act, "error"] = 0.9
    # only the prediction that counts
    table.loc[act & (table["seed"] == 1), "prediction"] = "expected"
    published = {"act": (0.001, 0), "pondernet": (0.3, 2)}
    assert published_in_words(published, table, card_of("parity")) == [
        ("ACT", "τ = 1e-3, seed 0: error 30.0%; 1 of 3 seeds solved the task"),
        ("PonderNet", "λp = 0.3, seed 2: error 0.40%; 4 of 4 seeds solved the task"),
    ]
    lower = table["mechanism"].eq("act") & table["setting"].eq(0.01)
    table.loc[lower, "error"] = 0.01
    (_, told), _ = published_in_words(published, table, card_of("parity"))
    assert told.endswith(
        "solved the task; chosen by an older rule: τ = 0.01 has the lowest mean error"
    )


def test_a_published_network_of_a_text_solves_nothing() -> None:
    table, card = made_up_results(seeds=1).tables["wikipedia"], card_of("wikipedia")
    table["error"] = (table["split"] == "heldout") + 1.25
    lines = published_in_words({"repeat": (1.0, 0)}, table, card)
    told = "ρ = 1 (plain), seed 0: 1.250 bits per character on train"  # noqa: RUF001
    assert lines == [("Fixed repeat", told)]


def test_the_state_that_crosses_is_told_where_pondernet_reads_sequences() -> None:
    results = made_up_results(seeds=1)
    traces, tables = results.traces, results.tables
    told = crossing_in_words(tables["sort"], traces["sort"], None)
    assert told.endswith("in the expectation, as in training, " + CARRIED["mean_field"] + ".")
    config = load_params(ROOT / "params.yaml", "reduced").experiments["sort"]
    halting = config.halting.model_copy(update={"carry": "last"})
    last = crossing_in_words(
        tables["sort"], traces["sort"], config.model_copy(update={"halting": halting})
    )
    assert last.endswith("in the expectation, as in training, the state of the last step.")
    assert crossing_in_words(tables["mnist"], traces["mnist"], None) == ""  # single vectors
    act = tables["sort"][tables["sort"]["mechanism"] == "act"]
    assert crossing_in_words(act, traces["sort"], None) == ""


def test_settings_are_put_into_words(results: Results) -> None:
    config = load_params(ROOT / "params.yaml", "reduced").experiments["parity"]
    table, card = results.tables["parity"], card_of("parity")
    lines = dict(settings_in_words(table, card, config))
    assert lines["Data"] == card.what
    task = "layout: leading; bits: 64; nonzero in training: 1 to 64; nonzero in tests: 1 to 64"
    assert lines["Task"] == task
    assert lines["Network"] == f"tanh recurrent network, {config.network.hidden} units"
    assert f"{config.training.batch} examples" in lines["Training"]
    assert lines["ACT"] == "τ = 1e-3, 3e-3, 0.01, 0.03"
    assert "PonderNet" not in lines  # left out
    assert lines["Evaluation"] == "1,000 examples per difficulty, over which errors are averaged"


def test_seeds_and_examples_are_those_of_the_table(results: Results) -> None:
    config = load_params(ROOT / "params.yaml", "reduced").experiments["parity_interpolation"]
    table, card = results.tables["parity"], card_of("parity")
    assert dict(settings_in_words(table, card, config))["Seeds"] == "3 a setting"
    fewer = table[(table["mechanism"] != "act") | (table["seed"] < 2)]
    told = dict(settings_in_words(fewer, card, config))["Seeds"]
    assert told == "3 (Fixed repeat), 2 (ACT), 3 (PonderNet) a setting"
    classes = table.assign(examples=100 + table["difficulty"].astype(int))
    total = classes.drop_duplicates(["split", "difficulty"])["examples"].sum()
    assert dict(settings_in_words(classes, card, config))["Evaluation"] == f"{total:,} examples"
    one = table[table["difficulty"] == table["difficulty"].min()]
    told = dict(settings_in_words(one, card, config))["Evaluation"]
    assert told == f"{one['examples'].iloc[0]:,} examples"


def test_a_recipe_is_put_into_words_only_where_it_was_chosen(results: Results) -> None:
    config = load_params(ROOT / "params.yaml", "reduced").experiments["logic"]
    table, card = results.tables["parity"], card_of("parity")
    plain = dict(settings_in_words(table, card, config))
    assert plain["Network"] == f"LSTM, {config.network.hidden} units"
    rate = config.training.learning_rate
    assert plain["Optimiser"] == f"Adam, learning rate {rate:g}, gradient norm clipped at 1"
    assert "warmup" not in plain["ACT"]
    network = config.network.model_copy(update={"init": "glorot", "forget_bias": 1.0})
    training = {"decay": "cosine", "halting_rate": 0.1, "clip": None}
    act = config.mechanisms["act"].model_copy(update={"own": {"tau_warmup": 500}})
    changes = {"network": network, "training": config.training.model_copy(update=training)}
    mechanisms = config.mechanisms | {"act": act}
    chosen = config.model_copy(update=changes | {"mechanisms": mechanisms})
    lines = dict(settings_in_words(table, card, chosen))
    assert lines["Network"] == f"{plain['Network']}, Glorot's initial weights, forget bias 1"
    assert lines["Optimiser"] == (
        f"Adam, learning rate {rate:g}, cosine decay to 0, 0.1 times the rate for the halting "
        "unit, no clipping"
    )
    assert lines["ACT"] == f"{plain['ACT']}; tau warmup = 500"


def test_seeds_are_said_once_where_every_setting_has_as_many() -> None:
    table = made_up_results(seeds=3).tables["parity"].assign(status="finished")
    assert (
        seeds_in_words(summary_rows(table, card_of("parity")))
        == "3 seeds a setting, none of them diverged."
    )
    table.loc[(table["mechanism"] == "act") & (table["seed"] == 0), "status"] = "diverged"
    assert seeds_in_words(summary_rows(table, card_of("parity"))) == ""
