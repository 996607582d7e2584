"""One function per kind of claim: results in, intervals by name out.

`claims.yaml` names the measure of each claim and gives it its arguments; every threshold lies
there, and what each quantity is called. Of all measures `evidence` is the results of a profile,
`experiment` the task or the data that the claim is about, and `split` that of its evaluation.
"""

from __future__ import annotations

from collections.abc import Callable

from pondering.claims.measures import (
    banino,
    bias,
    difficulty,
    digits,
    direction,
    exit_rules,
    halting,
    penalty,
    reach,
    repeat,
    text,
)
from pondering.claims.measures.quantities import Measured

Measure = Callable[..., Measured]

MEASURES: dict[str, Measure] = {
    measure.__name__: measure
    for measure in (
        penalty.error_with_and_without,
        penalty.trends_with_tau,
        difficulty.ponder_by_bits,
        difficulty.ponder_by_gates,
        penalty.solved_at_every_tau,
        difficulty.ponder_by_digits,
        difficulty.sorting,
        text.bits_per_character,
        text.ponder_by_character,
        banino.best_against_best,
        banino.extrapolation,
        banino.training_compute,
        banino.robustness,
        banino.settled_steps,
        digits.digit_accuracy,
        digits.rotated_digits,
        repeat.repeat_against_act,
        direction.steps_and_difficulty,
        halting.learned_repetition,
        bias.initial_bias,
        exit_rules.rules_and_mechanisms,
        reach.beyond_the_range,
        halting.cost_of_halting,
        direction.reversed_kl,
    )
}
"""The measures by the name claims.yaml gives them."""
