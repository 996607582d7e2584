"""What the time penalty does to error, ponder and learning (Graves 2016: G1, G2, G4, G6)."""

from __future__ import annotations

import numpy as np

from pondering.claims.measures.arrays import (
    Array,
    average,
    deviations,
    lowest_error,
    present,
    trend,
)
from pondering.claims.measures.evidence import Evidence, require, small_taus
from pondering.claims.measures.quantities import (
    Quantity,
    mean_over_seeds,
    median_over_seeds,
    over_seeds,
    rate,
    rate_gap,
    solved_settings,
)

LEAST_SPREAD = 1e-3
"""Steps; a smaller spread over seeds is taken for this much where one divides by it."""


def error_with_and_without(
    evidence: Evidence, *, experiment: str, tau_at_most: float, solved_below: float
) -> list[Quantity]:
    """Error of the plain network, and of ACT with a small time penalty (G1, G4).

    Networks solve a task or stall far from it, so medians and rates are judged, not means.

    Args:
        tau_at_most: the largest time penalty the claim speaks of; none (τ = 0) is left out.
        solved_below: a network with a smaller error has solved the task.

    Returns:
        plain_error, act_error (medians over seeds, ACT's at the setting with the highest),
        solved_settings, gap (at the setting that solves least often), solve_updates; beside them
        solved_below_largest (of all but the largest penalty), plain_solved, plain_mean_error and
        act_mean_error.
    """
    plain = evidence.plain(experiment).seed_error()[:, 0]
    keep, small = small_taus(tau_at_most)
    sweep = evidence.sweep(experiment, "act", "test", keep, small)
    errors = sweep.seed_error()
    by_setting = [present(column) for column in errors.T]
    worst = max(by_setting, key=np.median)
    rarest = min(by_setting, key=lambda column: float((column < solved_below).mean()))
    reached = _updates_at_lowest_tau(evidence, experiment, solved_below)
    percent = f"{100 * solved_below:g}%"
    return [
        median_over_seeds("plain_error", "median error of the plain network", "share", plain),
        median_over_seeds(
            "act_error", f"median error of ACT at the worst of {small}", "share", worst
        ),
        solved_settings(
            "solved_settings",
            f"settings of ACT that most seeds solve (error below {percent})",
            sweep.whole().seed_error() < solved_below,
        ),
        rate_gap(
            "gap",
            f"networks that solve the task, ACT at its worst of {small} less without ACT",
            rarest < solved_below,
            plain < solved_below,
        ),
        median_over_seeds(
            "solve_updates",
            f"median updates to {percent} training error, lowest τ",
            "updates",
            present(reached),
        ),
        rate(
            "solved_below_largest",
            f"networks of ACT that solve the task, {small} but for the largest",
            np.concatenate([np.empty(0), *by_setting[:-1]]) < solved_below,
        ),
        rate("plain_solved", "plain networks that solve the task", plain < solved_below),
        mean_over_seeds("plain_mean_error", "mean error of the plain network", "share", plain),
        over_seeds("act_mean_error", f"mean error of ACT, {small}", "share", average, errors),
    ]


def trends_with_tau(
    evidence: Evidence, *, experiment: str, minimum_settings: int
) -> list[Quantity]:
    """How error, ponder, speed of learning and spread of ponder follow the time penalty (G2).

    Args:
        minimum_settings: fewer time penalties than this show no trend.

    Returns:
        plain_error, act_error, ponder_trend, error_trend, speed_trend, spread_ratio.
    """
    act = evidence.sweep(experiment, "act")
    require(len(act.settings), minimum_settings, "settings")
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
        solved_below: a network has solved the task if its error is smaller, over all difficulties
            and at the hardest.
        minimum_settings: fewer time penalties than this cannot stand for "every".

    Returns:
        solved_settings, worst_error (the highest median), speed_trend.
    """
    act = evidence.sweep(experiment, "act")
    require(len(act.settings), minimum_settings, "settings")
    learning = _speed_trend(evidence, experiment)
    act = act.whole()
    errors = act.seed_error()
    return [
        solved_settings(
            "solved_settings",
            "settings of ACT that most seeds solve, over all difficulties and at the hardest "
            f"(error below {100 * solved_below:g}%)",
            (errors < solved_below) & (act.error[:, :, -1] < solved_below),
        ),
        median_over_seeds(
            "worst_error",
            "median error at the worst τ",
            "share",
            max(errors.T, key=np.median),
        ),
        learning,
    ]


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
