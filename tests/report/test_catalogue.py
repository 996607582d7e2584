"""Every figure with much data, with little data, and without data, and the papers' values."""

from __future__ import annotations

import copy
import dataclasses
import math
import re

import pytest
from matplotlib.figure import Figure
from support.panels import must
from support.published import CLAIMS
from support.synthetic_results import made_up_results

from pondering.report.figures import FIGURES, FigureSpec, paper
from pondering.results.results import Results

BY_ID = {spec.id: spec for spec in FIGURES}
every_figure = pytest.mark.parametrize("spec", FIGURES, ids=lambda spec: spec.id)


def test_catalogue_has_every_figure_of_both_papers_and_of_the_claims() -> None:
    numbers = [*range(4, 7), *range(8, 11), *range(12, 16), *range(17, 25)]
    wanted = {f"graves-{n:02d}" for n in numbers}
    wanted |= {f"banino-{n}" for n in ("1a", "1b", "1c", "2a", "2b", "2c")}
    for claim in CLAIMS:
        assert claim.figures, claim.id
        wanted.update(claim.figures)
    assert wanted <= set(BY_ID) and len(BY_ID) == len(FIGURES)


def assert_percent(figure: Figure) -> None:
    """Assert that ticks of every axis of shares are in percent."""
    figure.draw_without_rendering()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        ticks = [label.get_text() for label in axis.get_ticklabels() if label.get_visible()]
        label = axis.get_label().get_text()
        if re.search("error|accuracy|share|subsets", label):
            assert all(tick.endswith("%") for tick in ticks), (label, ticks)


@every_figure
def test_every_figure_is_drawn(spec: FigureSpec, results: Results) -> None:
    figure = must(spec.draw(results))
    words = " ".join(text.get_text() for text in figure.texts).replace("\n", " ")
    seeds = "1 seed" if spec.most_seeds == 1 else "3 seeds"
    assert spec.title.split(":")[0] in words and f"Profile quick, {seeds}" in words
    stand_in = any(results.cards[name].stand_in for name in spec.experiments)
    assert ("Stand-in:" in words) == stand_in
    assert_percent(figure)
    assert spec.draw(Results("quick")) is None


def test_a_figure_names_its_number_of_seeds(results: Results) -> None:
    one_seed = results.tables["sort"].query("seed == 0")
    fewer = dataclasses.replace(results, tables=results.tables | {"sort": one_seed})
    figure = must(BY_ID["beyond-pondernet"].draw(fewer))
    assert "Profile quick, 1 to 3 seeds" in {text.get_text() for text in figure.texts}
    figure = must(BY_ID["graves-04"].draw(fewer))
    assert any(text.get_text().startswith("Profile quick, 3 seeds") for text in figure.texts)


@pytest.fixture(scope="module")
def fewest() -> Results:
    """A replica of each mechanism, one split and difficulty, one logged update, short traces."""
    settings: dict[str, list[float]] = {"repeat": [1, 2], "act": [0.01], "pondernet": [0.2]}
    whole = made_up_results(settings, seeds=1, diverged=None, points=1)
    tables = {}
    for name, table in whole.tables.items():
        rows = table[(table["prediction"] != "expected")
                     & ~table["split"].isin(["heldout", "extrapolation"])]  # fmt: skip
        rows = rows.drop_duplicates(["mechanism", "setting", "split"])
        # Two figures need a fixed repeat.
        repeated = name in ("parity_fojo", "addition")
        tables[name] = rows if repeated else rows[rows["setting"] != 2].copy()
    traces = {name: [each[0] | {"steps": each[0]["steps"][:2]}]
              for name, each in whole.traces.items()}  # fmt: skip
    return dataclasses.replace(whole, tables=tables, traces=traces)


@pytest.fixture
def few(fewest: Results) -> Results:
    """A copy of `fewest` that a test may change."""
    return copy.deepcopy(fewest)


@every_figure
def test_a_few_rows_are_enough_even_of_diverged_replicas(spec: FigureSpec, few: Results) -> None:
    must(spec.draw(few))  # with its layout, for which all texts are measured
    for name, table in few.tables.items():
        failure = few.cards[name].worst_error
        table[["error", "ponder_time", "status"]] = [failure, math.nan, "diverged"]
        few.curves[name][["error", "ponder_time", "computed_steps"]] = math.nan
    must(spec.draw(few))


VALUES = {claim.id: " ".join(claim.paper_value.split()) for claim in CLAIMS}


def test_figures_draw_the_values_of_claims() -> None:
    for figure, claim in (("test", "B1"), ("extrapolation", "B2")):
        for point in paper.ACCURACY_AND_STEPS[figure].values():
            shown = f"{100 * point.accuracy:g}%", f"{point.steps:g}"
            assert all(each in VALUES[claim] for each in shown), (claim, shown)
    low, middle, high = paper.LONG_PRIOR
    assert f"Median {middle} steps, quartiles {low} and {high}" in VALUES["B5"]
    parity, logic, sort = (paper.ERRORS[name] for name in ("parity", "logic", "sort"))
    assert f"Plain almost {parity.plain:.0%}, ACT below {parity.small:.0%}" in VALUES["G1"]
    assert f"of ACT for every τ ≤ {parity.most}" in VALUES["G1"]
    assert f"Plain about {logic.plain:.0%}" in VALUES["G4"]
    assert f"Plain about {sort.plain:.0%}, ACT about {sort.best:.0%}" in VALUES["G8"]
    parity, addition = (paper.SOLVED_AT[name] for name in ("parity_fojo", "addition"))
    solved = parity["repeat", 2.0], addition["repeat", 5.0]
    assert all(f"{update:,}" in VALUES["F1"] for update in solved)
