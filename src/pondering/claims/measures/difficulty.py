"""How steps and error follow difficulty (Graves 2016: G3, G5, G7, G8)."""

from __future__ import annotations

import numpy as np

from pondering.claims.measures.evidence import Cube, Evidence, InsufficientError
from pondering.claims.measures.penalty import small_tau
from pondering.claims.measures.quantities import (
    Array,
    Quantity,
    average,
    linear_fit,
    mean_over_seeds,
    over_seeds,
    trend,
)
from pondering.claims.measures.sequences import end_spike, tracking


def ponder_by_bits(
    evidence: Evidence, *, experiment: str, tau_from: float, tau_to: float, learned_below: float
) -> list[Quantity]:
    """How steps and error follow difficulty, with ACT and without (G3).

    Args:
        evidence: the results of a profile.
        experiment: the task.
        tau_from, tau_to: the intermediate time penalties, both included.
        learned_below: only intermediate settings with a mean error below this enter; a network
            that has not learned the task has no ponder to speak of.

    Returns:
        learned_settings and plain_error_rise; rise, linearity and steepness_trend where any
        intermediate setting has learned.
    """
    act = evidence.sweep(experiment, "act")
    plain = evidence.plain(experiment)
    _needs_levels(act, 4)
    middle = act.where(
        lambda tau: (tau >= tau_from) & (tau <= tau_to), f"{tau_from:g} ≤ τ ≤ {tau_to:g}"
    )
    learned = np.flatnonzero(average(middle.seed_error(), axis=0) < learned_below)
    quantities = [
        over_seeds(
            "learned_settings",
            "intermediate settings of ACT that have learned the task",
            "share",
            lambda rows: (average(rows, axis=0) < learned_below).mean(),
            middle.seed_error(),
        ),
        mean_over_seeds(
            "plain_error_rise",
            "error of the plain network, hardest third less easiest third",
            "points",
            average(_thirds(plain.error), axis=1),
        ),
    ]
    if learned.size:
        slope, explained = linear_fit(middle.difficulties, middle.ponder[:, learned])
        across = float(np.ptp(middle.difficulties))
        gone = np.isnan(middle.ponder[:, learned]).any(axis=2)
        steep = trend(middle.settings[learned], np.where(gone, np.nan, slope))
        if learned.size < 2:  # a single setting shows no trend
            steep = np.full(len(steep), np.nan)
        quantities += [
            over_seeds(
                "rise", "steps gained from easiest to hardest", "steps", average, slope * across
            ),
            over_seeds("linearity", "R² of a straight line", "number", average, explained),
            mean_over_seeds("steepness_trend", "correlation of slope with τ", "correlation", steep),
        ]
    return quantities


def ponder_by_gates(
    evidence: Evidence, *, experiment: str, tau_at_most: float, middle: float, last: float
) -> list[Quantity]:
    """Steps and error on either side of a middle difficulty (G5).

    Args:
        evidence: the results of a profile.
        experiment: the task.
        tau_at_most: the largest time penalty of the networks that ponder.
        middle, last: the difficulty after which it changes (5 gates), and the largest (10).

    Returns:
        act_error, rise, gradual, easiest_excess, plain_jump.

    Raises:
        InsufficientError: the difficulties do not reach from 1 to `last`.
    """
    act = small_tau(evidence.sweep(experiment, "act"), tau_at_most)
    plain = evidence.plain(experiment)
    levels = act.difficulties
    _needs_range(act, last)
    steps = average(act.ponder, axis=1)
    early, late = (levels > 1) & (levels <= middle), (levels >= middle) & (levels <= last)
    above = (plain.difficulties > middle) & (plain.difficulties <= last)
    parts = (plain.error[:, :, above], plain.error[:, :, plain.difficulties <= middle])
    jump = average(parts[0], axis=(1, 2)) - average(parts[1], axis=(1, 2))
    at_middle, at_last = (steps[:, np.argmin(abs(levels - place))] for place in (middle, last))
    return [
        over_seeds("act_error", "error of ACT", "share", average, act.seed_error()),
        mean_over_seeds(
            "rise", f"steps gained from {middle:g} to {last:g}", "steps", at_last - at_middle
        ),
        mean_over_seeds(
            "gradual",
            f"correlation of steps with difficulty, {middle:g} to {last:g}",
            "correlation",
            trend(levels[late], steps[:, late]),
        ),
        mean_over_seeds(
            "easiest_excess",
            f"steps at difficulty 1 less the fewest of 2 to {middle:g}",
            "steps",
            steps[:, 0] - steps[:, early].min(axis=1),
        ),
        mean_over_seeds(
            "plain_jump",
            f"error of the plain network above {middle:g}, to {last:g}, less up to {middle:g}",
            "points",
            jump,
        ),
    ]


def ponder_by_digits(
    evidence: Evidence, *, experiment: str, minimum_levels: int, learned_at_most: float
) -> list[Quantity]:
    """Steps against digits: linearity, slope at the highest penalty, and within a sequence (G7).

    Args:
        evidence: the results of a profile.
        experiment: the task.
        minimum_levels: fewer difficulties than this cannot tell a line from a curve.
        learned_at_most: only settings with a mean error up to this enter; a network that has not
            learned the task has no ponder to speak of.

    Returns:
        act_error; linearity, highest_slope and tracking where any setting has learned.
    """
    act = evidence.sweep(experiment, "act")
    _needs_levels(act, minimum_levels)
    errors = average(act.seed_error(), axis=0)
    quantities = [
        over_seeds(
            "act_error",
            "error of ACT at its best τ",
            "share",
            lambda rows: average(rows, axis=0).min(),
            act.seed_error(),
        )
    ]
    if (errors <= learned_at_most).any():
        learned = act.where(lambda _: errors <= learned_at_most, "a low error")
        slope, explained = linear_fit(learned.difficulties, learned.ponder)
        highest = f"steps per digit at τ = {learned.settings[-1]:g}, the highest that learned"
        quantities += [
            over_seeds("linearity", "R² of a straight line", "number", average, explained),
            mean_over_seeds("highest_slope", highest, "steps", slope[:, -1]),
            tracking(evidence, experiment, learned),
        ]
    return quantities


def sorting(evidence: Evidence, *, experiment: str) -> list[Quantity]:
    """What ACT gains on sorting, what it costs, and where in a sequence it ponders (G8).

    Args:
        evidence: the results of a profile.
        experiment: the task.

    Returns:
        plain_error, best_error, gain, computation, error_trend, growth, end_spike.
    """
    act = evidence.sweep(experiment, "act")
    plain = average(evidence.plain(experiment).seed_error(), axis=1)
    _needs_levels(act, 4)
    errors, best = act.seed_error(), act.best()
    ponder = np.log(np.maximum(act.ponder[:, best], 1e-6))
    growth, _ = linear_fit(np.log(act.difficulties), ponder)

    def gain(without: Array, with_act: Array) -> float:
        return float(average(without) - average(with_act, axis=0).min())

    return [
        mean_over_seeds("plain_error", "error of the plain network", "share", plain),
        over_seeds(
            "best_error",
            "error of ACT at its best τ",
            "share",
            lambda rows: average(rows, axis=0).min(),
            errors,
        ),
        over_seeds(
            "gain", "error without ACT less error at the best τ", "points", gain, plain, errors
        ),
        mean_over_seeds(
            "computation", "computation at the best τ", "times", act.seed_ponder()[:, best]
        ),
        mean_over_seeds(
            "error_trend",
            "correlation of error with length at the best τ",
            "correlation",
            trend(act.difficulties, act.error[:, best]),
        ),
        mean_over_seeds("growth", "power of length that steps grow with", "number", growth),
        end_spike(evidence, experiment),
    ]


def _needs_levels(sweep: Cube, minimum: int) -> None:
    if len(sweep.difficulties) < minimum:
        raise InsufficientError(
            f"{len(sweep.difficulties)} difficulties were run, {minimum} are needed"
        )


def _needs_range(sweep: Cube, last: float) -> None:
    low, high = sweep.difficulties.min(), sweep.difficulties.max()
    if low > 1 or high < last:
        raise InsufficientError(
            f"difficulties 1 to {last:g} are needed, {low:g} to {high:g} were run"
        )


def _thirds(error: Array) -> Array:
    """[K, S] error in the hardest third of the difficulties less that in the easiest third."""
    third = max(1, error.shape[2] // 3)
    return average(error[:, :, -third:], axis=2) - average(error[:, :, :third], axis=2)
