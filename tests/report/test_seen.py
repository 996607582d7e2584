"""What the pages say of test inputs that training had seen."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest
from support.synthetic_results import card_of, made_up_results

from pondering.report.pages.seen import SeenInputs, pooled, seen_inputs

BLANK = math.nan


def table_of(*parts: tuple[str, float, float, float, float, float], **more: Any) -> pd.DataFrame:
    """Rows of (mechanism, difficulty, examples, seen, error_seen, error_unseen) at setting 0.1."""
    names = ["mechanism", "difficulty", "examples", "seen", "error_seen", "error_unseen"]
    table = pd.DataFrame(list(parts), columns=names)
    return table.assign(setting=0.1, seed=0, split="test", prediction="mixture", **more)


def test_parts_are_pooled_over_examples() -> None:
    """30 of 100, all of 50 and none of 50 were seen; 3 and 10 mistakes among those 80."""
    table = table_of(
        ("act", 1, 100, 0.3, 0.1, 0.5), ("act", 2, 50, 1, 0.2, BLANK), ("act", 3, 50, 0, BLANK, 0.7)
    )
    assert pooled(table) == pytest.approx((80 / 200, 13 / 80, (35 + 35) / 120))
    assert pooled(table[2:])[0] == 0 and math.isnan(pooled(table[2:])[1])


def test_all_and_none_are_a_sentence_and_some_a_row_for_each_mechanism() -> None:
    card, shown = card_of("parity"), {"repeat": 0.1, "act": 0.1}
    some = table_of(("act", 1, 100, 0.9996, 0.0, 0.5), ("act", 2, 900, 1, 0.0123, BLANK))
    found = seen_inputs(some, card, shown)
    assert found.words.startswith("Training had drawn some of the test inputs too. Where")
    (row,) = found.rows
    assert (row.mechanism, row.setting) == ("ACT", "τ = 0.1")
    assert (row.share, row.error_seen, row.error_unseen) == ("above 99.9%", "1.11%", "50.00%")
    assert seen_inputs(some[:1], card, shown).words.endswith("inputs too.")
    every = seen_inputs(some[1:], card, shown)
    assert every == SeenInputs("Training had drawn every one of the test inputs.")
    nothing = seen_inputs(some.assign(seen=0), card, shown)
    assert nothing == SeenInputs("Training had drawn none of the test inputs.")
    assert seen_inputs(some.assign(seen=BLANK), card, shown) == SeenInputs("")


def test_each_split_has_its_row_and_pondernet_its_sampled_prediction() -> None:
    table = made_up_results(seeds=2).tables["parity_extrapolation"]
    outside = table["split"] == "extrapolation"
    table.loc[outside, ["seen", "error_seen"]] = [0, BLANK]
    table.loc[table["prediction"] == "expected", "error_seen"] = 1.0
    setting = float(table.loc[table["mechanism"] == "pondernet", "setting"].iloc[0])
    card = card_of("parity_extrapolation")
    inside, beyond = seen_inputs(table, card, {"pondernet": setting}).rows
    assert (inside.split, beyond.split) == ("interpolation", "extrapolation")
    assert (inside.share, inside.error_seen) == ("25.0%", "0.00%")
    assert (beyond.share, beyond.error_seen) == ("0%", "–")  # noqa: RUF001
