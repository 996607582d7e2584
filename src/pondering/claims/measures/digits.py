"""The measures behind the claims on digits, upright and rotated (M1, M2)."""

from __future__ import annotations

import numpy as np

from pondering.claims.measures.arrays import Array, average, difference, trend
from pondering.claims.measures.evidence import Cube, Evidence, InsufficientError
from pondering.claims.measures.quantities import Quantity, mean_over_seeds, over_seeds


def digit_accuracy(evidence: Evidence, *, experiment: str, lambda_p: float) -> list[Quantity]:
    """Test accuracy of PonderNet on digits beside the plain network (M1).

    Args:
        lambda_p: the prior of the claim.

    Returns:
        pondernet_accuracy, plain_accuracy, against_plain.
    """
    ponder = evidence.sweep(experiment, "pondernet").at_prior(lambda_p)
    plain = evidence.plain(experiment)
    accuracies = _accuracy(ponder), _accuracy(plain)
    return [
        mean_over_seeds("pondernet_accuracy", "accuracy of PonderNet", "share", accuracies[0]),
        mean_over_seeds("plain_accuracy", "accuracy of the plain network", "share", accuracies[1]),
        over_seeds(
            "against_plain",
            "accuracy of PonderNet less that of the plain network",
            "points",
            difference,
            *accuracies,
        ),
    ]


def rotated_digits(
    evidence: Evidence, *, experiment: str, lambda_p: float, trained: float, farthest: float
) -> list[Quantity]:
    """Accuracy and steps as digits turn beyond the trained angles (M2).

    Args:
        experiment: has the splits "range" and "angle", difficulties in degrees.
        lambda_p: the prior of the claim.
        trained: largest angle trained on, in degrees.
        farthest: largest angle tested, in degrees.

    Returns:
        trained_accuracy, accuracy_fall, steps_change, angle_trend.

    Raises:
        InsufficientError: one of the two angles was not tested.
    """
    ranges = evidence.sweep(experiment, "pondernet", "range").at_prior(lambda_p)
    angles = evidence.sweep(experiment, "pondernet", "angle").at_prior(lambda_p)
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


def _accuracy(sweep: Cube) -> Array:
    """[K] share of all examples right: classes weigh by their size, as in a test accuracy."""
    weights = sweep.examples / sweep.examples.sum()
    return np.asarray(1 - average(sweep.error, axis=1) @ weights, dtype=np.float64)
