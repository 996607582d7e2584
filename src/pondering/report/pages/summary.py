"""The table of an experiment, and a sentence on how its networks were trained."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pandas as pd

from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import title_of
from pondering.params.schema import ExperimentConfig
from pondering.report.figures.methods import Method, best_methods
from pondering.report.pages import names
from pondering.results.results import Card
from pondering.results.statistics import SOLVED_ERROR, mean_interval
from pondering.results.tables import evaluated, headline, per_seed, splits_of
from pondering.results.units import interval_text

SPLITS_ON_FIGURES_ALONE = frozenset({"angle"})
"""Splits with too many difficulties and no mean worth a row."""

OWN_VALUES = {"beta": "β = {:g}", "max_steps": "at most {} steps", "epsilon": "ε = {:g}"}
"""Value of a mechanism's block -> its words; others are `name = value`."""


@dataclass(frozen=True)
class SummaryRow:
    """One setting of one method on one split, in printed form.

    `best`: the method's setting with the lowest mean error on the first split.
    """

    method: str
    setting: str
    split: str
    error: str
    steps: str
    solved: str
    note: str
    best: bool


def summary_rows(
    table: pd.DataFrame, card: Card, solved_error: float = SOLVED_ERROR
) -> list[SummaryRow]:
    """Every setting with its mean error and interval, steps and seeds that solved the task.

    Args:
        table: the evaluation rows of one experiment.
        card: its data card.
        solved_error: a seed with a smaller error has solved the task.

    Returns:
        Rows in the order of mechanisms, settings and splits; a mechanism's variants follow it.
        PonderNet halts by sampling, as its paper evaluates.
    """
    splits = [each for each in splits_of(table) if each not in SPLITS_ON_FIGURES_ALONE]
    there = names.variants(table["mechanism"].unique())
    chosen = best_methods(per_seed(headline(table)), ["plain", *there])
    best = {(each.mechanism, each.setting) for each in chosen}
    seeds = {split: per_seed(evaluated(table, split=split)) for split in splits}
    rows = []
    for mechanism in there:
        settings = sorted(table.loc[table["mechanism"] == mechanism, "setting"].unique())
        for setting, split in product(settings, splits):
            method = Method(mechanism, float(setting))
            group = method.of(seeds[split])
            if len(group):
                rows.append(
                    SummaryRow(
                        method.title,
                        method.symbol,
                        card.splits[split],
                        _error(group["error"], card),
                        _steps(group["ponder_time"]),
                        solved(group["error"], solved_error) if card.is_share else "",
                        _note(group["status"]),
                        (mechanism, setting) in best,
                    )
                )
    return rows


def _error(errors: pd.Series, card: Card) -> str:
    mean = mean_interval(errors).within(0, 1 if card.is_share else math.inf)
    low, high = (None if math.isnan(mean.low) else end for end in (mean.low, mean.high))
    return interval_text(mean.estimate, low, high, "share" if card.is_share else "bits")


def _steps(steps: pd.Series) -> str:
    return "" if steps.isna().all() else f"{steps.mean():.2f}"


def solved(errors: pd.Series, below: float = SOLVED_ERROR) -> str:
    """How many of some networks have solved their task."""
    return f"{(errors < below).sum()} of {len(errors)}"


def _note(status: pd.Series) -> str:
    """How many seeds diverged, and whether any is still in training."""
    diverged = int((status == "diverged").sum())
    notes = [f"{diverged} diverged"] if diverged else []
    return ", ".join([*notes, *(["unfinished"] if (status == "running").any() else [])])


def trained_in_words(config: ExperimentConfig) -> str:
    """Cell, size, most steps, updates, batch and learning rate, in a sentence."""
    network, trained = config.network, list(config.mechanisms)
    cell = names.CELLS.get(network.cell, network.cell)
    parts = [
        f"{cell[:1].upper()}{cell[1:]} of {network.hidden} units",
        f"at most {config.halting.max_steps} steps",
        f"{_each({name: config.updates(name) for name in trained})} updates "
        f"of {config.training.batch} examples",
        f"learning rate {_each({name: config.learning_rate(name) for name in trained})}",
    ]
    extras = {title_of(name): ", ".join(own_values(config, name)) for name in trained}
    parts += [f"{title} with {values}" for title, values in extras.items() if values]
    return "; ".join(parts) + "."


def unequal_training(curves: pd.DataFrame, mechanisms: Sequence[str]) -> str:
    """How many updates the longest training of each mechanism had; empty where all had as many."""
    ends = curves.groupby("mechanism")["update"].max()
    updates = {title_of(each): ends[each] for each in mechanisms if each in ends}
    if len(set(updates.values())) < 2:
        return ""
    lengths = ", ".join(f"{title} {value:,.0f}" for title, value in updates.items())
    return f"Updates of the longest training: {lengths}."


def _each(values: Mapping[str, float]) -> str:
    """The value of most mechanisms, then other values with the mechanism's name."""
    texts = {name: _plain(value) for name, value in values.items()}
    usual = max(texts.values(), key=[*texts.values()].count, default="none")
    others = (f"{text} for {title_of(name)}" for name, text in texts.items() if text != usual)
    return ", ".join([usual, *others])


def own_values(config: ExperimentConfig, mechanism: str) -> Iterator[str]:
    """The values of a mechanism's block that differ from their defaults, in words."""
    for name, value in config.mechanism(mechanism).arguments.items():
        default = MECHANISMS[mechanism].arguments[name][1]
        if value is not None and value != default:
            known = OWN_VALUES.get(name)
            yield known.format(value) if known else f"{name.replace('_', ' ')} = {_plain(value)}"


def _plain(value: Any) -> str:
    if isinstance(value, bool | str):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
