"""Whether ACT's instability is its initial halting bias (Q3)."""

from __future__ import annotations

from collections.abc import Sequence

from pondering.claims.evidence import Evidence
from pondering.claims.frames import SEED_AND_SETTING, count
from pondering.claims.quantities import Measured
from pondering.params.replica import read_variant
from pondering.results.statistics import rate, rate_difference

LEFT, BACK = 1.05, 1.5
"""A network has fallen to one step below the first mean N, and is back above the second."""
ROOM = 0.75
"""A larger share of the usual bias leaves no room for a quarter more."""


def initial_bias(evidence: Evidence, *, experiment: str, usual: float) -> Measured:
    """Q3: networks that solve by the halting bias they start with, and N through training.

    solved_more_at_bias_B is of each other bias against the usual one, both without warm-up, and
    solved_more_at_bias_B_warmed with one, on a task that any network solves and the usual bias
    leaves a quarter of unsolved. fell_to_one_step counts the networks of all biases whose mean N
    was below LEFT; returned_from_one_step is the share of them with N above BACK later,
    above_one_step_at_end that with a last N above LEFT.

    Args:
        experiment: has ACT at one penalty with several biases, with and without warm-up.
        usual: the bias of the networks without that option.
    """
    names = evidence.variants(experiment, "act")
    every = evidence.networks(experiment, names)
    starts = {_start(name, usual): every[every["mechanism"] == name] for name in names}
    if (usual, False) not in starts:
        raise evidence.not_run(f"{experiment} has no runs of ACT with bias {usual:g}")
    first = starts.pop((usual, False))["solved"]
    found: Measured = {}
    asked = every["solved"].any() and first.mean() <= ROOM
    for (bias, warmed), own in sorted(starts.items()) if asked else ():
        at = f"{bias:g}".replace("-", "minus_")
        name = f"solved_more_at_bias_{at}{'_warmed' if warmed else ''}"
        found[name] = rate_difference(rate(own["solved"]), rate(first))
        found[at] = f"{bias:g}".replace("-", "\N{MINUS SIGN}")
    found |= _fallen(evidence, experiment, names)
    return found | {f"solved_at_bias_{usual:g}": rate(first)}


def _start(variant: str, usual: float) -> tuple[float, bool]:
    """Bias, and whether the penalty is warmed up."""
    options = dict(read_variant(variant)[1])
    return float(options.get("halt_bias", usual)), "tau_warmup" in options


def _fallen(evidence: Evidence, experiment: str, names: Sequence[str]) -> Measured:
    """How many networks fell to one step, and if any the shares of these that left it again."""
    curves = [
        steps
        for name in names
        for _, steps in evidence.curves(experiment, name).groupby(SEED_AND_SETTING)["ponder_time"]
    ]
    fell = [each[(each < LEFT).cummax()] for each in curves if (each < LEFT).any()]
    if not fell:
        return {"fell_to_one_step": count(0, 0)}
    return {
        "fell_to_one_step": count(len(fell), 0),
        "returned_from_one_step": rate([(each > BACK).any() for each in fell]),
        "above_one_step_at_end": rate([each.iloc[-1] > LEFT for each in fell]),
    }
