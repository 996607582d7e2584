"""What the time penalty does to error, ponder and learning (Graves 2016: G1, G2, G4, G6)."""

from __future__ import annotations

import numpy as np

from pondering.claims.measures.evidence import Cube, Evidence, InsufficientError
from pondering.claims.measures.quantities import (
    Array,
    Quantity,
    average,
    deviations,
    mean_over_seeds,
    over_seeds,
    trend,
)

LEAST_SPREAD = 1e-3
"""Steps; a smaller spread over seeds is taken for this much where one divides by it."""


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
    plain = average(evidence.plain(experiment).seed_error(), axis=1)
    act = small_tau(evidence.sweep(experiment, "act"), tau_at_most).seed_error()
    reached = _updates_at_lowest_tau(evidence, experiment, solved_below)

    def solved(rows: Array) -> float:
        return float((average(rows, axis=0) < solved_below).mean())

    def gap(without: Array, with_act: Array) -> float:
        return float(average(without) - average(with_act))

    return [
        mean_over_seeds("plain_error", "error of the plain network", "share", plain),
        over_seeds("act_error", f"error of ACT, 0 < τ ≤ {tau_at_most:g}", "share", average, act),
        over_seeds("solved_settings", _solving(solved_below), "share", solved, act),
        over_seeds("gap", "error without ACT less error with it", "points", gap, plain, act),
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
    act = _with_settings(evidence.sweep(experiment, "act"), minimum_settings)
    curves = evidence.curves(experiment, "act")
    plain = average(evidence.plain(experiment).seed_error(), axis=1)
    return [
        mean_over_seeds("plain_error", "error of the plain network", "share", plain),
        over_seeds(
            "act_error",
            "error of ACT at its best τ",
            "share",
            lambda rows: average(rows, axis=0).min(),
            act.seed_error(),
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
        mean_over_seeds(
            "speed_trend",
            "correlation of the error averaged over training with τ",
            "correlation",
            trend(curves.settings, curves.mean_error),
        ),
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
    act = _with_settings(evidence.sweep(experiment, "act"), minimum_settings)
    curves = evidence.curves(experiment, "act")
    errors = act.seed_error()
    return [
        over_seeds(
            "solved_settings",
            _solving(solved_below),
            "share",
            lambda rows: (average(rows, axis=0) < solved_below).mean(),
            errors,
        ),
        over_seeds(
            "worst_error",
            "error at the worst τ",
            "share",
            lambda rows: average(rows, axis=0).max(),
            errors,
        ),
        mean_over_seeds(
            "speed_trend",
            "correlation of the error averaged over training with τ",
            "correlation",
            trend(curves.settings, curves.mean_error),
        ),
    ]


def small_tau(sweep: Cube, tau_at_most: float) -> Cube:
    return sweep.where(
        lambda tau: (tau > 0) & (tau <= tau_at_most * (1 + 1e-9)), f"0 < τ ≤ {tau_at_most:g}"
    )


def _with_settings(sweep: Cube, minimum: int) -> Cube:
    if len(sweep.settings) < minimum:
        raise InsufficientError(
            f"{len(sweep.settings)} settings were run, {minimum} are needed to see a trend"
        )
    return sweep


def _solving(solved_below: float) -> str:
    return f"settings of ACT that solve the task (mean error below {100 * solved_below:g}%)"


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
