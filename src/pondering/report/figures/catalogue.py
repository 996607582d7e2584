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


def _figure(
    name: str, source: str, number: str, reads: tuple[str, ...], title: str, family: Family,
    values: dict[str, Any], compared: tuple[str, ...],
) -> FigureSpec:  # fmt: skip
    return FigureSpec(
        id=name,
        paper=source,
        number=number,
        experiment=reads,
        title=title,
        panels=family.draw,
        caption=family.CAPTION,
        values=values,
        compared=() if family in ALONE else compared,
        most_seeds=MOST_SEEDS.get(family, 0),
    )


def _graves(number: int, experiment: str, title: str, family: Family, **values: Any) -> FigureSpec:
    """A figure of Graves 2016."""
    return _figure(f"graves-{number:02d}", "Graves 2016", f"Fig. {number}", (experiment,), title,
                   family, {"experiment": experiment} | values, ("repeat", "act"))  # fmt: skip


def _banino(number: str, experiment: str, title: str, family: Family, **values: Any) -> FigureSpec:
    """A figure of Banino 2021."""
    return _figure(f"banino-{number}", "Banino 2021", f"Fig. {number}", (experiment,), title,
                   family, {"experiment": experiment} | values, TRAINED_FOR_IT)  # fmt: skip


def _digits(
    name: str, number: str, experiment: str, title: str, family: Family, **values: Any
) -> FigureSpec:
    """A figure of handwritten digits, of a public notebook."""
    return _figure(f"mnist-{name}", "MNIST", number, (experiment,), title, family,
                   {"experiment": experiment} | values, TRAINED_FOR_IT)  # fmt: skip


def _beyond(
    name: str, reads: tuple[str, ...], title: str, family: Family, **values: Any
) -> FigureSpec:
    """A figure that no paper has."""
    return _figure(f"beyond-{name}", "Beyond the papers", "", reads, title, family, values,
                   tuple(MECHANISMS))  # fmt: skip


FIGURES = (
    _graves(4, "parity", "Parity: error by time penalty", error_by_penalty),
    _graves(5, "parity", "Parity: learning, and error against ponder", learning),
    _graves(6, "parity", "Parity: ponder and error by number of bits", by_difficulty),
    _graves(8, "logic", "Logic: error by time penalty", error_by_penalty),
    _graves(9, "logic", "Logic: learning, and error against ponder", learning),
    _graves(10, "logic", "Logic: ponder and error by number of gates", by_difficulty),
    _graves(12, "addition", "Addition: error by time penalty", error_by_penalty),
    _graves(13, "addition", "Addition: learning, and error against ponder", learning),
    _graves(14, "addition", "Addition: ponder and error by number of digits", by_difficulty),
    _graves(15, "addition", "Addition: ponder in single sequences", sequences),
    _graves(17, "sort", "Sort: error by time penalty", error_by_penalty),
    _graves(18, "sort", "Sort: learning, and error against ponder", learning),
    _graves(19, "sort", "Sort: ponder and error by length", by_difficulty),
    replace(
        _graves(20, "sort", "Sort: ponder in single sequences", sequences),
        caption=f"{sequences.CAPTION} Outputs are places in the sorted order, counted from 0.",
    ),
    _graves(21, "wikipedia", "Text: bits per character by time penalty", error_by_penalty),
    _graves(22, "wikipedia", "Text: learning, and bits against ponder", learning),
    _graves(23, "wikipedia", "Text: ponder in running text", running_text, markup=False),
    _graves(24, "wikipedia", "Text: ponder among tags and numbers", running_text,
            markup=True),
    _banino("1a", INTERPOLATION, "Parity, interpolation: accuracy and steps", accuracy_and_steps,
            splits=("test",)),
    _banino("1b", EXTRAPOLATION, "Parity, extrapolation: accuracy and steps", accuracy_and_steps,
            splits=("interpolation", "extrapolation")),
    _banino("1c", INTERPOLATION, "Parity: accuracy against computation spent",
            accuracy_by_compute),
    _banino("2a", INTERPOLATION, "Parity: ACT by time penalty", seeds_by_setting,
            mechanism="act"),
    _banino("2b", INTERPOLATION, "Parity: PonderNet by prior", seeds_by_setting,
            mechanism="pondernet"),
    _banino("2c", INTERPOLATION, "Parity: steps under a long prior", long_prior),
    _digits("range", "rotation range", "mnist_rotated", "Accuracy and steps by range of rotation",
            methods_by_difficulty, split="range"),
    _digits("angle", "fixed angles", "mnist_rotated", "Accuracy and steps by angle",
            methods_by_difficulty, split="angle"),
    _digits("classes", "classes", "mnist", "Accuracy and steps by class",
            methods_by_difficulty, split="test"),
    _digits("gallery", "gallery", "mnist", "Digits that took the most and the fewest steps",
            gallery),
    _beyond("repeat-parity", ("parity_fojo",), "Parity: fixed repeat counts against ACT",
            fixed_repeat, experiment="parity_fojo"),
    _beyond("repeat-addition", ("addition",), "Addition: fixed repeat counts against ACT",
            fixed_repeat, experiment="addition"),
    _beyond("sixteen-act", ("parity_sixteen",), "Parity, 16 elements: ACT by time penalty",
            seeds_by_setting, experiment="parity_sixteen", mechanism="act"),
    _beyond("sixteen-pondernet", ("parity_sixteen",), "Parity, 16 elements: PonderNet by prior",
            seeds_by_setting, experiment="parity_sixteen", mechanism="pondernet"),
    _beyond("extrapolation", (EXTRAPOLATION,),
            "Parity: steps inside and beyond the trained range", methods_by_difficulty,
            experiment=EXTRAPOLATION),
    _beyond("pondernet", ("logic", "parity", "addition", "sort", "wikipedia"),
            "PonderNet on Graves's tasks", across_tasks, experiments=TASKS, about="pondernet"),
    _beyond("ways", ("comparison",), "One task, every way to halt", across_tasks,
            experiments=("comparison",)),
    _beyond("direction", (INTERPOLATION,), "Parity: which way steps go with difficulty",
            solved_networks, experiment=INTERPOLATION, mechanisms=("act", "pondernet")),
    _beyond("repetition", ("parity",), "Parity: does ACT learn to repeat?", solved_networks,
            experiment="parity", mechanisms=("act",)),
    _beyond("exits", ("comparison",), "Every way to halt, every exit rule", exits,
            experiment="comparison"),
    _beyond("exits-digits", ("comparison_digits",),
            "Digits: every way to halt, every exit rule", exits, experiment="comparison_digits"),
    _beyond("exits-rotated", ("comparison_rotated",),
            "Rotated digits: every way to halt, every exit rule", exits,
            experiment="comparison_rotated"),
    _beyond("exits-gates", ("comparison_logic",),
            "Logic: two ways to halt, every exit rule", exits,
            experiment="comparison_logic"),
    _beyond("exits-logic", ("logic",), "Logic: exit rules compared", exits, experiment="logic"),
    _beyond("exits-mnist", ("mnist",), "Digits: exit rules compared", exits, experiment="mnist"),
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
        experiment=claim.experiments,
        title=claim.title,
        panels=decisions.draw,
        caption=decisions.CAPTION,
        values={
            "estimates": [plain_estimate(each) for each in found.quantities],
            "bounds": bounds,
        },
        most_seeds=max(found.evidence.seeds, default=0),
    )
