"""Every way to halt and every exit rule: accuracy against mean steps, a panel a mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pondering.params.mechanisms import MECHANISMS
from pondering.report.figures import style
from pondering.report.figures.shapes.methods import Method
from pondering.report.figures.shapes.training_length import unequal_training
from pondering.results.exits import (
    ORACLE,
    at_best_settings,
    best_fixed,
    error_at,
    fixed,
    point,
    with_curve,
    with_point,
)
from pondering.results.results import Results
from pondering.results.tables import headline, per_seed, per_setting

MARKERS = ("*", "P", "X", "d", "h", "p")
"""Of the rules without threshold, the oracle's first."""
POINTS_ON_A_CURVE = 80
ON_SEQUENCES = (
    "On sequences a rule also decides which state crosses to the next input: each was run through "
    "the networks, sampled halting by one draw; the oracle is there the first fixed n from which "
    "the whole sequence is right. "
)


def draw(results: Results, experiment: str, wide: bool = False, **_: bool) -> Figure | None:
    """A panel a mechanism, with the same axes in all.

    Args:
        results: the results of one profile.
        experiment: whose table of exit rules.
        wide: four panels a row and twice the width, for a page; else two, for a telephone.
    """
    ruled = _shown(results, experiment)
    if not ruled:
        return None
    means = _means(results, experiment)
    found = [each for each in MECHANISMS if each in ruled or (means["mechanism"] == each).any()]
    columns = min(len(found), 4 if wide else 2)
    rows = -(-len(found) // columns)
    size = (2 * style.WIDTH, 2.3 * rows + 0.8) if wide else (style.WIDTH, 1.7 * rows + 1.4)
    figure = Figure(figsize=size, layout="constrained")
    cells = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    every = pd.concat(ruled.values())
    curves, points = with_curve(every), with_point(every)
    looks = dict(zip(curves, style.line_styles(range(len(curves))).values(), strict=True))
    markers = dict(zip(points, cycle(MARKERS), strict=False))
    taken = pd.concat([means["ponder_time"], every["ponder_time"].dropna()])
    most = float(taken.max()) if len(taken) else 1.0
    for axes, mechanism in zip(cells, found, strict=False):
        if mechanism in ruled:
            _panel(axes, ruled[mechanism], looks, markers)
        own = means[means["mechanism"] == mechanism].sort_values("ponder_time")
        axes.plot(own["ponder_time"], 1 - own["error"], "-o", color=style.INK, mfc=style.PAPER,
                  lw=0.8, ms=4.5, zorder=5)  # fmt: skip
        axes.set_title(_title(mechanism, ruled))
    for number, axes in enumerate(cells):
        if number >= len(found):
            axes.set_axis_off()
            continue
        style.steps_axis(axes, most)
        if number % columns == 0:
            axes.set_ylabel("accuracy")
        if number >= len(found) - columns:
            axes.tick_params(labelbottom=True)
            axes.set_xlabel("mean steps")
    room = 0.06 * (1 - cells[0].get_ylim()[0])
    cells[0].set_ylim(cells[0].get_ylim()[0] - room, 1 + room)
    handles = [
        Line2D([], [], color=look.colour, marker=look.marker, label=rule)
        for rule, look in looks.items()
    ]
    handles += [
        Line2D([], [], color=style.INK, marker=marker, ls="", label=rule)
        for rule, marker in markers.items()
    ]
    ring = Line2D([], [], color=style.GREY, ls=":", marker="o", mfc=style.PAPER, ms=8)
    ring.set_label("fixed n, best")
    by_itself = Line2D([], [], color=style.INK, marker="o", mfc=style.PAPER, lw=0.8, ms=4.5)
    by_itself.set_label("by itself")
    style.bottom_legend(figure, [*handles, ring, by_itself], 6 if wide else 3)
    return figure


def words(results: Results, experiment: str, **_: bool) -> str:
    """The oracle, the best fixed n and the best rule at three mean steps, by mechanism."""
    parts = []
    for mechanism, own in _shown(results, experiment).items():
        known = {rule: float(error_at(own, rule, [3.0])[0]) for rule in with_curve(own)}
        known = {rule: error for rule, error in known.items() if np.isfinite(error)}
        steps, error = point(own, ORACLE)
        told = [f"best fixed n {style.share(1 - best_fixed(own, 3.0)[1])}"]
        if known:
            best = min(known, key=lambda rule: known[rule])
            told.append(f"best rule {style.share(1 - known[best])} ({best})")
        told.append(f"oracle {style.share(1 - error)} with {style.in_steps(steps)}")
        parts.append(f"{_method(mechanism, own).legend}: {', '.join(told)}")
    return f"Accuracy at three mean steps: {'; '.join(parts)}." if parts else ""


def caption(results: Results, experiment: str, sequences: bool = False, **_: bool) -> str:
    """What is drawn, and whether the mechanisms were trained equally long.

    Args:
        sequences: whether a rule decides which state crosses to a next input.
    """
    return (
        "Accuracy against mean steps. Small rings: each mechanism as it halts by itself, one a "
        "setting, joined in the order of steps. The rest: the same trained networks under each "
        "exit rule, at the setting with the lowest mean error by their own readout, where rules "
        "may stop the mechanism at all. Curves: "
        "thresholds chosen on a validation set for each network, straight lines between them, "
        "means over seeds. Dotted: every row stops at n; the circle is the n with the highest "
        "accuracy on these examples. A rule below the dotted line's highest point so far decides "
        "nothing. "
        "Sampled halting is the mean over all draws; expected is the mean output under the halting "
        "distribution, at its mean steps. The oracle looks at the targets and stops at the first "
        "step from which the answer is right and stays right to the last; where networks lose "
        "right answers after they would have halted, rules beat it. "
        f"{_tested(results, experiment)}"
        f"{ON_SEQUENCES if sequences else ''}"
        f"{unequal_training(results, (experiment,), tuple(MECHANISMS))}"
    )


def _tested(results: Results, experiment: str) -> str:
    """On how many examples the rules were tried."""
    rows = pd.concat([pd.DataFrame(), *_shown(results, experiment).values()])
    counts = sorted(rows["examples"].unique()) if len(rows) else []
    return f"Rules are tried on {counts[-1]:,.0f} test examples a network. " if counts else ""


def _shown(results: Results, experiment: str) -> dict[str, pd.DataFrame]:
    """The rows of each mechanism."""
    return at_best_settings(results.exits.get(experiment), results.tables.get(experiment))


def _means(results: Results, experiment: str) -> pd.DataFrame:
    """Error and steps of every setting, over seeds; diverged ones have no steps."""
    means = per_setting(per_seed(headline(results.tables[experiment])))
    return means.dropna(subset=["ponder_time"])


def _title(mechanism: str, ruled: Mapping[str, pd.DataFrame]) -> str:
    """Its name, with the setting that the rules have stopped."""
    if mechanism in ruled:
        return _method(mechanism, ruled[mechanism]).legend
    return style.MECHANISM_NAME[mechanism]


def _method(mechanism: str, own: pd.DataFrame) -> Method:
    return Method(mechanism, mechanism, float(own["setting"].iloc[0]))


def _panel(
    axes: Axes,
    own: pd.DataFrame,
    looks: Mapping[str, style.LineStyle],
    markers: Mapping[str, str],
) -> None:
    """The curves and points of one mechanism, the best fixed n under them."""
    depths = fixed(own)
    axes.plot(depths.index, 1 - depths, ":", color=style.GREY, lw=1.4, zorder=1)
    best, error = best_fixed(own, float("inf"))
    axes.plot(best, 1 - error, "o", color=style.GREY, mfc=style.PAPER, ms=8, zorder=1)
    most = float(depths.index.max()) if len(depths) else 1.0
    grid = np.geomspace(1, most, POINTS_ON_A_CURVE)
    for number, (rule, look) in enumerate(looks.items()):
        if (own["rule"] == rule).any():
            axes.plot(grid, 1 - error_at(own, rule, grid), color=look.colour, marker=look.marker,
                      lw=1.2, ms=3.5, markevery=(3 * number, 20))  # fmt: skip
    for rule, marker in markers.items():
        steps, error = point(own, rule)
        axes.plot(steps, 1 - error, marker, color=style.INK, ms=6, zorder=4, mew=0)
