"""One function per question beyond the papers: results in, named quantities with intervals out.

A question asks its quantities of several parts, tasks or mechanisms, so that its function returns
them by part; of a question that has one part alone the part is "". Which bound decides what stands
in `claims.yaml`; the experiments are named here, since the register fixed its own words only.
Of all of them `evidence` is the results of a profile, `experiment` or `experiments` the tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pondering.claims.questions import bias, direction, exit_rules, halting, reach, readouts
from pondering.claims.questions.networks import Parts

GRID = "comparison"
DIGITS = ("comparison_digits", "comparison_rotated")
SEQUENCES = ("comparison_addition", "comparison_logic")
BIASES = ("bias_leading", "bias_scattered", "bias_sort")
STEPS = (2, 3, 4, 8, 12)
INSIDE, BEYOND = "interpolation", "extrapolation"
FARTHER = {
    "accuracy_beyond_8_of_16": "comparison_beyond",
    "accuracy_beyond_12_of_24": "comparison_farther",
}
AUDITED = (GRID, *DIGITS, *FARTHER.values(), *SEQUENCES, *BIASES, "parity")

QUESTIONS: dict[str, partial[Parts]] = {
    "Q1": partial(direction.steps_and_difficulty, experiment=GRID, at_least=5, settings=3),
    "Q2": partial(halting.learned_repetition, experiment="parity", tau_at_most=0.03),
    "Q3": partial(bias.initial_bias, experiments=BIASES, usual=1.0),
    "Q4": partial(exit_rules.rules_and_mechanisms, experiments=(GRID, *DIGITS), steps=STEPS),
    "Q5": partial(reach.beyond_the_range, experiments=FARTHER, splits=(INSIDE, BEYOND)),
    "Q6": partial(halting.cost_of_halting, experiments=(GRID, *SEQUENCES), trained="correctness"),
    "Q7": partial(direction.reversed_kl, experiments=(GRID, *DIGITS), correlated=GRID),
    "Q8": partial(readouts.four_readouts, experiments=AUDITED),
}
"""By the ids of `claims.yaml`; each takes the evidence of a profile."""


def experiments_of(question: str) -> tuple[str, ...]:
    """The experiments that a question is about."""
    told = QUESTIONS[question].keywords
    found = told.get("experiments") or (told["experiment"],)
    return tuple(found.values() if isinstance(found, Mapping) else found)
