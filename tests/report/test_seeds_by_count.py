"""Subsets of the published seeds: their means, and how many of their seeds solve the task."""

from __future__ import annotations

import numpy as np
import pytest
from support.panels import drawn
from support.synthetic_results import only, table_of

from pondering.report.figures import seeds_by_count, style
from pondering.results.results import Results


@pytest.fixture
def uneven() -> Results:
    """At one penalty seeds 0 to 2 of 4 solve the task, at the other all are mediocre."""
    table = table_of("parity", {"repeat": [1.0], "act": [1e-3, 1e-2]}, 4)
    table["error"] = 0.2
    low = (table["mechanism"] == "act") & (table["setting"] == 1e-3)
    table.loc[low, "error"] = np.where(table.loc[low, "seed"] < 3, 0.01, 0.45)
    return only("parity", tables={"parity": table})


def test_each_subset_chooses_its_own_best_penalty(uneven: Results) -> None:
    errors, without = seeds_by_count.errors_by_seed(uneven, "parity")
    assert errors.shape == (2, 4) and without[0] == pytest.approx([0.2] * 4)
    means, best = seeds_by_count.subset_means(errors, 1)
    assert means == pytest.approx([0.01, 0.01, 0.01, 0.2]) and best.tolist() == [0, 0, 0, 1]
    means, _ = seeds_by_count.subset_means(errors, 2)
    # pairs with the seed that fails take the other penalty
    assert sorted(means) == pytest.approx([0.01] * 3 + [0.2] * 3)
    means, best = seeds_by_count.subset_means(errors, 4)
    assert means == pytest.approx([(0.03 + 0.45) / 4]) and best.tolist() == [0]


def test_shares_are_of_subsets_in_which_every_seed_some_or_none_solves_it(uneven: Results) -> None:
    errors, _ = seeds_by_count.errors_by_seed(uneven, "parity")
    assert seeds_by_count.shares(errors, 1) == pytest.approx((0.75, 0, 0.25))
    # three with the seed that fails have a mean of 0.157 at the lower penalty, below 0.2
    assert seeds_by_count.shares(errors, 3) == pytest.approx((0.25, 0.75, 0))
    assert seeds_by_count.shares(errors, 4) == pytest.approx((0, 1, 0))
    upper, lower = drawn(seeds_by_count.draw(uneven, "parity")).axes
    stacks = [patch.get_height() for patch in lower.patches]
    assert stacks == pytest.approx([0.75, 0, 0.25, 0.5, 0, 0.5, 0.25, 0.75, 0, 0, 1, 0])
    assert any(line.get_ydata()[0] == pytest.approx(0.05) for line in upper.lines)


def test_the_colours_of_readings_have_another_on_a_dark_ground_or_read_on_both() -> None:
    either = set(style.ROLES.values()) | {style.SKY}
    assert len({*seeds_by_count.READINGS.values()} & either) == 3


def test_a_spread_far_below_that_of_the_plain_network_is_seen(uneven: Results) -> None:
    assert drawn(seeds_by_count.draw(uneven, "parity")).axes[0].get_yscale() == "linear"
    table = uneven.tables["parity"]
    table.loc[table["setting"] == 1e-2, "error"] = 0.01 + 0.001 * table["seed"]
    upper = drawn(seeds_by_count.draw(uneven, "parity")).axes[0]
    assert upper.get_yscale() == "log" and 0 < upper.get_ylim()[0] < 0.01, "the lowest of all"
    assert "on a logarithmic axis" in seeds_by_count.caption(uneven, "parity")
    best = (table["setting"] == 1e-2) & (table["seed"] == 0)
    table.loc[best, "error"] = 0.0
    upper = drawn(seeds_by_count.draw(uneven, "parity")).axes[0]
    assert upper.get_yscale() == "log", "one seed without an error"
    assert 0.004 < upper.get_ylim()[0] < 0.0055, "below the lowest mean above zero"


def test_the_words_tell_three_seeds_and_all(uneven: Results) -> None:
    said = seeds_by_count.words(uneven, "parity")
    assert "of 3 seeds: 1% to 15.7%" in said and "every seed solves it in 25%" in said
    assert "of 4 seeds: 12%, every seed solves it in 0% of the subsets, some in 100%" in said


def test_the_caption_says_where_only_the_first_seeds_count(uneven: Results) -> None:
    assert "every subset of the published seeds, ACT" in seeds_by_count.caption(uneven, "parity")
    table = table_of("parity", {"repeat": [1.0], "act": [1e-3]}, 13).assign(error=0.2)
    more = only("parity", tables={"parity": table})
    assert "of the first 12 published seeds, ACT" in seeds_by_count.caption(more, "parity")
    assert "of 12 seeds: 20%" in seeds_by_count.words(more, "parity")


def test_words_tell_of_three_seeds_of_ten_and_of_all() -> None:
    table = table_of("parity", {"repeat": [1.0], "act": [1e-3]}, 12)
    said = seeds_by_count.words(only("parity", tables={"parity": table}), "parity")
    assert [said.count(f"of {size} seeds: ") for size in (3, 10, 12)] == [1, 1, 1]
