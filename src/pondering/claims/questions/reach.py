"""What is right beyond the range that it was trained on (Q5)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pondering.claims.measures.arrays import Array, average
from pondering.claims.measures.evidence import Evidence, NotRunError
from pondering.claims.measures.quantities import Quantity, mean_over_seeds, median_over_seeds
from pondering.claims.questions.networks import Parts, variants
from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import read_variant

LEARNED = 0.9
"""Accuracy inside the range, as B2 asks for, below which a mechanism has nothing to extrapolate."""


def beyond_the_range(
    evidence: Evidence, *, experiments: Mapping[str, str], splits: tuple[str, str]
) -> Parts:
    """Accuracy beyond the range, of each mechanism at its setting that is best inside (Q5).

    Args:
        experiments: the quantity of each experiment, and the experiment.
        splits: inside the range, and beyond it.

    Returns:
        by mechanism: these quantities, means over difficulties and medians over seeds, of those
        that are right on LEARNED inside; each with NAME_inside, the accuracy inside.

    Raises:
        NotRunError: no experiment has been run.
    """
    parts: Parts = {}
    for name, experiment in experiments.items():
        try:
            table = evidence.table(experiment)
        except NotRunError:
            continue
        title = evidence.results.title(experiment)
        there = {read_variant(name)[0] for name in table["mechanism"].unique()}
        for mechanism in (each for each in MECHANISMS if each in there):
            found = _of_mechanism(evidence, experiment, mechanism, splits)
            own = parts.setdefault(MECHANISMS[mechanism].title, [])
            own += _quantities(name, title, *found)
    if not parts:
        raise NotRunError
    return parts


def _quantities(name: str, title: str, inside: Array, beyond: Array) -> list[Quantity]:
    """Of accuracies by seed."""
    known = mean_over_seeds(f"{name}_inside", f"{title}: accuracy inside it", "share", inside)
    if known.value < LEARNED:
        return [known]
    return [median_over_seeds(name, f"{title}: accuracy beyond the range", "share", beyond), known]


def _of_mechanism(
    evidence: Evidence, experiment: str, mechanism: str, splits: tuple[str, str]
) -> tuple[Array, Array]:
    """Accuracy by seed inside and beyond at the best setting, options or none."""
    found = []
    for name in variants(evidence, experiment, mechanism):
        inside, beyond = (evidence.sweep(experiment, name, split) for split in splits)
        errors = inside.seed_error()
        found += [
            (float(average(errors[:, s])), 1 - errors[:, s], 1 - beyond.seed_error()[:, s])
            for s in range(len(inside.settings))
        ]
    _, inside_it, beyond_it = found[int(np.nanargmin([error for error, _, _ in found]))]
    return inside_it, beyond_it
