"""The measures behind the claims on digits and on the fixed repeat (M1, M2, F1)."""

from __future__ import annotations

import numpy as np

from pondering.claims.measures.banino import _median_ratio, best_accuracy
from pondering.claims.measures.evidence import Cube, Evidence, InsufficientError
from pondering.claims.measures.quantities import (
    Array,
    Quantity,
    average,
    mean_over_seeds,
    over_seeds,
    trend,
)


def digit_accuracy(evidence: Evidence, *, experiment: str, lambda_p: float) -> list[Quantity]:
    """Test accuracy of PonderNet on digits beside the plain network (M1).

    Args:
        evidence: the results of a profile.
        experiment: the data set.
        lambda_p: the prior of the claim.

    Returns:
        pondernet_accuracy, plain_accuracy, against_plain.
    """
    ponder = _at_prior(evidence.sweep(experiment, "pondernet"), lambda_p)
    plain = evidence.plain(experiment)
    accuracies = _accuracy(ponder), _accuracy(plain)
    return [
        mean_over_seeds("pondernet_accuracy", "accuracy of PonderNet", "share", accuracies[0]),
        mean_over_seeds("plain_accuracy", "accuracy of the plain network", "share", accuracies[1]),
        over_seeds(
            "against_plain",
            "accuracy of PonderNet less that of the plain network",
            "points",
            lambda a, b: average(a) - average(b),
            *accuracies,
        ),
    ]


def rotated_digits(
    evidence: Evidence, *, experiment: str, lambda_p: float, trained: float, farthest: float
) -> list[Quantity]:
    """Accuracy and steps as digits turn beyond the trained angles (M2).

    Args:
        evidence: the results of a profile.
        experiment: has the splits "range" and "angle", difficulties in degrees.
        lambda_p: the prior of the claim.
        trained: largest angle trained on, in degrees.
        farthest: largest angle tested, in degrees.

    Returns:
        trained_accuracy, accuracy_fall, steps_change, angle_trend.

    Raises:
        InsufficientError: one of the two angles was not tested.
    """
    ranges = _at_prior(evidence.sweep(experiment, "pondernet", "range"), lambda_p)
    angles = _at_prior(evidence.sweep(experiment, "pondernet", "angle"), lambda_p)
    places = [np.flatnonzero(np.isclose(ranges.difficulties, d)) for d in (trained, farthest)]
    if not all(place.size for place in places):
        raise InsufficientError(f"test sets up to {trained:g} and {farthest:g} degrees are needed")
    near, far = (int(place[0]) for place in places)
    error, steps = ranges.error[:, 0], ranges.ponder[:, 0]
    return [
        mean_over_seeds(
            "trained_accuracy", f"accuracy up to {trained:g}°", "share", 1 - error[:, near]
        ),
        mean_over_seeds(
            "accuracy_fall",
            f"accuracy lost from {trained:g}° to {farthest:g}°",
            "points",
            error[:, far] - error[:, near],
        ),
        mean_over_seeds(
            "steps_change",
            f"change of steps from {trained:g}° to {farthest:g}°",
            "steps",
            steps[:, far] - steps[:, near],
        ),
        mean_over_seeds(
            "angle_trend",
            "correlation of steps with the angle",
            "correlation",
            trend(abs(angles.difficulties), angles.ponder[:, 0]),
        ),
    ]


def repeat_against_act(
    evidence: Evidence, *, first: str, second: str, solved_error: float
) -> list[Quantity]:
    """The fixed repeat against ACT on two tasks, each at its best setting (F1).

    Args:
        evidence: the results of a profile.
        first: the task on which the fixed repeat also learns sooner (parity).
        second: the other task (addition).
        solved_error: training error at which a task counts as solved (2%, as in the paper).

    Returns:
        for each task NAME_best and NAME_gap, and first_speed.
    """
    quantities = []
    for name, experiment in (("first", first), ("second", second)):
        repeat = evidence.sweep(experiment, "repeat").where(lambda rho: rho > 1, "rho > 1")
        act = evidence.sweep(experiment, "act")
        errors = repeat.seed_error(), act.seed_error()
        quantities += [
            over_seeds(
                f"{name}_best",
                f"{experiment}: accuracy of the better of the two",
                "share",
                lambda a, b: max(best_accuracy(a), best_accuracy(b)),
                *errors,
            ),
            over_seeds(
                f"{name}_gap",
                f"{experiment}: error of the best repeat less that of the best ACT",
                "points",
                lambda a, b: best_accuracy(b) - best_accuracy(a),
                *errors,
            ),
        ]
    repeats, penalties = (evidence.curves(first, name) for name in ("repeat", "act"))
    reached = (
        repeats.reached(solved_error)[:, repeats.settings > 1],
        penalties.reached(solved_error),
    )
    percent = f"{100 * solved_error:g}%"
    quantities.append(
        over_seeds(
            "first_speed",
            f"{first}: updates to {percent} training error, best repeat over best ACT",
            "times",
            _soonest_ratio,
            *reached,
        )
    )
    return quantities


def _accuracy(sweep: Cube) -> Array:
    """[K] share of all examples right: classes weigh by their size, as in a test accuracy."""
    weights = sweep.examples / sweep.examples.sum()
    return np.asarray(1 - average(sweep.error, axis=1) @ weights, dtype=np.float64)


def _at_prior(sweep: Cube, lambda_p: float) -> Cube:
    return sweep.where(lambda prior: np.isclose(prior, lambda_p), f"λp = {lambda_p:g}")


def _soonest_ratio(first: Array, second: Array) -> float:
    """Ratio of the smallest median over settings; NaN if neither ever solves the task."""
    medians = [np.median(rows, axis=0) for rows in (first, second)]
    return _median_ratio(*(rows[[int(np.argmin(rows))]] for rows in medians))
