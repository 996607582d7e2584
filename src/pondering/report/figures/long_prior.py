"""PonderNet's steps beside the mean of its prior: Banino 2021, Fig. 2c."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pondering.report.figures import layout, paper, scales, style
from pondering.report.figures.learning import seed_lines
from pondering.report.figures.methods import Method, boxes
from pondering.results.results import Results
from pondering.results.tables import headline, per_seed, plain

PRIOR = 0.1
"""The lambda_p of Fig. 2c."""

PAPER_PLACE = 1.55
"""Height of the paper's marker, over the box at 1."""

COLOUR = style.MECHANISM_COLOUR["pondernet"]

CAPTION = (
    "Above, expected steps in training; faint lines are seeds. Below, sampled steps at "
    "evaluation beside the mean of the prior, cut at N steps (dashed) and uncut (dotted)."
)


def draw(results: Results, experiment: str) -> Figure | None:
    """PonderNet: ponder steps with a long prior, over training and over seeds at its end.

    The paper draws the box over seeds alone; the time course is added. None without a geometric
    prior.
    """
    seeds = per_seed(headline(results.tables[experiment]))
    seeds = seeds[(seeds["mechanism"] == "pondernet") & (seeds["setting"] > 0)]  # no uniform prior
    if seeds.empty:
        return None
    setting, curves = prior_shown(seeds["setting"].tolist()), results.curves_of(experiment)
    steps = seeds.loc[seeds["setting"] == setting, "ponder_time"].dropna()
    figure, (upper, lower) = layout.new_figure([2.3, 1.15])
    rows = Method("pondernet", setting).of(curves)
    if len(rows):
        _steps_in_training(upper, rows)
    if len(steps):
        boxes(lower, [steps.to_numpy()], [1.0], COLOUR, vertical=False)
    named = style.setting_symbol("pondernet", setting)
    handles = [
        Line2D([], [], color=COLOUR, label=f"{named}: mean over seeds"),
        Line2D([], [], color=COLOUR, lw=0.6, alpha=0.5, label="one seed"),
    ]
    quarter, middle, three_quarters = paper.LONG_PRIOR
    lower.hlines(PAPER_PLACE, quarter, three_quarters, color=style.INK, lw=1.2)
    lower.plot(middle, PAPER_PLACE, **(style.HOLLOW | {"mfc": style.PAPER}))
    handles.append(Line2D([], [], **style.HOLLOW, label="paper, 30 seeds"))
    handles += _prior_lines(upper, lower, setting, steps_unrolled(curves))
    upper.set(xlabel="updates", ylabel="expected steps")
    upper.set_ylim(bottom=0.9)
    lower.set(yticks=[], xlabel="sampled ponder steps at evaluation, one point a seed")
    lower.set(xlim=(0.9, max(1 / setting, three_quarters, *steps) * 1.06), ylim=(0.6, 1.75))
    lower.grid(True, axis="x")
    layout.bottom_legend(figure, handles, 2)
    return figure


def prior_shown(settings: Sequence[float]) -> float:
    """The lambda_p of Fig. 2c: 0.1 where it was trained, else the smallest."""
    near = [value for value in settings if abs(value - PRIOR) < 1e-9]
    return near[0] if near else min(settings)


def prior_mean(lambda_p: float, steps: int) -> float:
    """Mean of the geometric prior cut after some steps and normalised, as in training.

    Args:
        lambda_p: halting probability, in [0, 1]; 0 is the uniform prior.
        steps: N, the steps that are unrolled.

    Returns:
        The mean number of steps; 1 / lambda_p without the cut.

    Source: Banino 2021, Eq. 3.
    """
    n = np.arange(1, steps + 1)
    mass = (1 - lambda_p) ** (n - 1)  # the factor lambda_p cancels
    return float((n * mass).sum() / mass.sum())


def steps_unrolled(curves: pd.DataFrame) -> int | None:
    """N of PonderNet, counted: its forward passes an update over those of the plain network.

    Args:
        curves: training curves of one experiment with one input vector a sequence.

    Returns:
        N; None without the plain network, or where not every update took the same N.
    """
    passes = curves.assign(each=curves["computed_steps"] / curves["update"])
    ours = passes.loc[passes["mechanism"] == "pondernet", "each"].dropna()
    once = plain(passes)["each"].dropna()
    if ours.empty or once.empty:
        return None
    ratio = float(ours.median() / once.median())
    constant = np.ptp(ours) < 1e-6 * ours.median()
    return round(ratio) if constant and abs(ratio - round(ratio)) < 1e-6 else None


def _prior_lines(upper: Axes, lower: Axes, setting: float, unrolled: int | None) -> list[Line2D]:
    """Lines at the prior's mean, cut at N and uncut, in both panels; their legend entries."""
    means = {f"1/λp = {1 / setting:.3g}, its mean without the cut": 1 / setting}
    looks: list[dict[str, Any]] = [{"color": style.GREY, "ls": ":", "lw": 1.0}]
    if unrolled is not None:
        cut = prior_mean(setting, unrolled)
        means = {f"mean of the prior, cut at N = {unrolled}: {cut:.3g}": cut} | means
        looks.insert(0, {"color": style.INK, "ls": "--", "lw": 1.3})
    for mean, look in zip(means.values(), looks, strict=True):
        if upper.has_data():  # else the panel says that it has none
            upper.axhline(mean, **look)
        lower.axvline(mean, **look)
    return [Line2D([], [], label=name, **look) for name, look in zip(means, looks, strict=True)]


def _steps_in_training(axes: Axes, curves: pd.DataFrame) -> None:
    """Expected steps of each seed, and their mean over the seeds that have any."""
    for x, y in seed_lines(curves, value="ponder_time"):
        axes.plot(x, y, color=COLOUR, lw=0.6, alpha=0.4)
    mean = curves.groupby("update")["ponder_time"].mean()
    axes.plot(mean.index.to_numpy(), mean.to_numpy(), color=COLOUR, lw=2)
    scales.large_counts(axes)
