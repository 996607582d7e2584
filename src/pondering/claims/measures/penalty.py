"""What the time penalty does to error, ponder and learning (Graves 2016: G1, G2, G4, G6)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pondering.claims.evidence import Evidence, require
from pondering.claims.frames import (
    Array,
    average,
    by,
    lowest_error,
    mean_error,
    reached,
    solved_settings,
    trend,
)
from pondering.claims.quantities import Measured
from pondering.results.statistics import (
    interval,
    mean_interval,
    median_interval,
    rate,
    rate_difference,
)

FEWEST_SETTINGS = 3
"""Fewer time penalties show no trend, and cannot stand for "every"."""
LEAST_SPREAD = 1e-3
"""Steps; a smaller spread over seeds is taken for this much where one divides by it."""


def error_with_and_without(
    evidence: Evidence, *, experiment: str, tau_at_most: float, solved_below: float
) -> Measured:
    """G1 and G4, figures 4 and 8: error of the plain network, and of ACT with small penalties.

    Networks solve a task or stall far from it, so medians and rates are judged, not means. ACT's
    error is at the setting with the highest median, the gap at the setting that solves least often.
    """
    plain = by(evidence.plain(experiment), "error")[1.0]
    errors = by(evidence.sweep(experiment, "act", above=0, at_most=tau_at_most), "error")
    settings = [errors[tau].dropna() for tau in errors]
    rarest = min(settings, key=lambda each: float((each < solved_below).mean()))
    updates = reached(evidence.curves(experiment, "act"), solved_below)
    return {
        "plain_error": median_interval(plain),
        "act_error": median_interval(max(settings, key=np.median)),
        "solved_settings": solved_settings(errors.dropna() < solved_below),
        "gap": rate_difference(rate(rarest < solved_below), rate(plain < solved_below)),
        "solve_updates": median_interval(updates.loc[:, updates.columns > 0].iloc[:, :1]),
        "solved_below_largest": rate(np.concatenate([[], *settings[:-1]]) < solved_below),
        "plain_solved": rate(plain < solved_below),
        "plain_mean_error": mean_interval(plain),
        "act_mean_error": interval(average, errors),
    }


def trends_with_tau(evidence: Evidence, *, experiment: str) -> Measured:
    """G2, figure 5: how error, ponder, speed of learning and spread of ponder follow τ."""
    act = evidence.sweep(experiment, "act")
    require(act["setting"].nunique(), FEWEST_SETTINGS, "settings")
    speed = trend(mean_error(evidence.curves(experiment, "act")))
    errors, steps = by(act, "error"), by(act, "ponder_time")
    return {
        "plain_error": mean_interval(by(evidence.plain(experiment), "error")),
        "act_error": interval(lowest_error, errors),
        "ponder_trend": mean_interval(trend(steps)),
        "error_trend": mean_interval(trend(errors)),
        "speed_trend": mean_interval(speed),
        "spread_ratio": interval(_spread_ratio, steps),
        "spread_lowest": interval(lambda rows: _spreads(rows)[0], steps),
        "spread_highest": interval(lambda rows: _spreads(rows)[1], steps),
    }


def solved_at_every_tau(evidence: Evidence, *, experiment: str, solved_below: float) -> Measured:
    """G6, figure 12: share of time penalties that solve a task, and which of them learn sooner.

    A network that has solved the task does so at the hardest difficulty too.
    """
    act = evidence.sweep(experiment, "act")
    require(act["setting"].nunique(), FEWEST_SETTINGS, "settings")
    speed = trend(mean_error(evidence.curves(experiment, "act")))
    errors = by(act, "error").dropna()
    hardest = by(act[act["difficulty"] == act["difficulty"].max()], "error").loc[errors.index]
    return {
        "solved_settings": solved_settings((errors < solved_below) & (hardest < solved_below)),
        "worst_error": median_interval(max((errors[tau] for tau in errors), key=np.median)),
        "speed_trend": mean_interval(speed),
    }


def _spreads(steps: Array) -> tuple[float, float]:
    """Mean deviation over seeds in the lowest and in the highest third of the settings."""
    third, deviations = max(1, steps.shape[1] // 3), pd.DataFrame(steps).std()
    return float(deviations[:third].mean()), float(deviations[-third:].mean())


def _spread_ratio(steps: Array) -> float:
    """Spread over seeds in the lowest third of the settings over that in the highest."""
    low, high = _spreads(steps)
    return low / max(high, LEAST_SPREAD)
