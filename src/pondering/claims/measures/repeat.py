"""The measure behind the claim on the fixed repeat (Fojo et al. 2018: F1)."""

from __future__ import annotations

from pondering.claims.measures.arrays import best_accuracy, better_accuracy
from pondering.claims.measures.evidence import Evidence
from pondering.claims.measures.quantities import Quantity, over_seeds
from pondering.claims.measures.ratios import ratio_of_soonest


def repeat_against_act(
    evidence: Evidence, *, first: str, second: str, solved_error: float
) -> list[Quantity]:
    """The fixed repeat against ACT on two tasks, each at its best setting (F1).

    Args:
        first: the task on which the fixed repeat also learns sooner (parity).
        second: the other task (addition).
        solved_error: training error at which a task counts as solved (2%, as in the paper).

    Returns:
        for each task NAME_best and NAME_gap, and first_speed.
    """
    quantities = _errors(evidence, "first", first) + _errors(evidence, "second", second)
    repeats, penalties = (evidence.curves(first, name) for name in ("repeat", "act"))
    pondering = repeats.reached(solved_error)[:, repeats.settings > 1]
    halting = penalties.reached(solved_error)
    label = f"{first}: updates to {100 * solved_error:g}% training error, best repeat over best ACT"
    return [*quantities, ratio_of_soonest("first_speed", label, pondering, halting)]


def _errors(evidence: Evidence, name: str, experiment: str) -> list[Quantity]:
    """The errors of both on one task; NAME_gap is above zero where ACT has the smaller one."""
    repeat = evidence.sweep(experiment, "repeat", "test", lambda rho: rho > 1, "rho > 1")
    errors = repeat.seed_error(), evidence.sweep(experiment, "act").seed_error()
    return [
        over_seeds(
            f"{name}_best",
            f"{experiment}: accuracy of the better of the two",
            "share",
            better_accuracy,
            *errors,
        ),
        over_seeds(
            f"{name}_gap",
            f"{experiment}: error of the best repeat less that of the best ACT",
            "points",
            lambda repeats, penalties: best_accuracy(penalties) - best_accuracy(repeats),
            *errors,
        ),
    ]
