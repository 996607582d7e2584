"""Made-up results: error, steps and curves are functions of setting, seed and difficulty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from pondering.results.results import Card, Results

SEEDS = range(20)
Rule = Callable[[float, int, float], float]


def rows(
    experiment: str,
    mechanism: str,
    settings: Sequence[float],
    error: Rule,
    ponder: Rule = lambda setting, seed, level: 1.0,
    *,
    levels: Sequence[float] = (0.0,),
    split: str = "test",
    seeds: Sequence[int] = SEEDS,
    status: Callable[[float, int], str] = lambda setting, seed: "finished",
    wrong: float | None = 0.77,
    **more: Any,
) -> pd.DataFrame:
    """Evaluation rows of one mechanism.

    Args:
        error, ponder: functions of (setting, seed, difficulty).
        wrong: error of PonderNet's second prediction, which no claim reads; None copies the first.
        more: further columns.
    """
    predictions = ("sampled", "expected") if mechanism.startswith("pondernet") else ("mixture",)
    return pd.DataFrame(
        [
            {
                "experiment": experiment, "mechanism": mechanism, "setting": float(setting),
                "seed": seed, "split": split, "difficulty": float(level),
                "prediction": prediction, "examples": 1000,
                "error": wrong if wrong is not None and prediction == "expected"
                else error(setting, seed, level),
                "loss": 0.1, "ponder_time": ponder(setting, seed, level), "ponder_sd": 0.0,
                "remainder": 0.0, "status": status(setting, seed), **more,
            }
            for setting in settings
            for seed in seeds
            for level in levels
            for prediction in predictions
        ]
    )  # fmt: skip


def curve(
    experiment: str,
    mechanism: str,
    settings: Sequence[float],
    error: Callable[[float, int, float], float],
    ponder: Callable[[float, float], float] = lambda setting, share: 2.0,
    *,
    updates: int = 10_000,
    points: int = 20,
    seeds: Sequence[int] = SEEDS,
) -> pd.DataFrame:
    """Training curves; `error` and `ponder` take the share of training done, up to 1."""
    share = np.linspace(1 / points, 1, points)
    runs = [(setting, seed) for setting in settings for seed in seeds]
    steps = np.array([[ponder(setting, each) for each in share] for setting, _ in runs])
    return pd.DataFrame({
        "experiment": experiment, "mechanism": mechanism,
        "setting": np.repeat([float(setting) for setting, _ in runs], len(share)),
        "seed": np.repeat([seed for _, seed in runs], len(share)),
        "update": np.tile((share * updates).round(), len(runs)), "loss": 0.1,
        "error": [error(*each, done) for each in runs for done in share],
        "ponder_time": steps.ravel(), "remainder": 0.1,
        "computed_steps": 1000 * steps.cumsum(axis=1).ravel(),
    })  # fmt: skip


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


def results(
    tables: Sequence[pd.DataFrame],
    curves: Sequence[pd.DataFrame] = (),
    traces: dict[str, list[dict[str, Any]]] | None = None,
    profile: str = "reduced",
    stand_in: bool = False,
) -> Results:
    """Results of these tables and curves, with a data card for each experiment."""
    gathered: list[dict[str, pd.DataFrame]] = []
    for parts in (tables, curves):
        names = dict.fromkeys(str(part["experiment"].iloc[0]) for part in parts)
        gathered.append({
            name: pd.concat(
                [part for part in parts if part["experiment"].iloc[0] == name], ignore_index=True
            )
            for name in names
        })  # fmt: skip
    names = dict.fromkeys([*gathered[0], *gathered[1]])
    cards = {name: replace(card_of(name), stand_in=stand_in, source="enwik8") for name in names}
    return Results(profile, gathered[0], gathered[1], traces or {}, cards)


def trace(
    kind: str, steps: Sequence[dict[str, Any]], seed: int = 0, setting: float = 6e-3
) -> dict[str, Any]:
    """One trace of ACT."""
    return {"mechanism": "act", "setting": setting, "seed": seed, "kind": kind, "steps": steps}


def step(read: str, target: str, ponder: float, loss: float = 0.1, **more: Any) -> dict[str, Any]:
    """One time step of a trace."""
    return {
        "input": read, "target": target, "prediction": target, "ponder_time": ponder,
        "loss": loss, "entropy": loss, **more,
    }  # fmt: skip
