"""Means over difficulties and seeds, and the best setting, on small tables."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from support.synthetic_results import rows_of

from pondering.report.figures.methods import best_methods
from pondering.results import tables


def small_table() -> pd.DataFrame:
    settings: dict[str, list[float]] = {"repeat": [1, 2], "act": [0.01], "pondernet": [0.2]}
    return pd.DataFrame(rows_of("parity", "test", [1, 2, 3], settings, 2, ("act", 0.01, 1)))


def test_evaluated_keeps_one_prediction_and_every_failure() -> None:
    table = small_table()
    rows = tables.evaluated(table, split="test")
    assert set(rows["prediction"]) == {"mixture", "sampled"}
    diverged = rows[rows["status"] == "diverged"]
    assert len(diverged) == 3
    assert (diverged["error"] == 1.0).all() and diverged["ponder_time"].isna().all()
    assert tables.evaluated(table, split="none of these").empty


def test_per_seed_weighs_difficulties_alike() -> None:
    table = small_table()
    # A difficulty with more examples has no more weight.
    table.loc[table["difficulty"] == 3, "examples"] = 100_000
    seeds = tables.per_seed(tables.evaluated(table, split="test"))
    assert len(seeds) == 4 * 2
    rows = table[(table["mechanism"] == "repeat") & (table["setting"] == 2) & (table["seed"] == 1)]
    row = seeds[(seeds["mechanism"] == "repeat") & (seeds["setting"] == 2) & (seeds["seed"] == 1)]
    assert float(row["error"].iloc[0]) == pytest.approx(sum(rows["error"]) / 3)
    diverged = seeds[(seeds["mechanism"] == "act") & (seeds["seed"] == 1)]
    assert float(diverged["error"].iloc[0]) == 1.0 and diverged["ponder_time"].isna().all()


def test_per_setting_and_best_setting() -> None:
    seeds = pd.DataFrame(
        [("act", 0.1, 0, 0.25, 2.0), ("act", 0.1, 1, 0.5, 4.0), ("act", 0.2, 0, 0.375, 1.0),
         ("act", 0.2, 1, 0.375, math.nan), ("repeat", 1, 0, 0.0, 1.0), ("repeat", 2, 0, 0.5, 2.0)],
        columns=["mechanism", "setting", "seed", "error", "ponder_time"],
    )  # fmt: skip
    means = tables.per_setting(seeds).set_index(["mechanism", "setting"])
    assert means.loc[("act", 0.1), "error"] == 0.375
    assert means.loc[("act", 0.1), "error_se"] == pytest.approx(0.125)
    assert means.loc[("act", 0.1), "ponder_se"] == pytest.approx(1.0)
    assert means.loc[("act", 0.2), "seeds"] == 2
    assert means.loc[("act", 0.2), "ponder_time"] == 1.0
    assert math.isnan(means.loc[("repeat", 2), "error_se"])
    # At equal errors fewer steps win.
    assert tables.best_setting(seeds, "act") == 0.2
    assert tables.best_setting(seeds, "repeat") == 1
    assert [each.setting for each in best_methods(seeds, ("plain", "repeat"))] == [1, 2]
    assert tables.best_setting(seeds, "pondernet") is None
