"""Every figure of the report, a line each: what it reads, and its family."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from pondering.claims.quantities import plain_estimate
from pondering.claims.verdicts import Judgement
from pondering.params.mechanisms import MECHANISMS
from pondering.report.figures import (
    accuracy_and_steps,
    accuracy_by_compute,
    across_tasks,
    by_difficulty,
    decisions,
    error_by_penalty,
    exits,
    fixed_repeat,
    gallery,
    learning,
    long_prior,
    methods_by_difficulty,
    running_text,
    seeds_by_setting,
    sequences,
    solved_networks,
)
from pondering.report.figures.methods import TRAINED_FOR_IT
from pondering.report.figures.spec import Family, FigureSpec

INTERPOLATION, EXTRAPOLATION = "parity_interpolation", "parity_extrapolation"
TASKS = ("parity", "logic", "addition", "sort", "wikipedia")
ALONE: tuple[Family, ...] = (gallery, long_prior, running_text, seeds_by_setting, sequences)
"""Families that show one mechanism alone."""
MOST_SEEDS: dict[Family, int] = {sequences: 1, gallery: 1, running_text: running_text.MOST_STRIPS}

SOURCES: dict[str, tuple[str, tuple[str, ...]]] = {
    "graves": ("Graves 2016", ("repeat", "act")),
    "banino": ("Banino 2021", TRAINED_FOR_IT),
    "mnist": ("MNIST", TRAINED_FOR_IT),
    "beyond": ("Beyond the papers", tuple(MECHANISMS)),
}
"""Beginning of an id -> the figure's source, and the mechanisms that such figures compare."""


def _figure(
    id: str, number: str, reads: str | tuple[str, ...], title: str, family: Family, **values: Any
) -> FigureSpec:
    """A figure that reads one experiment or several, which its family gets besides `values`."""
    paper, compared = SOURCES[id.partition("-")[0]]
    return FigureSpec(
        id=id,
        paper=paper,
        number=number,
        experiments=(reads,) if isinstance(reads, str) else reads,
        title=title,
        panels=family.draw,
        caption=family.CAPTION,
        values={"experiment" if isinstance(reads, str) else "experiments": reads} | values,
        compared=() if family in ALONE else compared,
        most_seeds=MOST_SEEDS.get(family, 0),
    )


FIGURES = (
    _figure("graves-04", "Fig. 4", "parity", "Parity: error by time penalty", error_by_penalty),
    _figure("graves-05", "Fig. 5", "parity", "Parity: learning, and error against ponder",
            learning),
    _figure("graves-06", "Fig. 6", "parity", "Parity: ponder and error by number of bits",
            by_difficulty),
    _figure("graves-08", "Fig. 8", "logic", "Logic: error by time penalty", error_by_penalty),
    _figure("graves-09", "Fig. 9", "logic", "Logic: learning, and error against ponder", learning),
    _figure("graves-10", "Fig. 10", "logic", "Logic: ponder and error by number of gates",
            by_difficulty),
    _figure("graves-12", "Fig. 12", "addition", "Addition: error by time penalty",
            error_by_penalty),
    _figure("graves-13", "Fig. 13", "addition", "Addition: learning, and error against ponder",
            learning),
    _figure("graves-14", "Fig. 14", "addition", "Addition: ponder and error by number of digits",
            by_difficulty),
    _figure("graves-15", "Fig. 15", "addition", "Addition: ponder in single sequences", sequences),
    _figure("graves-17", "Fig. 17", "sort", "Sort: error by time penalty", error_by_penalty),
    _figure("graves-18", "Fig. 18", "sort", "Sort: learning, and error against ponder", learning),
    _figure("graves-19", "Fig. 19", "sort", "Sort: ponder and error by length", by_difficulty),
    replace(
        _figure("graves-20", "Fig. 20", "sort", "Sort: ponder in single sequences", sequences),
        caption=f"{sequences.CAPTION} Outputs are places in the sorted order, counted from 0.",
    ),
    _figure("graves-21", "Fig. 21", "wikipedia", "Text: bits per character by time penalty",
            error_by_penalty),
    _figure("graves-22", "Fig. 22", "wikipedia", "Text: learning, and bits against ponder",
            learning),
    _figure("graves-23", "Fig. 23", "wikipedia", "Text: ponder in running text", running_text,
            markup=False),
    _figure("graves-24", "Fig. 24", "wikipedia", "Text: ponder among tags and numbers",
            running_text, markup=True),
    _figure("banino-1a", "Fig. 1a", INTERPOLATION, "Parity, interpolation: accuracy and steps",
            accuracy_and_steps, splits=("test",)),
    _figure("banino-1b", "Fig. 1b", EXTRAPOLATION, "Parity, extrapolation: accuracy and steps",
            accuracy_and_steps, splits=("interpolation", "extrapolation")),
    _figure("banino-1c", "Fig. 1c", INTERPOLATION, "Parity: accuracy against computation spent",
            accuracy_by_compute),
    _figure("banino-2a", "Fig. 2a", INTERPOLATION, "Parity: ACT by time penalty", seeds_by_setting,
            mechanism="act"),
    _figure("banino-2b", "Fig. 2b", INTERPOLATION, "Parity: PonderNet by prior", seeds_by_setting,
            mechanism="pondernet"),
    _figure("banino-2c", "Fig. 2c", INTERPOLATION, "Parity: steps under a long prior", long_prior),
    _figure("mnist-range", "rotation range", "mnist_rotated",
            "Accuracy and steps by range of rotation", methods_by_difficulty, split="range"),
    _figure("mnist-angle", "fixed angles", "mnist_rotated", "Accuracy and steps by angle",
            methods_by_difficulty, split="angle"),
    _figure("mnist-classes", "classes", "mnist", "Accuracy and steps by class",
            methods_by_difficulty, split="test"),
    _figure("mnist-gallery", "gallery", "mnist", "Digits that took the most and the fewest steps",
            gallery),
    _figure("beyond-repeat-parity", "", "parity_fojo", "Parity: fixed repeat counts against ACT",
            fixed_repeat),
    _figure("beyond-repeat-addition", "", "addition", "Addition: fixed repeat counts against ACT",
            fixed_repeat),
    _figure("beyond-sixteen-act", "", "parity_sixteen", "Parity, 16 elements: ACT by time penalty",
            seeds_by_setting, mechanism="act"),
    _figure("beyond-sixteen-pondernet", "", "parity_sixteen",
            "Parity, 16 elements: PonderNet by prior", seeds_by_setting, mechanism="pondernet"),
    _figure("beyond-extrapolation", "", EXTRAPOLATION,
            "Parity: steps inside and beyond the trained range", methods_by_difficulty),
    replace(
        _figure("beyond-pondernet", "", TASKS, "PonderNet on Graves's tasks", across_tasks,
                about="pondernet"),
        experiments=("logic", "parity", "addition", "sort", "wikipedia"),
    ),
    _figure("beyond-ways", "", ("comparison",), "One task, every way to halt", across_tasks),
    _figure("beyond-direction", "", INTERPOLATION, "Parity: which way steps go with difficulty",
            solved_networks, mechanisms=("act", "pondernet")),
    _figure("beyond-repetition", "", "parity", "Parity: does ACT learn to repeat?", solved_networks,
            mechanisms=("act",)),
    _figure("beyond-exits", "", "comparison", "Every way to halt, every exit rule", exits),
    _figure("beyond-exits-digits", "", "comparison_digits",
            "Digits: every way to halt, every exit rule", exits),
    _figure("beyond-exits-rotated", "", "comparison_rotated",
            "Rotated digits: every way to halt, every exit rule", exits),
    _figure("beyond-exits-gates", "", "comparison_logic",
            "Logic: two ways to halt, every exit rule", exits),
    _figure("beyond-exits-logic", "", "logic", "Logic: exit rules compared", exits),
)  # fmt: skip
"""Every figure of the report but those of questions, in its order."""


def claim_figure(found: Judgement) -> FigureSpec:
    """The figure of a claim of our own: what was measured, against its bounds."""
    claim = found.claim
    bounds = [
        {
            "quantity": name,
            "low": low if math.isfinite(low) else None,
            "high": high if math.isfinite(high) else None,
            "condition": asked is claim.learned,
        }
        for asked in (claim.learned, claim.criteria)
        for name, bound in asked.items()
        for low, high in [bound.limits()]
    ]
    return FigureSpec(
        id=f"question-{claim.id}",
        paper="Beyond the papers",
        number=claim.id,
        experiments=claim.experiments,
        title=claim.title,
        panels=decisions.draw,
        caption=decisions.CAPTION,
        values={
            "estimates": [plain_estimate(each) for each in found.quantities],
            "bounds": bounds,
        },
        most_seeds=max(found.evidence.seeds, default=0),
    )
