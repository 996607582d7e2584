"""What is right beyond the range that it was trained on (Q5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from pondering.claims.evidence import Evidence, NotRunError
from pondering.claims.frames import by
from pondering.claims.networks import parted, variants
from pondering.claims.quantities import Measured
from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import read_variant
from pondering.results.results import LONGER
from pondering.results.statistics import Interval, mean_interval, median_interval
from pondering.results.tables import REPLICA

FORCED = {"depth": "N"} | {name: f"{times}N" for name, times in LONGER.items()}
"""Readings of a network that is made to take so many steps."""
NO_AUDIT = pd.DataFrame(columns=["split", *REPLICA, *FORCED])
RIGHT_INSIDE = 0.9
"""Accuracy inside the range, as B2 asks for, below which a mechanism has nothing to extrapolate."""


def beyond_the_range(
    evidence: Evidence, *, experiments: Sequence[str], names: Sequence[str], splits: Sequence[str]
) -> Measured:
    """Accuracy beyond the range, of each mechanism at its setting that is best inside (Q5).

    accuracy_beyond_NAME is of mechanisms that are right on RIGHT_INSIDE inside, and
    best_accuracy_beyond_NAME that of the best of them. Of all mechanisms _at_N, _at_2N and _at_4N
    are forced to so many steps, and _inside is the accuracy inside.

    Args:
        experiments: the tasks.
        names: of each, what of it the networks were trained on.
        splits: inside the range, and beyond it.

    Raises:
        NotRunError: no experiment has been run.
    """
    every: Measured = {}
    for experiment, trained in zip(experiments, names, strict=True):
        try:
            there = {read_variant(name)[0] for name in evidence.table(experiment)["mechanism"]}
        except NotRunError:
            continue
        learned: dict[str, Interval] = {}
        for mechanism in (each for each in MECHANISMS if each in there):
            best = _best_inside(evidence, experiment, mechanism, splits)
            name, title = f"accuracy_beyond_{trained}", MECHANISMS[mechanism].title
            known, beyond = mean_interval(best.inside), median_interval(best.beyond)
            own: Measured = {}
            if known.estimate >= RIGHT_INSIDE:
                own[name] = learned[title] = beyond
            for steps, each in _forced(evidence, experiment, splits[1], best).items():
                own[f"{name}_at_{steps}"] = each
            own[f"{name}_inside"] = known
            every |= parted(own, title)
        if learned:
            first = max(learned, key=lambda each: learned[each].estimate)
            every[f"best_accuracy_beyond_{trained}"] = learned[first]
            every[f"best_beyond_{trained}"] = first
    if not every:
        raise NotRunError("; ".join(evidence.missing))
    return every


class _Best(NamedTuple):
    """A mechanism at the setting that is best inside the range, with its accuracies by seed."""

    variant: str
    setting: float
    inside: pd.Series[float]
    beyond: pd.Series[float]


def _best_inside(
    evidence: Evidence, experiment: str, mechanism: str, splits: Sequence[str]
) -> _Best:
    """Of all settings, with options or without; of equals the first."""
    found = []
    for name in variants(evidence, experiment, mechanism):
        inside, beyond = (
            1 - by(evidence.sweep(experiment, name, split), "error") for split in splits
        )
        found += [_Best(name, float(each), inside[each], beyond[each]) for each in inside]
    return max(found, key=lambda each: float(each.inside.mean()))


def _forced(evidence: Evidence, experiment: str, beyond: str, best: _Best) -> dict[str, Interval]:
    """Accuracy beyond the range at N, 2N and 4N steps; nothing without an audit of them."""
    rows = evidence.results.readouts.get(experiment, NO_AUDIT)
    rows = rows[(rows["split"] == beyond) & (rows["mechanism"] == best.variant)]
    rows = rows[rows["setting"] == best.setting].dropna(subset=[*FORCED])
    return {
        steps: median_interval(1 - rows[column].to_numpy(float))
        for column, steps in FORCED.items()
        if len(rows)
    }
