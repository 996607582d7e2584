"""The measures behind the claims on Wikipedia (G9, G10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pondering.claims.evidence import Evidence, InsufficientError, NotRunError
from pondering.claims.frames import Array, average, by, difference, mean_error
from pondering.claims.intervals import over_items_and_seeds, over_seeds
from pondering.claims.quantities import Measured
from pondering.results.statistics import mean_interval

KINDS = ("letter", "space", "comma", "stop", "bracket", "id")
"""The kinds of characters claim G10 speaks of; every other character is "other"."""

CONTRASTS: dict[str, tuple[tuple[str, ...], str, int]] = {
    "space_peak": (("space",), "letter", 0),
    "punctuation_peak": (("comma", "stop"), "space", 0),
    "bracket_peak": (("bracket",), "letter", 0),
    "id_rise": (("id",), "letter", 0),
    "id_loss": (("id",), "letter", 1),
    "id_entropy": (("id",), "letter", 2),
}
"""Quantity -> kinds, the kind they are compared with, column of `totals`."""

DIGIT = len(KINDS) + 1
"""Place in `totals` of the random digits after which another digit comes."""


def bits_per_character(evidence: Evidence, *, experiment: str, split: str) -> Measured:
    """Bits per character with and without ACT, ponder, and speed of learning (G9).

    Args:
        split: "train" as in the paper, or "heldout".
    """
    act = evidence.sweep(experiment, "act", split)
    bits, plain = by(act, "error"), by(evidence.plain(experiment, split), "error")
    until = evidence.common_updates(experiment, ("act", "repeat"))
    curves, slow = (
        mean_error(evidence.curves(experiment, name, until)) for name in ("act", "repeat")
    )
    return {
        "plain_bits": mean_interval(plain),
        "difference": over_seeds(difference, bits, plain),
        "range_over_tau": over_seeds(lambda rows: np.ptp(average(rows, axis=0)), bits),
        "ponder": over_seeds(average, by(act, "ponder_time")),
        "learning_difference": over_seeds(difference, curves, slow.loc[:, slow.columns == 1]),
    }


def ponder_by_character(
    evidence: Evidence, *, experiment: str, minimum_characters: int
) -> Measured:
    """Steps at boundaries of a text against steps inside words and inside random numbers (G10).

    Steps are counted in deviations of the trace's own ponder, so that networks that ponder much
    and little can be compared. All seeds read the same windows of the text, so a window is drawn
    again with all its readings, and seeds are drawn again besides. Seeds that diverged have
    read none and are left out.

    Args:
        minimum_characters: least number of letters, of spaces and of random digits, which the
            claim stands by; of the other kinds any number will do.

    Raises:
        NotRunError: no trace of ACT on a text exists.
        InsufficientError: too few characters of a kind.
    """
    evidence.sweep(experiment, "act", "train")
    traces = evidence.traces(experiment, "act", "text")
    if not traces:
        raise NotRunError(f"{experiment} has no trace of ACT on a text")
    read = [[totals(each["steps"]) for each in own] for own in traces.values()]
    # [windows, seeds, kinds, columns, (count, sum)]
    windows = np.stack([np.stack(each) for each in zip(*read, strict=False)])
    counts = dict(zip(KINDS, windows[:, 0, :, 0, 0].sum(axis=0), strict=False))  # of one seed
    for kind in ("letter", "space", "id"):
        if counts[kind] < minimum_characters:
            raise InsufficientError(
                f"the traced text has {counts[kind]:.0f} characters of kind {kind!r}, "
                f"{minimum_characters} are needed"
            )
    return {
        "ponder_spread": over_items_and_seeds(_spread, windows),
        "digit_loss": over_items_and_seeds(_digit_loss, windows),
        **{
            name: over_items_and_seeds(partial(_contrast, *each), windows)
            for name, each in CONTRASTS.items()
        },
        **{kind: f"{number:.0f}" for kind, number in counts.items()},
    }


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
