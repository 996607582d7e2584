"""The measure behind the claim on the fixed repeat (Fojo et al. 2018: F1)."""

from __future__ import annotations

from pondering.claims.evidence import Evidence
from pondering.claims.frames import accuracy_gain, better_accuracy, by, ratio_of_soonest, reached
from pondering.claims.quantities import Measured
from pondering.results.statistics import interval


def repeat_against_act(
    evidence: Evidence, *, first: str, second: str, solved_error: float
) -> Measured:
    """F1, tables 1 and 2: the fixed repeat against ACT on two tasks, each at its best setting.

    The gaps are above zero where ACT has the smaller error.

    Args:
        first: the task on which the fixed repeat also learns sooner (parity).
        second: the other task (addition).
        solved_error: training error at which a task counts as solved (2%, as in the paper).
    """
    found: Measured = {}
    for name, experiment in {"first": first, "second": second}.items():
        repeat = evidence.sweep(experiment, "repeat", above=1)
        errors = by(evidence.sweep(experiment, "act"), "error"), by(repeat, "error")
        found[f"{name}_best"] = interval(better_accuracy, *errors)
        found[f"{name}_gap"] = interval(accuracy_gain, *errors)
    repeats, act = (
        reached(evidence.curves(first, name), solved_error) for name in ("repeat", "act")
    )
    found["first_speed"] = ratio_of_soonest(repeats.loc[:, repeats.columns > 1], act)
    return found
