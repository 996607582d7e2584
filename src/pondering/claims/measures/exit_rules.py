"""Whether the exit rule matters more than the mechanism (Q4)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from pondering.claims.measures.arrays import Array, average
from pondering.claims.measures.evidence import Evidence, InsufficientError, NotRunError, require
from pondering.claims.measures.networks import of_each
from pondering.claims.measures.quantities import Quantity
from pondering.params.mechanisms import MECHANISMS
from pondering.results.exits import at_best_settings, errors_at, with_curve
from pondering.results.statistics import interval

FEWEST_THRESHOLDS = 8
LARGEST_ERROR = 0.25
"""Half of chance on parity: beyond it mechanisms differ by what they learned, not by halting."""


def rules_and_mechanisms(
    evidence: Evidence,
    *,
    experiments: Sequence[str],
    beside: Sequence[str],
    steps: Sequence[float],
) -> list[Quantity]:
    """Accuracy at equal mean steps: how it varies by rule and by mechanism (Q4).

    Mechanisms without options are compared at their best settings, of those whose mean error there
    is at most LARGEST_ERROR, by every rule that all of them have with eight thresholds at least in
    each network. Mean steps that some rule does not reach are left out.

    Args:
        experiments: the tasks that are asked about.
        beside: others, whose quantities are NAME_beside.
        steps: mean steps.

    Returns:
        by task: variance_ratio, the sum of squares between rules over that between mechanisms,
        both summed over the mean steps; beside it variance_ratio_at_any_depth, with mechanisms too
        whose error is as low at N steps alone, where there are any.
    """

    def of(experiment: str) -> list[Quantity]:
        table, rows = evidence.table(experiment), evidence.results.exits.get(experiment)
        if rows is None:
            raise evidence.not_run(f"{experiment} has no table of exit rules")
        best, deep = {}, {}
        forced = at_best_settings(evidence.results.readouts.get(experiment), table)
        for mechanism, own in at_best_settings(rows, table).items():
            at, split = float(own["setting"].iloc[0]), own["split"].iloc[0]
            sweep = evidence.sweep(experiment, mechanism, split, partial(np.isclose, at))
            if float(average(sweep.seed_error())) <= LARGEST_ERROR:
                best[mechanism] = own
            elif mechanism in forced and forced[mechanism]["depth"].mean() <= LARGEST_ERROR:
                deep[mechanism] = own
        require(len(best), 2, "mechanisms with exit rules that learned the task")
        found = [_ratio(best, rows, steps)]
        if deep:
            with suppress(InsufficientError):  # it decides nothing
                ratio = _ratio(best | deep, rows, steps)
                more = f"the same with {_listed(deep)} too"
                found.append(replace(ratio, name="variance_ratio_at_any_depth", label=more))
        return found

    decides = of_each(evidence, experiments, of)
    with suppress(NotRunError):
        decides += [
            replace(each, name=f"{each.name}_beside") for each in of_each(evidence, beside, of)
        ]
    return decides


def _fine(own: pd.DataFrame, rule: str) -> bool:
    """Whether every network has thresholds enough; one that diverged has none and does not ask."""
    counts = own[(own["rule"] == rule) & own["threshold"].notna()].groupby("seed").size()
    return bool(len(counts) and counts.min() >= FEWEST_THRESHOLDS)


def _ratio(
    best: Mapping[str, pd.DataFrame], rows: pd.DataFrame, steps: Sequence[float]
) -> Quantity:
    """Its interval is that of its logarithm."""
    rules = [rule for rule in with_curve(rows) if all(_fine(own, rule) for own in best.values())]
    require(len(rules), 2, "rules with eight thresholds in every network")
    accuracy = _accuracies(best, rules, steps)
    reached = ~np.isnan(accuracy).any(axis=(0, 1, 2))
    require(int(reached.sum()), 1, "mean steps that every rule reaches")
    found = interval(log_ratio, accuracy[..., reached])
    with np.errstate(over="ignore"):
        value, *ends = np.exp([found.estimate, found.low, found.high]).tolist()
    at = ", ".join(f"{each:g}" for each in np.asarray(steps)[reached])
    label = (
        f"variance of accuracy between rules ({', '.join(rules)}) over that between "
        f"{_listed(best)}, at {at} mean steps"
    )
    low, high = (None if math.isnan(each) else each for each in ends)
    return Quantity("variance_ratio", label, "times", value, low, high, found.count)


def _listed(mechanisms: Iterable[str]) -> str:
    return ", ".join(MECHANISMS[each].title for each in mechanisms)


def _accuracies(
    best: Mapping[str, pd.DataFrame], rules: Sequence[str], steps: Sequence[float]
) -> Array:
    """[seeds, rules, mechanisms, steps], of the seeds that all mechanisms have."""
    errors = [[errors_at(own, rule, steps) for own in best.values()] for rule in rules]
    seeds = sorted(set.intersection(*(set(each) for row in errors for each in row)))
    found = [[[each[seed] for each in row] for row in errors] for seed in seeds]
    return 1 - np.asarray(found, dtype=np.float64)


def log_ratio(accuracy: Array) -> float:
    """The logarithm of the ratio, of [seeds, rules, mechanisms, steps]; inf where no mechanism
    differs from another."""
    table = accuracy.mean(axis=0)
    count = table.shape
    grand = table.mean(axis=(0, 1))
    rules = count[1] * ((table.mean(axis=1) - grand) ** 2).sum()
    mechanisms = count[0] * ((table.mean(axis=0) - grand) ** 2).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.log(rules) - np.log(mechanisms))
