"""How steps and error follow difficulty (Graves 2016: G3, G5, G7, G8)."""

from __future__ import annotations

import numpy as np

from pondering.claims.measures.arrays import (
    Array,
    average,
    linear_fit,
    lowest_error,
    trend,
)
from pondering.claims.measures.evidence import (
    Cube,
    Evidence,
    InsufficientError,
    NotRunError,
    require,
    small_taus,
)
from pondering.claims.measures.quantities import Quantity, mean_over_seeds, over_seeds
from pondering.claims.measures.sequences import end_spike, tracking


def ponder_by_bits(
    evidence: Evidence,
    *,
    experiment: str,
    scattered: str,
    tau_from: float,
    tau_to: float,
    learned_below: float,
    minimum_networks: int,
) -> list[Quantity]:
    """How steps and error follow difficulty, with ACT and without (G3).

    Lines are drawn through networks that have solved the task: one that has not has no ponder to
    speak of. Intervals take networks for the sample.

    Args:
        scattered: the same with scattered elements, whose networks with τ > 0 all enter.
        tau_from, tau_to: the intermediate time penalties, both included.
        learned_below: a network with a smaller error has solved the task.
        minimum_networks: fewer solved networks than this show no line.

    Returns:
        solved_networks, rise, linearity, steepness_trend, rise_all, plain_error_rise; of scattered
        elements scattered_solved, scattered_rise, scattered_linearity, scattered_steepness_trend
        and scattered_plain_error_rise. NaN where too few networks have solved the task, and of
        scattered elements where they were not run.
    """
    words = f"{tau_from:g} ≤ τ ≤ {tau_to:g}"
    act = evidence.sweep(
        experiment, "act", "test", lambda tau: (tau >= tau_from) & (tau <= tau_to), words
    )
    plain = evidence.plain(experiment)
    require(len(act.difficulties), 4, "difficulties")
    apart, plain_apart = np.empty((0, 4)), np.full((1, 1, 1), np.nan)
    try:
        apart = _lines(evidence.sweep(scattered, "act", "test", lambda tau: tau > 0, "τ > 0"))
        plain_apart = evidence.plain(scattered).error
    except (NotRunError, InsufficientError):
        pass
    every = _lines(act)
    solved, solved_apart = (rows[rows[:, 1] < learned_below] for rows in (every, apart))
    lines, lines_apart = (
        rows if len(rows) >= minimum_networks else rows[:0] for rows in (solved, solved_apart)
    )
    solving = f"networks of ACT that solve the task (error below {100 * learned_below:g}%)"
    gained = "steps gained from easiest to hardest"
    there = "scattered elements"
    return [
        _count("solved_networks", f"{solving}, {words}", solved, every),
        mean_over_seeds("rise", f"{gained}, networks that solve the task", "steps", lines[:, 2]),
        mean_over_seeds("linearity", "R² of a straight line", "number", lines[:, 3]),
        over_seeds(
            "steepness_trend",
            "correlation of slope with τ",
            "correlation",
            _steepness,
            lines[:, [0, 2]],
        ),
        mean_over_seeds("rise_all", f"{gained}, all networks", "steps", every[:, 2]),
        mean_over_seeds(
            "plain_error_rise",
            "error of the plain network, hardest third less easiest third",
            "points",
            _thirds(plain.error)[:, 0],
        ),
        _count("scattered_solved", f"{there}: {solving}, τ > 0", solved_apart, apart),
        mean_over_seeds(
            "scattered_rise",
            f"{there}: {gained}, networks that solve the task",
            "steps",
            lines_apart[:, 2],
        ),
        mean_over_seeds(
            "scattered_linearity", f"{there}: R² of a straight line", "number", lines_apart[:, 3]
        ),
        over_seeds(
            "scattered_steepness_trend",
            f"{there}: correlation of slope with τ",
            "correlation",
            _steepness,
            lines_apart[:, [0, 2]],
        ),
        mean_over_seeds(
            "scattered_plain_error_rise",
            f"{there}: error of the plain network, hardest third less easiest third",
            "points",
            _thirds(plain_apart)[:, 0],
        ),
    ]


def _lines(act: Cube) -> Array:
    """[networks, (τ, error, steps gained from easiest to hardest, R²)] of straight lines."""
    slope, explained = linear_fit(act.difficulties, act.ponder)
    rise = slope * float(np.ptp(act.difficulties))
    taus = np.broadcast_to(act.settings, slope.shape)
    lines = np.stack([taus, act.seed_error(), rise, explained], axis=-1).reshape(-1, 4)
    return lines[~np.isnan(lines[:, 1])]


def _count(name: str, label: str, solved: Array, every: Array) -> Quantity:
    """How many networks have solved a task; NaN where none was trained."""
    count = float(len(solved)) if len(every) else float("nan")
    return Quantity(name, label, "networks", count, None, None, len(every))


def _steepness(lines: Array) -> float:
    """Correlation of slope with τ over networks [K, (τ, rise)]; one setting shows no trend."""
    if len(np.unique(lines[:, 0])) < 2:
        return float("nan")
    return float(trend(lines[:, 0], lines[None, :, 1])[0])


def ponder_by_gates(
    evidence: Evidence, *, experiment: str, tau_at_most: float, middle: float, last: float
) -> list[Quantity]:
    """Steps and error on either side of a middle difficulty (G5).

    Args:
        tau_at_most: the largest time penalty of the networks that ponder.
        middle, last: the difficulty after which it changes (5 gates), and the largest (10).

    Returns:
        act_error, rise, gradual, easiest_excess, plain_jump.

    Raises:
        InsufficientError: the difficulties do not reach from 1 to `last`.
    """
    act = evidence.sweep(experiment, "act", "test", *small_taus(tau_at_most))
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
    evidence: Evidence,
    *,
    experiment: str,
    minimum_levels: int,
    minimum_numbers: int,
    learned_at_most: float,
) -> list[Quantity]:
    """Steps against digits: linearity, slope at the highest penalty, and within a sequence (G7).

    Args:
        minimum_levels: fewer difficulties than this cannot tell a line from a curve.
        minimum_numbers: where no traced sequence has so many, there are too few sums to follow.
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
            tracking(evidence, experiment, learned, minimum_numbers),
        ]
    return quantities


def sorting(evidence: Evidence, *, experiment: str) -> list[Quantity]:
    """What ACT gains on sorting, what it costs, and where in a sequence it ponders (G8).

    Returns:
        plain_error, best_error, gain, relative_gain (gain over plain_error), computation,
        error_trend, growth, end_spike.
    """
    act = evidence.sweep(experiment, "act")
    plain = evidence.plain(experiment).seed_error()[:, 0]
    require(len(act.difficulties), 4, "difficulties")
    errors, best = act.seed_error(), act.best()
    ponder = np.log(np.maximum(act.ponder[:, best], 1e-6))
    growth, _ = linear_fit(np.log(act.difficulties), ponder)

    def gain(without: Array, with_act: Array) -> float:
        return float(average(without)) - lowest_error(with_act)

    def relative(without: Array, with_act: Array) -> float:
        whole = float(average(without))
        return gain(without, with_act) / whole if whole else float("nan")

    return [
        mean_over_seeds("plain_error", "error of the plain network", "share", plain),
        over_seeds("best_error", "error of ACT at its best τ", "share", lowest_error, errors),
        over_seeds(
            "gain", "error without ACT less error at the best τ", "points", gain, plain, errors
        ),
        over_seeds(
            "relative_gain",
            "share of the plain network's error that the best τ takes away",
            "part",
            relative,
            plain,
            errors,
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
