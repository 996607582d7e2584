"""Whether ACT's instability is its initial halting bias (Q3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from pondering.claims.measures.arrays import Array
from pondering.claims.measures.evidence import Evidence
from pondering.claims.measures.networks import networks, of_each, variants
from pondering.claims.measures.quantities import Quantity, rate, rate_gap
from pondering.params.replica import read_variant

LEFT, BACK = 1.05, 1.5
"""A network has fallen to one step below the first mean N, and is back above the second."""


def initial_bias(evidence: Evidence, *, experiments: Sequence[str], usual: float) -> list[Quantity]:
    """Networks that solve by the halting bias they start with, and N through training (Q3).

    Args:
        experiments: the tasks, ACT at one penalty with several biases, with and without warm-up.
        usual: the bias of the networks without that option.

    Returns:
        by task: solved_more_at_bias_B of each other bias, without warm-up, and with one
        solved_more_at_bias_B_warmed, where any network solves it; fell_to_one_step, how many
        networks of all biases had a mean N below 1.05, and if any returned_from_one_step, the share
        of these that had N above 1.5 later; beside them above_one_step_at_end, the share whose last
        mean N is above 1.05, for those that start below 1.5, and solved_at_bias_B of the usual
        bias, whose share bounds what another can add.
    """

    def of(experiment: str) -> list[Quantity]:
        names = variants(evidence, experiment, "act")
        every = networks(evidence, experiment, names)
        solved = {_start(name, usual): _solved(every, name) for name in names}
        first = solved.get((usual, False))
        if first is None:
            raise evidence.not_run(f"{experiment} has no runs of ACT with bias {usual:g}")
        gaps = _gaps(solved, first, usual) if every["solved"].any() else ()
        at_usual = rate(f"solved_at_bias_{usual:g}", f"networks solved at bias {usual:g}", first)
        return [*gaps, *_fallen(evidence, experiment, names), at_usual]

    return of_each(evidence, experiments, of)


def _start(variant: str, usual: float) -> tuple[float, bool]:
    """Bias, and whether the penalty is warmed up."""
    options = dict(read_variant(variant)[1])
    return float(options.get("halt_bias", usual)), "tau_warmup" in options


def _solved(every: pd.DataFrame, variant: str) -> Array:
    return np.asarray(every.loc[every["mechanism"] == variant, "solved"], dtype=np.float64)


def _gaps(
    solved: Mapping[tuple[float, bool], Array], first: Array, usual: float
) -> Iterator[Quantity]:
    """How many more networks solve than at the usual bias without warm-up."""
    for (bias, warmed), own in sorted(solved.items()):
        if (bias, warmed) != (usual, False):
            name = f"solved_more_at_bias_{f'{bias:g}'.replace('-', 'minus_')}"
            words = f"networks solved at bias {bias:g}{', tau warmed up,' if warmed else ''}"
            label = f"{words} less those at {usual:g}".replace("-", "\N{MINUS SIGN}")
            yield rate_gap(name + ("_warmed" if warmed else ""), label, own, first)


def _fallen(evidence: Evidence, experiment: str, names: Sequence[str]) -> Iterator[Quantity]:
    """How many networks fell to one step, and if any the shares of these that left it again."""
    back, above = [], []
    for name in names:
        for frame in evidence.curves(experiment, name).frames.values():
            steps = frame["ponder_time"]
            below = np.flatnonzero(steps < LEFT)
            if below.size:
                back.append(bool((steps[below[0] :] > BACK).any()))
                above.append(bool(steps[-1] > LEFT))
    count = float(len(back))
    yield Quantity("fell_to_one_step", "fell to one step", "networks", count, None, None, 0)
    if back:
        fell = "of those that fell to one"
        label = f"networks with more than 1.5 steps again, {fell}"
        yield rate("returned_from_one_step", label, back)
        yield rate(
            "above_one_step_at_end", f"networks with more than 1.05 at the end, {fell}", above
        )
