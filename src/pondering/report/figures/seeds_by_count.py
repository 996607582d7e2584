"""Three seeds against ten: what a report of fewer of the published seeds would have said."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import PercentFormatter

from pondering.report.figures import style
from pondering.report.figures.shapes.outliers import far_apart
from pondering.report.figures.shapes.training_length import unequal_training
from pondering.results.results import Results
from pondering.results.statistics import SOLVED_ERROR
from pondering.results.tables import headline, per_seed, plain

MOST_SEEDS = 12
"""Seeds whose subsets are all taken; of more, the first."""

READINGS = {"every seed solves it": style.INK, "some do": style.SKY, "none does": style.WRONG}


def draw(results: Results, experiment: str) -> Figure | None:
    """The lowest mean error of ACT, and how many seeds solve the task, over subsets of the seeds.

    Args:
        results: the results of one profile.
        experiment: whose table.

    Returns:
        The figure: above, bars from the lowest to the highest mean over all subsets of a size, dark
        where nine tenths of them lie, lines at the medians, of ACT at the penalty that is best in
        the subset and of the plain network; below, the shares of subsets in which every seed, some
        or none solves the task at that penalty. None without rows of ACT.
    """
    errors, without = errors_by_seed(results, experiment)
    if not errors.size:
        return None
    figure, (upper, lower) = style.new_figure([2.3, 1.7], sharex=True)
    count = errors.shape[1]
    for size in range(1, count + 1):
        for shift, values, name in ((-0.17, subset_means(errors, size)[0], "act"),
                                    (0.17, subset_means(without, size)[0], "plain")):  # fmt: skip
            _range(upper, size + shift, values, style.MECHANISM_COLOUR[name])
        bottom = 0.0
        for share, colour in zip(shares(errors, size), READINGS.values(), strict=True):
            lower.bar(size, share, 0.7, bottom=bottom, color=colour, alpha=0.75)
            bottom += share
    upper.axhline(SOLVED_ERROR, color=style.INK, ls=":", lw=1.0)
    upper.set(ylabel="error")
    if _apart(errors, without):
        style.share_log_axis(upper)
        means = np.concatenate([subset_means(errors, size)[0] for size in range(1, count + 1)])
        upper.set_ylim(bottom=0.8 * means[means > 0].min())  # bars alone would begin on the edge
    else:
        upper.set_ylim(bottom=0)
    lower.set(xlabel="seeds in a subset", ylabel="subsets", ylim=(0, 1))
    lower.yaxis.set_major_formatter(PercentFormatter(1))
    style.whole_numbers(lower)
    handles: list[Patch | Line2D] = [
        Patch(color=style.MECHANISM_COLOUR["act"], alpha=0.75, label="ACT, best penalty"),
        Patch(color=style.MECHANISM_COLOUR["plain"], alpha=0.75, label="Plain network"),
        Line2D([], [], color=style.INK, ls=":", label="solved: 5%"),
    ]
    handles += [Patch(color=colour, alpha=0.75, label=name)
                for name, colour in READINGS.items()]  # fmt: skip
    style.bottom_legend(figure, handles, 3)
    return figure


def words(results: Results, experiment: str) -> str:
    """The range of means at three seeds, ten and all, and how many of the seeds solve the task."""
    errors, _ = errors_by_seed(results, experiment)
    if not errors.size:
        return ""
    count, parts = errors.shape[1], []
    for size in sorted({min(3, count), min(10, count), count}):
        means = subset_means(errors, size)[0]
        every, some, none = shares(errors, size)
        spread = style.share(means.min())
        if means.max() > means.min():
            low, high = map(style.share, np.quantile(means, [0.05, 0.95]))
            spread += f" to {style.share(means.max())} (nine tenths {low} to {high})"
        parts.append(
            f"of {size} seed{'s' if size > 1 else ''}: {spread}, every seed solves it in "
            f"{every:.0%} of the subsets, some in {some:.0%}, none in {none:.0%}"
        )
    return f"Lowest mean error of ACT over subsets: {'; '.join(parts)}."


def caption(results: Results, experiment: str) -> str:
    """What is seen, and how the subsets are taken."""
    errors, without = errors_by_seed(results, experiment)
    axis = ", on a logarithmic axis" if errors.size and _apart(errors, without) else ""
    return (
        "What a report of fewer seeds would have said: every subset of "
        f"{_which(results, experiment)}, ACT at the penalty with the lowest mean error in the "
        f"subset. Above: mean error{axis}, faint "
        "bars all subsets, strong bars nine tenths of them, lines medians. Below: the share of "
        "subsets in which every seed, some or none solves the task at that penalty. Subsets share "
        "seeds, and all seeds are one draw themselves, so that the ends narrow more than fresh "
        "seeds would. "
        f"{unequal_training(results, (experiment,))}"
    )


def _which(results: Results, experiment: str) -> str:
    """The seeds whose subsets are taken."""
    more = results.tables[experiment]["seed"].nunique() > MOST_SEEDS
    return f"the first {MOST_SEEDS} published seeds" if more else "the published seeds"


def errors_by_seed(results: Results, experiment: str) -> tuple[np.ndarray, np.ndarray]:
    """Errors [penalties, seeds] of ACT, and [1, seeds] of the plain network, of the same seeds."""
    seeds = per_seed(headline(results.tables[experiment]))
    act = seeds[seeds["mechanism"] == "act"].pivot(
        index="setting", columns="seed", values="error"
    ).dropna(axis=1)  # fmt: skip
    without = plain(seeds).pivot(index="setting", columns="seed", values="error")
    kept = act.columns[:MOST_SEEDS]
    return act[kept].to_numpy(), without.reindex(columns=kept).dropna(axis=1).to_numpy()


def subset_means(errors: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Of every subset of seeds the lowest mean over it, and the setting that has it.

    Args:
        errors: [settings, seeds].
        size: seeds in a subset.

    Returns:
        Means [subsets] and the settings' places [subsets]; of equals the first.
    """
    taken = np.array(list(combinations(range(errors.shape[1]), size)), dtype=int).reshape(-1, size)
    means = errors[:, taken].mean(axis=-1)
    return (means.min(axis=0), means.argmin(axis=0)) if means.size else (np.empty(0),) * 2


def shares(errors: np.ndarray, size: int) -> tuple[float, float, float]:
    """Shares of subsets in which every seed, some or none solves the task at its best setting."""
    _, best = subset_means(errors, size)
    taken = np.array(list(combinations(range(errors.shape[1]), size)), dtype=int)
    solved = (errors[best[:, None], taken] < SOLVED_ERROR).mean(axis=1)
    some = (solved > 0) & (solved < 1)
    return float((solved == 1).mean()), float(some.mean()), float((solved == 0).mean())


def _apart(errors: np.ndarray, without: np.ndarray) -> bool:
    """Whether ACT's best mean and that of the plain network need a logarithmic axis."""
    means = [errors.mean(axis=1).min(), *without.mean(axis=1)]
    return far_apart(means)


def _range(axes: Axes, place: float, values: np.ndarray, colour: str) -> None:
    if not values.size:
        return
    low, high = np.quantile(values, [0.05, 0.95])
    axes.bar(place, np.ptp(values), 0.3, bottom=values.min(), color=colour, alpha=0.3)
    axes.bar(place, high - low, 0.3, bottom=low, color=colour, alpha=0.75)
    axes.plot([place - 0.15, place + 0.15], [np.median(values)] * 2, color=style.INK, lw=1.2)
