"""The front of leading parity: right up to some number of bits, guessing beyond, and moving on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pondering.report.figures import style
from pondering.report.figures.shapes.curves import errors_by_update, median_line, seed_lines
from pondering.report.figures.shapes.methods import Method, method_of
from pondering.report.figures.shapes.training_length import unequal_training
from pondering.results.results import Results
from pondering.results.statistics import Interval, mean_interval, median_interval
from pondering.results.tables import headline, per_seed

GUESSING = 0.5
"""Error of a guess at parity."""


def draw(results: Results, experiment: str) -> Figure | None:
    """Error by number of bits of every network at its end; below, the front over training.

    Args:
        results: the results of one profile.
        experiment: parity with leading elements.

    Returns:
        The figure: above a row a network, grouped by setting and sorted by error, white right and
        black a guess; below, faint lines are networks and bold lines medians of `front`, of one
        setting a mechanism. None without rows.
    """
    table, curves = results.tables[experiment], results.curves.get(experiment)
    rows, card = headline(table), results.cards[experiment]
    methods = shown(rows)
    figure, (upper, lower) = style.new_figure([2.7, 2.1])
    image, edges = error_map(rows, methods)
    bits = sorted(rows["difficulty"].unique())
    drawn = upper.imshow(image, cmap="gray_r", vmin=0, vmax=GUESSING, aspect="auto",
                         interpolation="nearest", extent=(bits[0] - 0.5, bits[-1] + 0.5,
                         len(image), 0))  # fmt: skip
    names = [style.setting_in_short(method.mechanism, method.setting) for method in methods]
    upper.set_yticks([(low + high) / 2 for low, high in pairwise(edges)], names)
    upper.hlines(edges[1:-1], bits[0] - 0.5, bits[-1] + 0.5, color=style.SKY, lw=0.8)
    upper.grid(False)
    upper.tick_params(axis="y", length=0)
    upper.set_xlabel(next(iter(card.difficulty.values())))
    figure.colorbar(drawn, ax=upper, label="error", ticks=[0, GUESSING], aspect=30, pad=0.02)
    if curves is not None:
        _fronts(lower, curves, methods, float(bits[-1]), card.worst_error)
    lower.set(xlabel="updates", ylabel="front: bits mastered", ylim=(0, bits[-1] * 1.04))
    style.large_counts(lower)
    handles = lower.get_legend_handles_labels()[0]
    style.bottom_legend(figure, handles, 3)
    return figure


def words(results: Results, experiment: str) -> str:
    """The median front of each setting at the end, and how far the plain network's still moves."""
    curves, rows = results.curves.get(experiment), headline(results.tables[experiment])
    bits, seeds = float(rows["difficulty"].max()), per_seed(rows)
    parts = []
    for method in shown(rows):
        found = median_interval(front(method.of(seeds)["error"].to_numpy(), bits))
        parts.append(f"{method.legend}: {style.with_interval(found)}")
    told = f"Median front of {bits:g} bits: {'; '.join(parts)}."
    if curves is None:
        return told
    moved = pace(method_of("repeat", 1.0).of(curves), bits)
    if not moved.count:
        return told
    return (
        f"{told} In the second half of training the plain network's front moves by "
        f"{style.with_interval(moved)} bits."
    )


def caption(results: Results, experiment: str) -> str:
    """What is seen, how the front is reckoned, and whether all were trained equally long."""
    return (
        "Above: error of every network at each number of bits, a row a network. Networks are right "
        "up to some number of bits and guess beyond it, so a mean error tells how far this front "
        "has come: with all D bits asked for equally often it stands at D (1 - 2 error). Below: "
        "the front over training by the training error, faint lines networks, bold lines medians. "
        "A network that has not solved the task has not failed at it: its front has come only so "
        f"far. {unequal_training(results, (experiment,))}"
    )


def front(error: np.ndarray, bits: float) -> np.ndarray:
    """Bits mastered, of a network that is right up to them and guesses beyond.

    Args:
        error: mean over 1 to `bits` bits, any shape.
        bits: the most there are.

    Returns:
        The same shape, in 0..bits: an error above that of a guess masters none.
    """
    return np.clip(bits * (1 - error / GUESSING), 0, bits)


def pace(curves: pd.DataFrame, bits: float) -> Interval:
    """Bits by which the front of each network moves in the second half of its training."""
    moved = []
    for _, own in curves.dropna(subset=["error"]).groupby("seed"):
        late = own.loc[own["update"] >= own["update"].max() / 2].sort_values("update")
        ends = front(late["error"].iloc[[0, -1]].to_numpy(), bits)
        moved.append(float(ends[1] - ends[0]))
    return mean_interval(moved)


def shown(rows: pd.DataFrame) -> list[Method]:
    """The settings drawn: the plain network, time penalties from the highest down, repeats."""
    there = {(str(m), float(s)) for m, s in zip(rows["mechanism"], rows["setting"], strict=True)}
    act = style.spread([s for m, s in there if m == "act"], style.MOST_LINES)
    repeats = sorted(s for m, s in there if m == "repeat")
    order = [("repeat", s) for s in repeats if s == 1] + [("act", s) for s in reversed(act)]
    return [method_of(*each) for each in [*order, *(("repeat", s) for s in repeats if s > 1)]]


def error_map(rows: pd.DataFrame, methods: Sequence[Method]) -> tuple[np.ndarray, list[int]]:
    """Errors [networks, bits], the highest first in each setting, and where settings begin."""
    parts, edges = [], [0]
    for method in methods:
        wide = method.of(rows).pivot_table(index="seed", columns="difficulty", values="error")
        values = wide.to_numpy()
        parts.append(values[np.argsort(-values.mean(axis=1), kind="stable")])
        edges.append(edges[-1] + len(values))
    return np.concatenate(parts), edges


def _fronts(
    axes: Axes, curves: pd.DataFrame, methods: Sequence[Method], bits: float, failure: float
) -> None:
    pondering = [method for method in methods if method.name != "plain"]
    looks = style.line_styles([float(i) for i in range(len(pondering))]).values()
    colours = {method: look.colour for method, look in zip(pondering, looks, strict=True)}
    for method in methods:
        own, colour = method.of(curves), colours.get(method, style.INK)
        if own.empty:
            continue
        for x, y in seed_lines(own):
            axes.plot(x, front(y, bits), color=colour, lw=0.4, alpha=0.3)
        updates, middle = median_line(errors_by_update(own, failure))
        axes.plot(updates, front(middle, bits), color=colour, lw=1.8, label=method.legend,
                  ls="-" if method in colours else ":")  # fmt: skip
