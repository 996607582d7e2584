"""What the time penalty does to error, ponder and learning (Graves 2016: G1, G2, G4, G6)."""

from __future__ import annotations

from functools import partial

import numpy as np

from pondering.claims.measures.arrays import (
    Array,
    average,
    deviations,
    difference,
    lowest_error,
    share_below,
    trend,
)
from pondering.claims.measures.evidence import Evidence, require
from pondering.claims.measures.quantities import Quantity, mean_over_seeds, over_seeds

LEAST_SPREAD = 1e-3
"""Steps; a smaller spread over seeds is taken for this much where one divides by it."""

TO_SEE_A_TREND = " to see a trend"


def error_with_and_without(
    evidence: Evidence, *, experiment: str, tau_at_most: float, solved_below: float
) -> list[Quantity]:
    """Error of the plain network, and of ACT with a small time penalty (G1, G4).

    Args:
        evidence: the results of a profile.
        experiment: the task.
        tau_at_most: the largest time penalty the claim speaks of; none (τ = 0) is left out.
        solved_below: mean error under which a setting counts as solved.

    Returns:
        plain_error, act_error, solved_settings, gap, solve_updates.
    """
    plain = evidence.plain(experiment).seed_error()[:, 0]
    act = evidence.sweep(experiment, "act").small_tau(tau_at_most).seed_error()
    reached = _updates_at_lowest_tau(evidence, experiment, solved_below)
    return [
        mean_over_seeds("plain_error", "error of the plain network", "share", plain),
        over_seeds("act_error", f"error of ACT, 0 < τ ≤ {tau_at_most:g}", "share", average, act),
        _solved_settings(act, solved_below),
        over_seeds("gap", "error without ACT less error with it", "points", difference, plain, act),
        over_seeds(
            "solve_updates",
            f"median updates to {100 * solved_below:g}% training error, lowest τ",
            "updates",
            np.median,
            reached,
        ),
    ]


def trends_with_tau(
    evidence: Evidence, *, experiment: str, minimum_settings: int
) -> list[Quantity]:
    """How error, ponder, speed of learning and spread of ponder follow the time penalty (G2).

    Args:
        evidence: the results of a profile.
        experiment: the task.
        minimum_settings: fewer time penalties than this show no trend.

    Returns:
        plain_error, act_error, ponder_trend, error_trend, speed_trend, spread_ratio.
    """
    act = evidence.sweep(experiment, "act")
    require(len(act.settings), minimum_settings, "settings", TO_SEE_A_TREND)
    learning = _speed_trend(evidence, experiment)
    plain = evidence.plain(experiment).seed_error()[:, 0]
    return [
        mean_over_seeds("plain_error", "error of the plain network", "share", plain),
        over_seeds(
            "act_error", "error of ACT at its best τ", "share", lowest_error, act.seed_error()
        ),
        mean_over_seeds(
            "ponder_trend",
            "correlation of steps with τ",
            "correlation",
            trend(act.settings, act.seed_ponder()),
        ),
        mean_over_seeds(
            "error_trend",
            "correlation of error with τ",
            "correlation",
            trend(act.settings, act.seed_error()),
        ),
        learning,
        over_seeds(
            "spread_ratio",
            _spread_label(act.seed_ponder()),
            "times",
            _spread_ratio,
            act.seed_ponder(),
        ),
    ]


def solved_at_every_tau(
    evidence: Evidence, *, experiment: str, solved_below: float, minimum_settings: int
) -> list[Quantity]:
    """Share of time penalties that solve a task, and which of them learn sooner (G6).

    Args:
        evidence: the results of a profile.
        experiment: the task.
        solved_below: mean error under which a setting counts as solved.
        minimum_settings: fewer time penalties than this cannot stand for "every".

    Returns:
        solved_settings, worst_error, speed_trend.
    """
    act = evidence.sweep(experiment, "act")
    require(len(act.settings), minimum_settings, "settings", TO_SEE_A_TREND)
    learning = _speed_trend(evidence, experiment)
    return [
        _solved_settings(act.seed_error(), solved_below),
        over_seeds(
            "worst_error",
            "error at the worst τ",
            "share",
            lambda rows: average(rows, axis=0).max(),
            act.seed_error(),
        ),
        learning,
    ]


def _solved_settings(errors: Array, solved_below: float) -> Quantity:
    label = f"settings of ACT that solve the task (mean error below {100 * solved_below:g}%)"
    return over_seeds("solved_settings", label, "share", partial(share_below, solved_below), errors)


def _speed_trend(evidence: Evidence, experiment: str) -> Quantity:
    """Whether ACT learns later as the penalty grows."""
    curves = evidence.curves(experiment, "act")
    return mean_over_seeds(
        "speed_trend",
        "correlation of the error averaged over training with τ",
        "correlation",
        trend(curves.settings, curves.mean_error),
    )


def _spread_ratio(steps: Array) -> float:
    """Spread over seeds in the lowest third of the settings over that in the highest, of [K, S]."""
    low, high = _spreads(steps)
    return low / max(high, LEAST_SPREAD)


def _spread_label(steps: Array) -> str:
    """The ratio in words with both spreads, since the second may be next to nothing."""
    low, high = _spreads(steps)
    if np.isnan([low, high]).any():
        return "spread of steps over seeds, lowest third of τ over highest third"
    least = f", taken as {LEAST_SPREAD:g}" if high < LEAST_SPREAD else ""
    return (
        f"spread of steps over seeds, lowest third of τ (s.d. {low:.3g}) over highest third "
        f"({high:.2g}{least})"
    )


def _spreads(steps: Array) -> tuple[float, float]:
    """Mean deviation over seeds in the lowest and in the highest third of the settings."""
    third = max(1, steps.shape[1] // 3)
    deviation = deviations(steps)
    return float(average(deviation[:third])), float(average(deviation[-third:]))


def _updates_at_lowest_tau(evidence: Evidence, experiment: str, solved_below: float) -> Array:
    """[K] updates to reach `solved_below` in training at the lowest positive time penalty."""
    curves = evidence.curves(experiment, "act")
    place = int(np.flatnonzero(curves.settings > 0)[0]) if (curves.settings > 0).any() else 0
    return curves.reached(solved_below)[:, place]
