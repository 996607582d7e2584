"""The measures behind the claims of Banino et al. 2021 on parity (B1 to B5)."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from pondering.claims.evidence import Evidence, InsufficientError, at_prior, require
from pondering.claims.frames import (
    Array,
    accuracy_gain,
    average,
    best,
    best_accuracy,
    better_accuracy,
    by,
    computed,
    difference,
    near_best,
    ratio_of_soonest,
    reached,
    solved_settings,
    solved_settings_gap,
)
from pondering.claims.quantities import Measured
from pondering.results.statistics import interval, mean_interval, median_interval


def best_against_best(evidence: Evidence, *, experiment: str) -> Measured:
    """B1, figure 1a: PonderNet against ACT, each at the setting with the best mean accuracy."""
    sweeps = [evidence.sweep(experiment, name) for name in ("pondernet", "act")]
    errors = [by(each, "error") for each in sweeps]
    steps = [by(rows, "ponder_time")[best(e)] for rows, e in zip(sweeps, errors, strict=True)]
    return {
        "pondernet_accuracy": interval(best_accuracy, errors[0]),
        "act_accuracy": interval(best_accuracy, errors[1]),
        "best_accuracy": interval(better_accuracy, *errors),
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
    chosen, act_chosen = best(by(inside, "error")), best(by(act[0], "error"))
    accuracy = [1 - by(beyond, "error")[chosen], 1 - by(act[1], "error")[act_chosen]]
    steps = [by(each, "ponder_time")[chosen] for each in (inside, beyond)]
    return {
        "inside_accuracy": interval(best_accuracy, by(inside, "error")),
        "pondernet_accuracy": mean_interval(accuracy[0]),
        "act_accuracy": mean_interval(accuracy[1]),
        "accuracy_gain": interval(difference, *accuracy),
        "steps_ratio": interval(lambda a, b: average(b) / average(a), *steps),
        "steps_beyond": mean_interval(steps[1]),
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
    sweeps = [evidence.sweep(experiment, name) for name in names]
    until = evidence.common_updates(experiment, names)
    curves = [evidence.curves(experiment, name, until) for name in names]
    errors = [by(each, "error") for each in sweeps]
    chosen = [best(each) for each in errors]
    passes = [
        computed(each).reindex(columns=error.columns)
        for each, error in zip(curves, errors, strict=True)
    ]
    learned = [
        reached(each, learned_error, "computed_steps").reindex(columns=[setting])
        for each, setting in zip(curves, chosen, strict=True)
    ]

    def at(settings: tuple[float, ...]) -> list[pd.Series[float]]:
        return [each[setting] for each, setting in zip(passes, settings, strict=True)]

    near = product(*(near_best(each) for each in errors))
    highest = max(near, key=lambda each: _ratio(*at(each)))
    return {
        "best_accuracy": interval(better_accuracy, *errors),
        "compute_ratio": interval(_ratio, *at((chosen[0], chosen[1]))),
        "compute_ratio_highest": interval(_ratio, *at(highest)),
        "compute_to_learn": ratio_of_soonest(*learned),
        "sampled_steps": mean_interval(by(sweeps[0], "ponder_time")[chosen[0]]),
        "accuracy_gain": interval(accuracy_gain, *errors),
    }


def robustness(
    evidence: Evidence,
    *,
    experiment: str,
    solved_accuracy: float,
    lambda_p_at_most: float,
    minimum_settings: int,
) -> Measured:
    """B4, figures 2a and 2b: over how many settings each method solves the task, and its scatter.

    scatter_gap is over the settings that most seeds solve, NaN where a method has none.

    Args:
        solved_accuracy: accuracy from which a network has solved the task.
        lambda_p_at_most: the largest prior the claim includes.
        minimum_settings: fewer settings of either method than this tell nothing.
    """
    act, ponder = (
        by(evidence.sweep(experiment, name), "error").dropna() for name in ("act", "pondernet")
    )
    require(act.shape[1], minimum_settings, "settings of ACT")
    require(ponder.shape[1], minimum_settings, "settings of PonderNet")
    errors = [ponder.loc[:, : lambda_p_at_most + 1e-9], act]
    if errors[0].empty:
        raise InsufficientError(f"no setting with λp ≤ {lambda_p_at_most:g} was run")
    solved = [1 - each >= solved_accuracy for each in errors]
    most = [each.columns[each.mean() > 0.5] for each in solved]
    steady = [each[settings] for each, settings in zip(errors, most, strict=True)]
    return {
        "best_accuracy": interval(better_accuracy, *errors),
        "pondernet_solved": solved_settings(solved[0]),
        "act_solved": solved_settings(solved[1]),
        "penalties": f": τ {', '.join(f'{tau:g}' for tau in most[1])}" if len(most[1]) else "",
        "solved_gap": solved_settings_gap(*solved),
        "scatter_gap": interval(_scatter_gap, *steady),
    }


def settled_steps(evidence: Evidence, *, experiment: str, lambda_p: float) -> Measured:
    """B5, figure 2c: steps with a prior that asks for many more, and with the shortest prior.

    Args:
        lambda_p: the prior of the claim.
    """
    every = evidence.sweep(experiment, "pondernet")
    own, shortest = at_prior(every, lambda_p), float(every["setting"].max())
    curves = evidence.curves(experiment, "pondernet")
    curves = curves[np.isclose(curves["setting"].astype(float), lambda_p)]
    return {
        "accuracy": mean_interval(1 - by(own, "error")),
        "steps": median_interval(by(own, "ponder_time")),
        "steps_of_shortest": median_interval(by(every, "ponder_time")[shortest]),
        "shortest": f"{shortest:g}",
        "prior_mean": f"{1 / shortest:.2g}",
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
