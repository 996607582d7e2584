"""From the table of exit rules to errors at equal mean steps, and the best fixed n beside them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pondering.params.mechanisms import MECHANISMS
from pondering.results.tables import best_setting, headline, per_seed, splits_of

ORACLE, FIXED = "oracle", "fixed"
"""The two references."""


def at_best_settings(
    rows: pd.DataFrame | None, table: pd.DataFrame | None
) -> dict[str, pd.DataFrame]:
    """The rows of each mechanism without options at its best setting, on the split that counts.

    Args:
        rows: the table of exit rules, or of readouts, of one experiment, if there is one.
        table: its evaluation, by which the best setting is chosen: that of the lowest mean error
            over seeds by the mechanism's own readout.

    Returns:
        By mechanism, in the order of tables; empty without either.
    """
    if rows is None or table is None:
        return {}
    seeds, found = per_seed(headline(table)), {}
    counts = rows[rows["split"] == splits_of(table)[0]]
    there = set(counts["mechanism"])
    for mechanism in (each for each in MECHANISMS if each in there):
        same = counts["setting"] == best_setting(seeds, mechanism)
        chosen = counts[same & (counts["mechanism"] == mechanism)]
        if len(chosen):
            found[mechanism] = chosen
    return found


def with_curve(rows: pd.DataFrame) -> list[str]:
    """The rules that have thresholds, in the order of the table; `fixed` is none of them."""
    known = rows.loc[rows["threshold"].notna(), "rule"].unique()
    return [rule for rule in known if rule != FIXED]


def with_point(rows: pd.DataFrame) -> list[str]:
    """The rules without threshold, one point a network: the oracle first."""
    others = {*with_curve(rows), FIXED}
    return sorted((each for each in rows["rule"].unique() if each not in others), key=ORACLE.__ne__)


def error_at(rows: pd.DataFrame, rule: str, steps: ArrayLike) -> NDArray[np.float64]:
    """Mean over seeds of `errors_at`, [points]; NaN where the thresholds of a seed do not reach."""
    found: NDArray[np.float64] = np.mean([*errors_at(rows, rule, steps).values()], axis=0)
    return found


def errors_at(rows: pd.DataFrame, rule: str, steps: ArrayLike) -> dict[int, NDArray[np.float64]]:
    """Error of each seed by a rule with thresholds, at so many mean steps.

    Args:
        rows: of one mechanism, setting and split.
        rule: one of `with_curve`.
        steps: mean steps, [points]; between thresholds the error lies on a straight line, as it
            does where rows take either threshold by chance.

    Returns:
        By seed [points], NaN where its thresholds do not reach. A seed that diverged has the worst
        error at any steps.
    """
    wanted, found = np.asarray(steps, float), {}
    for seed, points in rows[rows["rule"] == rule].groupby("seed"):
        line = points.sort_values("ponder_time", kind="stable")
        place, error = line["ponder_time"].to_numpy(), line["error"].to_numpy()
        if np.isnan(place).any():
            found[int(seed)] = np.full(wanted.shape, error[0])
        else:
            found[int(seed)] = np.interp(wanted, place, error, left=np.nan, right=np.nan)
    return found


def point(rows: pd.DataFrame, rule: str) -> tuple[float, float]:
    """Mean steps and error over seeds of a rule without threshold; NaN without rows."""
    points = rows[rows["rule"] == rule]
    return float(points["ponder_time"].mean()), float(points["error"].mean())


def fixed(rows: pd.DataFrame) -> pd.Series:
    """Mean error over seeds of stopping at n whatever is seen, by n.

    A seed that diverged has the worst error at every n.
    """
    points = rows[rows["rule"] == FIXED]
    lost = points[points["ponder_time"].isna()]
    alive = points.dropna(subset=["ponder_time"])
    count = alive["seed"].nunique() + len(lost)
    found: pd.Series = (alive.groupby("ponder_time")["error"].sum() + lost["error"].sum()) / count
    return found


def best_fixed(rows: pd.DataFrame, steps: float) -> tuple[float, float]:
    """The best n that takes no more than so many steps, and its mean error over seeds.

    It is chosen on the test, as the oracle is: a rule is held against the best there is. NaN where
    no n is that small.
    """
    known = fixed(rows)
    known = known[known.index <= steps]
    if known.empty:
        return float("nan"), float("nan")
    return float(known.idxmin()), float(known.min())
