"""The figures in words: their main values as sentences, computed from the same tables.

Every function returns an empty text where the data its figure needs are absent.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from pondering.aggregates import evaluated, failure_error, per_seed, per_setting, plain
from pondering.figures import beyond, style
from pondering.figures.banino2021 import COMPARED
from pondering.figures.curves import errors_by_update
from pondering.figures.methods import CHOOSING, ENOUGH_FOR_A_BOX, best_methods, interval
from pondering.figures.mnist import choosing_rows, gallery_traces
from pondering.figures.priors import prior_mean, prior_shown, steps_unrolled
from pondering.figures.texts import MOST_STRIPS, most_steps, shown_steps, text_strips
from pondering.figures.traces import choose_traces
from pondering.results import Results
from pondering.statistics import solve_rate


def of_settings(results: Results, experiment: str, split: str = "test") -> str:
    """Error of the plain network, and the time penalties with the lowest and the highest error."""
    means = _means(results, experiment, split)
    act = means[means["mechanism"] == "act"]
    parts = [f"plain network {_plus_minus(r.error, r.error_se)}" for r in plain(means).itertuples()]
    if len(act):
        for word, place in (("lowest", act["error"].idxmin()), ("highest", act["error"].idxmax())):
            row = act.loc[place]
            value = _plus_minus(row["error"], row["error_se"])
            parts.append(f"{word} with ACT {value} at τ = {style.number(row['setting'])}")
    repeat = means[(means["mechanism"] == "repeat") & (means["setting"] != 1)]
    parts += [f"repeat {r.setting:g} {_plus_minus(r.error, r.error_se)}"
              for r in repeat.itertuples()]  # fmt: skip
    unit = "bits per character" if experiment == "wikipedia" else "error"
    seeds = "" if means.empty else f", over {_count(means['seeds'])}"
    return f"Mean {unit} with standard error{seeds}: {'; '.join(parts)}." if parts else ""


def of_learning(results: Results, experiment: str, split: str = "test") -> str:
    """Error and ponder at the smallest and the largest time penalty."""
    means = _means(results, experiment, split)
    act = means[means["mechanism"] == "act"]
    parts = [
        f"τ = {style.number(row['setting'])} ends at {row['error']:.3g} with "
        f"{_steps(row['ponder_time'])}"
        for row in (act.iloc[i] for i in sorted({0, len(act) - 1}) if len(act))
    ]
    parts += [f"the plain network at {value:.3g}" for value in plain(means)["error"]]
    curves = results.curves.get(experiment)
    if not parts and curves is not None:
        wide = errors_by_update(curves[curves["mechanism"] == "act"], failure_error(experiment))
        parts = [f"ACT at {float(wide.iloc[-1].mean()):.3g} in training"] if len(wide) else []
    return f"Final error: {'; '.join(parts)}." if parts else ""


def of_difficulty(results: Results, experiment: str) -> str:
    """Ponder and error at the easiest and the hardest inputs, best time penalty and plain."""
    table = results.tables.get(experiment)
    if table is None:
        return ""
    rows = evaluated(table, split="test")
    parts = []
    for method in best_methods(per_seed(rows), ("plain", "act")):
        means = per_setting(method.of(rows), by=["difficulty"])
        first, last = means.iloc[0], means.iloc[-1]
        parts.append(
            f"{method.legend}: from {_steps(first['ponder_time'])} and error {first['error']:.3g} "
            f"at difficulty {first['difficulty']:g} to {_steps(last['ponder_time'])} and error "
            f"{last['error']:.3g} at {last['difficulty']:g}"
        )
    return f"{'; '.join(parts)}." if parts else ""


def of_sequences(results: Results, experiment: str, setting: float) -> str:
    """The ponder times of the sequences shown."""
    chosen = choose_traces(results.traces.get(experiment, []), "sequence", setting)[:3]
    lists = [", ".join(f"{s['ponder_time']:.3g}" for s in trace["steps"]) for trace in chosen]
    if not lists:
        return ""
    tau = style.number(chosen[0]["setting"])
    return f"Ponder at each time step, τ = {tau}: {'; '.join(lists)}."


def of_text(results: Results, setting: float, *, markup: bool) -> str:
    """The steps of every seed on the stretch shown, and the characters each pondered most."""
    strips, start = text_strips(results.traces.get("wikipedia", []), setting=setting, markup=markup)
    if not strips:
        return ""
    parts = []
    for trace in strips[:MOST_STRIPS]:
        pairs = [(s["input"], s["ponder_time"]) for s in shown_steps(trace, start)]
        frame = pd.DataFrame(pairs, columns=["c", "n"])
        parts.append(f"seed {trace['seed']}: {_pondered(frame, most_steps(strips))}")
    return (
        f"τ = {style.number(strips[0]['setting'])}, {len(shown_steps(strips[0], start))} "
        f"characters; {'; '.join(parts)}."
    )


def _pondered(frame: pd.DataFrame, most: float) -> str:
    """Mean steps and the characters with the most, from columns c and n; or that all are equal."""
    if frame["n"].max() - frame["n"].min() < 0.005:
        same = f"every character took {_steps(frame['n'].iloc[0])}"
        return f"{same}, the most of any seed" if frame["n"].iloc[0] >= most > 1 else same
    top = frame.groupby("c")["n"].mean().sort_values(ascending=False, kind="stable").head(3)
    names = {" ": "space", "\n": "line end"}
    listed = ", ".join(f"{names.get(str(c), str(c))} ({n:.2f})" for c, n in top.items())
    return (
        f"{frame['n'].mean():.2f} steps on average ({frame['n'].min():.3g} to "
        f"{frame['n'].max():.3g}), most at {listed}"
    )


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
        for method in best_methods(by_split[splits[0]], names):
            own = method.of(seeds)
            if own.empty:
                continue
            found, solved = interval(1 - own["error"]), solve_rate(own["error"].to_numpy())
            parts.append(
                f"{'' if len(splits) == 1 else f'{split}, '}{method.legend}: accuracy "
                f"{found.estimate:.3g} (95% interval {found.low:.3g} to {found.high:.3g}), "
                f"{_steps(own['ponder_time'].mean())}, solved by "
                f"{round(solved.estimate * solved.count)} of {solved.count} seeds"
            )
    return f"{'; '.join(parts)}.".replace("nan to nan", "not defined") if parts else ""


def of_compute(results: Results) -> str:
    """Forward passes spent by the end of training, by method."""
    table = results.tables.get("parity_interpolation")
    curves = results.curves.get("parity_interpolation")
    if table is None or curves is None:
        return ""
    parts = []
    for method in best_methods(per_seed(evaluated(table, split="test")), COMPARED):
        spent = method.of(curves).groupby("seed")["computed_steps"].max().mean()
        parts.append(f"{method.legend}: {spent:.3g}")
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
        f"over {_count(pd.Series([len(steps)]))}."
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
            f"{1 - r['error']:.3f} with {_steps(r['ponder_time'])} at {r['difficulty']:g}"
            for r in ends
        )
        parts += [f"{method.legend}: {told}"] if told else []
    return f"Accuracy: {'; '.join(parts)}." if parts else ""


def of_gallery(results: Results) -> str:
    """The range of steps in the two rows of digits."""
    chosen = gallery_traces(results.traces.get("mnist", []))
    kind = "expected steps" if chosen and chosen[0]["mechanism"] == "pondernet" else "steps"
    parts = []
    for which in ("most", "fewest"):
        steps = [t["steps"][0]["ponder_time"] for t in chosen if t["which"] == which]
        if steps:
            parts.append(f"{which} {kind}: {min(steps):.3g} to {max(steps):.3g}")
    return f"{len(chosen)} digits; {'; '.join(parts)}." if parts else ""


def of_layout(results: Results) -> str:
    """The error of each method at its best setting, for both layouts."""
    if any(name not in results.tables for name in beyond.LAYOUTS):
        return ""
    parts = []
    for name, (layout, _) in beyond.LAYOUTS.items():
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
        f"{_steps(r.ponder_time)}"
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
                         f"{_steps(own['ponder_time'].mean())}")  # fmt: skip
    return f"Mean error: {'; '.join(parts)}." if parts else ""


def _means(results: Results, experiment: str, split: str) -> pd.DataFrame:
    """Means over seeds by setting; empty, with its columns, where the table is absent."""
    table = results.tables.get(experiment)
    if table is None:
        return pd.DataFrame(columns=["mechanism", "setting", "error", "error_se", "ponder_time",
                                     "seeds"])  # fmt: skip
    return per_setting(per_seed(evaluated(table, split=split)))


def _plus_minus(mean: float, error: float) -> str:
    return f"{mean:.3g} ± {error:.1g}" if np.isfinite(error) else f"{mean:.3g}"


def _steps(value: float) -> str:
    if not np.isfinite(value):
        return "no steps known"
    return f"{value:.3g} step{'' if f'{value:.3g}' == '1' else 's'}"


def _count(seeds: pd.Series) -> str:
    low, high = int(seeds.min()), int(seeds.max())
    return f"{low} seed{'s' if high > 1 else ''}" if low == high else f"{low} to {high} seeds"
