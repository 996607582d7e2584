"""What all readers of the evaluation tables share: how a replica's rows become one number."""

from __future__ import annotations

import pandas as pd

REPLICA = ["mechanism", "setting", "seed"]


def replica_means(rows: pd.DataFrame) -> pd.DataFrame:
    """Error and steps of every replica: means over the difficulties with equal weight.

    Args:
        rows: evaluation rows of one split and one way to predict.

    Returns:
        Columns error and ponder_time, by (mechanism, setting, seed) in the order of the rows.

    Source: Graves 2016, section 3: the papers' error rate, over all difficulties alike.
    """
    means: pd.DataFrame = rows.groupby(REPLICA, sort=False)[["error", "ponder_time"]].mean()
    return means


def headline(table: pd.DataFrame) -> pd.DataFrame:
    """The rows behind the one number of a replica: first split, predicted as its paper does.

    Args:
        table: all evaluation rows of one experiment, at least one.
    """
    first = table["split"].iloc[0]
    return table[(table["split"] == first) & (table["prediction"] != "expected")]
