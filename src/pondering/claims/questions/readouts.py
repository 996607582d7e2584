"""How much of each result is the readout (Q8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from pondering.claims.measures.arrays import Array, average
from pondering.claims.measures.evidence import Evidence, NotRunError
from pondering.claims.measures.quantities import Quantity, over_seeds
from pondering.claims.questions.networks import (
    Parts,
    audit,
    by_seed,
    mean_over_networks,
    networks,
    variants,
)
from pondering.params.mechanisms import MECHANISMS
from pondering.results.results import CONTROL, READINGS
from pondering.results.tables import REPLICA

WORDS = {
    "own": "accuracy by its own readout",
    "single": "on the one state at which it stops",
    "depth": "at N steps",
    "refitted": "at N steps, head fitted anew",
}


def four_readouts(evidence: Evidence, *, experiments: Sequence[str]) -> Parts:
    """The audit's four accuracies of each mechanism that halts, all tasks with equal weight (Q8).

    Returns:
        by mechanism: refitted_gain, the accuracy with a head fitted anew less that at N steps;
        own, single, depth, refitted; and of several tasks the gain on each.

    Raises:
        NotRunError: nothing has been audited.
    """
    found: dict[str, dict[str, pd.DataFrame]] = {}
    for experiment in experiments:
        try:
            rows = audit(evidence, experiment, "refitted")
        except NotRunError:
            continue
        named = rows["mechanism"].str.partition("[")[0]
        for mechanism in dict.fromkeys(named[named != CONTROL]):
            known = networks(evidence, experiment, variants(evidence, experiment, mechanism))
            own = known[REPLICA].merge(rows, on=REPLICA)
            own["gain"] = own["depth"] - own["refitted"]
            own[list(READINGS)] = 1 - own[list(READINGS)]
            found.setdefault(mechanism, {})[experiment] = own
    if not found:
        raise NotRunError
    return {MECHANISMS[name].title: _quantities(evidence, tasks) for name, tasks in found.items()}


def _quantities(evidence: Evidence, tasks: Mapping[str, pd.DataFrame]) -> list[Quantity]:
    """Tasks need not have the same seeds: each is left out of those that have it."""
    seeds = sorted(set().union(*(own["seed"] for own in tasks.values())))

    def read(column: str) -> list[Array]:
        return [by_seed(own, column, seeds) for own in tasks.values()]

    def on(experiment: str, own: pd.DataFrame) -> Quantity:
        words = f"the same on {evidence.results.title(experiment)} alone"
        return mean_over_networks(f"refitted_gain_on_{experiment}", words, "points", own, "gain")

    count = f"mean over {len(tasks)} task{'s' if len(tasks) > 1 else ''}"
    label = f"accuracy gained by a head fitted anew at N steps, {count}"
    return [
        over_seeds("refitted_gain", label, "points", _equally, *read("gain")),
        *(map(on, tasks, tasks.values()) if len(tasks) > 1 else ()),
        *(over_seeds(name, words, "share", _equally, *read(name)) for name, words in WORDS.items()),
    ]


def _equally(*tasks: Array) -> float:
    """The mean over tasks of the mean over their networks, [seeds, networks] each."""
    return float(np.mean([average(each) for each in tasks]))
