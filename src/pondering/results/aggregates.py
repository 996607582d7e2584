"""From the tidy evaluation tables to one number per seed or per setting.

A replica that diverged counts as a failure in every error. It has no ponder time, so the means of
ponder are over the replicas that have one; `seeds` still counts them all.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from pondering.results.tables import REPLICA, replica_means


def failure_error(experiment: str) -> float:
    """The error of a diverged replica: every sequence wrong, or 8 bits per character of text.

    The same as the task's own `worst_error`, which lies out of reach here: tasks import torch.
    """
    return 8.0 if experiment == "wikipedia" else 1.0


def best_rate(rows: pd.DataFrame) -> float:
    """The learning rate with the least error at the last point of a search.

    Args:
        rows: a search's table, of one experiment; a replica that diverged counts as a failure.
    """
    last = rows[rows["update"] == rows["update"].max()]
    errors = last["error"].fillna(failure_error(str(rows["experiment"].iloc[0])))
    return float(errors.groupby(last["learning_rate"]).mean().idxmin())


def evaluated(
    table: pd.DataFrame, *, split: str | None = None, prediction: str = "sampled"
) -> pd.DataFrame:
    """The rows of one way to predict, and of one split.

    Args:
        table: evaluation rows.
        split: the split to keep; None keeps all.
        prediction: which of PonderNet's two rows to keep: "sampled" (as its paper evaluates) or
            "expected". The one prediction of the other mechanisms, "mixture", is always kept.

    Returns:
        A copy of those rows; diverged replicas have the error of a failure and no ponder time.
    """
    keep = table["prediction"].isin(["mixture", prediction])
    if split is not None:
        keep &= table["split"] == split
    rows = table[keep].copy()
    diverged = rows["status"] == "diverged"
    failures = rows["experiment"].map(failure_error).astype(float)
    rows["error"] = rows["error"].astype(float).mask(diverged, failures)
    rows["ponder_time"] = rows["ponder_time"].astype(float).mask(diverged)
    return rows


def per_seed(rows: pd.DataFrame) -> pd.DataFrame:
    """Error and ponder of every replica: means over the difficulties with equal weight.

    Args:
        rows: what `evaluated` gives, of one split.

    Returns:
        Columns mechanism, setting, seed, error, ponder_time, status, one row per replica, sorted.
    """
    means = replica_means(rows)
    means["status"] = rows.groupby(REPLICA, sort=False)["status"].first()
    return means.sort_index().reset_index()


def per_setting(rows: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Means and standard errors over seeds for every setting, and every value of the columns `by`.

    Args:
        rows: one row per seed (what `per_seed` gives), or with by=["difficulty"] per seed and
            difficulty (what `evaluated` gives, of one split).
        by: further columns to keep apart.

    Returns:
        Columns mechanism, setting, *by, error, error_se, ponder_time, ponder_se, seeds, sorted.
        A standard error is NaN where fewer than two seeds have a value.
    """
    grouped = rows.groupby(["mechanism", "setting", *by], sort=True, as_index=False)
    return grouped.agg(
        error=("error", "mean"),
        error_se=("error", "sem"),
        ponder_time=("ponder_time", "mean"),
        ponder_se=("ponder_time", "sem"),
        seeds=("seed", "nunique"),
    )


def best_setting(seeds: pd.DataFrame, mechanism: str) -> float | None:
    """The setting of a mechanism with the lowest mean error over seeds.

    Args:
        seeds: what `per_seed` gives.
        mechanism: repeat, act or pondernet; the plain network (repeat, rho 1) is never chosen.

    Returns:
        The setting; between equals the one that ponders less, then the smaller. None without rows.
    """
    means = per_setting(seeds[seeds["mechanism"] == mechanism])
    if mechanism == "repeat":
        means = means[means["setting"] != 1]
    if means.empty:
        return None
    ordered = means.sort_values(["error", "ponder_time", "setting"], kind="stable")
    return float(ordered["setting"].iloc[0])


def plain(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the plain network: a fixed repeat count of one, "without ACT"."""
    return rows[(rows["mechanism"] == "repeat") & (rows["setting"] == 1)]
