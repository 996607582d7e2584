"""The measures behind the claims on Wikipedia (G9, G10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pondering.claims.measures.arrays import Array, average, difference
from pondering.claims.measures.evidence import Evidence, InsufficientError, NotRunError
from pondering.claims.measures.quantities import (
    Quantity,
    mean_over_seeds,
    over_items_and_seeds,
    over_seeds,
)
from pondering.results.units import Unit

KINDS = ("letter", "space", "comma", "stop", "bracket", "id")
"""The kinds of characters claim G10 speaks of; every other character is "other"."""

CONTRASTS: tuple[tuple[str, str, Unit, tuple[str, ...], str, int], ...] = (
    ("space_peak", "steps at spaces above letters", "deviations", ("space",), "letter", 0),
    ("punctuation_peak", "steps at {comma} commas and {stop} full stops above spaces", "deviations",
     ("comma", "stop"), "space", 0),
    ("bracket_peak", "steps at opening brackets above letters", "deviations",
     ("bracket",), "letter", 0),
    ("id_rise", "steps at random digits above letters", "deviations", ("id",), "letter", 0),
    ("id_loss", "loss at random digits above letters", "nats", ("id",), "letter", 1),
    ("id_entropy", "entropy at random digits above letters", "nats", ("id",), "letter", 2),
)  # fmt: skip
"""Quantity, label, unit, kinds, the kind they are compared with, column of `totals`."""

DIGIT = len(KINDS) + 1
"""Place in `totals` of the random digits after which another digit comes."""


def bits_per_character(evidence: Evidence, *, experiment: str, split: str) -> list[Quantity]:
    """Bits per character with and without ACT, ponder, and speed of learning (G9).

    Args:
        split: "train" as in the paper, or "heldout".

    Returns:
        plain_bits, difference, range_over_tau, ponder, learning_difference.
    """
    act = evidence.sweep(experiment, "act", split)
    plain = evidence.plain(experiment, split).seed_error()[:, 0]
    until = evidence.common_updates(experiment, "act", "repeat")
    curves = evidence.curves(experiment, "act", until)
    without = evidence.curves(experiment, "repeat", until)
    slow = without.mean_error[:, without.settings == 1]
    return [
        mean_over_seeds("plain_bits", "bits per character of the plain network", "bits", plain),
        over_seeds(
            "difference",
            "bits per character of ACT less the plain network",
            "bits",
            difference,
            act.seed_error(),
            plain,
        ),
        over_seeds(
            "range_over_tau",
            "largest less smallest over τ",
            "bits",
            lambda rows: np.ptp(average(rows, axis=0)),
            act.seed_error(),
        ),
        over_seeds("ponder", "steps per character of ACT", "steps", average, act.seed_ponder()),
        over_seeds(
            "learning_difference",
            "bits averaged over training, ACT less the plain network",
            "bits",
            difference,
            curves.mean_error,
            slow,
        ),
    ]


def ponder_by_character(
    evidence: Evidence, *, experiment: str, minimum_characters: int
) -> list[Quantity]:
    """Steps at boundaries of a text against steps inside words and inside random numbers (G10).

    Steps are counted in deviations of the trace's own ponder, so that networks that ponder much
    and little can be compared. All seeds read the same windows of the text, so a window is drawn
    again with all its readings, and seeds are drawn again besides. Seeds that diverged have
    read none and are left out.

    Args:
        minimum_characters: least number of letters, of spaces and of random digits, which the
            claim stands by; of the other kinds any number will do.

    Returns:
        ponder_spread, space_peak, punctuation_peak, bracket_peak, id_rise, id_loss, id_entropy, and
        digit_loss: what a random digit after another costs, which is at best ln 10 nats.

    Raises:
        NotRunError: no trace of ACT on a text exists.
        InsufficientError: too few characters of a kind.
    """
    evidence.sweep(experiment, "act", "train")
    readings = evidence.traces(experiment, "act", "text", totals)
    if not readings:
        raise NotRunError(f"{experiment} has no trace of ACT on a text")
    by_seed: dict[int, list[Array]] = {}
    for each in readings:
        by_seed.setdefault(each.seed, []).append(each.value)
    # [windows, seeds, kinds, columns, (count, sum)]
    windows = np.stack([np.stack(read) for read in zip(*by_seed.values(), strict=False)])
    counts = dict(zip(KINDS, windows[:, 0, :, 0, 0].sum(axis=0), strict=False))  # of one seed
    for kind in ("letter", "space", "id"):
        if counts[kind] < minimum_characters:
            raise InsufficientError(
                f"the traced text has {counts[kind]:.0f} characters of kind {kind!r}, "
                f"{minimum_characters} are needed"
            )
    spread, digit = "deviation of steps over the text", "loss at a random digit after another"
    return [
        over_items_and_seeds("ponder_spread", spread, "steps", _spread, windows),
        over_items_and_seeds("digit_loss", digit, "nats", _digit_loss, windows),
    ] + [
        over_items_and_seeds(
            name,
            label.format_map({each: f"{count:.0f}" for each, count in counts.items()}),
            unit,
            partial(_contrast, kinds, against, column),
            windows,
        )
        for name, label, unit, kinds, against, column in CONTRASTS
    ]


def totals(steps: Sequence[Mapping[str, Any]]) -> Array:
    """One traced window as counts and sums, from which every mean over windows follows.

    Args:
        steps: of the trace; the task says of what kind each character is.

    Returns:
        [kinds, "other" and DIGIT, columns, (count, sum)]; the columns are the ponder in deviations
        of the window's own, loss, entropy, ponder and its square. Missing numbers are not counted.
    """
    places = {kind: place for place, kind in enumerate(KINDS)}
    kinds = np.array([places.get(step.get("kind", ""), len(KINDS)) for step in steps])
    names = ("ponder_time", "loss", "entropy")
    numbers = np.array([[_number(step.get(name)) for name in names] for step in steps])
    ponder = numbers[:, 0]
    spread = float(np.nanstd(ponder))
    standard = (ponder - np.nanmean(ponder)) / spread if spread > 1e-9 else np.zeros(len(ponder))
    columns = np.column_stack([standard, numbers[:, 1:], ponder, ponder**2])
    followed = np.array([str(step.get("target", "")).isdigit() for step in steps], dtype=bool)
    digits = (kinds == places["id"]) & followed
    inside = np.vstack([kinds == np.arange(DIGIT)[:, None], digits]).astype(np.float64)
    present = ~np.isnan(columns)
    return np.stack([inside @ present, inside @ np.where(present, columns, 0.0)], axis=-1)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")


def _contrast(kinds: Sequence[str], against: str, column: int, counted: Array) -> Array:
    chosen, other = ([KINDS.index(kind) for kind in each] for each in (kinds, (against,)))
    return _mean(counted[..., chosen, column, :]) - _mean(counted[..., other, column, :])


def _spread(counted: Array) -> Array:
    """Standard deviation of the steps at all characters."""
    every = counted[..., :DIGIT, :, :]
    variance = _mean(every[..., 4, :]) - _mean(every[..., 3, :]) ** 2
    spread: Array = np.sqrt(np.maximum(variance, 0.0))
    return spread


def _digit_loss(counted: Array) -> Array:
    return _mean(counted[..., [DIGIT], 1, :])


def _mean(counted: Array) -> Array:
    """The mean of all kinds, of counts and sums [..., kinds, 2]; NaN where nothing was counted."""
    count, total = np.moveaxis(counted.sum(axis=-2), -1, 0)
    mean: Array = np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0)
    return mean
