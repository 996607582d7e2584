"""The numbers behind the claims on PonderNet (B1 to B5), by a second reckoning."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import pytest
from oracle.claim_oracle import (
    BROKEN,
    NAN,
    SEEDS,
    UPDATES,
    WHOLE,
    Expected,
    Grid,
    Replicas,
    Training,
    check,
    mean,
    measured,
    median,
    over,
    over_mean,
    table,
    training,
    whole_and_broken,
)
from support.claim_tables import results

from pondering.results.results import Results

PRIORS = (0.1, 0.2, 0.45, 0.6, 0.9)
TAUS = (0.0, 0.001, 0.004, 0.01)
LEVELS = (1, 2, 4, 7, 8)


def pair(gone: Replicas = WHOLE, splits: Sequence[str] = ("test",), name: str = "pair") -> Results:
    """PonderNet and ACT on one task, ACT trained for less long."""
    return results(
        [
            table(name, "pondernet", PRIORS, LEVELS, splits=splits, gone=gone),
            table(name, "act", TAUS, LEVELS, splits=splits, gone=gone),
        ],
        [
            training(name, "pondernet", PRIORS),
            training(name, "act", TAUS, updates=UPDATES[:-2]),
        ],
    )


def grids(source: Results, split: str = "test", name: str = "pair") -> tuple[Grid, Grid]:
    return Grid(source, name, "pondernet", split), Grid(source, name, "act", split)


def better(ponder: Grid, act: Grid) -> Expected:
    return over(
        "accuracy of the better of the two", "share",
        lambda seeds: 1 - min(ponder.lowest(seeds), act.lowest(seeds)),
    )  # fmt: skip


def gain(ponder: Grid, act: Grid) -> Expected:
    return over(
        "accuracy of PonderNet less that of ACT", "points",
        lambda seeds: act.lowest(seeds) - ponder.lowest(seeds),
    )  # fmt: skip


def accuracy(label: str, grid: Grid) -> Expected:
    return over(label, "share", lambda seeds: 1 - grid.lowest(seeds))


@whole_and_broken
def test_best_against_best(gone: Replicas) -> None:
    """B1: accuracies at settings chosen anew without each seed, steps at those of all seeds."""
    source = pair(gone)
    ponder, act = grids(source)
    for grid in (ponder, act):
        assert len({min(grid.settings, key=lambda s, k=k: grid.error[s, k]) for k in SEEDS}) > 1
    places = ponder.best(), act.best()
    check(measured("best_against_best", source, experiment="pair", split="test"), {
        "pondernet_accuracy": accuracy("accuracy of PonderNet", ponder),
        "act_accuracy": accuracy("accuracy of ACT", act),
        "best_accuracy": better(ponder, act),
        "accuracy_gain": gain(ponder, act),
        "steps_difference": over(
            "steps of PonderNet less those of ACT", "steps",
            lambda seeds: mean(ponder.steps[places[0], k] for k in seeds)
            - mean(act.steps[places[1], k] for k in seeds),
        ),
    })  # fmt: skip


@whole_and_broken
def test_extrapolation(gone: Replicas) -> None:
    """B2: beyond the trained range at the settings chosen inside it."""
    source = pair(gone, ("interpolation", "extrapolation"))
    inside, beyond = grids(source, "interpolation"), grids(source, "extrapolation")
    places = [grid.best() for grid in inside]
    assert beyond[0].best() != places[0]
    right = [
        {k: 1 - grid.error[place, k] for k in SEEDS}
        for grid, place in zip(beyond, places, strict=True)
    ]
    steps = [{k: grid.steps[places[0], k] for k in SEEDS} for grid in (inside[0], beyond[0])]
    check(measured("extrapolation", source, experiment="pair"), {
        "inside_accuracy": accuracy("accuracy of PonderNet in the trained range", inside[0]),
        "pondernet_accuracy": over_mean("accuracy of PonderNet beyond it", "share", right[0]),
        "act_accuracy": over_mean("accuracy of ACT beyond it", "share", right[1]),
        "accuracy_gain": over(
            "accuracy of PonderNet less that of ACT, beyond it", "points",
            lambda seeds: mean(right[0][k] - right[1][k] for k in seeds),
        ),
        "steps_ratio": over(
            "steps of PonderNet beyond the range over steps inside", "times",
            lambda seeds: mean(steps[1][k] for k in seeds) / mean(steps[0][k] for k in seeds),
        ),
        "steps_beyond": over_mean("steps of PonderNet beyond the range", "steps", steps[1]),
    })  # fmt: skip


@pytest.mark.parametrize("learned_error", [0.3, 0.1, 0.025])
def test_computation_in_training(learned_error: float) -> None:
    """B3, over the updates both were trained for; some replicas or all never learn."""
    source = pair()
    ponder, act = grids(source)
    curves = [Training(source, "pair", name, UPDATES[-3]) for name in ("pondernet", "act")]
    places = [grid.best() for grid in (ponder, act)]

    def computed(which: int, seeds: Sequence[int]) -> float:
        ends = [curves[which].rows[places[which], k][-1] for k in seeds]
        return mean(row["computed_steps"] / row["update"] for row in ends)

    def until_learned(which: int, seeds: Sequence[int]) -> float:
        return median(
            [curves[which].first(places[which], k, learned_error, "computed_steps") for k in seeds]
        )

    found = measured(
        "training_compute", source, experiment="pair", split="test", learned_error=learned_error
    )
    check(found, {
        "best_accuracy": better(ponder, act),
        "compute_ratio": over(
            "forward passes of PonderNet over those of ACT, same updates", "times",
            lambda seeds: computed(0, seeds) / computed(1, seeds),
        ),
        "compute_to_learn": over(
            f"the same until {round(100 * learned_error, 1):g}% training error", "times",
            lambda seeds: until_learned(0, seeds) / until_learned(1, seeds),
        ),
        "accuracy_gain": gain(ponder, act),
    })  # fmt: skip


@whole_and_broken
def test_robustness_over_settings(gone: Replicas) -> None:
    """B4: the largest prior is among them, and a median at the bound itself solves the task."""
    name, bound = "parity", 0.6875
    source = results([
        table(name, "pondernet", PRIORS, LEVELS, exact={0.45: 1 - bound}, gone=gone),
        table(name, "act", TAUS, LEVELS, exact={0.01: 1 - bound}, gone=gone),
    ])  # fmt: skip
    ponder, act = grids(source, name=name)
    chosen = {ponder: (0.1, 0.2, 0.45, 0.6), act: TAUS}

    def solved(grid: Grid, seeds: Sequence[int]) -> float:
        return mean(median([1 - grid.error[s, k] for k in seeds]) >= bound for s in chosen[grid])

    def scatter(grid: Grid, seeds: Sequence[int]) -> float:
        return mean(statistics.stdev([grid.error[s, k] for k in seeds]) for s in chosen[grid])

    assert all(0 < solved(grid, SEEDS) < 1 for grid in (ponder, act))
    found = measured(
        "robustness", source, experiment=name, split="test", solved_accuracy=bound,
        lambda_p_at_most=0.6, minimum_settings=4,
    )  # fmt: skip
    check(found, {
        "best_accuracy": over(
            "accuracy of the better of the two", "share",
            lambda seeds: 1 - min(ponder.lowest(seeds, chosen[ponder]), act.lowest(seeds)),
        ),
        "pondernet_solved": over(
            "settings PonderNet solves (median accuracy at least 68.75%)", "share",
            lambda seeds: solved(ponder, seeds),
        ),
        "act_solved": over(
            "settings ACT solves (median accuracy at least 68.75%)", "share",
            lambda seeds: solved(act, seeds),
        ),
        "solved_gap": over(
            "share of settings solved, PonderNet less ACT", "points",
            lambda seeds: solved(ponder, seeds) - solved(act, seeds),
        ),
        "scatter_gap": over(
            "scatter of accuracy over seeds, ACT less PonderNet", "points",
            lambda seeds: scatter(act, seeds) - scatter(ponder, seeds),
        ),
    })  # fmt: skip


@pytest.mark.parametrize("lambda_p", [0.1, 0.2, 0.45])
def test_settled_steps(lambda_p: float) -> None:
    """B5: half, three quarters and all of training are logged; a replica may have diverged."""
    source = results(
        [table("pair", "pondernet", PRIORS, LEVELS, gone=BROKEN)],
        [training("pair", "pondernet", PRIORS, gone=BROKEN)],
    )
    ponder, curves = Grid(source, "pair", "pondernet"), Training(source, "pair", "pondernet")

    def drift(seed: int) -> float:
        each = curves.rows[lambda_p, seed]
        third = [row["ponder_time"] for row in each if 4000 < row["update"] <= 6000]
        last = [row["ponder_time"] for row in each if row["update"] > 6000]
        if any(math.isnan(value) for value in third + last):
            return NAN
        return abs(mean(last) - mean(third)) / mean(third)

    def middle(seeds: Sequence[int]) -> float:
        there = [v for v in (ponder.steps[lambda_p, k] for k in seeds) if not math.isnan(v)]
        return median(there) if there else NAN

    found = measured("settled_steps", source, experiment="pair", split="test", lambda_p=lambda_p)
    words = f"with λp = {lambda_p}"
    check(found, {
        "accuracy": over_mean(
            f"accuracy {words}", "share", {k: 1 - ponder.error[lambda_p, k] for k in SEEDS}
        ),
        "steps": over(f"median steps {words}", "steps", middle, [
            k for k in SEEDS if not math.isnan(ponder.steps[lambda_p, k])
        ]),
        "drift": over_mean(
            "change of steps, up or down, over the last half of training", "share",
            {k: drift(k) for k in SEEDS},
        ),
    })  # fmt: skip
