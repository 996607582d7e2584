"""From what each process has measured to a row: rates are summed over the processes."""

from __future__ import annotations

import statistics
from typing import Any

from cases import Case, Row


def total(case: Case, parts: list[Row]) -> Row:
    """The row of a case.

    Args:
        parts: what `measure.measure` has returned in each process.
    """
    notes = [part["note"] for part in parts if "note" in part]
    if notes:
        return {"note": next(filter(None, notes), "a process stopped")}
    names = parts[0]["spans"]
    rates = {name: _summed(name, parts) for name in names}
    stacks, plains, matrix = (rates[name] for name in ("stack", "plain", "matrix"))
    runs = [case.replicas * rate for rate in stacks]
    work = parts[0]["work"]
    row: Row = {
        "processes": len(parts),
        "ponder_mean": parts[0]["ponder_mean"],
        "ponder_max": parts[0]["ponder_max"],
        "updates_per_s": spread(stacks),
        "run_updates_per_s": spread(runs),
        "plain_updates_per_s": spread(plains),
        "ratio": spread(_over(runs, plains)),
        "useful_gflop_per_update": work / 1e9,
        "useful_share": spread([work * share for share in _over(stacks, matrix)]),
        "matrix_gflop_per_s": spread([rate / 1e9 for rate in matrix]),
        "peak_mib": max(part["peak"] for part in parts) / 2**20,
        "drawing_share": parts[0]["drawing"] * parts[0]["spans"]["stack"][0].rate,
        "at_the_same_time": min(overlaps(name, parts) for name in ("stack", "plain", "matrix")),
    }
    if "stack alone" in names:
        one = [case.replicas * rate for rate in rates["stack alone"]]
        row["ratio_alone"] = spread(_over(one, rates["plain alone"]))
    return row


def _summed(name: str, parts: list[Row]) -> list[float]:
    """By round, the rates of all processes that have worked in this turn."""
    spans = [part["spans"][name] for part in parts if part["spans"][name]]
    return [sum(span.rate for span in each) for each in zip(*spans, strict=True)]


def overlaps(name: str, parts: list[Row]) -> float:
    """The least share of a turn in which all of its processes were at work."""
    spans = [part["spans"][name] for part in parts if part["spans"][name]]
    rounds = list(zip(*spans, strict=True))
    shares = []
    for each in rounds:
        starts, ends = [span.start for span in each], [span.end for span in each]
        shares.append((min(ends) - max(starts)) / (max(ends) - min(starts)))
    return max(0.0, min(shares))


def _over(above: list[float], below: list[float]) -> list[float]:
    return [a / b for a, b in zip(above, below, strict=True)]


def spread(values: list[float]) -> dict[str, Any]:
    """Median, least and greatest."""
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}
