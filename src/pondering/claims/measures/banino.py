"""The measures behind the claims of Banino et al. 2021 on parity (B1 to B5)."""

from __future__ import annotations

from itertools import product

import numpy as np

from pondering.claims.measures.arrays import (
    Array,
    accuracy_gain,
    average,
    best_accuracy,
    better_accuracy,
    deviations,
    difference,
    present,
)
from pondering.claims.measures.evidence import Cube, Curves, Evidence, require
from pondering.claims.measures.quantities import (
    Quantity,
    mean_over_seeds,
    median_over_seeds,
    over_seeds,
    solved_settings,
    solved_settings_gap,
)
from pondering.claims.measures.ratios import ratio_of_soonest


def best_against_best(evidence: Evidence, *, experiment: str, split: str) -> list[Quantity]:
    """PonderNet against ACT, each at the setting with the best mean accuracy (B1).

    Returns:
        pondernet_accuracy, act_accuracy, best_accuracy, accuracy_gain, steps_difference.
    """
    ponder, act = (evidence.sweep(experiment, name, split) for name in ("pondernet", "act"))
    errors = ponder.seed_error(), act.seed_error()
    steps = ponder.seed_ponder()[:, ponder.best()], act.seed_ponder()[:, act.best()]
    return [
        over_seeds(
            "pondernet_accuracy", "accuracy of PonderNet", "share", best_accuracy, errors[0]
        ),
        over_seeds("act_accuracy", "accuracy of ACT", "share", best_accuracy, errors[1]),
        _better(*errors),
        _gain(*errors),
        over_seeds(
            "steps_difference", "steps of PonderNet less those of ACT", "steps", difference, *steps
        ),
    ]


def extrapolation(evidence: Evidence, *, experiment: str) -> list[Quantity]:
    """Accuracy and steps beyond the trained range; settings chosen inside it (B2).

    Args:
        experiment: has the splits "interpolation" and "extrapolation".

    Returns:
        inside_accuracy, pondernet_accuracy, act_accuracy, accuracy_gain, steps_ratio, steps_beyond.
    """
    ponder, act = (
        [evidence.sweep(experiment, name, split) for split in ("interpolation", "extrapolation")]
        for name in ("pondernet", "act")
    )
    accuracy = [1 - beyond.seed_error()[:, inside.best()] for inside, beyond in (ponder, act)]
    steps = [split.seed_ponder()[:, ponder[0].best()] for split in ponder]
    return [
        over_seeds(
            "inside_accuracy",
            "accuracy of PonderNet in the trained range",
            "share",
            best_accuracy,
            ponder[0].seed_error(),
        ),
        mean_over_seeds(
            "pondernet_accuracy",
            "accuracy of PonderNet beyond the trained range",
            "share",
            accuracy[0],
        ),
        mean_over_seeds(
            "act_accuracy", "accuracy of ACT beyond the trained range", "share", accuracy[1]
        ),
        over_seeds(
            "accuracy_gain",
            "accuracy of PonderNet less that of ACT, beyond the trained range",
            "points",
            difference,
            *accuracy,
        ),
        over_seeds(
            "steps_ratio",
            "steps of PonderNet beyond the trained range over those inside",
            "times",
            lambda a, b: average(b) / average(a),
            *steps,
        ),
        mean_over_seeds(
            "steps_beyond", "steps of PonderNet beyond the trained range", "steps", steps[1]
        ),
    ]


def training_compute(
    evidence: Evidence, *, experiment: str, mechanism: str, split: str, learned_error: float
) -> list[Quantity]:
    """Forward passes spent in training by PonderNet and ACT, each at its best setting (B3).

    Args:
        mechanism: PonderNet as the tables write it; with a constant N it computes N steps for every
            example, whatever it has learned.
        split: the evaluation split that chooses the settings.
        learned_error: the training error whose first crossing is compared.

    Returns:
        best_accuracy, compute_ratio, compute_to_learn, sampled_steps, accuracy_gain; and
        compute_ratio_highest, the highest ratio over settings of both whose mean error is within
        one standard error of the best.
    """
    sweeps = {name: evidence.sweep(experiment, name, split) for name in (mechanism, "act")}
    until = evidence.common_updates(experiment, *sweeps)
    curves = {name: evidence.curves(experiment, name, until) for name in sweeps}
    at = {name: _same_setting(curves[name], sweeps[name]) for name in sweeps}
    total = [curves[name].steps[:, at[name]] for name in sweeps]
    near = [_near_best(curves[name], sweeps[name]) for name in sweeps]
    highest = max(product(*near), key=lambda each: _ratio(*each))
    learned = [
        curves[name].reached(learned_error, "computed_steps")[:, [at[name]]] for name in sweeps
    ]
    errors = [sweep.seed_error() for sweep in sweeps.values()]
    ponder = sweeps[mechanism]
    return [
        _better(*errors),
        over_seeds(
            "compute_ratio",
            "forward passes of PonderNet over those of ACT, same updates",
            "times",
            _ratio,
            *total,
        ),
        over_seeds(
            "compute_ratio_highest",
            "the same, the highest over settings within one standard error of the best",
            "times",
            _ratio,
            *highest,
        ),
        ratio_of_soonest(
            "compute_to_learn",
            "forward passes of PonderNet over those of ACT, "
            f"until {100 * learned_error:g}% training error",
            *learned,
        ),
        mean_over_seeds(
            "sampled_steps",
            "steps of PonderNet at evaluation",
            "steps",
            ponder.seed_ponder()[:, ponder.best()],
        ),
        _gain(*errors),
    ]


def robustness(
    evidence: Evidence,
    *,
    experiment: str,
    split: str,
    solved_accuracy: float,
    lambda_p_at_most: float,
    minimum_settings: int,
) -> list[Quantity]:
    """Over how many settings each method solves the task, and how seeds scatter (B4).

    Args:
        solved_accuracy: accuracy from which a network has solved the task.
        lambda_p_at_most: the largest prior the claim includes.
        minimum_settings: fewer settings of either method than this tell nothing.

    Returns:
        best_accuracy, pondernet_solved, act_solved, solved_gap; scatter_gap over the settings that
        most seeds solve, NaN where a method has none.
    """
    act = evidence.sweep(experiment, "act", split).whole()
    every = evidence.sweep(experiment, "pondernet", split).whole()
    require(len(act.settings), minimum_settings, "settings of ACT")
    require(len(every.settings), minimum_settings, "settings of PonderNet")
    words = f"λp ≤ {lambda_p_at_most:g}"
    ponder = every.where(lambda prior: prior <= lambda_p_at_most + 1e-9, words)

    errors = ponder.seed_error(), act.seed_error()
    solved = [1 - each >= solved_accuracy for each in errors]
    steady = [each[:, right.mean(axis=0) > 0.5] for each, right in zip(errors, solved, strict=True)]
    enough = f"most seeds solve (accuracy at least {100 * solved_accuracy:g}%)"
    right = act.settings[solved[1].mean(axis=0) > 0.5]
    which = f": τ {', '.join(f'{tau:g}' for tau in right)}" if right.size else ""
    return [
        _better(*errors),
        solved_settings(
            "pondernet_solved", f"settings of PonderNet, {words}, that {enough}", solved[0]
        ),
        solved_settings("act_solved", f"settings of ACT that {enough}{which}", solved[1]),
        solved_settings_gap("solved_gap", "share of settings solved, PonderNet less ACT", *solved),
        over_seeds(
            "scatter_gap",
            "scatter of accuracy over seeds at settings that most solve, ACT less PonderNet",
            "points",
            _scatter_gap,
            *steady,
        ),
    ]


def settled_steps(
    evidence: Evidence, *, experiment: str, split: str, lambda_p: float
) -> list[Quantity]:
    """Steps with a prior that asks for many more (B5).

    Args:
        lambda_p: the prior of the claim.

    Returns:
        accuracy, steps (median over seeds), drift (last quarter of training against the third);
        beside them steps_of_shortest, the median with the shortest prior there is.
    """
    words = f"λp = {lambda_p:g}"
    every = evidence.sweep(experiment, "pondernet", split)
    sweep, shortest = every.at_prior(lambda_p), float(every.settings[-1])
    curves = evidence.curves(experiment, "pondernet")
    place = int(np.argmin(abs(curves.settings - lambda_p)))
    drifts = [
        _drift(frame["ponder_time"], frame["update"])
        for (_, setting), frame in sorted(curves.frames.items())
        if setting == place
    ]
    return [
        mean_over_seeds(
            "accuracy", f"accuracy with {words}", "share", 1 - sweep.seed_error()[:, 0]
        ),
        median_over_seeds(
            "steps",
            f"median steps with {words}",
            "steps",
            present(sweep.seed_ponder()[:, 0]),
        ),
        median_over_seeds(
            "steps_of_shortest",
            f"median steps with λp = {shortest:g}, a prior mean of {1 / shortest:.2g}",
            "steps",
            present(every.seed_ponder()[:, -1]),
        ),
        mean_over_seeds(
            "drift", "change of steps, up or down, over the last half of training", "change", drifts
        ),
    ]


def _gain(ponder: Array, act: Array) -> Quantity:
    label = "accuracy of PonderNet less that of ACT"
    return over_seeds("accuracy_gain", label, "points", accuracy_gain, ponder, act)


def _better(ponder: Array, act: Array) -> Quantity:
    label = "accuracy of the better of the two"
    return over_seeds("best_accuracy", label, "share", better_accuracy, ponder, act)


def _same_setting(curves: Curves, sweep: Cube) -> int:
    return int(np.argmin(abs(curves.settings - sweep.settings[sweep.best()])))


def _near_best(curves: Curves, sweep: Cube) -> list[Array]:
    """[K] forward passes an update, of each setting within one standard error of the best."""
    near = sweep.settings[sweep.near_best()]
    return [curves.steps[:, np.argmin(abs(curves.settings - setting))] for setting in near]


def _ratio(first: Array, second: Array) -> float:
    return float(average(first) / average(second))


def _scatter_gap(ponder: Array, act: Array) -> float:
    """Scatter of accuracy over seeds, which is that of errors: ACT's less PonderNet's."""
    return float(average(deviations(act)) - average(deviations(ponder)))


def _drift(steps: Array, updates: Array) -> float:
    """Change of the mean steps, up or down, from the third to the last quarter, as a share."""
    share = updates / updates.max()
    third, last = steps[(share > 0.5) & (share <= 0.75)], steps[share > 0.75]
    if not third.size or not last.size:
        return float("nan")
    return float(abs(last.mean() - third.mean()) / third.mean())
