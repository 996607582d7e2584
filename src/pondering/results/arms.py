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


def ranked(rows: pd.DataFrame, solved_below: float, worst_error: float) -> pd.DataFrame:
    """The arms by their score: networks solved, all mechanisms together, then the median error.

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
    return found.sort_values(["solved", "median"], ascending=[False, True], ignore_index=True)
