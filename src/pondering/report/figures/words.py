"""The figures in words: their main values as sentences, computed from the same tables.

Every function returns an empty text where the data its figure needs are absent.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from pondering.report.figures import beyond, style
from pondering.report.figures.banino2021 import COMPARED
from pondering.report.figures.curves import errors_by_update
from pondering.report.figures.methods import (
    CHOOSING,
    ENOUGH_FOR_A_BOX,
    Method,
    best_methods,
    interval,
)
from pondering.report.figures.mnist import choosing_rows
from pondering.report.figures.phrases import in_steps, plus_minus, seed_count
from pondering.report.figures.priors import prior_mean, prior_shown, steps_unrolled
from pondering.results.aggregates import evaluated, failure_error, per_seed, per_setting, plain
from pondering.results.results import Results
from pondering.results.statistics import solve_rate

RANGES = {"interpolation": "in the trained range", "extrapolation": "beyond it"}


def of_settings(results: Results, experiment: str, split: str = "test") -> str:
    """Error of the plain network, and the time penalties with the lowest and the highest error."""
    means = _means(results, experiment, split)
    act = means[means["mechanism"] == "act"]
    parts = [f"plain network {plus_minus(r.error, r.error_se)}" for r in plain(means).itertuples()]
    if len(act):
        for word, place in (("lowest", act["error"].idxmin()), ("highest", act["error"].idxmax())):
            row = act.loc[place]
            value = plus_minus(row["error"], row["error_se"])
            parts.append(f"{word} with ACT {value} at τ = {style.number(row['setting'])}")
    repeat = means[(means["mechanism"] == "repeat") & (means["setting"] != 1)]
    parts += [f"repeat {r.setting:g} {plus_minus(r.error, r.error_se)}"
              for r in repeat.itertuples()]  # fmt: skip
    unit = "bits per character" if experiment == "wikipedia" else "error"
    seeds = "" if means.empty else f", over {seed_count(means['seeds'])}"
    return f"Mean {unit} with standard error{seeds}: {'; '.join(parts)}." if parts else ""


def of_learning(results: Results, experiment: str, split: str = "test") -> str:
    """Error and ponder at the smallest and the largest time penalty."""
    means = _means(results, experiment, split)
    act = means[means["mechanism"] == "act"]
    parts = [
        f"τ = {style.number(row['setting'])} ends at {row['error']:.3g} with "
        f"{in_steps(row['ponder_time'])}"
        for row in (act.iloc[i] for i in sorted({0, len(act) - 1}) if len(act))
    ]
    parts += [f"the plain network at {value:.3g}" for value in plain(means)["error"]]
    curves = results.curves.get(experiment)
    if not parts and curves is not None:
        wide = errors_by_update(curves[curves["mechanism"] == "act"], failure_error(experiment))
        parts = [f"ACT at {float(wide.iloc[-1].mean()):.3g} in training"] if len(wide) else []
    unit = "bits per character" if experiment == "wikipedia" else "test error"
    return f"Final {unit}: {'; '.join(parts)}." if parts else ""


def of_difficulty(results: Results, experiment: str) -> str:
    """Ponder and error at the easiest and the hardest inputs, best and highest penalty and plain.

    Where the error climbs is told by the difficulty from which on it has half its last value.
    """
    table = results.tables.get(experiment)
    if table is None:
        return ""
    rows = evaluated(table, split="test")
    methods = best_methods(per_seed(rows), ("plain", "act"))
    highest = rows.loc[rows["mechanism"] == "act", "setting"].max()
    if methods and np.isfinite(highest) and highest != methods[-1].setting:
        methods.append(Method("act", "act", float(highest)))
    parts = []
    for method in methods:
        means = per_setting(method.of(rows), by=["difficulty"])
        first, last = means.iloc[0], means.iloc[-1]
        below = means.loc[means["error"] <= last["error"] / 2, "difficulty"]
        past = means.loc[means["difficulty"] > below.max(), "difficulty"]
        climb = f", at least half of it from {past.min():g} on" if len(past) else ""
        parts.append(
            f"{method.legend}: from {in_steps(first['ponder_time'])} and error "
            f"{first['error']:.3g} at difficulty {first['difficulty']:g} to "
            f"{in_steps(last['ponder_time'])} and error {last['error']:.3g} at "
            f"{last['difficulty']:g}{climb}"
        )
    return f"{'; '.join(parts)}." if parts else ""


def of_methods(
    results: Results,
    experiment: str,
    splits: tuple[str, ...],
    names: tuple[str, ...] = COMPARED,
) -> str:
    """Accuracy with its interval, steps and solve rate of each method at its best setting."""
    table = results.tables.get(experiment)
    if table is None:
        return ""
    by_split = {split: per_seed(evaluated(table, split=split)) for split in splits}
    parts = []
    for split, seeds in by_split.items():
        told = [
            f"{method.legend}: {_accuracy(own)}, {in_steps(own['ponder_time'].mean())}"
            for method in best_methods(by_split[splits[0]], names)
            if len(own := method.of(seeds))
        ]
        if told:
            parts.append(f"{RANGES.get(split, split)}, {'; '.join(told)}")
    if len(splits) == 1:
        parts = [part.partition(", ")[2] for part in parts]
    return f"{'. '.join(part[:1].upper() + part[1:] for part in parts)}." if parts else ""


def of_extrapolation(results: Results) -> str:
    """How steps and error change beyond the trained range, method by method."""
    table = results.tables.get("parity_extrapolation")
    if table is None:
        return ""
    inside = per_seed(evaluated(table, split="interpolation"))
    beyond_it = per_seed(evaluated(table, split="extrapolation"))
    parts = []
    for method in best_methods(inside, CHOOSING):
        near, far = method.of(inside).mean(numeric_only=True), method.of(beyond_it)
        now = (
            f"{method.legend}: {in_steps(near['ponder_time'])} and error {near['error']:.3g} inside"
        )
        if len(far):
            steps, error = far["ponder_time"].mean(), far["error"].mean()
            now += f", {in_steps(steps)} and {error:.3g} beyond"
        parts.append(now)
    return f"Means over the trained range and beyond it: {'; '.join(parts)}." if parts else ""


def _accuracy(own: pd.DataFrame) -> str:
    """Mean accuracy over seeds, its interval where there is one, and how many solved the task."""
    found, solved = interval(1 - own["error"]), solve_rate(own["error"].to_numpy())
    bounds = f" ({found.low:.3g} to {found.high:.3g})" if np.isfinite(found.low) else ""
    return (
        f"accuracy {found.estimate:.3g}{bounds}, error below 5% in "
        f"{round(solved.estimate * solved.count)} of {solved.count} seeds"
    )


def of_compute(results: Results) -> str:
    """Forward passes spent by the end of training, by method."""
    table = results.tables.get("parity_interpolation")
    curves = results.curves.get("parity_interpolation")
    if table is None or curves is None:
        return ""
    parts = []
    for method in best_methods(per_seed(evaluated(table, split="test")), COMPARED):
        spent = method.of(curves).groupby("seed")["computed_steps"].max()
        if spent.notna().any():
            mean, low, high = (style.count(v) for v in (spent.mean(), spent.min(), spent.max()))
            parts.append(
                f"{method.legend}: {mean}" + (f" ({low} to {high})" if low != high else "")
            )
    return f"Forward passes by the end of training: {'; '.join(parts)}." if parts else ""


def of_boxes(results: Results, mechanism: str) -> str:
    """The median accuracy of every setting."""
    table = results.tables.get("parity_interpolation")
    if table is None:
        return ""
    seeds = per_seed(evaluated(table, split="test"))
    medians = 1 - seeds[seeds["mechanism"] == mechanism].groupby("setting")["error"].median()
    listed = ", ".join(f"{style.number(float(s))}: {value:.2f}" for s, value in medians.items())
    return f"Median accuracy by {style.SYMBOL[mechanism]}: {listed}." if listed else ""


def of_prior(results: Results) -> str:
    """Median and spread over seeds of the steps with the prior shown, beside the prior's mean."""
    table = results.tables.get("parity_interpolation")
    if table is None:
        return ""
    seeds = per_seed(evaluated(table, split="test"))
    seeds = seeds[seeds["mechanism"] == "pondernet"]
    if seeds.empty:
        return ""
    setting = prior_shown(seeds["setting"].tolist())
    steps = seeds.loc[seeds["setting"] == setting, "ponder_time"].dropna()
    if steps.empty:
        return ""
    unrolled = steps_unrolled(results.curves.get("parity_interpolation"))
    prior = f"1/λp = {1 / setting:.3g}"
    if unrolled is not None:
        prior = (
            f"prior mean {prior_mean(setting, unrolled):.3g} when cut at N = {unrolled} ({prior})"
        )
    middle, low, high = np.median(steps), steps.min(), steps.max()
    spread = f"{low:.3g} to {high:.3g}"
    if len(steps) >= ENOUGH_FOR_A_BOX:
        spread = "quartiles {:.3g} and {:.3g}".format(*np.quantile(steps, [0.25, 0.75]))
    return (
        f"λp = {style.number(setting)}, {prior}: median {middle:.3g} steps, {spread}, "
        f"over {seed_count(pd.Series([len(steps)]))}."
    )


def of_angles(results: Results, experiment: str, split: str) -> str:
    """Accuracy and steps of each method at the first and the last difficulty."""
    table = results.tables.get(experiment)
    if table is None:
        return ""
    rows = evaluated(table, split=split)
    if rows.empty:
        return ""
    parts = []
    for method in best_methods(per_seed(choosing_rows(table)), COMPARED):
        means = per_setting(method.of(rows), by=["difficulty"])
        ends = [means.iloc[i] for i in (0, -1)] if len(means) else []
        told = " and ".join(
            f"{1 - r['error']:.3f} with {in_steps(r['ponder_time'])} at {r['difficulty']:g}"
            for r in ends
        )
        parts += [f"{method.legend}: {told}"] if told else []
    return f"Accuracy: {'; '.join(parts)}." if parts else ""


def of_layout(results: Results) -> str:
    """The error of each method at its best setting, for both layouts."""
    if any(name not in results.tables for name in beyond.LAYOUTS):
        return ""
    parts = []
    for name, layout in beyond.LAYOUTS.items():
        seeds = per_seed(evaluated(results.tables[name], split="test"))
        for method in best_methods(seeds, CHOOSING):
            parts.append(f"{layout}, {method.legend}: {method.of(seeds)['error'].mean():.3g}")
    return f"Mean error: {'; '.join(parts)}." if parts else ""


def of_repeat(results: Results, experiment: str) -> str:
    """Error and steps of every setting of ACT and of fixed repeat."""
    means = _means(results, experiment, "test")
    means = means[means["mechanism"].isin(["repeat", "act"])]
    parts = [
        f"{style.setting_name(str(r.mechanism), float(r.setting))}: {r.error:.3g} with "
        f"{in_steps(r.ponder_time)}"
        for r in means.itertuples()
    ]
    return f"Mean error: {'; '.join(parts[:12])}." if parts else ""


def of_pondernet(results: Results) -> str:
    """Error and steps of ACT, PonderNet and the like at their best settings, by task."""
    parts = []
    for name in beyond.GRAVES_TASKS:
        if name not in results.tables:
            continue
        split = "train" if name == "wikipedia" else "test"
        seeds = per_seed(evaluated(results.tables[name], split=split))
        for method in best_methods(seeds, [name for name in CHOOSING if name != "plain"]):
            own = method.of(seeds)
            parts.append(f"{name}, {method.legend}: {own['error'].mean():.3g} with "
                         f"{in_steps(own['ponder_time'].mean())}")  # fmt: skip
    return f"Mean error: {'; '.join(parts)}." if parts else ""


def _means(results: Results, experiment: str, split: str) -> pd.DataFrame:
    """Means over seeds by setting; empty, with its columns, where the table is absent."""
    table = results.tables.get(experiment)
    if table is None:
        return pd.DataFrame(columns=["mechanism", "setting", "error", "error_se", "ponder_time",
                                     "seeds"])  # fmt: skip
    return per_setting(per_seed(evaluated(table, split=split)))
