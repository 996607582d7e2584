"""The figures of Banino 2021, of the digits and beyond the papers, with values and captions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from pondering.params.mechanisms import MECHANISMS
from pondering.report.figures import banino2021 as banino
from pondering.report.figures import beyond, mnist, priors, words, words_traces
from pondering.report.figures.captions import unequal_sizes, unequal_training
from pondering.report.figures.spec import FigureSpec
from pondering.results.results import Results

INTERPOLATION, EXTRAPOLATION = ("parity_interpolation",), ("parity_extrapolation",)
PAPERS = ("repeat", "act", "pondernet")
ALL = tuple(MECHANISMS)
BEST = "each method at the setting with the lowest mean error over seeds"
COMPARISON = (
    f"Bars: mean over seeds, {BEST}; whiskers: bootstrap 95% intervals; points: seeds; above the "
    "bars the number of seeds with an error below 5%. Halting is sampled in PonderNet."
)
BOXES = (
    "Above: accuracy, points are seeds, boxes their quartiles (a line at the median of fewer than "
    "five seeds). Below: share of seeds that solved it, with an error below 5%, with Wilson 95% "
    "intervals."
)
ANGLES = (
    f"Accuracy (above) and ponder steps (below), {BEST} on the digits as trained; bands: one "
    "standard error over seeds either side. A seed stops training once its validation accuracy "
    "no longer rises."
)

CLASSES = (
    f"Accuracy (above, on an axis that does not start at zero) and ponder steps (below), {BEST}; "
    "points: means over seeds, whiskers: one standard error either side. A seed stops training "
    "once its validation accuracy no longer rises."
)


def _trained(
    *experiments: str, mechanisms: Sequence[str] = PAPERS
) -> tuple[Callable[[Results], str], ...]:
    """The note on a figure that compares mechanisms on each experiment."""
    return (partial(unequal_training, experiments=experiments, mechanisms=mechanisms),)


BANINO = (
    FigureSpec(
        "banino-1a", "Banino 2021", "Fig. 1a", INTERPOLATION,
        "Parity, interpolation: accuracy and steps", banino.figure_1a,
        partial(words.of_methods, experiment=INTERPOLATION[0], splits=("test",)),
        "Read off the figure: PonderNet 0.974 at 2.7 steps, ACT 0.957 at 3.1.", COMPARISON,
        _trained(*INTERPOLATION),
    ),
    FigureSpec(
        "banino-1b", "Banino 2021", "Fig. 1b", EXTRAPOLATION,
        "Parity, extrapolation: accuracy and steps", banino.figure_1b,
        partial(words.of_methods, experiment=EXTRAPOLATION[0],
                splits=("interpolation", "extrapolation")),
        "Read off the figure, beyond the trained range: PonderNet about 0.93 at 5 steps (spread 3 "
        "to 7), ACT 0.52 at 2.1.",
        f"{COMPARISON} Filled: difficulties in the trained range, by which settings are chosen; "
        "hatched: beyond it.",
        _trained(*EXTRAPOLATION),
    ),
    FigureSpec(
        "banino-1c", "Banino 2021", "Fig. 1c", INTERPOLATION,
        "Parity: accuracy against computation spent", banino.figure_1c, words.of_compute,
        "PonderNet reaches its accuracy with fewer forward passes than ACT.",
        f"Accuracy in training against forward passes spent so far, {BEST}; faint lines: seeds; "
        "bold lines: their mean, as far as the first of them goes. PonderNet computes all its N "
        "steps for every example whatever it learns, ACT those until it halts: hence the gap.",
        _trained(*INTERPOLATION),
    ),
    FigureSpec(
        "banino-2a", "Banino 2021", "Fig. 2a", INTERPOLATION, "Parity: ACT by time penalty",
        banino.figure_2a, partial(words.of_boxes, mechanism="act"),
        "ACT solves parity for only a few τ, with high variance over seeds: medians read off up to "
        "0.90 between 5e-4 and 1e-3, and chance from 4e-3 on.", BOXES,
    ),
    FigureSpec(
        "banino-2b", "Banino 2021", "Fig. 2b", INTERPOLATION, "Parity: PonderNet by prior",
        banino.figure_2b, partial(words.of_boxes, mechanism="pondernet"),
        "PonderNet solves parity for every λp but 0.9: medians read off from 0.1 to 0.9 are 0.91, "
        "0.94, 0.90, 0.97, 0.98, 0.78, 0.67, 0.98, 0.51.", BOXES,
    ),
    FigureSpec(
        "banino-2c", "Banino 2021", "Fig. 2c", INTERPOLATION, "Parity: steps under a long prior",
        priors.figure_2c, words.of_prior,
        "With λp = 0.1 (prior mean 10) the steps settle at about 3: median read off 3.5, quartiles "
        "3.0 and 4.7, over 30 seeds.",
        "Above: expected steps during training, faint lines seeds. Below: sampled steps at "
        "evaluation over seeds, as in the paper. λp = 0.1, or the smallest trained. Dashed: the "
        "mean of the prior that training uses, cut at N steps and normalised; dotted: its mean "
        "1/λp without the cut, which the paper quotes.",
    ),
)  # fmt: skip

DIGITS = (
    FigureSpec(
        "mnist-range", "MNIST", "rotation range", ("mnist_rotated",),
        "Accuracy and steps by range of rotation", mnist.figure_range,
        partial(words.of_angles, experiment="mnist_rotated", split="range"),
        "A public notebook, trained on rotations up to 22.5 degrees, reports accuracy and number "
        "of steps falling as rotation grows.", ANGLES, _trained("mnist_rotated"),
    ),
    FigureSpec(
        "mnist-angle", "MNIST", "fixed angles", ("mnist_rotated",),
        "Accuracy and steps by angle", mnist.figure_angle,
        partial(words.of_angles, experiment="mnist_rotated", split="angle"),
        "Not in the public notebook, which reports ranges of rotation alone.", ANGLES,
        _trained("mnist_rotated"),
    ),
    FigureSpec(
        "mnist-classes", "MNIST", "classes", ("mnist",),
        "Accuracy and steps by class", mnist.figure_classes,
        partial(words.of_angles, experiment="mnist", split="test"),
        "The public notebook reports plain MNIST as solved.", CLASSES, _trained("mnist"),
    ),
    FigureSpec(
        "mnist-gallery", "MNIST", "gallery", ("mnist",),
        "Digits that took the most and the fewest steps", mnist.figure_gallery,
        words_traces.of_gallery,
        "Not in the public notebook.",
        "Test digits of one replica with their steps (of PonderNet the expected ones, under its "
        "halting distribution) and the prediction; a wrong one is purple and says what the digit "
        "is.",
    ),
)  # fmt: skip

BEYOND = (
    FigureSpec(
        "beyond-layout", "Beyond the papers", "", ("parity", "parity_scattered"),
        "Parity: nonzero elements leading or scattered", beyond.figure_layout, words.of_layout,
        "Neither paper's text says where the nonzero elements are; Graves's figure shows them "
        "first.",
        f"Error in training (above) and by difficulty (below), {BEST}; bands: one standard error.",
        (partial(unequal_sizes, experiments=tuple(beyond.LAYOUTS)),
         partial(unequal_training, experiments=tuple(beyond.LAYOUTS), mechanisms=ALL,
                 across=True)),
    ),
    *(
        FigureSpec(
            f"beyond-repeat-{task}", "Beyond the papers", "", (task,),
            f"{task.capitalize()}: fixed repeat counts against ACT", body,
            partial(words.of_repeat, experiment=task), value,
            "Above: final error against mean steps, standard errors both ways. Below: the first "
            "logged update with an error below 2% on training's own sequences, one point a seed, "
            "bars at the medians; in the grey strip the seeds that never had one.",
            (partial(unequal_training, experiments=(task,)),),
        )
        for task, body, value in (
            ("parity", beyond.figure_repeat_parity,
             "Fojo et al. 2018: repeating twice solves it at update 22,000, ACT at 53,000 to "
             "356,000."),
            ("addition", beyond.figure_repeat_addition,
             "Fojo et al. 2018: repeating 5 times solves it at update 514,000, ACT (τ = 1e-2) at "
             "899,000."),
        )
    ),
    FigureSpec(
        "beyond-extrapolation", "Beyond the papers", "", EXTRAPOLATION,
        "Parity: steps inside and beyond the trained range", beyond.figure_extrapolation,
        words.of_extrapolation,
        "Banino 2021 reports one mean: PonderNet's steps rise to about 5 beyond the trained range, "
        "nearly twice those inside.",
        f"Steps (above) and error (below) by nonzero elements, {BEST} in the trained range "
        "(shaded); bands: one standard error.",
        _trained(*EXTRAPOLATION, mechanisms=ALL),
    ),
    FigureSpec(
        "beyond-pondernet", "Beyond the papers", "", beyond.GRAVES_TASKS,
        "PonderNet on Graves's tasks", beyond.figure_pondernet, words.of_pondernet,
        "Banino 2021 does not report these tasks.",
        "Final error against mean steps per input, one point a setting, standard errors both ways; "
        "bits per character, on an axis that does not start at zero, for the text. PonderNet's "
        "halting is sampled; hollow circles are its expectation.",
        _trained(*beyond.GRAVES_TASKS, mechanisms=ALL),
    ),
)  # fmt: skip
