"""What the report says beyond the papers: every way to halt on every task, and what follows.

Each sentence is computed from the tables; where they lack what it needs, it is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pondering.claims.answers import Answer
from pondering.claims.verdicts import sentence
from pondering.params.read import ExperimentConfig
from pondering.report.figures import style
from pondering.report.figures.methods import (
    ORDER,
    Method,
    best_methods,
    method_of,
    trained_alike,
)
from pondering.report.pages.names import listed
from pondering.report.pages.summary import SPLITS_ON_FIGURES_ALONE, own_values, printed
from pondering.results import exits
from pondering.results.exits import at_best_settings
from pondering.results.results import CONTROL, Card, Results
from pondering.results.statistics import Interval, mean_interval, solve_rate
from pondering.results.tables import evaluated, headline, per_seed, splits_of

EVERY_WAY = "comparison"
"""The experiment that has every mechanism."""
CONCLUSIONS = 10
"""At most so many sentences: what the questions found first."""
STEPS = 3.0
"""Mean steps at which exit rules are compared."""
READ = (
    ("Forced to its last step {} loses most", "own", "depth"),
    ("A head fitted anew at the last step wins back most for {}", "refitted", "depth"),
)
"""A sentence of the mechanism of which one error exceeds another most."""
Rows = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Beyond:
    """A table with a row a task and a column a method, and sentences."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[tuple[str, ...], ...]], ...]
    """Experiment, title with what it was tested on, and of each column the lines of its cell."""
    sentences: tuple[str, ...]


def beyond_of(
    results: Results,
    experiments: Sequence[str],
    answers: Sequence[Answer] = (),
    settings: Mapping[str, ExperimentConfig] | None = None,
) -> Beyond:
    """Everything of this section but the figures.

    Args:
        results: of one profile.
        experiments: those with a table, in the order of the page.
        answers: to the questions beyond the papers.
        settings: experiment -> parameters, for what a mechanism has of its own.
    """
    seeds = {name: per_seed(headline(results.tables[name])) for name in experiments}
    best = {
        name: {m.name: m for m in trained_alike(best_methods(each), results.curves.get(name))}
        for name, each in seeds.items()
    }
    there = [name for name in ORDER if any(name in each for each in best.values())]
    rows = []
    for name, methods in best.items():
        table, card = results.tables[name], results.cards[name]
        splits = [each for each in splits_of(table) if each not in SPLITS_ON_FIGURES_ALONE]
        for split in splits:
            tested = per_seed(evaluated(table, split=split))
            config = (settings or {}).get(name)
            cells = [_cell(card, methods.get(each), tested, config) for each in there]
            where = f": {card.splits[split]}" if len(splits) > 1 else ""
            rows.append((name, results.title(name) + where, tuple(cells)))
    found = [_found(each) for each in answers if each.state == "answered"]
    sentences = [*found, *(each for told in TOLD for each in told(results, seeds, best))]
    return Beyond(
        tuple(style.MECHANISM_NAME[each] for each in there),
        tuple(rows),
        tuple(sentences[:CONCLUSIONS]),
    )


def _cell(
    card: Card, method: Method | None, seeds: pd.DataFrame, config: ExperimentConfig | None
) -> tuple[str, ...]:
    """Setting with what is its own, error, steps, a line each; nothing where it was not run."""
    if method is None:
        return ()
    own = method.of(seeds)
    error = mean_interval(own["error"]).within(0, 1 if card.is_share else math.inf)
    scale, digits, unit = printed(error.estimate, card)
    wrong = f"{scale * error.estimate:.{digits}f}{unit}{_bounds(error, scale, digits)}"
    if method.name == "plain":
        return (wrong,)
    steps = mean_interval(own["ponder_time"].dropna()).within(1, math.inf)
    taken = f"{steps.estimate:.1f} steps{_bounds(steps, 1, 1)}"
    chosen = [method.symbol]
    if config is not None and method.mechanism in config.mechanisms:
        chosen += own_values(config, method.mechanism, without_default=False)
    return (", ".join(chosen), wrong, *([taken] if np.isfinite(steps.estimate) else []))


def _bounds(interval: Interval, scale: float, digits: int) -> str:
    """Nothing where there is no interval, or one of no length, as of a fixed number of steps."""
    low, high = (f"{scale * each:.{digits}f}" for each in (interval.low, interval.high))
    return "" if math.isnan(interval.low) or low == high else f" ({low} to {high})"


# --- sentences -----------------------------------------------------------------------------------


def _found(answer: Answer) -> str:
    """A question, its answer, of each meaning what holds and fails first, and how many networks."""
    told: dict[tuple[str, str], str] = {}
    for outcome in ("holds", "fails"):
        for each in answer.findings:
            if each.outcome == outcome and each.meaning not in answer.question.conditions:
                part = f"{each.part}: " if each.part else ""
                told.setdefault((outcome, each.meaning), f"{part}{each.label} {each.measured}")
    measured = dict.fromkeys(told.values())
    networks = f"{answer.replicas} networks, {answer.seeds} seeds of a setting at least"
    return (
        f"{answer.question.question} {answer.reason} Measured: {'; '.join([*measured, networks])}."
    )


Best = Mapping[str, Mapping[str, Method]]
"""Experiment -> method -> it at its best setting."""


def _solved(results: Results, seeds: Rows, best: Best) -> Iterator[str]:
    """Which mechanisms solve the task that all have most and least often, and which one fast."""
    if EVERY_WAY not in seeds:
        return
    own = {name: method.of(seeds[EVERY_WAY]) for name, method in best[EVERY_WAY].items()}
    rates = {name: solve_rate(rows["error"]).estimate for name, rows in own.items()}
    most, fewest = max(rates.values()), min(rates.values())
    told = {fewest: "it least often", most: f"{_task(results)} most often"}  # or all alike
    for rate, words in reversed(told.items()):
        names = [name for name in rates if rates[name] == rate]
        yield (
            f"{_listed(names)} {'solve' if len(names) > 1 else 'solves'} {words}: errors are below "
            f"5% in {rate:.0%} of {_seeds(own[name] for name in names)}."
        )
    fast = [
        (float(rows["ponder_time"].mean()), method_of(mechanism, setting), rows)
        for (mechanism, setting), rows in seeds[EVERY_WAY].groupby(["mechanism", "setting"])
        if solve_rate(rows["error"]).estimate > 0.5
    ]
    if fast:
        steps, method, rows = min(fast, key=lambda each: each[0])
        yield (
            f"Of all settings that most seeds solve {method.legend} takes the fewest steps, "
            f"{steps:.1f} over {_seeds([rows])}."
        )


def _rules(results: Results, seeds: Rows, best: Best) -> Iterator[str]:
    """What exit rules make of the same networks."""
    found = _stopped(results, EVERY_WAY)
    if not found:
        return
    better = [mechanism for mechanism, own in found.items() if _surely_better(own, STEPS)]
    yield (
        f"Within {STEPS:g} mean steps {BEST_RULE} for "
        f"{_listed(better) if better else 'no mechanism'} ({_seeds(found.values())})."
    )
    points = [
        (error, steps, mechanism, rule)
        for mechanism, own in found.items()
        for rule, steps, error in (*_points(own), ("fixed n", *exits.best_fixed(own, math.inf)))
    ]
    error, steps, mechanism, rule = min(points)
    yield (
        f"The best rule, chosen on the test, is {rule} for {_name(mechanism)}: "
        f"{_percent(error)} errors at {steps:.1f} steps ({_seeds([found[mechanism]])})."
    )


BEST_RULE = (
    "the best rule, chosen on every other seed, surely beats the best fixed n on the seeds between"
)


def _points(own: pd.DataFrame) -> Iterator[tuple[str, float, float]]:
    """Rule, mean steps and error of the rules that save steps: at thresholds, or once."""
    unfair = (exits.ORACLE, *exits.COMPUTE_ALL)
    for rule in (each for each in exits.with_point(own) if each not in unfair):
        yield rule, *exits.point(own, rule)
    most = float(own["ponder_time"].max())
    grid = np.linspace(1, most, 50)
    for rule in exits.with_curve(own):
        errors = exits.error_at(own, rule, grid)
        if np.isfinite(errors).any():
            place = int(np.nanargmin(errors))
            yield rule, float(grid[place]), float(errors[place])


def _audit(results: Results, seeds: Rows, best: Best) -> Iterator[str]:
    """How much of a result is the readout."""
    read = at_best_settings(results.readouts.get(EVERY_WAY), results.tables.get(EVERY_WAY))
    read.pop(CONTROL, None)
    for words, before, after in READ:
        gaps = {each: float((own[after] - own[before]).mean()) for each, own in read.items()}
        gaps = {each: value for each, value in gaps.items() if value > 0}
        if gaps:
            most = max(gaps, key=lambda n: gaps[n])
            seen = _seeds([read[most]])
            yield f"{words.format(_name(most))}, {100 * gaps[most]:.1f} points ({seen})."


def _sequences(results: Results, seeds: Rows, best: Best) -> Iterator[str]:
    """Whether any rule beats the best fixed n elsewhere."""
    others = [
        own for name in seeds if name != EVERY_WAY for own in _stopped(results, name).values()
    ]
    if others:
        where = "on the other tasks " if EVERY_WAY in seeds else ""
        yield sentence(
            f"{where}{BEST_RULE} in {sum(map(_surely_better, others))} of {len(others)} "
            f"case{'s' if len(others) > 1 else ''} of a mechanism on a task ({_seeds(others)})."
        )


def _surely_better(own: pd.DataFrame, most: float = math.inf) -> bool:
    """Whether the whole interval of the best rule's error less the best fixed n's is below zero,
    of those that take at most so many mean steps.

    Rule, steps and n are chosen on every other seed, and the interval is that of the other seeds.
    """
    choosing = own["seed"].isin(sorted(own["seed"].unique())[::2])
    chosen, own = own[choosing], own[~choosing]
    if own.empty:
        return False
    n, _ = exits.best_fixed(chosen, most)
    points = [(error, steps, rule) for rule, steps, error in _points(chosen) if steps <= most]
    if not points:
        return False
    (_, steps, rule) = min(points)
    by_seed = own.set_index("seed")
    fixed = by_seed[(by_seed["rule"] == exits.FIXED) & (by_seed["ponder_time"] == n)]["error"]
    if rule in exits.with_curve(own):
        at = exits.errors_at(own, rule, [steps])
        errors = pd.Series({seed: float(each[0]) for seed, each in at.items()}, dtype=float)
    else:
        errors = by_seed[by_seed["rule"] == rule]["error"]
    return bool(mean_interval(errors - fixed).high < 0)


def _lowest(results: Results, seeds: Rows, best: Best) -> Iterator[str]:
    """Which method has the lowest mean error on how many of the tasks that several have."""
    winners: list[str] = []
    shared = {name: methods for name, methods in best.items() if len(methods) > 1}
    for name, methods in shared.items():
        errors = {m.name: float(m.of(seeds[name])["error"].mean()) for m in methods.values()}
        winners.append(min(errors, key=lambda each: errors[each]))
    if winners:
        most = max(map(winners.count, winners))
        names = [name for name in ORDER if winners.count(name) == most]
        runs = " and ".join(str(sum(n in methods for methods in shared.values())) for n in names)
        counted = _seeds(seeds[name] for name in shared)
        have, were = ("have", "they were") if len(names) > 1 else ("has", "it was")
        yield (
            f"{_listed(names)} most often {have} the lowest mean error, on {most} of "
            f"{len(winners)} tasks; {were} trained on {runs} of these ({counted})."
        )


TOLD: tuple[Callable[[Results, Rows, Best], Iterator[str]], ...] = (
    _rules, _sequences, _audit, _solved, _lowest,
)  # fmt: skip


def _stopped(results: Results, name: str) -> dict[str, pd.DataFrame]:
    """By mechanism the rows of exit rules at its best setting."""
    return at_best_settings(results.exits.get(name), results.tables.get(name))


def _task(results: Results) -> str:
    return f"“{results.title(EVERY_WAY)}” ({results.cards[EVERY_WAY].what})"


def _name(method: str) -> str:
    return style.MECHANISM_NAME[method]


def _seeds(parts: Iterable[pd.DataFrame]) -> str:
    """How many seeds a setting of these networks has."""
    keys = ["mechanism", "setting"]
    return style.seed_count(pd.concat([p.groupby(keys)["seed"].nunique() for p in parts]))


def _listed(methods: Sequence[str]) -> str:
    return listed(map(_name, methods))


def _percent(error: float) -> str:
    return f"{100 * error:.{1 if error >= 0.01 else 2}f}%"
