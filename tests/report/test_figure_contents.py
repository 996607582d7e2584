"""The figures show what the tables hold: means, standard errors, failures, ponder, pixels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, Rectangle
from support.synthetic_results import (
    FEW,
    error_of,
    made_up_results,
    only,
    table_of,
)

from pondering.report.figures import (
    accuracy_and_steps,
    by_difficulty,
    digits,
    error_by_penalty,
    extrapolation,
    fixed_repeat,
    gallery,
    learning,
    long_prior,
    seeds_by_setting,
    sequences,
    style,
)
from pondering.report.figures.shapes.curves import accuracy_by_compute, errors_by_update
from pondering.report.figures.shapes.traces import choose_traces
from pondering.results.results import Results


@pytest.fixture(scope="module")
def results() -> Results:
    return made_up_results()


def drawn(figure: Figure | None) -> Figure:
    assert figure is not None
    return figure


def bar_heights(axes: Axes) -> list[float]:
    return [p.get_height() for p in axes.patches if isinstance(p, Rectangle)]


def line_with(axes: Axes, x: Any, y: Any) -> bool:
    """Whether a line of the panel has just these data."""
    wanted = np.column_stack([np.asarray(x, float), np.asarray(y, float)])
    return any(
        line.get_xydata().shape == wanted.shape
        and np.allclose(line.get_xydata(), wanted, equal_nan=True)
        for line in axes.lines
    )


def seed_means(table: pd.DataFrame, mechanism: str, setting: float) -> list[tuple[float, float]]:
    """Error and ponder of each seed, worked out row by row."""
    found = []
    own = table[(table["mechanism"] == mechanism) & (table["setting"] == setting)]
    own = own[own["prediction"] != "expected"]
    for seed in sorted(set(own["seed"])):
        rows = own[own["seed"] == seed]
        found.append((sum(rows["error"]) / len(rows), sum(rows["ponder_time"]) / len(rows)))
    return found


def test_error_bars_are_means_with_standard_errors(results: Results) -> None:
    table = results.tables["logic"]
    axes = drawn(error_by_penalty.draw(results, "logic")).axes[0]
    order = [
        ("repeat", 1),
        *(("act", s) for s in FEW["act"]),
        *(("repeat", s) for s in [2, 3, 5, 8]),
    ]
    errors = [[e for e, _ in seed_means(table, *key)] for key in order]
    assert errors[3][1] == 1.0, "the diverged seed is in the data as a failure"
    np.testing.assert_allclose(bar_heights(axes), [np.mean(e) for e in errors])
    container = axes.containers[-1]
    half = [abs(s[1, 1] - s[0, 1]) / 2 for s in container.lines[2][0].get_segments()]
    np.testing.assert_allclose(half, [np.std(e, ddof=1) / math.sqrt(3) for e in errors])
    points = np.concatenate([c.get_offsets()[:, 1] for c in axes.collections[:-1]])
    assert sorted(points) == pytest.approx(sorted(np.concatenate(errors)))
    assert [t.get_text() for t in axes.get_xticklabels()][:4] == ["plain", "1e-3", "0.01", "0.1"]


def test_text_bars_read_the_training_split_and_diamonds_the_other() -> None:
    table = table_of("wikipedia", FEW, 2)
    table.loc[table["split"] == "heldout", "error"] = 2.5
    axes = drawn(
        error_by_penalty.draw(only("wikipedia", tables={"wikipedia": table}), "wikipedia")
    ).axes[0]
    wanted = np.mean([e for e, _ in seed_means(table[table["split"] == "train"], "repeat", 1)])
    assert bar_heights(axes)[0] == pytest.approx(wanted)
    assert (axes.lines[-1].get_ydata() == 2.5).all() and len(axes.lines[-1].get_ydata()) == 8


def test_learning_curves_count_a_diverged_seed_as_a_failure(results: Results) -> None:
    curves = results.curves["parity"]
    upper, lower = drawn(learning.draw(results, "parity")).axes
    own = curves[(curves["mechanism"] == "act") & (curves["setting"] == 0.1)]
    updates = sorted(set(own["update"]))
    mean = [own.loc[own["update"] == u, "error"].fillna(1.0).sum() / 3 for u in updates]
    assert line_with(upper, updates, mean)
    gone = own[(own["seed"] == 1)].dropna(subset=["error"])
    assert len(gone) == 30 and line_with(upper, gone["update"], gone["error"])
    plain = np.mean([e for e, _ in seed_means(results.tables["parity"], "repeat", 1)])
    assert line_with(lower, [0, 1], [plain, plain])


def test_ellipses_have_standard_errors_as_half_axes(results: Results) -> None:
    lower = drawn(learning.draw(results, "parity")).axes[1]
    ellipses = [p for p in lower.patches if isinstance(p, Ellipse)]
    assert len(ellipses) == 3
    seeds = np.array(seed_means(results.tables["parity"], "act", 0.01))
    (found,) = [e for e in ellipses if e.center[1] == pytest.approx(seeds[:, 0].mean())]
    assert found.center[0] == pytest.approx(seeds[:, 1].mean())
    se = seeds.std(axis=0, ddof=1) / math.sqrt(3)
    assert (found.height, found.width) == (pytest.approx(2 * se[0]), pytest.approx(2 * se[1]))


def test_difficulty_panels_show_aggregated_ponder_and_error(results: Results) -> None:
    table = results.tables["sort"]
    upper, lower = drawn(by_difficulty.draw(results, "sort")).axes
    for mechanism, setting in (("act", 0.01), ("act", 0.1), ("repeat", 1)):
        own = table[(table["mechanism"] == mechanism) & (table["setting"] == setting)]
        lengths = list(range(2, 16))
        rows = [own[own["difficulty"] == d] for d in lengths]
        # a seed without ponder leaves the mean of the others; its error counts in full
        assert line_with(upper, lengths, [np.nanmean(r["ponder_time"]) for r in rows])
        assert line_with(lower, lengths, [r["error"].mean() for r in rows])
    assert len(upper.lines) == len(lower.lines) == 4
    band = upper.collections[1].get_paths()[0].vertices
    own = table[(table["mechanism"] == "act") & (table["setting"] == 0.01)]
    first = own.loc[own["difficulty"] == 2, "ponder_time"]
    edges = band[band[:, 0] == 2, 1]
    se = first.std(ddof=1) / math.sqrt(3)
    assert edges.min() == pytest.approx(first.mean() - se)
    assert edges.max() == pytest.approx(first.mean() + se)


def test_a_long_grid_is_thinned_evenly_and_says_so() -> None:
    settings: dict[str, list[float]] = {"repeat": [1], "act": [i / 1000 for i in range(1, 38)]}
    table = table_of("parity", settings, 1)
    results = only("parity", profile="paper", tables={"parity": table})
    figure = drawn(by_difficulty.draw(results, "parity"))
    assert len(figure.axes[0].lines) == 7 + 1
    legend = figure.legends[0]
    assert legend.get_title().get_text() == "7 of 37 settings"
    names = [text.get_text() for text in legend.get_texts()]
    assert names[0] == "τ = 1e-3" and names[6] == "τ = 0.037"
    assert len(bar_heights(drawn(error_by_penalty.draw(results, "parity")).axes[0])) == 38


def test_sequence_traces_show_inputs_outputs_and_ponder(results: Results) -> None:
    axes = drawn(sequences.draw(results, "addition", 9e-4)).axes
    assert len(axes) == 3
    steps = results.traces["addition"][0]["steps"]
    assert bar_heights(axes[0]) == [step["ponder_time"] for step in steps]
    assert [t.get_text() for t in axes[0].get_xticklabels()] == [s["input"] for s in steps]
    texts = {t.get_text(): t.get_color() for t in axes[0].texts}
    assert texts["41430"] == style.INK and texts["42219\n≠42209"] == style.WRONG


def test_traces_are_acts_of_the_first_seed() -> None:
    base = {"mechanism": "act", "kind": "sequence", "steps": [{}], "setting": 1e-4}
    pool = [{**base, "seed": k} for k in (2, 1)]
    pool.append({**base, "seed": 0, "mechanism": "pondernet"})
    results = Results("quick", traces={"addition": pool})
    (chosen,) = choose_traces(results, "addition", "sequence")
    assert chosen["seed"] == 1 and chosen["mechanism"] == "act"
    assert choose_traces(results, "addition", "text") == []


def test_methods_are_compared_at_their_best_sampled_setting(results: Results) -> None:
    table = results.tables["parity_interpolation"]
    upper, lower = drawn(accuracy_and_steps.draw(results, "parity_interpolation", ("test",))).axes
    best = {}
    for mechanism in ("act", "pondernet"):
        errors = {
            s: np.mean([e for e, _ in seed_means(table, mechanism, s)]) for s in FEW[mechanism]
        }
        best[mechanism] = min(errors, key=lambda s: errors[s])
    keys = [("repeat", 1.0), *best.items()]
    means = [np.mean(seed_means(table, *key), axis=0) for key in keys]
    np.testing.assert_allclose(bar_heights(upper), [1 - m[0] for m in means])
    np.testing.assert_allclose(bar_heights(lower), [m[1] for m in means])
    solved = [sum(e < 0.05 for e, _ in seed_means(table, *key)) for key in keys]
    notes = [t.get_text() for t in upper.texts if "/" in t.get_text()]
    assert notes == [f"{count}/3" for count in solved]


def test_extrapolation_keeps_the_settings_chosen_inside_the_trained_range() -> None:
    table = table_of("parity_extrapolation", FEW, 2)
    outside = table["split"] == "extrapolation"
    # beyond the range another setting would win
    table.loc[outside & (table["mechanism"] == "act"), "error"] = 0.5
    table.loc[outside & (table["mechanism"] == "act") & (table["setting"] == 0.1), "error"] = 0.0
    name, splits = "parity_extrapolation", ("interpolation", "extrapolation")
    figure = drawn(accuracy_and_steps.draw(only(name, tables={name: table}), name, splits))
    heights = bar_heights(figure.axes[0])
    assert len(heights) == 6 and heights[3] == 0.5
    assert "τ = 1e-3" in figure.axes[1].get_xticklabels()[1].get_text()


def test_accuracy_by_compute_holds_and_fails() -> None:
    rows = [(0, 10.0, 0.5), (0, 20.0, 0.1), (1, 10.0, 0.5), (1, 40.0, 0.3), (2, math.nan, math.nan)]
    curves = pd.DataFrame(rows, columns=["seed", "computed_steps", "error"])
    curves["update"] = [1, 2, 1, 2, 1]
    x, y = accuracy_by_compute(curves, points=4)
    np.testing.assert_allclose(x, [10, 20, 30, 40])
    # seed 0 keeps 0.9, seed 1 rises from 0.5 to 0.7, seed 2 never had any: a failure
    np.testing.assert_allclose(y * 3, [1.0, 0.9 + 0.5 + 0.2 / 3, 0.9 + 0.5 + 0.4 / 3, 1.6])


def test_early_stopping_keeps_the_last_error_and_divergence_does_not() -> None:
    rows = [(0, 1, 0.4), (0, 2, 0.2), (1, 1, 0.6), (2, 1, 0.5), (2, 2, math.nan)]
    wide = errors_by_update(pd.DataFrame(rows, columns=["seed", "update", "error"]), 1.0)
    assert wide.loc[2].tolist() == [0.2, 0.6, 1.0]


def test_boxes_hold_the_quartiles_and_solve_rates_of_the_seeds() -> None:
    results = made_up_results(seeds=8, diverged=None, points=3)
    table = results.tables["parity_interpolation"]
    upper, lower = drawn(seeds_by_setting.draw(results, "parity_interpolation", "pondernet")).axes
    medians = [1 - np.median([e for e, _ in seed_means(table, "pondernet", s)])
               for s in FEW["pondernet"]]  # fmt: skip
    for place, median in enumerate(medians):
        assert line_with(upper, [place - 0.3, place + 0.3], [median] * 2)
    rates = [np.mean([e < 0.05 for e, _ in seed_means(table, "pondernet", s)])
             for s in FEW["pondernet"]]  # fmt: skip
    np.testing.assert_allclose(lower.lines[0].get_ydata(), rates)


def test_prior_figure_takes_a_tenth_or_the_smallest() -> None:
    assert long_prior.prior_shown([0.3, 0.1, 0.05]) == 0.1
    assert long_prior.prior_shown([0.3, 0.2]) == 0.2


def test_prior_figure_marks_the_mean_of_the_prior_cut_at_n() -> None:
    mass = [0.1 * 0.9 ** (n - 1) for n in range(1, 21)]
    mean = sum(n * p for n, p in zip(range(1, 21), mass, strict=True)) / sum(mass)
    assert mean == pytest.approx(7.23, abs=0.01)
    assert long_prior.prior_mean(0.1, 20) == pytest.approx(mean)
    assert long_prior.prior_mean(1.0, 20) == 1.0
    assert long_prior.prior_mean(0.1, 10_000) == pytest.approx(10)
    results = made_up_results(points=5)
    upper, lower = drawn(long_prior.draw(results, "parity_interpolation")).axes
    for value in (mean, 10):
        assert line_with(upper, [0, 1], [value, value]), value
        assert line_with(lower, [value, value], [0, 1]), value
    assert "prior mean 7.23 when cut at N = 20 (1/λp = 10)" in long_prior.words(
        results, "parity_interpolation"
    )


def test_steps_unrolled_are_counted_or_not_known() -> None:
    curves = made_up_results(points=5).curves["parity_interpolation"]
    assert long_prior.steps_unrolled(curves) == 20
    assert long_prior.steps_unrolled(curves[curves["mechanism"] != "repeat"]) is None
    early = curves["computed_steps"].where(curves["update"] < 3000, 0.9 * curves["computed_steps"])
    assert long_prior.steps_unrolled(curves.assign(computed_steps=early)) is None
    assert long_prior.steps_unrolled(None) is None


def test_few_seeds_have_no_box() -> None:
    results = made_up_results(seeds=4, diverged=None, points=3)
    upper = drawn(seeds_by_setting.draw(results, "parity_interpolation", "pondernet")).axes[0]
    assert not upper.patches and len(upper.collections) == 3
    table = table_of("parity_interpolation", FEW, 4)
    median = 1 - np.median([e for e, _ in seed_means(table, "pondernet", 0.1)])
    assert line_with(upper, [-0.3, 0.3], [median] * 2)


def test_digits_by_angle_and_gallery(results: Results) -> None:
    table = results.tables["mnist_rotated"]
    upper, lower = drawn(digits.draw(results, "mnist_rotated", "range")).axes
    own = table[(table["mechanism"] == "act") & (table["setting"] == 1e-3)]
    own = own[own["split"] == "range"]
    angles = [22.5, 45, 67.5, 90]
    assert line_with(
        upper, angles, [1 - own.loc[own["difficulty"] == a, "error"].mean() for a in angles]
    )
    assert line_with(
        lower, angles, [own.loc[own["difficulty"] == a, "ponder_time"].mean() for a in angles]
    )
    cells = drawn(gallery.draw(results, "mnist")).axes
    pixels = results.traces["mnist"][0]["pixels"]
    np.testing.assert_array_equal(cells[0].images[0].get_array(), pixels)
    assert cells[0].get_title() == "9 steps\n0" and cells[2].get_title() == "8 steps\n7, is 2"
    assert cells[6].get_title().startswith("6 steps")


def test_updates_to_solve(results: Results) -> None:
    curves = pd.DataFrame(
        [("act", 0.1, 0, 100, 0.5), ("act", 0.1, 0, 200, 0.01), ("act", 0.1, 0, 300, 0.03),
         ("act", 0.1, 1, 100, 0.5), ("act", 0.1, 1, 200, math.nan)],
        columns=["mechanism", "setting", "seed", "update", "error"],
    )  # fmt: skip
    found = fixed_repeat.updates_to_solve(curves)["update"]
    assert found[0] == 200 and math.isnan(found[1])


def test_extrapolation_figure_shades_the_trained_range(results: Results) -> None:
    upper, lower = drawn(extrapolation.draw(results, "parity_extrapolation")).axes
    (box,) = [p for p in upper.patches if isinstance(p, Rectangle)]
    assert (box.get_x(), box.get_x() + box.get_width()) == (0.5, 8.5)
    wanted = [error_of("repeat", 1, d) for d in (1, 16)]
    plain = lower.lines[0]
    assert len(plain.get_xdata()) == 16 and plain.get_ydata()[0] == pytest.approx(
        wanted[0], rel=0.5
    )


def test_bars_do_not_depend_on_the_order_of_the_rows(results: Results) -> None:
    shuffled = results.tables["logic"].sample(frac=1.0, random_state=0)
    first = bar_heights(drawn(error_by_penalty.draw(results, "logic")).axes[0])
    results = only("logic", tables={"logic": shuffled})
    second = bar_heights(drawn(error_by_penalty.draw(results, "logic")).axes[0])
    assert first == pytest.approx(second)


def test_a_mechanism_has_one_colour_in_every_figure(results: Results) -> None:
    bars = drawn(error_by_penalty.draw(results, "logic")).axes[0].patches
    wanted = ["plain", *["act"] * 3, *["repeat"] * 4]
    shown = [to_hex(bar.get_facecolor()) for bar in bars]
    assert shown == [style.MECHANISM_COLOUR[name].lower() for name in wanted]
    trace = drawn(sequences.draw(results, "addition", 9e-4)).axes[0].patches[0]
    assert to_hex(trace.get_facecolor()) == style.MECHANISM_COLOUR["act"].lower()
    assert style.WRONG not in style.MECHANISM_COLOUR.values()
