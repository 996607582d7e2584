"""How much of a test training had seen, with the errors on that and on the rest, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from pondering.params.replica import title_of
from pondering.report.pages import names
from pondering.report.pages.summary import SPLITS_ON_FIGURES_ALONE
from pondering.results.results import Card
from pondering.results.tables import evaluated, splits_of


@dataclass(frozen=True)
class SeenRow:
    """One mechanism at its best setting on one split, in printed form."""

    mechanism: str
    setting: str
    split: str
    share: str
    error_seen: str
    error_unseen: str


@dataclass(frozen=True)
class SeenInputs:
    """A sentence, and the rows where it needs them; `words` are empty where nobody counted."""

    words: str
    rows: tuple[SeenRow, ...] = ()


def seen_inputs(table: pd.DataFrame, card: Card, best: Mapping[str, float]) -> SeenInputs:
    """What share of the test inputs training had drawn too, over all seeds and examples alike.

    Args:
        table: the evaluation rows of one experiment.
        card: its data card.
        best: mechanism -> its setting with the lowest mean error, for the rows.
    """
    known = table[~table["split"].isin(SPLITS_ON_FIGURES_ALONE)]
    if known["seen"].isna().any():
        return SeenInputs("")
    if (known["seen"] == 0).all():
        return SeenInputs("Training had drawn none of the test inputs.")
    if (known["seen"] == 1).all():
        return SeenInputs("Training had drawn every one of the test inputs.")
    rows = []
    for mechanism, setting in best.items():
        mine = (known["mechanism"] == mechanism) & (known["setting"] == setting)
        for split in splits_of(known):
            part = evaluated(known[mine], split=split)
            if len(part):
                rows.append(_row(part, card, mechanism, setting, split))
    words = "Training had drawn some of the test inputs too."
    if (known.groupby("split")["difficulty"].nunique() > 1).any():
        words += (
            " Where a difficulty has few inputs, all are soon drawn, so seen and unseen ones "
            "differ in difficulty as well; the table of all numbers has each difficulty apart."
        )
    return SeenInputs(words, tuple(rows))


def _row(part: pd.DataFrame, card: Card, mechanism: str, setting: float, split: str) -> SeenRow:
    share, on_seen, on_unseen = pooled(part)
    return SeenRow(
        title_of(mechanism),
        names.setting_sign(mechanism, setting),
        card.splits[split],
        _percent(share),
        _error(on_seen, card),
        _error(on_unseen, card),
    )


def pooled(part: pd.DataFrame) -> tuple[float, float, float]:
    """The share of examples seen, and the mean error on them and on the others, NaN without any.

    Args:
        part: evaluation rows, each weighted by its examples.
    """
    seen = part["examples"] * part["seen"]
    unseen = part["examples"] - seen
    return (
        float(seen.sum() / part["examples"].sum()),
        _mean(part["error_seen"], seen),
        _mean(part["error_unseen"], unseen),
    )


def _mean(errors: pd.Series[float], weights: pd.Series[float]) -> float:
    total = float(weights.sum())
    return float((errors * weights).sum()) / total if total else math.nan


def _percent(share: float) -> str:
    """A share that is neither none nor all is never rounded to it."""
    percent = 100 * share
    if 0 < percent < 0.1 or 99.9 < percent < 100:
        return "below 0.1%" if percent < 1 else "above 99.9%"
    return f"{percent:.1f}%" if percent % 100 else f"{percent:.0f}%"


def _error(error: float, card: Card) -> str:
    if math.isnan(error):
        return "–"  # noqa: RUF001
    return f"{100 * error:.2f}%" if card.is_share else f"{error:.3f}"
