"""What a screen of recipes has found: its arms in the order of their score."""

from __future__ import annotations

import pandas as pd


def last_errors(rows: pd.DataFrame, worst_error: float) -> pd.DataFrame:
    """Each network's error in training at its last logging point.

    Args:
        rows: a screen's table: arm, mechanism, setting, seed, update, error.
        worst_error: of a network that diverged.
    """
    networks = ["arm", "mechanism", "setting", "seed"]
    last = rows.sort_values("update", kind="stable").groupby(networks, sort=False).tail(1)
    return last.assign(error=last["error"].fillna(worst_error))[[*networks, "error"]]


CLOSE = 2
"""Of arms that differ by no more networks solved the median error decides (docs/methods.md)."""


def ranked(rows: pd.DataFrame, solved_below: float, worst_error: float) -> pd.DataFrame:
    """The arms by their score: networks solved, all mechanisms together, then the median error.

    The first has the lowest median error of the arms that solve at most `CLOSE` networks fewer than
    the one that solves most; the second is the first of the others, and so on.

    Returns:
        arm, solved, networks, median; the best first.
    """
    last = last_errors(rows, worst_error)
    arms = last.groupby("arm", sort=False)["error"]
    found = pd.DataFrame({
        "solved": arms.apply(lambda errors: int((errors < solved_below).sum())),
        "networks": arms.size(),
        "median": arms.median(),
    }).reset_index()  # fmt: skip
    left, order = found.sort_values("median", kind="stable"), []
    while len(left):
        near = left["solved"] >= left["solved"].max() - CLOSE
        order.append(left[near].index[0])
        left = left.drop(order[-1])
    return found.loc[order].reset_index(drop=True)
