"""What is right beyond the range that it was trained on (Q5)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import pandas as pd

from pondering.claims.evidence import Evidence, NotRunError
from pondering.claims.frames import by
from pondering.claims.quantities import Measured, parted
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
    evidence: Evidence, *, experiments: Sequence[str], names: Sequence[str]
) -> Measured:
    """Q5: accuracy beyond the range, of each mechanism at its setting that is best inside.

    accuracy_beyond_NAME is of mechanisms that are right on RIGHT_INSIDE inside, and
    best_accuracy_beyond_NAME that of the best of them. Of all mechanisms _at_N, _at_2N and _at_4N
    are forced to so many steps, and _inside is the accuracy inside.

    Args:
        experiments: the tasks, with the splits "interpolation" and "extrapolation".
        names: of each, what of it the networks were trained on.

    Raises:
        NotRunError: no experiment has been run.
    """
    every: Measured = {}
    for experiment, trained in zip(experiments, names, strict=True):
        with suppress(NotRunError):
            every |= _beyond(evidence, experiment, trained)
    if not every:
        raise NotRunError("; ".join(evidence.missing))
    return every


def _beyond(evidence: Evidence, experiment: str, trained: str) -> Measured:
    """The quantities of one task; a part is a mechanism."""
    there = {read_variant(name)[0] for name in evidence.table(experiment)["mechanism"]}
    name, found = f"accuracy_beyond_{trained}", Measured()
    learned: dict[str, Interval] = {}
    for mechanism in (each for each in MECHANISMS if each in there):
        inside, beyond = (
            pd.concat(
                {
                    variant: 1 - by(evidence.sweep(experiment, variant, split), "error")
                    for variant in evidence.variants(experiment, mechanism)
                },
                axis=1,
            )
            for split in ("interpolation", "extrapolation")
        )
        best = inside.mean().idxmax()  # variant and setting
        known, title = mean_interval(inside[best]), MECHANISMS[mechanism].title
        own: Measured = {}
        if known.estimate >= RIGHT_INSIDE:
            own[name] = learned[title] = median_interval(beyond[best])
        for steps, each in _forced(evidence, experiment, *best).items():
            own[f"{name}_at_{steps}"] = each
        own[f"{name}_inside"] = known
        found |= parted(own, title)
    if learned:
        first = max(learned, key=lambda each: learned[each].estimate)
        found[f"best_{name}"] = learned[first]
        found[f"best_beyond_{trained}"] = first
    return found


def _forced(
    evidence: Evidence, experiment: str, variant: str, setting: float
) -> dict[str, Interval]:
    """Accuracy beyond the range at N, 2N and 4N steps; nothing without an audit of them."""
    rows = evidence.results.readouts.get(experiment, NO_AUDIT)
    rows = rows[(rows["split"] == "extrapolation") & (rows["mechanism"] == variant)]
    rows = rows[rows["setting"] == setting].dropna(subset=[*FORCED])
    return {
        steps: median_interval(1 - rows[column].to_numpy(float))
        for column, steps in FORCED.items()
        if len(rows)
    }
