"""What is right beyond the range that it was trained on (Q5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from pondering.claims.measures.arrays import Array, average
from pondering.claims.measures.evidence import Evidence, NotRunError
from pondering.claims.measures.networks import variants
from pondering.claims.measures.quantities import Quantity, mean_over_seeds, median_over_seeds
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
    evidence: Evidence, *, experiments: Sequence[str], names: Sequence[str], splits: Sequence[str]
) -> list[Quantity]:
    """Accuracy beyond the range, of each mechanism at its setting that is best inside (Q5).

    Args:
        experiments: the tasks.
        names: of each, what of it the networks were trained on.
        splits: inside the range, and beyond it.

    Returns:
        best_accuracy_beyond_NAME, that of the mechanism with the highest; by mechanism
        accuracy_beyond_NAME, means over difficulties and medians over seeds, of those that are
        right on RIGHT_INSIDE inside; beside them, of all: accuracy_beyond_NAME_at_N, _at_2N and
        _at_4N, forced to so many steps, and accuracy_beyond_NAME_inside, the accuracy inside.

    Raises:
        NotRunError: no experiment has been run.
    """
    every: list[Quantity] = []
    for experiment, trained in zip(experiments, names, strict=True):
        try:
            table = evidence.table(experiment)
        except NotRunError:
            continue
        name = f"accuracy_beyond_{trained}"
        there = {read_variant(each)[0] for each in table["mechanism"].unique()}
        for mechanism in (each for each in MECHANISMS if each in there):
            best = _best_inside(evidence, experiment, mechanism, splits)
            part = MECHANISMS[mechanism].title
            own = _quantities(evidence, name, experiment, splits[1], best)
            every += [replace(each, part=part) for each in own]
        learned = [each for each in every if each.name == name]
        if learned:
            first = max(learned, key=lambda each: each.value)
            label = f"accuracy beyond {trained.replace('_', ' ')}, at best ({first.part})"
            every.append(replace(first, name=f"best_{name}", label=label, part=""))
    if not every:
        raise NotRunError("; ".join(evidence.missing))
    return every


class _Best(NamedTuple):
    """A mechanism at the setting that is best inside the range, with its accuracies by seed."""

    variant: str
    setting: float
    inside: Array
    beyond: Array


def _best_inside(
    evidence: Evidence, experiment: str, mechanism: str, splits: Sequence[str]
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
