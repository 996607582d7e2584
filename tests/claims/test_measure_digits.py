"""The numbers behind the claims on digits (M1, M2), by a second reckoning."""

from __future__ import annotations

from oracle.claim_oracle import (
    SEEDS,
    Grid,
    Replicas,
    check,
    mean,
    measured,
    over,
    over_mean,
    table,
    trend,
    whole_and_broken,
)
from support.claim_tables import results

PRIORS = (0.1, 0.2, 0.45)


@whole_and_broken
def test_accuracy_on_digits(gone: Replicas) -> None:
    """M1: every image weighs the same, so a class weighs by its size."""
    source = results(
        [
            table("mnist", "pondernet", PRIORS, range(10), gone=gone),
            table("mnist", "repeat", [1, 2], range(10)),
        ]
    )
    rows = source.tables["mnist"].to_dict("records")
    images = {row["difficulty"]: row["examples"] for row in rows}

    def right(mechanism: str, setting: float) -> dict[int, float]:
        grid = Grid(source, "mnist", mechanism)
        return {
            k: sum(images[d] * (1 - grid.error_at[setting, k, d]) for d in grid.levels)
            / sum(images.values())
            for k in grid.seeds
        }

    ponder, plain = right("pondernet", 0.2), right("repeat", 1)
    check(
        measured("M1", source),
        pondernet_accuracy=over_mean(ponder),
        plain_accuracy=over_mean(plain),
        against_plain=over(lambda seeds: mean(ponder[k] - plain[k] for k in seeds)),
    )


@whole_and_broken
def test_rotated_digits(gone: Replicas) -> None:
    """M2: a turn to the left is as far as one to the right."""
    name, turns = "mnist_rotated", (-75, -30, 0, 10, 30, 50)
    source = results(
        [
            table(name, "pondernet", PRIORS, (10, 22.5, 45, 90, 120), splits=("range",), gone=gone),
            table(name, "pondernet", PRIORS, turns, splits=("angle",), gone=gone),
        ]
    )
    ranges, angles = (Grid(source, name, "pondernet", split) for split in ("range", "angle"))
    error, steps = (
        {(k, d): values[0.2, k, d] for k in SEEDS for d in (22.5, 90)}
        for values in (ranges.error_at, ranges.steps_at)
    )
    found = measured("M2", source)
    check(
        found,
        trained_accuracy=over_mean({k: 1 - error[k, 22.5] for k in SEEDS}),
        accuracy_fall=over_mean({k: error[k, 90] - error[k, 22.5] for k in SEEDS}),
        steps_change=over_mean({k: steps[k, 90] - steps[k, 22.5] for k in SEEDS}),
        angle_trend=over_mean(
            {
                k: trend([abs(d) for d in turns], [angles.steps_at[0.2, k, d] for d in turns])
                for k in SEEDS
            }
        ),
    )
