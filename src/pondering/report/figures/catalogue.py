"""Every figure of the report, a line each: what it reads, its family, what the paper says there."""

from __future__ import annotations

from typing import Any

from pondering.report.figures import (
    accuracy_and_steps,
    accuracy_by_compute,
    across_tasks,
    by_difficulty,
    digits,
    error_by_penalty,
    exits,
    extrapolation,
    fixed_repeat,
    gallery,
    layout,
    learning,
    long_prior,
    running_text,
    seeds_by_setting,
    sequences,
)
from pondering.report.figures.spec import Family, FigureSpec

INTERPOLATION, EXTRAPOLATION = "parity_interpolation", "parity_extrapolation"
LAYOUTS = {"parity": "leading", "parity_scattered": "scattered"}
TASKS = ("parity", "logic", "addition", "sort", "wikipedia")


def _graves(
    number: int, experiment: str, title: str, family: Family, value: str, **more: Any
) -> FigureSpec:
    """A figure of Graves 2016; `value` is what the paper shows there."""
    name, values = f"graves-{number:02d}", {"experiment": experiment} | more
    return FigureSpec(
        name, "Graves 2016", f"Fig. {number}", (experiment,), title, value, family, values
    )


def _banino(
    number: str, experiment: str, title: str, family: Family, value: str, **more: Any
) -> FigureSpec:
    """A figure of Banino 2021."""
    name, values = f"banino-{number}", {"experiment": experiment} | more
    return FigureSpec(
        name, "Banino 2021", f"Fig. {number}", (experiment,), title, value, family, values
    )


def _digits(
    name: str, number: str, experiment: str, title: str, family: Family, value: str, **more: Any
) -> FigureSpec:
    """A figure of handwritten digits; `value` is what the public notebook shows."""
    values = {"experiment": experiment} | more
    return FigureSpec(f"mnist-{name}", "MNIST", number, (experiment,), title, value, family, values)


def _beyond(
    name: str, reads: tuple[str, ...], title: str, family: Family, value: str, **values: Any
) -> FigureSpec:
    """A figure that no paper has."""
    return FigureSpec(
        f"beyond-{name}", "Beyond the papers", "", reads, title, value, family, values
    )


FIGURES = (
    _graves(
        4, "parity", "Parity: error by time penalty", error_by_penalty,
        "Without ACT the mean error is almost 40% (guessing is 50%); for τ up to 0.03 it is below "
        "5%.",
    ),
    _graves(
        5, "parity", "Parity: learning, and error against ponder", learning,
        "A lower τ learns faster and more accurately with more ponder, whose spread is large at "
        "low τ.",
    ),
    _graves(
        6, "parity", "Parity: ponder and error by number of bits", by_difficulty,
        "With intermediate τ ponder grows about linearly with the number of bits; without ACT or "
        "with high τ the error climbs steeply while ponder stays flat.",
    ),
    _graves(
        8, "logic", "Logic: error by time penalty", error_by_penalty,
        "Without ACT the sequence error is about 0.2 (guessing is 0.5); it is virtually zero for "
        "all τ up to 0.01.",
    ),
    _graves(
        9, "logic", "Logic: learning, and error against ponder", learning,
        "Networks with low τ solve the task in about 10,000 iterations.",
    ),
    _graves(
        10, "logic", "Logic: ponder and error by number of gates", by_difficulty,
        "Ponder rises gradually from 5 to 10 gates and is surprisingly high at the easiest inputs; "
        "without ACT and with high τ the error jumps after 5 gates.",
    ),
    _graves(
        12, "addition", "Addition: error by time penalty", error_by_penalty,
        "Solved for every τ of the grid.",
    ),
    _graves(
        13, "addition", "Addition: learning, and error against ponder", learning,
        "Networks with high τ need fewer examples.",
    ),
    _graves(
        14, "addition", "Addition: ponder and error by number of digits", by_difficulty,
        "Ponder is about linear in the digits, with a slope near 1 for the highest τ.",
    ),
    _graves(
        15, "addition", "Addition: ponder in single sequences", sequences,
        "Within a sequence ponder tracks the digits of the two numbers being summed (τ = 9e-4).",
        setting=9e-4,
    ),
    _graves(
        17, "sort", "Sort: error by time penalty", error_by_penalty,
        "About 12% without ACT, about 6% at the best τ.",
    ),
    _graves(
        18, "sort", "Sort: learning, and error against ponder", learning,
        "The best τ takes about 9 times the computation of the network without ACT.",
    ),
    _graves(
        19, "sort", "Sort: ponder and error by length", by_difficulty,
        "Error grows fast with length, ponder sublinearly.",
    ),
    _graves(
        20, "sort", "Sort: ponder in single sequences", sequences,
        "Ponder spikes near the end of the input sequence (τ = 1e-3).", setting=1e-3,
    ),
    _graves(
        21, "wikipedia", "Text: bits per character by time penalty", error_by_penalty,
        "Bits per character are about the same with and without ACT and across τ (on the training "
        "text).",
    ),
    _graves(
        22, "wikipedia", "Text: learning, and bits against ponder", learning,
        "Little ponder; networks with ACT are a little more data-efficient.",
    ),
    _graves(
        23, "wikipedia", "Text: ponder in running text", running_text,
        "Ponder peaks at spaces, and more at commas and full stops (τ = 6e-3).",
        setting=6e-3, markup=False,
    ),
    _graves(
        24, "wikipedia", "Text: ponder among tags and numbers", running_text,
        "Ponder peaks at opening brackets of XML tags and does not rise on random ID digits, where "
        "loss and entropy do (τ = 6e-3).", setting=6e-3, markup=True,
    ),
    _banino(
        "1a", INTERPOLATION, "Parity, interpolation: accuracy and steps", accuracy_and_steps,
        "Read off the figure: PonderNet 0.974 at 2.7 steps, ACT 0.957 at 3.1.", splits=("test",),
    ),
    _banino(
        "1b", EXTRAPOLATION, "Parity, extrapolation: accuracy and steps", accuracy_and_steps,
        "Read off the figure, beyond the trained range: PonderNet about 0.93 at 5 steps (spread 3 "
        "to 7), ACT 0.52 at 2.1.", splits=("interpolation", "extrapolation"),
    ),
    _banino(
        "1c", INTERPOLATION, "Parity: accuracy against computation spent", accuracy_by_compute,
        "PonderNet reaches its accuracy with fewer forward passes than ACT.",
    ),
    _banino(
        "2a", INTERPOLATION, "Parity: ACT by time penalty", seeds_by_setting,
        "ACT solves parity for only a few τ, with high variance over seeds: medians read off up to "
        "0.90 between 5e-4 and 1e-3, and chance from 4e-3 on.", mechanism="act",
    ),
    _banino(
        "2b", INTERPOLATION, "Parity: PonderNet by prior", seeds_by_setting,
        "PonderNet solves parity for every λp but 0.9: medians read off from 0.1 to 0.9 are 0.91, "
        "0.94, 0.90, 0.97, 0.98, 0.78, 0.67, 0.98, 0.51.", mechanism="pondernet",
    ),
    _banino(
        "2c", INTERPOLATION, "Parity: steps under a long prior", long_prior,
        "With λp = 0.1 (prior mean 10) the steps settle at about 3: median read off 3.5, quartiles "
        "3.0 and 4.7, over 30 seeds.",
    ),
    _digits(
        "range", "rotation range", "mnist_rotated", "Accuracy and steps by range of rotation",
        digits,
        "A public notebook, trained on rotations up to 22.5 degrees, reports accuracy and number "
        "of steps falling as rotation grows.", split="range",
    ),
    _digits(
        "angle", "fixed angles", "mnist_rotated", "Accuracy and steps by angle", digits,
        "Not in the public notebook, which reports ranges of rotation alone.", split="angle",
    ),
    _digits(
        "classes", "classes", "mnist", "Accuracy and steps by class", digits,
        "The public notebook reports plain MNIST as solved.", split="test",
    ),
    _digits(
        "gallery", "gallery", "mnist", "Digits that took the most and the fewest steps", gallery,
        "Not in the public notebook.",
    ),
    _beyond(
        "layout", tuple(LAYOUTS), "Parity: nonzero elements leading or scattered", layout,
        "Neither paper's text says where the nonzero elements are; Graves's figure shows them "
        "first.", layouts=LAYOUTS,
    ),
    _beyond(
        "repeat-parity", ("parity",), "Parity: fixed repeat counts against ACT", fixed_repeat,
        "Fojo et al. 2018: repeating twice solves it at update 22,000, ACT at 53,000 to 356,000.",
        experiment="parity",
    ),
    _beyond(
        "repeat-addition", ("addition",), "Addition: fixed repeat counts against ACT",
        fixed_repeat,
        "Fojo et al. 2018: repeating 5 times solves it at update 514,000, ACT (τ = 1e-2) at "
        "899,000.", experiment="addition",
    ),
    _beyond(
        "extrapolation", (EXTRAPOLATION,), "Parity: steps inside and beyond the trained range",
        extrapolation,
        "Banino 2021 reports one mean: PonderNet's steps rise to about 5 beyond the trained range, "
        "nearly twice those inside.", experiment=EXTRAPOLATION,
    ),
    _beyond(
        "pondernet", TASKS, "PonderNet on Graves's tasks", across_tasks,
        "Banino 2021 does not report these tasks.", experiments=TASKS,
    ),
    _beyond(
        "ways", ("comparison",), "One task, every way to halt", across_tasks,
        "None: each mechanism has been published on tasks of its own.", experiments=("comparison",),
    ),
    _beyond(
        "exits", ("comparison",), "Parity: exit rules compared", exits,
        "None: a rule is published with the mechanism it was made for.", experiment="comparison",
    ),
    _beyond(
        "exits-mnist", ("mnist",), "Digits: exit rules compared", exits,
        "None: a rule is published with the mechanism it was made for.", experiment="mnist",
    ),
)  # fmt: skip
"""Every figure of the report, in its order."""
