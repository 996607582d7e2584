"""Made-up results with the shape of real ones, for the tests of statistics and figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from pondering.results.results import Card, Results

DIFFICULTIES: dict[str, Sequence[float]] = {
    "parity": range(1, 17),
    "parity_scattered": range(1, 17),
    "parity_interpolation": range(1, 17),
    "comparison": range(1, 9),
    "comparison_digits": range(10),
    "comparison_rotated": [22.5, 45],
    "comparison_logic": range(1, 5),
    "logic": range(1, 11),
    "addition": range(1, 6),
    "sort": range(2, 16),
    "wikipedia": [0],
    "mnist": range(10),
}
RULED = (
    "comparison",
    "comparison_digits",
    "comparison_rotated",
    "comparison_logic",
    "logic",
    "mnist",
)
EXIT_RULES = (
    "sampled", "expected", "argmax", "cumulated", "threshold", "patience", "state", "divergence",
    "certainty", "fixed", "oracle",
)  # fmt: skip
GRID = sorted({round(i * 10.0**-j, 9) for i in range(1, 11) for j in range(1, 5)})
FEW = {"repeat": [1, 2, 3, 5, 8], "act": [1e-3, 1e-2, 1e-1], "pondernet": [0.1, 0.3, 0.9]}
PAPER = {
    "repeat": [1, 2, 3, 5, 8],
    "act": GRID,
    "pondernet": [round(0.1 * i, 1) for i in range(1, 10)],
}
ADDITION = [("27", "", ""), ("41403", "41430", "41430"), ("9", "41439", "41439"),
            ("770", "42209", "42219"), ("33", "42242", "42242")]  # fmt: skip
TEXT = (
    "The early history of numbers, as far as it is known, begins with notches cut in bone. A count "
    "of sheep, of days, or of moons was kept so. <page><title>Numbers</title><id>8841973</id>"
    "<revision><id>41987703</id></revision><text>Signs came later; they stood for ten, sixty, ..."
)


def error_of(mechanism: str, setting: float, difficulty: float) -> float:
    """A smooth made-up error: high without halting, low at small settings, rising to the right."""
    ease = {"repeat": 0.9 if setting == 1 else 0.2 / setting, "act": min(1.0, 6 * setting + 0.02),
            "pondernet": 0.05 + 0.5 * setting**4}[mechanism]  # fmt: skip
    return float(min(0.5, ease * 0.5 * (0.3 + 0.7 * difficulty / 16)))


def ponder_of(mechanism: str, setting: float, difficulty: float) -> float:
    """A made-up number of steps, falling with the setting and rising with difficulty."""
    if mechanism == "repeat":
        return float(setting)
    base = 1 / setting if mechanism == "pondernet" else 1 + 0.1 / (setting + 0.005)
    return float(1 + (min(base, 12) - 1) * (0.2 + 0.05 * difficulty))


def rows_of(
    experiment: str, split: str, difficulties: Iterable[float],
    settings: dict[str, list[float]], seeds: int, diverged: tuple[str, float, int] | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Evaluation rows of one split, as the evaluate stage writes them."""
    generator = np.random.default_rng([len(experiment), len(split), seeds])
    rows = []
    text = experiment == "wikipedia"
    for mechanism, values in settings.items():
        predictions = ["sampled", "expected"] if mechanism == "pondernet" else ["mixture"]
        for setting in values:
            for seed in range(seeds):
                luck = float(generator.normal())
                gone = diverged == (mechanism, setting, seed)
                for difficulty in difficulties:
                    for prediction in predictions:
                        error = error_of(mechanism, setting, difficulty) * (1 + 0.25 * luck)
                        error = 1.6 + 0.02 * luck if text else float(np.clip(error, 0, 1))
                        steps = ponder_of(mechanism, setting, difficulty)
                        steps = max(1.0, steps * (1 + (0.1 * luck if mechanism != "repeat" else 0)))
                        rows.append({
                            "experiment": experiment, "mechanism": mechanism, "setting": setting,
                            "seed": seed, "split": split, "difficulty": float(difficulty),
                            "prediction": prediction, "examples": 1000,
                            "seen": 0.25, "error": (8.0 if text else 1.0) if gone else error,
                            "error_seen": 0.0, "error_unseen": error,
                            "loss": error, "ponder_time": float("nan") if gone else steps,
                            "ponder_sd": 0.3, "remainder": 0.4,
                            "status": "diverged" if gone else "finished",
                        })  # fmt: skip
    return rows


def table_of(
    experiment: str, settings: dict[str, list[float]], seeds: int,
    diverged: tuple[str, float, int] | None = None,
) -> pd.DataFrame:  # fmt: skip
    """All evaluation rows of one experiment."""
    splits = {
        "parity_extrapolation": {"interpolation": range(1, 9), "extrapolation": range(9, 17)},
        "wikipedia": {"train": [0], "heldout": [0]},
        "mnist_rotated": {"range": [22.5, 45, 67.5, 90], "angle": range(0, 91, 5)},
    }.get(experiment) or {"test": DIFFICULTIES[experiment]}
    rows = []
    for split, difficulties in splits.items():
        rows += rows_of(experiment, split, difficulties, settings, seeds, diverged)
    return pd.DataFrame(rows)


def curves_of(
    experiment: str, settings: dict[str, list[float]], seeds: int, points: int = 60,
    diverged: tuple[str, float, int] | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Training curves of one experiment; a diverged replica is NaN from half of them on."""
    generator = np.random.default_rng(len(experiment))
    updates = np.linspace(100, 6000, points).round()
    parts = []
    for mechanism, values in settings.items():
        for setting in values:
            for seed in range(seeds):
                final = error_of(mechanism, setting, 8)
                pace = 1500 * float(np.exp(0.3 * generator.normal()))
                error = final + (0.5 - final) * np.exp(-updates / pace)
                steps = ponder_of(mechanism, setting, 8) * (1 - 0.5 * np.exp(-updates / 2000))
                frame = pd.DataFrame({
                    "experiment": experiment, "mechanism": mechanism, "setting": setting,
                    "seed": seed, "update": updates, "loss": error,
                    "error": error * (4 if experiment == "wikipedia" else 1),
                    "ponder_time": np.maximum(1, steps), "remainder": 0.4,
                    "computed_steps": 64 * updates * (20 if mechanism == "pondernet" else
                                                      np.maximum(1, steps)),
                })  # fmt: skip
                if diverged == (mechanism, setting, seed):
                    measured = ["loss", "error", "ponder_time", "remainder", "computed_steps"]
                    frame.loc[points // 2 :, measured] = float("nan")
                parts.append(frame)
    return pd.concat(parts, ignore_index=True)


def exits_of(experiment: str, settings: dict[str, list[float]], seeds: int) -> pd.DataFrame:
    """The table of exit rules: PonderNet's, errors falling with the steps; its last seed is lost.

    Of one seed alone none is.
    """
    rows, most = [], 6
    for setting in settings["pondernet"]:
        for seed in range(seeds):
            lost = seed == seeds - 1 and seeds > 1
            for number, rule in enumerate(EXIT_RULES):
                curve = rule not in ("sampled", "expected", "argmax", "oracle")
                for steps in range(1, most + 1) if curve and not lost else [4]:
                    error = min(0.5, 0.02 * number + 0.4 / steps + 0.01 * seed)
                    rows.append({
                        "experiment": experiment, "mechanism": "pondernet", "setting": setting,
                        "seed": seed, "split": "test", "rule": rule,
                        "threshold": float(steps) if curve and not lost else float("nan"),
                        "ponder_time": float("nan") if lost else float(steps),
                        "trend": float("nan"),
                        "error": 1.0 if lost else error, "examples": 1600,
                        "status": "diverged" if lost else "finished",
                    })  # fmt: skip
    return pd.DataFrame(rows)


def step_of(
    read: str, target: str, prediction: str, ponder_time: float, loss: float
) -> dict[str, Any]:
    """One time step of a trace."""
    return {
        "input": read, "target": target, "prediction": prediction, "ponder_time": ponder_time,
        "remainder": 0.3, "loss": loss, "entropy": loss * 0.8, "halting": [0.5, 0.5],
    }  # fmt: skip


def traces_of(experiment: str) -> list[dict[str, Any]]:
    """Traces of one experiment, of the kind it has."""
    replica = {"mechanism": "act", "setting": 1e-3, "seed": 0}
    generator = np.random.default_rng(3)
    if experiment == "addition":
        steps = [step_of(r, t, p, 1.0 + len(r) + len(p), 0.1) for r, t, p in ADDITION]
        return [{**replica, "kind": "sequence", "steps": steps} for _ in range(4)]
    if experiment == "sort":
        values = generator.normal(size=10)
        order = [str(i) for i in np.argsort(values)]
        guess = [*order[:4], order[5], order[4], *order[6:]]
        steps = [step_of(f"{v:.2f}", "", "", 2.0 + (i > 7), 0.0) for i, v in enumerate(values)]
        steps += [step_of("0", t, p, 3.0 + i % 3, 0.2)
                  for i, (t, p) in enumerate(zip(order, guess, strict=True))]  # fmt: skip
        return [{**replica, "kind": "sequence", "steps": steps} for _ in range(3)]
    if experiment == "wikipedia":
        steps = []
        for read, target in pairwise(TEXT):
            ponder = 1.2 + 2 * (read in " ,.<") + 0.2 * float(generator.random())
            guess = target if generator.random() < 0.6 else "e"
            steps.append(step_of(read, target, guess, ponder, float(generator.exponential())))
        return [{**replica, "setting": 6e-3, "kind": "text", "steps": steps}]
    if experiment == "mnist":
        traces = []
        for index in range(12):
            pixels = np.clip(generator.normal(60, 60, size=(8, 8)), 0, 255).astype(int).tolist()
            which = "most" if index < 6 else "fewest"
            label = index % 10
            step = step_of("", str(label), str(label if index != 2 else 7), 9.0 - index / 2, 0.1)
            traces.append({"mechanism": "pondernet", "setting": 0.3, "seed": 0, "kind": "image",
                           "which": which, "label": label, "pixels": pixels,
                           "steps": [step]})  # fmt: skip
        return traces
    return []


def card_of(experiment: str) -> Card:
    """A data card; the digits stand in for MNIST."""
    title = experiment.replace("_", " ").capitalize()
    what, stand_in = f"{experiment}: 16 elements, 1,000 examples at each difficulty", False
    if experiment.startswith("mnist"):
        what, stand_in = "scikit-learn's handwritten digits, 8 x 8 pixels", True
    if experiment == "wikipedia":
        what, stand_in = "a wiki-like text made by the project itself", True
    text = experiment == "wikipedia"
    splits = ("test", "train", "heldout", "interpolation", "extrapolation", "range", "angle")
    return Card(
        what=what,
        stand_in=stand_in,
        title=title,
        question=f"What is {title}?",
        unit="bits per character" if text else "sequence error rate",
        worst_error=8.0 if text else 1.0,
        splits=dict(zip(splits, splits, strict=True)) | {"heldout": "held-out text"},
        difficulty=dict.fromkeys(splits, "elements"),
        source="made up",
    )


def only(*names: str, profile: str = "quick", **parts: Any) -> Results:
    """Results of these experiments alone, with their cards."""
    return Results(profile, cards={name: card_of(name) for name in names}, **parts)


def made_up_results(
    settings: dict[str, list[float]] | None = None, seeds: int = 3,
    diverged: tuple[str, float, int] | None = ("act", 1e-1, 1), points: int = 60,
    names: Sequence[str] = (*DIFFICULTIES, "parity_extrapolation", "mnist_rotated"),
) -> Results:  # fmt: skip
    """Results of every experiment, or of these alone."""
    settings = settings or FEW
    return Results(
        profile="quick",
        tables={name: table_of(name, settings, seeds, diverged) for name in names},
        curves={name: curves_of(name, settings, seeds, points, diverged) for name in names},
        traces={name: traces for name in names if (traces := traces_of(name))},
        cards={name: card_of(name) for name in names},
        exits={name: exits_of(name, settings, seeds) for name in RULED if name in names},
    )
