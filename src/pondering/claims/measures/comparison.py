"""Every mechanism on one task: exit rules (Q4), and what is right beyond the range (Q5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import numpy as np
import pandas as pd

from pondering.claims.evidence import Evidence, InsufficientError, require
from pondering.claims.frames import Array, by
from pondering.claims.quantities import Measured, parted
from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import read_variant
from pondering.results.exits import at_best_settings, errors_at, with_curve
from pondering.results.statistics import Interval, interval, mean_interval, median_interval
from pondering.results.tables import per_seed, ranked

FEWEST_THRESHOLDS = 8
LARGEST_ERROR = 0.25
"""Half of chance on parity: beyond it mechanisms differ by what they learned, not by halting."""


def rules_and_mechanisms(
    evidence: Evidence, *, experiment: str, beside: str, steps: Sequence[float]
) -> Measured:
    """Q4: accuracy at equal mean steps, how it varies by rule and by mechanism.

    variance_ratio is the sum of squares between rules over that between mechanisms, both summed
    over the mean steps. Mechanisms without options are compared at their best settings, of those
    whose mean error there is at most LARGEST_ERROR, by every rule that all of them have with eight
    thresholds at least in each network. Mean steps that some rule does not reach are left out.
    variance_ratio_at_any_depth takes in mechanisms too whose error is as low at N steps alone.

    Args:
        beside: an experiment that decides nothing, whose quantities are NAME_beside.
        steps: mean steps.
    """
    table, rows = evidence.table(experiment), evidence.results.exits.get(experiment)
    if rows is None:
        raise evidence.not_run(f"{experiment} has no table of exit rules")
    best, deep = {}, {}
    forced = at_best_settings(evidence.results.readouts.get(experiment), table)
    for mechanism, chosen in at_best_settings(rows, table).items():
        at = float(chosen["setting"].iloc[0])
        sweep = evidence.sweep(experiment, mechanism, above=at - 1e-9, at_most=at)
        if per_seed(sweep)["error"].mean() <= LARGEST_ERROR:
            best[mechanism] = chosen
        elif mechanism in forced and forced[mechanism]["depth"].mean() <= LARGEST_ERROR:
            deep[mechanism] = chosen
    require(len(best), 2, "mechanisms with exit rules that learned the task")
    suffix = "_beside" if experiment == beside else ""
    found: Measured = {f"variance_ratio{suffix}": _ratio(best, rows, steps)}
    if deep:
        with suppress(InsufficientError):  # it decides nothing
            found[f"variance_ratio_at_any_depth{suffix}"] = _ratio(best | deep, rows, steps)
    return found


def _fine(rows: pd.DataFrame, rule: str) -> bool:
    """Whether every network has thresholds enough; one that diverged has none and does not ask."""
    counts = rows[(rows["rule"] == rule) & rows["threshold"].notna()].groupby("seed").size()
    return bool(len(counts) and counts.min() >= FEWEST_THRESHOLDS)


def _ratio(
    best: Mapping[str, pd.DataFrame], rows: pd.DataFrame, steps: Sequence[float]
) -> Interval:
    """The ratio over the seeds that all have; its interval is that of its logarithm."""
    rules = [
        rule for rule in with_curve(rows) if all(_fine(chosen, rule) for chosen in best.values())
    ]
    require(len(rules), 2, "rules with eight thresholds in every network")
    errors = [[errors_at(chosen, rule, steps) for chosen in best.values()] for rule in rules]
    seeds = sorted(set.intersection(*(set(each) for row in errors for each in row)))
    accuracy = 1 - np.array([[[each[seed] for each in row] for row in errors] for seed in seeds])
    reached = ~np.isnan(accuracy).any(axis=(0, 1, 2))
    require(int(reached.sum()), 1, "mean steps that every rule reaches")
    found = interval(log_ratio, accuracy[..., reached])
    with np.errstate(over="ignore"):
        ratio, low, high = np.exp([found.estimate, found.low, found.high]).tolist()
    return Interval(ratio, low, high, found.count)


def log_ratio(accuracy: Array) -> float:
    """The logarithm of the ratio, of [seeds, rules, mechanisms, steps]; inf where no mechanism
    differs from another."""
    table = accuracy.mean(axis=0)
    # a sum of squares is such a variance times the number of rules times that of mechanisms
    between = [table.mean(axis=others).var(axis=0).sum() for others in (1, 0)]
    with np.errstate(divide="ignore", invalid="ignore"):
        rules, mechanisms = np.log(between)
        return float(rules - mechanisms)


FORCED = {"depth": "accuracy_at_N", "twice": "accuracy_at_2N", "fourfold": "accuracy_at_4N"}
"""Reading of a network that is made to take so many steps -> its quantity."""
RIGHT_INSIDE = 0.9
"""Accuracy inside the range, as B2 asks for, below which a mechanism has nothing to extrapolate."""


def beyond_the_range(evidence: Evidence, *, experiment: str) -> Measured:
    """Q5: accuracy beyond the range, of each mechanism at its setting that is best inside.

    A part is a mechanism. accuracy_beyond is of those that are right on RIGHT_INSIDE inside, and
    best_accuracy that of the best of them. Of all mechanisms accuracy_at_N, _at_2N and _at_4N are
    forced to so many steps, and accuracy_inside is that inside.

    Args:
        experiment: has the splits "interpolation" and "extrapolation".
    """
    there = {read_variant(name)[0] for name in evidence.table(experiment)["mechanism"]}
    found: Measured = {}
    learned: list[Interval] = []
    for mechanism in (each for each in MECHANISMS if each in there):
        networks = evidence.networks(experiment, evidence.variants(experiment, mechanism))
        variant, setting = ranked(networks).loc[0, ["mechanism", "setting"]]
        inside, beyond = (
            1 - by(evidence.sweep(experiment, variant, split), "error")[setting]
            for split in ("interpolation", "extrapolation")
        )
        known, title = mean_interval(inside), MECHANISMS[mechanism].title
        measured: Measured = {}
        if known.estimate >= RIGHT_INSIDE:
            measured["accuracy_beyond"] = median_interval(beyond)
            learned.append(measured["accuracy_beyond"])
        measured |= _forced(evidence, experiment, variant, setting) | {"accuracy_inside": known}
        found |= parted(measured, title)
    most = max(learned, key=lambda each: each.estimate, default=mean_interval([]))
    return found | {"best_accuracy": most}


def _forced(evidence: Evidence, experiment: str, variant: str, setting: float) -> Measured:
    """Accuracy beyond the range at N, 2N and 4N steps; nothing without an audit of them."""
    rows = evidence.results.readouts.get(experiment)
    if rows is None:
        return {}
    rows = rows[(rows["split"] == "extrapolation") & (rows["mechanism"] == variant)]
    rows = rows[rows["setting"] == setting]
    return {
        name: median_interval(1 - rows[column].to_numpy(float))
        for column, name in FORCED.items()
        if len(rows)
    }
