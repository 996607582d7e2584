"""What is right beyond the range that it was trained on (Q5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from pondering.claims.measures.arrays import Array, average
from pondering.claims.measures.evidence import Evidence, NotRunError
from pondering.claims.measures.quantities import Quantity, mean_over_seeds, median_over_seeds
from pondering.claims.questions.networks import Parts, variants
from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import read_variant
from pondering.results.results import LONGER
from pondering.results.tables import REPLICA

FORCED = {"depth": "N"} | {name: f"{times}N" for name, times in LONGER.items()}
"""Readings of a network that is made to take so many steps."""
NO_AUDIT = pd.DataFrame(columns=["split", *REPLICA, *FORCED])
RIGHT_INSIDE = 0.9
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
        that are right on RIGHT_INSIDE inside; beside them, of all: NAME_at_N, NAME_at_2N and
        NAME_at_4N, forced to so many steps, and NAME_inside, the accuracy inside.

    Raises:
        NotRunError: no experiment has been run.
    """
    parts: Parts = {}
    for name, experiment in experiments.items():
        try:
            table = evidence.table(experiment)
        except NotRunError:
            continue
        there = {read_variant(name)[0] for name in table["mechanism"].unique()}
        for mechanism in (each for each in MECHANISMS if each in there):
            best = _best_inside(evidence, experiment, mechanism, splits)
            own = parts.setdefault(MECHANISMS[mechanism].title, [])
            own += _quantities(evidence, name, experiment, splits[1], best)
    if not parts:
        raise NotRunError
    return parts


class _Best(NamedTuple):
    """A mechanism at the setting that is best inside the range, with its accuracies by seed."""

    variant: str
    setting: float
    inside: Array
    beyond: Array


def _best_inside(
    evidence: Evidence, experiment: str, mechanism: str, splits: tuple[str, str]
) -> _Best:
    """Of all settings, with options or without; of equals the first."""
    found = []
    for name in variants(evidence, experiment, mechanism):
        inside, beyond = (evidence.sweep(experiment, name, split) for split in splits)
        known = zip(inside.settings, inside.seed_error().T, beyond.seed_error().T, strict=True)
        found += [_Best(name, setting, 1 - here, 1 - there) for setting, here, there in known]
    return max(found, key=lambda each: float(average(each.inside)))


def _quantities(
    evidence: Evidence, name: str, experiment: str, beyond: str, best: _Best
) -> Iterator[Quantity]:
    title = evidence.results.title(experiment)
    known = mean_over_seeds(f"{name}_inside", f"{title}: accuracy inside it", "share", best.inside)
    label = f"{title}: accuracy beyond the range"
    if known.value >= RIGHT_INSIDE:
        yield median_over_seeds(name, label, "share", best.beyond)
    rows = evidence.results.readouts.get(experiment, NO_AUDIT)
    rows = rows[(rows["split"] == beyond) & (rows["mechanism"] == best.variant)]
    rows = rows[rows["setting"] == best.setting].dropna(subset=[*FORCED])
    for column, steps in FORCED.items() if len(rows) else ():
        words = f"{label}, forced to {steps} steps"
        accuracy = 1 - rows[column].to_numpy(float)
        yield median_over_seeds(f"{name}_at_{steps}", words, "share", accuracy)
    yield known
