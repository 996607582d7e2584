"""What has changed between two tables of one experiment, setting by setting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from pondering.params.replica import read_variant
from pondering.results.tables import evaluated, replica_means, splits_of

TOLD = ["seed", "difficulty", "error", "ponder_time"]

Setting = tuple[str, float]
"""The mechanism as tables write it, and the setting."""


@dataclass(frozen=True)
class Change:
    """One setting on one split, before and after.

    Args:
        mechanism: its name in `MECHANISMS`.
        before, after: the setting; where one was replaced by another the two differ, and where
            one is new or gone the other is None.
        rows_before, rows_after: its evaluation rows, none where it is None.
    """

    experiment: str
    split: str
    mechanism: str
    before: Setting | None
    after: Setting | None
    rows_before: pd.DataFrame
    rows_after: pd.DataFrame

    def per_seed(self, value: str) -> tuple[pd.Series, pd.Series]:
        """Means over the difficulties before and after, by seed.

        Args:
            value: error or ponder_time.
        """
        before, after = (
            replica_means(rows)[value].droplevel(["mechanism", "setting"])
            for rows in (self.rows_before, self.rows_after)
        )
        return before, after

    def difference(self, value: str) -> pd.Series | None:
        """After less before, by seed; None unless the seeds are the same."""
        before, after = self.per_seed(value)
        return after - before if set(before.index) == set(after.index) else None


def changes(before: pd.DataFrame, after: pd.DataFrame) -> Iterator[Change]:
    """The settings whose errors or steps are not the same, split by split.

    Where as many settings of a mechanism are new as are gone, they replace each other in their
    order: a learning rate changes a setting, a lambda_p of 0.6 in place of 0.4 replaces one.

    Args:
        before, after: all evaluation rows of one experiment; `after` has one at least.
    """
    experiment = str(after["experiment"].iloc[0])
    before, after = evaluated(before), evaluated(after)
    for split in splits_of(after):
        old, new = (_by_setting(rows[rows["split"] == split]) for rows in (before, after))
        for mechanism, one, other in _pairs(list(old), list(new)):
            rows = [part[each] if each else after.iloc[:0]
                    for part, each in ((old, one), (new, other))]  # fmt: skip
            if one != other or not rows[0][TOLD].equals(rows[1][TOLD]):
                yield Change(experiment, split, mechanism, one, other, *rows)


def _by_setting(rows: pd.DataFrame) -> dict[Setting, pd.DataFrame]:
    groups = rows.groupby(["mechanism", "setting"], sort=False)
    return {(str(name), float(value)): own.reset_index(drop=True) for (name, value), own in groups}


def _pairs(
    old: list[Setting], new: list[Setting]
) -> Iterator[tuple[str, Setting | None, Setting | None]]:
    """Each setting with itself or with what replaces it, mechanism by mechanism."""
    for mechanism in dict.fromkeys(read_variant(name)[0] for name, _ in [*new, *old]):
        one, other = (
            {each for each in settings if read_variant(each[0])[0] == mechanism}
            for settings in (old, new)
        )
        gone, come = sorted(one - other), sorted(other - one)
        pairs: list[tuple[Setting | None, Setting | None]] = [(each, each) for each in one & other]
        if len(gone) == len(come):
            pairs += zip(gone, come, strict=True)
        else:
            pairs += [(each, None) for each in gone] + [(None, each) for each in come]
        for pair in sorted(pairs, key=lambda pair: pair[1] or pair[0] or ("", 0.0)):
            yield (mechanism, *pair)
