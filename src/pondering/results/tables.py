"""From the tidy evaluation tables to one number per seed or per setting.

A replica that diverged counts as a failure in every error. It has no ponder time, so the means of
ponder are over the replicas that have one; `seeds` still counts them all.
"""

from __future__ import annotations

import pandas as pd

REPLICA = ["mechanism", "setting", "seed"]


def headline(table: pd.DataFrame) -> pd.DataFrame:
    """The rows behind the one number of a replica: first split, predicted as its paper does.

    Args:
        table: all evaluation rows of one experiment, at least one.
    """
    return evaluated(table, splits_of(table)[0])


def splits_of(table: pd.DataFrame) -> list[str]:
    """The splits of a table in their order: the one that counts comes first."""
    return [str(split) for split in dict.fromkeys(table["split"])]


def evaluated(table: pd.DataFrame, split: str | None) -> pd.DataFrame:
    """The rows of one split, or of all; of PonderNet the sampled prediction, as in its paper.

    A diverged replica has no ponder time and the worst error there is, as the evaluation has
    written them.
    """
    rows = table[table["prediction"] != "expected"]
    return rows if split is None else rows[rows["split"] == split]


def per_seed(rows: pd.DataFrame) -> pd.DataFrame:
    """Error and ponder of every replica: means over the difficulties with equal weight.

    Args:
        rows: what `evaluated` gives, of one split.

    Returns:
        Columns mechanism, setting, seed, error, ponder_time, status, one row per replica, sorted.

    Source: Graves 2016, section 3: the papers' error rate, over all difficulties alike.
    """
    grouped = rows.groupby(REPLICA, sort=False)  # sort=True gives other last bits
    means: pd.DataFrame = grouped[["error", "ponder_time"]].mean()
    return means.assign(status=grouped["status"].first()).sort_index().reset_index()


def per_setting(seeds: pd.DataFrame) -> pd.DataFrame:
    """Means and standard errors over seeds for every setting.

    Args:
        seeds: one row per seed, as `per_seed` gives.

    Returns:
        Columns mechanism, setting, error, error_se, ponder_time, ponder_se, seeds, sorted. A
        standard error is NaN where fewer than two seeds have a value.
    """
    grouped = seeds.groupby(["mechanism", "setting"], sort=True)
    found: pd.DataFrame = grouped.agg(
        error=("error", "mean"),
        error_se=("error", "sem"),
        ponder_time=("ponder_time", "mean"),
        ponder_se=("ponder_time", "sem"),
        seeds=("seed", "nunique"),
    )
    return found.reset_index()


def ranked(seeds: pd.DataFrame) -> pd.DataFrame:
    """What `per_setting` gives, from the lowest error; of equals fewer steps, then smaller, wins.

    Every page, claim and published network takes its best setting from here.
    """
    order = ["error", "ponder_time", "setting"]
    return per_setting(seeds).sort_values(order, ignore_index=True)


def best_setting(seeds: pd.DataFrame, mechanism: str) -> float | None:
    """The setting of a mechanism with the lowest mean error over seeds, as `ranked` has it.

    None without rows. `seeds` has a row for each replica, as `per_seed` gives them.
    """
    means = ranked(seeds[seeds["mechanism"] == mechanism])
    return None if means.empty else float(means.loc[0, "setting"])


def plain(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the plain network: a fixed repeat count of one, "without ACT"."""
    return rows[(rows["mechanism"] == "repeat") & (rows["setting"] == 1)]
