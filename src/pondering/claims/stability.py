"""Settings about as good as the best: a verdict should not hang on which of them is chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from pondering.claims.claims import Claim
from pondering.claims.measures.evidence import Evidence
from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import read_variant
from pondering.results.results import Results

CHOOSES = {
    "sorting": ("act",),
    "best_against_best": ("pondernet", "act"),
    "extrapolation": ("pondernet", "act"),
    "training_compute": ("pondernet[epsilon=0.05]", "act"),
    "repeat_against_act": ("repeat", "act"),
}
"""Measure -> the mechanisms that it compares at the setting of the lowest mean error."""

Choice = dict[tuple[str, str], float]
"""Experiment and mechanism -> its setting."""


def in_words(choice: Choice) -> str:
    """The settings of a choice, as the beginning of a sentence."""
    chosen = [
        f"{MECHANISMS[read_variant(mechanism)[0]].title} at {setting:g}"
        for (_, mechanism), setting in choice.items()
    ]
    return f"With {' and '.join(chosen)}, as good within one standard error"


def choices(claim: Claim, results: Results) -> Iterator[Choice]:
    """Every choice of settings whose mean error is within one standard error of the lowest.

    Args:
        claim: any; one that chooses no setting has no choice.
        results: of one profile, in which the claim could be measured.
    """
    split = str(claim.arguments.get("split", "test"))
    split = "interpolation" if claim.measure == "extrapolation" else split
    near: dict[tuple[str, str], list[float]] = {}
    for experiment, mechanism in product(claim.paper_size, CHOOSES.get(claim.measure, ())):
        cube = Evidence(results).cube(experiment, mechanism, split)
        if mechanism == "repeat":
            cube = cube.where(lambda rho: rho > 1, "rho > 1")
        near[experiment, mechanism] = [float(cube.settings[at]) for at in cube.near_best()]
    if near:
        for settings in product(*near.values()):
            yield dict(zip(near, settings, strict=True))


def at_settings(results: Results, choice: Choice) -> Results:
    """The results without the other settings of these mechanisms; traces stay."""
    tables, curves = dict(results.tables), dict(results.curves)
    for (experiment, mechanism), setting in choice.items():
        for frames in (tables, curves):
            if experiment in frames:
                rows = frames[experiment]
                kept = (rows["mechanism"] != mechanism) | np.isclose(rows["setting"], setting)
                if mechanism == "repeat":  # the plain network is no choice
                    kept |= rows["setting"] == 1
                frames[experiment] = rows[kept]
    return replace(results, tables=tables, curves=curves)
