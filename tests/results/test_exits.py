"""Errors at equal mean steps and the best fixed n, on small tables."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from support.synthetic_results import exits_of, table_of

from pondering.results import exits

COLUMNS = ["rule", "seed", "threshold", "ponder_time", "error"]


def small() -> pd.DataFrame:
    """Two seeds, and a third that diverged."""
    lines = {
        ("state", 0): [(1, 0.5), (3, 0.3), (3, 0.3), (6, 0.0)],
        ("state", 1): [(6, 0.2), (2, 0.4), (4, 0.2)],
        ("fixed", 0): [(1, 0.5), (2, 0.1), (3, 0.4)],
        ("fixed", 1): [(1, 0.5), (2, 0.3), (3, 0.2)],
        ("argmax", 0): [(2, 0.1)], ("argmax", 1): [(2, 0.1)],
        ("oracle", 0): [(1.5, 0.0)], ("oracle", 1): [(2.5, 0.2)],
    }  # fmt: skip
    without = ("argmax", "oracle")
    rows = [
        (rule, seed, math.nan if rule in without else 0.7, *each)
        for (rule, seed), line in lines.items() for each in line
    ]  # fmt: skip
    rows += [(rule, 2, math.nan, math.nan, 1.0) for rule in ("state", "fixed", *without)]
    return pd.DataFrame(rows, columns=COLUMNS)


def test_errors_are_interpolated_and_a_diverged_seed_has_the_worst() -> None:
    found = exits.error_at(small(), "state", [2, 3, 5])
    by_hand = [(0.4 + 0.4 + 1) / 3, (0.3 + 0.3 + 1) / 3, (0.1 + 0.2 + 1) / 3]
    np.testing.assert_allclose(found, by_hand)


def test_steps_that_a_seed_does_not_reach_have_no_error() -> None:
    assert np.isnan(exits.error_at(small(), "state", [1.5, 6.5])).all()


def test_the_best_fixed_n_takes_no_more_steps() -> None:
    rows = small()
    assert exits.fixed(rows).to_dict() == pytest.approx({1: 2 / 3, 2: 1.4 / 3, 3: 1.6 / 3})
    assert exits.best_fixed(rows, 1.9) == (1, pytest.approx(2 / 3))
    assert (
        exits.best_fixed(rows, 3) == exits.best_fixed(rows, math.inf) == (2, pytest.approx(1.4 / 3))
    )
    assert np.isnan(exits.best_fixed(rows, 0.5)).all()


def test_a_rule_without_threshold_is_a_point() -> None:
    assert exits.point(small(), "oracle") == (2.0, pytest.approx(0.4))
    assert exits.with_curve(small()) == ["state"]
    assert exits.with_point(small()) == ["oracle", "argmax"]


def test_each_mechanism_has_its_best_setting_without_options() -> None:
    settings: dict[str, list[float]] = {"repeat": [1], "act": [0.01], "pondernet": [0.2, 0.1]}
    rows, table = exits_of("mnist", settings, 2), table_of("mnist", settings, 2)
    table.loc[table["setting"] == 0.2, "error"] /= 2
    variant = rows.assign(mechanism="pondernet[kl=prior_p]")
    elsewhere = rows.assign(split="angle")
    found = exits.at_best_settings(pd.concat([rows, variant, elsewhere]), table)
    assert list(found) == ["pondernet"]
    pd.testing.assert_frame_equal(found["pondernet"], rows[rows["setting"] == 0.2])
