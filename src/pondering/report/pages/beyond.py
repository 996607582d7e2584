"""What the report says beyond the papers: every way to halt on every task, and what follows.

Each sentence is computed from the tables; where they lack what it needs, it is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pondering.report.figures import style
from pondering.report.figures.shapes.methods import ORDER, Method, best_methods
from pondering.report.pages.summary import printed
from pondering.results import exits
from pondering.results.exits import at_best_settings
from pondering.results.results import Results
from pondering.results.statistics import Interval, mean_interval, solve_rate
from pondering.results.tables import headline, per_seed

EVERY_WAY = "comparison"
"""The experiment that has every mechanism."""
STEPS = 3.0
"""Mean steps at which exit rules are compared."""
READOUT = {
    "single": "the step at which it stops, alone",
    "depth": "its last step",
    "refitted": "its last step and a head fitted anew",
}
Rows = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Beyond:
    """A table with a row a task and a column a method, and sentences."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[tuple[str, ...], ...]], ...]
    """Experiment, title, and of each column the lines of its cell."""
    sentences: tuple[str, ...]


def beyond_of(results: Results, experiments: Sequence[str]) -> Beyond:
    """Everything of this section but the figures.

    Args:
        results: of one profile.
        experiments: those with a table, in the order of the page.
    """
    seeds = {name: per_seed(headline(results.tables[name])) for name in experiments}
    best = {name: {m.name: m for m in best_methods(each)} for name, each in seeds.items()}
    there = [name for name in ORDER if any(name in each for each in best.values())]
    rows = []
    for name, methods in best.items():
        cells = [_cell(results, name, methods.get(each), seeds[name]) for each in there]
        rows.append((name, results.title(name), tuple(cells)))
    sentences = [each for told in TOLD for each in told(results, seeds, best) if each]
    return Beyond(tuple(style.MECHANISM_NAME[each] for each in there), tuple(rows), (*sentences,))


def _cell(
    results: Results, name: str, method: Method | None, seeds: pd.DataFrame
) -> tuple[str, ...]:
    """Setting, error and steps, a line each; nothing where the method was not run."""
    if method is None:
        return ()
    own, card = method.of(seeds), results.cards[name]
    error = mean_interval(own["error"]).within(0, 1 if card.is_share else math.inf)
    scale, digits, unit = printed(error.estimate, card)
    wrong = f"{scale * error.estimate:.{digits}f}{unit}{_bounds(error, scale, digits)}"
    if method.name == "plain":
        return (wrong,)
    steps = mean_interval(own["ponder_time"].dropna()).within(1, math.inf)
    taken = f"{steps.estimate:.1f} steps{_bounds(steps, 1, 1)}"
    return (method.symbol, wrong, *([taken] if np.isfinite(steps.estimate) else []))


def _bounds(interval: Interval, scale: float, digits: int) -> str:
    """Nothing where there is no interval, or one of no length, as of a fixed number of steps."""
    low, high = (f"{scale * each:.{digits}f}" for each in (interval.low, interval.high))
    return "" if math.isnan(interval.low) or low == high else f" ({low} to {high})"


# --- sentences -----------------------------------------------------------------------------------

Best = Mapping[str, Mapping[str, Method]]
"""Experiment -> method -> it at its best setting."""


def _solved(results: Results, seeds: Rows, best: Best) -> Iterator[str]:
    """How many networks of each mechanism solve the task that all of them have."""
    if EVERY_WAY not in seeds:
        return
    counted = {}
    for name, method in best[EVERY_WAY].items():
        rate = solve_rate(method.of(seeds[EVERY_WAY])["error"])
        counted[name] = (round(rate.estimate * rate.count), rate.count)
    told = ", ".join(f"{_name(name)} {some} of {all_}" for name, (some, all_) in counted.items())
    sentence = (
        f"{_task(results)}: networks with an error below 5%, at each mechanism's best setting: "
        f"{told}."
    )
    mostly = [best[EVERY_WAY][name] for name, (some, all_) in counted.items() if 2 * some > all_]
    if len(mostly) > 1:
        steps = {m.legend: float(m.of(seeds[EVERY_WAY])["ponder_time"].mean()) for m in mostly}
        few, many = min(steps, key=lambda n: steps[n]), max(steps, key=lambda n: steps[n])
        sentence += (
            f" Of those that solve it in most seeds {few} takes the fewest steps, "
            f"{steps[few]:.1f}, and {many} the most, {steps[many]:.1f}."
        )
    yield sentence


def _against_repeat(results: Results, seeds: Rows, best: Best) -> Iterator[str]:
    """Which mechanisms that choose their steps beat every fixed count that is as cheap."""
    if EVERY_WAY not in seeds:
        return
    means = seeds[EVERY_WAY].groupby(["mechanism", "setting"])[["error", "ponder_time"]].mean()
    if "repeat" not in means.index:
        return
    fixed, better, named = means.loc["repeat"], [], []
    for name, method in best[EVERY_WAY].items():
        if name in ("plain", "repeat"):
            continue
        own = means.loc[(method.mechanism, method.setting)]
        rivals = fixed[fixed["ponder_time"] <= own["ponder_time"] + 1e-9]["error"]
        named.append(name)
        if len(rivals) and own["error"] < rivals.min():
            better.append(name)
    told = _listed(better) if better else "none"
    yield (
        f"Of {len(named)} mechanisms {told} {'have' if len(better) > 1 else 'has'} fewer errors "
        "there than every network trained for a fixed number of steps that is no larger."
    )


def _rules(results: Results, seeds: Rows, best: Best) -> Iterator[str]:
    """What exit rules make of the same networks."""
    found = _stopped(results, EVERY_WAY)
    if not found:
        return
    told = []
    for mechanism, own in found.items():
        bound = exits.best_fixed(own, STEPS)[1]
        errors = [float(exits.error_at(own, rule, [STEPS])[0]) for rule in exits.with_curve(own)]
        told.append(f"{_name(mechanism)} {sum(e < bound for e in errors)} of {len(errors)}")
    yield (
        f"Exit rules with a threshold that beat the best fixed n at {STEPS:g} mean steps of the "
        f"same networks: {', '.join(told)}."
    )
    points = [
        (error, steps, mechanism, rule)
        for mechanism, own in found.items()
        for rule, steps, error in _points(own)
    ]
    error, steps, mechanism, rule = min(points)
    yield (
        f"The lowest error of any rule that does not see the targets: {_name(mechanism)} stopped "
        f"by {rule}, {_percent(error)} at {steps:.1f} steps."
    )
    spread = _spread(found)
    if spread is not None:
        yield (
            f"At {STEPS:g} mean steps the error differs by {100 * spread[0]:.1f} points between "
            f"rules and by {100 * spread[1]:.1f} between mechanisms (standard deviations, over "
            "the rules that all of them allow)."
        )


def _spread(found: Rows) -> tuple[float, float] | None:
    """Standard deviation of the error between rules, and between mechanisms."""
    shared = set.intersection(*(set(exits.with_curve(own)) for own in found.values()))
    table = np.array([
        [exits.error_at(own, rule, [STEPS])[0] for rule in sorted(shared)] for own in found.values()
    ])  # fmt: skip
    if min(table.shape) < 2 or np.isnan(table).any():
        return None
    between = table.mean(0).std(ddof=1), table.mean(1).std(ddof=1)
    return float(between[0]), float(between[1])


def _points(own: pd.DataFrame) -> Iterator[tuple[str, float, float]]:
    """Rule, mean steps and error wherever a rule was tried: at thresholds, at each n, or once."""
    for rule in (each for each in exits.with_point(own) if each != exits.ORACLE):
        yield rule, *exits.point(own, rule)
    most = float(own["ponder_time"].max())
    grid = np.linspace(1, most, 50)
    for rule in exits.with_curve(own):
        errors = exits.error_at(own, rule, grid)
        if np.isfinite(errors).any():
            place = int(np.nanargmin(errors))
            yield rule, float(grid[place]), float(errors[place])
    yield "fixed n", *exits.best_fixed(own, math.inf)


def _audit(results: Results, seeds: Rows, best: Best) -> Iterator[str]:
    """How much of a result is the readout."""
    if EVERY_WAY not in results.readouts or EVERY_WAY not in results.tables:
        return
    read = at_best_settings(results.readouts[EVERY_WAY], results.tables[EVERY_WAY])
    means = {each: own[["own", *READOUT]].mean() for each, own in read.items()}
    for reading, words in READOUT.items():
        cost = {each: float(m[reading] - m["own"]) for each, m in means.items()}
        cost = {each: value for each, value in cost.items() if np.isfinite(value)}
        if cost:
            least, most = min(cost, key=lambda n: cost[n]), max(cost, key=lambda n: cost[n])
            yield (
                f"Read by {words}, the error changes by {100 * cost[least]:+.1f} points "
                f"({_name(least)}) to {100 * cost[most]:+.1f} points ({_name(most)})."
            )


def _sequences(results: Results, seeds: Rows, best: Best) -> Iterator[str]:
    """Whether any rule beats the best fixed n elsewhere."""
    beats = [
        min(error for _, _, error in _points(own)) < exits.best_fixed(own, math.inf)[1]
        for name in seeds
        if name != EVERY_WAY
        for own in _stopped(results, name).values()
    ]
    if beats:
        yield (
            "On the other tasks some rule, the best of all on the test itself, beats every fixed n "
            f"for {sum(beats)} of {len(beats)} mechanisms."
        )


def _lowest(results: Results, seeds: Rows, best: Best) -> Iterator[str]:
    """Which method has the lowest mean error on how many tasks."""
    winners: dict[str, list[str]] = {}
    for name, methods in best.items():
        errors = {m.name: float(m.of(seeds[name])["error"].mean()) for m in methods.values()}
        winner = min(errors, key=lambda each: errors[each])
        winners.setdefault(winner, []).append(results.title(name))
    if winners:
        told = "; ".join(f"{_name(each)} on {', '.join(names)}" for each, names in winners.items())
        yield f"The lowest mean error over seeds: {told}."


TOLD: tuple[Callable[[Results, Rows, Best], Iterator[str]], ...] = (
    _solved, _against_repeat, _rules, _audit, _sequences, _lowest,
)  # fmt: skip


def _stopped(results: Results, name: str) -> dict[str, pd.DataFrame]:
    """By mechanism the rows of exit rules at its best setting."""
    if name not in results.exits or name not in results.tables:
        return {}
    return at_best_settings(results.exits[name], results.tables[name])


def _task(results: Results) -> str:
    return f"{results.title(EVERY_WAY)} ({results.cards[EVERY_WAY].what})"


def _name(method: str) -> str:
    return style.MECHANISM_NAME[method]


def _listed(names: Sequence[str]) -> str:
    *most, last = map(_name, names)
    return f"{', '.join(most)} and {last}" if most else last


def _percent(error: float) -> str:
    return f"{100 * error:.1f}%"
