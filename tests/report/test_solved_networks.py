"""Steps by difficulty in solved networks: which count, what they gain, what is said of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.panels import drawn, line_with
from support.synthetic_results import only, table_of

from pondering.report.figures import solved_networks
from pondering.results.results import Results

NAME, BOTH = "parity_interpolation", ("act", "pondernet")


@pytest.fixture
def turned() -> Results:
    """ACT's steps rise from 2 to 2 + seed, PonderNet's fall; one network of each fails."""
    table = table_of(NAME, {"act": [1e-3], "pondernet": [0.3]}, 4)
    share = (table["difficulty"] - 1) / 15
    sign = np.where(table["mechanism"] == "act", 1.0, -1.0)
    table["ponder_time"] = 6 + sign * share * (1 + table["seed"])
    table["error"] = np.where(table["seed"] == 3, 0.3, 0.01)
    return only(NAME, tables={NAME: table})


def test_lines_are_networks_and_the_bold_one_is_of_those_that_solve_it(turned: Results) -> None:
    lower, act, pondernet = drawn(solved_networks.draw(turned, NAME, BOTH)).axes
    bits = list(range(1, 17))
    for axes, sign in ((act, 1), (pondernet, -1)):
        assert line_with(axes, bits, [6 + sign * 2 * (b - 1) / 15 for b in bits])
        assert len(axes.lines) == 5 and "3 of 4 solved" in axes.get_title()
    means = [c.lines[0].get_xdata()[0] for c in lower.containers]
    assert means == pytest.approx([2, -2])
    own = stats.ttest_1samp([1, 2, 3], 0).confidence_interval()
    ends = lower.containers[0].lines[2][0].get_segments()[0][:, 0]
    assert ends == pytest.approx([own.low, own.high], abs=1e-3)


def test_networks_of_a_seed_are_left_out_together() -> None:
    """Two settings of one seed say the same twice: the interval is that of the seeds."""
    solved = [
        pd.DataFrame({"mechanism": ["act"], "setting": [tau], "seed": [seed]})
        for tau in (0.1, 0.2)
        for seed in (0, 1, 2)
    ]
    found = solved_networks.mean_of(solved, [1.0, 2.0, 4.0, 1.0, 2.0, 4.0])
    own = stats.ttest_1samp([1, 2, 4], 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((own.low, own.high))
    assert found.count == 3
    few = solved_networks.mean_of(solved[:4], [1.0, 2.0, 4.0, np.nan])
    assert few.estimate == pytest.approx(7 / 3)
