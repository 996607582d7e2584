"""The numbers behind the text of Wikipedia are those that a second reckoning finds."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from oracle.claim_oracle import (
    SEEDS,
    UPDATES,
    Expected,
    Grid,
    Replicas,
    Training,
    check,
    draw,
    mean,
    measured,
    over,
    over_both,
    over_mean,
    table,
    training,
    whole_and_broken,
)
from support.claim_tables import results, step, trace

from pondering.claims.evidence import InsufficientError

TAUS = (0.0, 0.001, 0.002, 0.004, 0.01, 0.02, 0.05)
PIECES = (
    ("The", "letter"),
    (" ", "space"),
    ("wolf", "letter"),
    (",", "comma"),
    (" ", "space"),
    ("it", "letter"),
    (" ", "space"),
    ("ate", "letter"),
    (" ", "space"),
    ("12", "other"),
    (".", "stop"),
    (" ", "space"),
    ("<", "bracket"),
    ("id>", "tag"),
    ("4071", "id"),
    ("<", "bracket"),
    ("/id>", "tag"),
    (";\n", "layout"),
    ("So", "letter"),
    (" ", "space"),
    ("on", "letter"),
    (".", "stop"),
    ("<", "bracket"),
    ("p>", "tag"),
)
"""A text and the kind of each of its pieces, as the task names them."""
WINDOWS = [
    [(character, kind) for text, kind in PIECES[: len(PIECES) - cut] for character in text]
    for cut in range(6)
]
"""The text, and the text cut shorter and shorter."""
Read = list[dict[str, Any]]


@whole_and_broken
def test_bits_per_character(gone: Replicas) -> None:
    """G9, on the training text; learning over as many updates as both were trained for."""
    source = results(
        [
            table("wikipedia", "repeat", [1, 2], (0,), splits=("train", "test"), errors=(1, 4)),
            table(
                "wikipedia", "act", TAUS, (0,), splits=("train", "test"), errors=(1, 4), gone=gone
            ),
        ],
        [
            training("wikipedia", "repeat", [1, 2], updates=UPDATES[:-2]),
            training("wikipedia", "act", TAUS, gone=gone),
        ],
    )
    plain, act = (Grid(source, "wikipedia", name, "train") for name in ("repeat", "act"))
    slow, fast = (Training(source, "wikipedia", name, 6000) for name in ("repeat", "act"))

    def over_tau(seeds: list[int]) -> float:
        bits = [act.mean_error(s, seeds) for s in TAUS]
        return max(bits) - min(bits)

    found = measured("G9", source)
    check(
        found,
        plain_bits=over_mean({k: plain.error[1, k] for k in SEEDS}),
        difference=over(
            lambda seeds: (
                mean(act.error[s, k] for s in TAUS for k in seeds) - plain.mean_error(1, seeds)
            )
        ),
        range_over_tau=over(over_tau),
        ponder=over(lambda seeds: mean(act.steps[s, k] for s in TAUS for k in seeds)),
        learning_difference=over(
            lambda seeds: (
                mean(fast.area[s, k] for s in TAUS for k in seeds)
                - mean(slow.area[1, k] for k in seeds)
            )
        ),
    )


def window(seed: int, place: int) -> Read:
    """A reading with some numbers missing; seed 3 reads the first with ever the same steps."""
    steps = []
    for index, (character, kind) in enumerate(WINDOWS[place]):
        key = (seed, place, index)
        ponder = 2.0 if (seed, place) == (3, 0) else draw(1, 3, "ponder", key)
        after = WINDOWS[place][index + 1 :]
        one = step(character, after[0][0] if after else "", ponder, kind=kind)
        for name, most in (("loss", 3), ("entropy", 2)):
            one[name] = None if draw(0, 1, "no", name, key) < 0.2 else draw(0, most, name, key)
        steps.append(one)
    return steps


def by_kind(windows: Sequence[Read], kinds: Sequence[str], what: str) -> float:
    """The mean at characters of these kinds; steps in deviations of their own window."""
    found = []
    for steps in windows:
        (text,) = (text for text in WINDOWS if len(text) == len(steps))
        ponder = [one["ponder_time"] for one in steps]
        centre, spread = statistics.fmean(ponder), statistics.pstdev(ponder)
        for one, (_, kind) in zip(steps, text, strict=True):
            value = one[what]
            if what == "ponder_time":
                value = (value - centre) / spread if spread > 1e-6 else 0.0
            if kind in kinds and value is not None:
                found.append(value)
    return mean(found)


def test_steps_by_character() -> None:
    """G10; the kinds that the claim does not name count for nothing but the spread."""
    seeds, places = (2, 3, 5), range(6)
    read = {(k, place): window(k, place) for k, place in itertools.product(seeds, places)}
    traces = [trace("text", steps, seed=k) for (k, _), steps in read.items()]
    wrong = [one | {"ponder_time": 9.0 * (one["input"] == " ")} for one in read[2, 1]]
    traces += [trace("text", wrong, "repeat", seed=2), trace("mixed", wrong, seed=2)]
    source = results(
        [table("wikipedia", "act", [0.006], (0,), splits=("train",))], traces={"wikipedia": traces}
    )

    def chosen(some: Sequence[int], few: Sequence[int]) -> list[Read]:
        return [read[k, place] for place in some for k in few]

    def spread(some: Sequence[int], few: Sequence[int]) -> float:
        return statistics.pstdev(one["ponder_time"] for each in chosen(some, few) for one in each)

    def above(what: str, kinds: Sequence[str], against: str) -> Expected:
        return both(
            lambda some, few: (
                by_kind(chosen(some, few), kinds, what)
                - by_kind(chosen(some, few), [against], what)
            )
        )

    def both(statistic: Callable[[Sequence[int], Sequence[int]], float]) -> Expected:
        return over_both(statistic, places, seeds, len(seeds) - 1)  # of the smaller count

    def digit_loss(some: Sequence[int], few: Sequence[int]) -> float:
        """At 4, 0 and 7 of 4071, which another digit follows."""
        return mean(
            one["loss"]
            for each in chosen(some, few)
            for one in each
            if one["kind"] == "id" and one["input"] in "407" and one["loss"] is not None
        )

    found = measured("G10", source, minimum_characters=24)
    steps, letter = "ponder_time", "letter"
    check(
        found,
        ponder_spread=both(spread),
        space_peak=above(steps, ["space"], letter),
        punctuation_peak=above(steps, ["comma", "stop"], "space"),
        bracket_peak=above(steps, ["bracket"], letter),
        id_rise=above(steps, ["id"], letter),
        digit_loss=both(digit_loss),
        id_loss=above("loss", ["id"], letter),
        id_entropy=above("entropy", ["id"], letter),
    )
    with pytest.raises(InsufficientError, match="24 characters of kind 'id', 25 are needed"):
        measured("G10", source, minimum_characters=25)
