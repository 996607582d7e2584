"""How steps and error follow difficulty (Graves 2016: G3, G5, G7, G8)."""

from __future__ import annotations

from functools import partial

import numpy as np

from pondering.claims.measures.arrays import (
    Array,
    average,
    linear_fit,
    lowest_error,
    share_below,
    trend,
)
from pondering.claims.measures.evidence import Evidence, InsufficientError, require
from pondering.claims.measures.quantities import Quantity, mean_over_seeds, over_seeds
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
    require(len(act.difficulties), 4, "difficulties")
    middle = act.where(
        lambda tau: (tau >= tau_from) & (tau <= tau_to), f"{tau_from:g} ≤ τ ≤ {tau_to:g}"
    )
    learned = np.flatnonzero(average(middle.seed_error(), axis=0) < learned_below)
    quantities = [
        over_seeds(
            "learned_settings",
            "intermediate settings of ACT that have learned the task",
            "share",
            partial(share_below, learned_below),
            middle.seed_error(),
        ),
        mean_over_seeds(
            "plain_error_rise",
            "error of the plain network, hardest third less easiest third",
            "points",
            _thirds(plain.error)[:, 0],
        ),
    ]
    if learned.size:
        quantities += _lines(
            middle.difficulties, middle.settings[learned], middle.ponder[:, learned]
        )
    return quantities


def _lines(difficulties: Array, taus: Array, ponder: Array) -> list[Quantity]:
    """Straight lines through steps [K, S, D] against difficulty: rise, fit, slope against τ."""
    slope, explained = linear_fit(difficulties, ponder)
    rise = slope * float(np.ptp(difficulties))
    steep = trend(taus, np.where(np.isnan(ponder).any(axis=2), np.nan, slope))
    if len(taus) < 2:  # a single setting shows no trend
        steep = np.full(len(steep), np.nan)
    return [
        over_seeds("rise", "steps gained from easiest to hardest", "steps", average, rise),
        over_seeds("linearity", "R² of a straight line", "number", average, explained),
        mean_over_seeds("steepness_trend", "correlation of slope with τ", "correlation", steep),
    ]


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
    act = evidence.sweep(experiment, "act").small_tau(tau_at_most)
    plain = evidence.plain(experiment)
    levels = act.difficulties
    if levels.min() > 1 or levels.max() < last:
        raise InsufficientError(
            f"difficulties 1 to {last:g} are needed, {levels.min():g} to {levels.max():g} were run"
        )
    steps = average(act.ponder, axis=1)
    early, late = (levels > 1) & (levels <= middle), (levels >= middle) & (levels <= last)
    easy = plain.difficulties <= middle
    hard = ~easy & (plain.difficulties <= last)
    jump = average(plain.error[:, 0, hard], axis=1) - average(plain.error[:, 0, easy], axis=1)
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
    require(len(act.difficulties), minimum_levels, "difficulties")
    errors = average(act.seed_error(), axis=0)
    quantities = [
        over_seeds(
            "act_error", "error of ACT at its best τ", "share", lowest_error, act.seed_error()
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
    plain = evidence.plain(experiment).seed_error()[:, 0]
    require(len(act.difficulties), 4, "difficulties")
    errors, best = act.seed_error(), act.best()
    ponder = np.log(np.maximum(act.ponder[:, best], 1e-6))
    growth, _ = linear_fit(np.log(act.difficulties), ponder)

    def gain(without: Array, with_act: Array) -> float:
        return float(average(without)) - lowest_error(with_act)

    return [
        mean_over_seeds("plain_error", "error of the plain network", "share", plain),
        over_seeds("best_error", "error of ACT at its best τ", "share", lowest_error, errors),
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


def _thirds(error: Array) -> Array:
    """[K, S] error in the hardest third of the difficulties less that in the easiest third."""
    third = max(1, error.shape[2] // 3)
    return average(error[:, :, -third:], axis=2) - average(error[:, :, :third], axis=2)
