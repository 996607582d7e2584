"""The measures behind the claims on digits, upright and rotated (M1, M2)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pondering.claims.evidence import Evidence, InsufficientError, at_prior
from pondering.claims.frames import Array, by, difference, trend
from pondering.claims.quantities import Measured
from pondering.results.statistics import interval, mean_interval


def digit_accuracy(evidence: Evidence, *, experiment: str, lambda_p: float) -> Measured:
    """M1: test accuracy of PonderNet on digits beside the plain network.

    Args:
        lambda_p: the prior of the claim.
    """
    ponder = _accuracy(at_prior(evidence.sweep(experiment, "pondernet"), lambda_p))
    plain = _accuracy(evidence.plain(experiment))
    return {
        "pondernet_accuracy": mean_interval(ponder),
        "plain_accuracy": mean_interval(plain),
        "against_plain": interval(difference, ponder, plain),
    }


def rotated_digits(
    evidence: Evidence, *, experiment: str, lambda_p: float, trained: float, farthest: float
) -> Measured:
    """M2: accuracy and steps as digits turn beyond the trained angles.

    Args:
        experiment: has the splits "range" and "angle", difficulties in degrees.
        lambda_p: the prior of the claim.
        trained: largest angle trained on, in degrees.
        farthest: largest angle tested, in degrees.

    Raises:
        InsufficientError: one of the two angles was not tested.
    """
    ranges, angles = (
        at_prior(evidence.sweep(experiment, "pondernet", split), lambda_p)
        for split in ("range", "angle")
    )
    error, steps = (by(ranges, name, "difficulty") for name in ("error", "ponder_time"))
    if not {trained, farthest} <= set(error.columns):
        raise InsufficientError(f"test sets up to {trained:g} and {farthest:g} degrees are needed")
    turned = by(angles, "ponder_time", "difficulty").rename(columns=abs)
    return {
        "trained_accuracy": mean_interval(1 - error[trained]),
        "accuracy_fall": mean_interval(error[farthest] - error[trained]),
        "steps_change": mean_interval(steps[farthest] - steps[trained]),
        "angle_trend": mean_interval(trend(turned)),
    }


def _accuracy(rows: pd.DataFrame) -> Array:
    """[seeds] share of all examples right: classes weigh by their size, as in a test accuracy."""
    weights = rows.groupby("difficulty")["examples"].first()
    return np.asarray(1 - by(rows, "error", "difficulty") @ (weights / weights.sum()))
