"""One method against another, each at its best setting (B1 to B5, M1, M2, F1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from pondering.claims.evidence import Evidence, InsufficientError, require
from pondering.claims.frames import (
    NAN,
    Array,
    average,
    best,
    by,
    computed,
    difference,
    lowest_error,
    near_best,
    reached,
    solved_settings,
    trend,
)
from pondering.claims.quantities import Measured
from pondering.results.statistics import Interval, interval, mean_interval, median_interval

FEWEST_SETTINGS = 6
"""Fewer settings of either method tell nothing of its robustness."""
RESAMPLES = 2000
"""Draws of seeds for an interval that no formula gives."""
EACH_OF_TWO = 0.975
"""Level of two intervals that hold at once in 95% of cases, by Bonferroni."""


def best_accuracy(*errors: Array) -> float:
    """The highest mean accuracy over seeds that any setting of these methods has."""
    return max(1 - lowest_error(each) for each in errors)


def accuracy_gain(first: Array, second: Array) -> float:
    """What the first method's best accuracy has above the second's."""
    return best_accuracy(first) - best_accuracy(second)


def at_prior(rows: pd.DataFrame, lambda_p: float) -> pd.DataFrame:
    """The rows of the one prior that a claim is about.

    Raises:
        InsufficientError: it was not run.
    """
    chosen = rows[np.isclose(rows["setting"], lambda_p)]
    if chosen.empty:
        raise InsufficientError(f"no setting with λp = {lambda_p:g} was run")
    return chosen


def best_against_best(evidence: Evidence, *, experiment: str) -> Measured:
    """B1, figure 1a: PonderNet against ACT, each at the setting with the best mean accuracy."""
    sweeps = [evidence.sweep(experiment, name) for name in ("pondernet", "act")]
    errors = [by(each, "error") for each in sweeps]
    steps = [by(each, "ponder_time")[best(each)] for each in sweeps]
    return {
        "pondernet_accuracy": interval(best_accuracy, errors[0]),
        "act_accuracy": interval(best_accuracy, errors[1]),
        "best_accuracy": interval(best_accuracy, *errors),
        "accuracy_gain": interval(accuracy_gain, *errors),
        "steps_difference": interval(difference, *steps),
    }


def extrapolation(evidence: Evidence, *, experiment: str) -> Measured:
    """B2, figure 1b: accuracy and steps beyond the trained range; settings chosen inside it.

    Args:
        experiment: has the splits "interpolation" and "extrapolation".
    """
    (inside, beyond), act = (
        [evidence.sweep(experiment, name, split) for split in ("interpolation", "extrapolation")]
        for name in ("pondernet", "act")
    )
    chosen, act_chosen = best(inside), best(act[0])
    accuracy = [1 - by(beyond, "error")[chosen], 1 - by(act[1], "error")[act_chosen]]
    steps = [by(each, "ponder_time")[chosen] for each in (beyond, inside)]
    return {
        "inside_accuracy": interval(best_accuracy, by(inside, "error")),
        "pondernet_accuracy": mean_interval(accuracy[0]),
        "act_accuracy": mean_interval(accuracy[1]),
        "accuracy_gain": interval(difference, *accuracy),
        "steps_ratio": interval(_ratio, *steps),
        "steps_beyond": mean_interval(steps[0]),
    }


def training_compute(
    evidence: Evidence, *, experiment: str, mechanism: str, learned_error: float
) -> Measured:
    """B3, figure 1c: forward passes in training of PonderNet and ACT, each at its best setting.

    compute_ratio_highest is the highest ratio over settings of both whose mean error is within one
    standard error of the best.

    Args:
        mechanism: PonderNet as the tables write it; with a constant N it computes N steps for every
            example, whatever it has learned.
        learned_error: the training error whose first crossing is compared.
    """
    names = (mechanism, "act")
    until = evidence.common_updates(experiment, names)
    sweeps = [evidence.sweep(experiment, name) for name in names]
    curves = [evidence.curves(experiment, name, until) for name in names]
    errors = [by(each, "error") for each in sweeps]
    near = [near_best(each) for each in sweeps]
    passes = [
        computed(each).reindex(columns=error.columns)
        for each, error in zip(curves, errors, strict=True)
    ]
    learned = [
        reached(each, learned_error, "computed_steps").reindex(columns=settings[:1])
        for each, settings in zip(curves, near, strict=True)
    ]
    pairs = [(passes[0][one], passes[1][other]) for one, other in product(*near)]  # the best first
    return {
        "best_accuracy": interval(best_accuracy, *errors),
        "compute_ratio": interval(_ratio, *pairs[0]),
        "compute_ratio_highest": interval(_ratio, *max(pairs, key=lambda each: _ratio(*each))),
        "compute_to_learn": ratio_of_soonest(*learned),
        "sampled_steps": mean_interval(by(sweeps[0], "ponder_time")[near[0][0]]),
        "accuracy_gain": interval(accuracy_gain, *errors),
    }


def robustness(
    evidence: Evidence, *, experiment: str, solved_accuracy: float, lambda_p_at_most: float
) -> Measured:
    """B4, figures 2a and 2b: over how many settings each method solves the task, and its scatter.

    scatter_gap is over the settings that most seeds solve, NaN where a method has none.

    Args:
        solved_accuracy: accuracy from which a network has solved the task.
        lambda_p_at_most: the largest prior the claim includes.
    """
    act, ponder = (
        by(evidence.sweep(experiment, name), "error").dropna() for name in ("act", "pondernet")
    )
    require(act.shape[1], FEWEST_SETTINGS, "settings of ACT")
    require(ponder.shape[1], FEWEST_SETTINGS, "settings of PonderNet")
    errors = [ponder.loc[:, : lambda_p_at_most + 1e-9], act]
    if errors[0].empty:
        raise InsufficientError(f"no setting with λp ≤ {lambda_p_at_most:g} was run")
    solved = [1 - each >= solved_accuracy for each in errors]
    most = [each.columns[each.mean() > 0.5] for each in solved]
    steady = [each[settings] for each, settings in zip(errors, most, strict=True)]
    return {
        "best_accuracy": interval(best_accuracy, *errors),
        "pondernet_solved": solved_settings(solved[0]),
        "act_solved": solved_settings(solved[1]),
        "solved_gap": solved_settings_gap(*solved),
        "scatter_gap": interval(_scatter_gap, *steady),
    }


def settled_steps(evidence: Evidence, *, experiment: str, lambda_p: float) -> Measured:
    """B5, figure 2c: steps with a prior that asks for many more, and with the shortest prior."""
    every = evidence.sweep(experiment, "pondernet")
    chosen, shortest = at_prior(every, lambda_p), float(every["setting"].max())
    curves = evidence.curves(experiment, "pondernet")
    curves = curves[np.isclose(curves["setting"].astype(float), lambda_p)]
    return {
        "accuracy": mean_interval(1 - by(chosen, "error")),
        "steps": median_interval(by(chosen, "ponder_time")),
        "steps_of_shortest": median_interval(by(every, "ponder_time")[shortest]),
        "drift": mean_interval([_drift(each) for _, each in curves.groupby("seed")]),
    }


def _ratio(first: Array, second: Array) -> float:
    return float(average(first) / average(second))


def _scatter_gap(ponder: Array, act: Array) -> float:
    """Scatter of accuracy over seeds, which is that of errors: ACT's less PonderNet's."""
    return difference(*(pd.DataFrame(each).std() for each in (act, ponder)))


def _drift(curve: pd.DataFrame) -> float:
    """Change of the mean steps, up or down, from the third to the last quarter, as a share."""
    share, steps = curve["update"] / curve["update"].max(), curve["ponder_time"]
    third, last = (
        steps[part].mean(skipna=False) for part in ((share > 0.5) & (share <= 0.75), share > 0.75)
    )
    return float(abs(last - third) / third)


def digit_accuracy(evidence: Evidence, *, experiment: str, lambda_p: float) -> Measured:
    """M1: test accuracy of PonderNet on digits beside the plain network."""
    ponder = _accuracy(at_prior(evidence.sweep(experiment, "pondernet"), lambda_p))
    plain = _accuracy(evidence.plain(experiment))
    return {
        "pondernet_accuracy": mean_interval(ponder),
        "plain_accuracy": mean_interval(plain),
        "against_plain": interval(difference, ponder, plain),
    }


def rotated_digits(
    evidence: Evidence, *, experiment: str, lambda_p: float, trained: float, farthest: float
) -> Measured:
    """M2: accuracy and steps as digits turn beyond the trained angles.

    Args:
        experiment: has the splits "range" and "angle", difficulties in degrees.
        trained: largest angle trained on, in degrees.
        farthest: largest angle tested, in degrees.

    Raises:
        InsufficientError: one of the two angles was not tested.
    """
    ranges, angles = (
        at_prior(evidence.sweep(experiment, "pondernet", split), lambda_p)
        for split in ("range", "angle")
    )
    error, steps = (by(ranges, name, "difficulty") for name in ("error", "ponder_time"))
    if not {trained, farthest} <= set(error.columns):
        raise InsufficientError(f"test sets up to {trained:g} and {farthest:g} degrees are needed")
    turned = by(angles, "ponder_time", "difficulty").rename(columns=abs)
    return {
        "trained_accuracy": mean_interval(1 - error[trained]),
        "accuracy_fall": mean_interval(error[farthest] - error[trained]),
        "steps_change": mean_interval(steps[farthest] - steps[trained]),
        "angle_trend": mean_interval(trend(turned)),
    }


def _accuracy(rows: pd.DataFrame) -> Array:
    """[seeds] share of all examples right: classes weigh by their size, as in a test accuracy."""
    weights = rows.groupby("difficulty")["examples"].first()
    return np.asarray(1 - by(rows, "error", "difficulty") @ (weights / weights.sum()))


def repeat_against_act(
    evidence: Evidence, *, experiments: Sequence[str], solved_error: float
) -> Measured:
    """F1, tables 1 and 2: the fixed repeat against ACT on two tasks, each at its best setting.

    The gaps are above zero where ACT has the smaller error.

    Args:
        experiments: parity, on which the fixed repeat also learns sooner, and addition.
        solved_error: training error at which a task counts as solved (2%, as in the paper).
    """
    found: Measured = {}
    for part, experiment in zip(("parity", "addition"), experiments, strict=True):
        repeat = evidence.sweep(experiment, "repeat", above=1)
        errors = by(evidence.sweep(experiment, "act"), "error"), by(repeat, "error")
        found[f"best, {part}"] = interval(best_accuracy, *errors)
        found[f"gap, {part}"] = interval(accuracy_gain, *errors)
    repeats, act = (
        reached(evidence.curves(experiments[0], name), solved_error) for name in ("repeat", "act")
    )
    found["speed, parity"] = ratio_of_soonest(repeats.loc[:, repeats.columns > 1], act)
    return found


def solved_settings_gap(first: pd.DataFrame, second: pd.DataFrame) -> Interval:
    """The share of settings that most seeds solve with one method less that with another.

    Its bounds are those between which 95% of RESAMPLES draws of seeds lie, of both methods the same
    seeds where they have as many. NaN without seeds.

    Args:
        first, second: [seeds, settings] whether this replica solves.
    """
    both = [np.asarray(each, dtype=float) for each in (first, second)]
    seeds = [len(each) for each in both]
    if not all(each.size for each in both):
        return Interval(NAN, NAN, NAN, 0)
    places = np.random.default_rng(0).random((RESAMPLES, max(seeds)))
    draws = [(places[:, :count] * count).astype(int) for count in seeds]
    drawn = [_solved_share(each[draw]) for each, draw in zip(both, draws, strict=True)]
    low, high = np.percentile(drawn[0] - drawn[1], [2.5, 97.5]).tolist()
    gap = _solved_share(both[0]) - _solved_share(both[1])
    return Interval(float(gap), low, high, min(seeds))


def _solved_share(solved: Array) -> Array:
    """The share of settings that most seeds solve, of [..., seeds, settings]."""
    return np.asarray((solved.mean(axis=-2) > 0.5).mean(axis=-1))


def ratio_of_soonest(first: pd.DataFrame, second: pd.DataFrame) -> Interval:
    """Ratio of the smallest medians over seeds that any setting has.

    Its interval is from the lowest to the highest ratio within the two medians' own, of 97.5% each.
    inf/inf is NaN; as the end of an interval it means: unbounded.

    Args:
        first, second: [seeds, settings]; infinite is "never", NaN a seed that was not trained.
    """
    above, below = (_soonest(values) for values in (first, second))
    low = max(above.low, 0.0) / below.high
    high = above.high / below.low if below.low > 0 else math.inf
    return Interval(
        above.estimate / below.estimate,
        0.0 if math.isnan(low) else low,
        math.inf if math.isnan(high) else high,
        min(above.count, below.count),
    )


def _soonest(values: pd.DataFrame) -> Interval:
    found = (median_interval(values[setting], EACH_OF_TWO) for setting in values)
    return min(found, key=lambda each: each.estimate, default=median_interval([]))
