"""Made-up results with the shape of real ones, for the tests of statistics and figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from support.claim_tables import card_of, curve, rows, step

from pondering.results.results import Results

Replica = tuple[str, float, int]
Luck = dict[tuple[float, int], float]

ELEMENTS, DIGITS = {"test": range(1, 17)}, {"test": range(10)}
SPLITS: dict[str, dict[str, Sequence[float]]] = {
    "parity": ELEMENTS,
    "parity_fojo": ELEMENTS,
    "parity_scattered": ELEMENTS,
    "parity_interpolation": ELEMENTS,
    "parity_sixteen": ELEMENTS,
    "comparison": {"test": range(1, 9)},
    "comparison_digits": DIGITS,
    "comparison_rotated": {"test": [22.5, 45]},
    "comparison_logic": {"test": range(1, 5)},
    "logic": {"test": range(1, 11)},
    "addition": {"test": range(1, 6)},
    "sort": {"test": range(2, 16)},
    "wikipedia": {"train": [0], "heldout": [0]},
    "mnist": DIGITS,
    "parity_extrapolation": {"interpolation": range(1, 9), "extrapolation": range(9, 17)},
    "mnist_rotated": {"range": [22.5, 45, 67.5, 90], "angle": range(0, 91, 5)},
}
"""Experiment -> split -> difficulties."""
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
FEW = {"repeat": [1, 2, 3, 5, 8], "act": [1e-3, 1e-2, 1e-1], "pondernet": [0.1, 0.3, 0.9]}
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
    settings: dict[str, list[float]], seeds: int, diverged: Replica | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Evaluation rows of one split, as the evaluate stage writes them."""
    generator = np.random.default_rng([len(experiment), len(split), seeds])
    text, parts = experiment == "wikipedia", []
    for name, values in settings.items():
        luck = {(s, k): float(generator.normal()) for s in values for k in range(seeds)}

        def error(s: float, k: int, d: float, name: str = name, luck: Luck = luck) -> float:
            found = error_of(name, s, d) * (1 + 0.25 * luck[s, k])
            return 1.6 + 0.02 * luck[s, k] if text else float(np.clip(found, 0, 1))

        def steps(s: float, k: int, d: float, name: str = name, luck: Luck = luck) -> float:
            return max(1.0, ponder_of(name, s, d) * (1 + 0.1 * luck[s, k] * (name != "repeat")))

        more: dict[str, Any] = {"split": split, "seeds": range(seeds), "wrong": None, "seen": 0.25}
        part = rows(experiment, name, values, error, steps, levels=[*difficulties], **more)
        measured = {"error_unseen": part["error"], "loss": part["error"], "error_seen": 0.0}
        parts.append(part.assign(**measured, ponder_sd=0.3, remainder=0.4))
    table = pd.concat(parts, ignore_index=True)
    failed = of_replica(table, diverged)
    columns = ["error", "ponder_time", "status"]
    table.loc[failed, columns] = [8.0 if text else 1.0, np.nan, "diverged"]
    return table


def of_replica(table: pd.DataFrame, which: Replica | None) -> pd.Series:
    """Whether each row belongs to a replica: mechanism, setting, seed."""
    mechanism, setting, seed = which or ("", 0.0, 0)
    found = (table["mechanism"] == mechanism) & (table["setting"] == setting)
    return found & (table["seed"] == seed)


def table_of(
    experiment: str, settings: dict[str, list[float]], seeds: int, diverged: Replica | None = None
) -> pd.DataFrame:
    """All evaluation rows of one experiment."""
    parts = [
        rows_of(experiment, split, levels, settings, seeds, diverged)
        for split, levels in SPLITS[experiment].items()
    ]
    return pd.concat(parts, ignore_index=True)


def curves_of(
    experiment: str, settings: dict[str, list[float]], seeds: int, points: int = 60,
    diverged: Replica | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Training curves of one experiment; the diverged replica is NaN in the second half."""
    generator, scale = np.random.default_rng(len(experiment)), 4 if experiment == "wikipedia" else 1
    parts = []
    for name, values in settings.items():
        pace = {(s, k): np.exp(0.3 * generator.normal()) / 4 for s in values for k in range(seeds)}

        def error(s: float, k: int, share: float, name: str = name, pace: Luck = pace) -> float:
            final = error_of(name, s, 8)
            return scale * float(final + (0.5 - final) * np.exp(-share / pace[s, k]))

        def steps(s: float, share: float, name: str = name) -> float:
            return max(1.0, ponder_of(name, s, 8) * (1 - 0.5 * float(np.exp(-3 * share))))

        more: dict[str, Any] = {"updates": 6000, "points": points, "seeds": range(seeds)}
        part = curve(experiment, name, values, error, steps, **more)
        unrolled = 20 if name == "pondernet" else part["ponder_time"]
        steps_done = 64 * part["update"] * unrolled
        parts.append(
            part.assign(loss=part["error"] / scale, remainder=0.4, computed_steps=steps_done)
        )
    table = pd.concat(parts, ignore_index=True)
    failed = of_replica(table, diverged) & (table["update"] > 3000)
    measured = ["loss", "error", "ponder_time", "remainder", "computed_steps"]
    table.loc[failed, measured] = np.nan
    return table


def exits_of(experiment: str, settings: dict[str, list[float]], seeds: int) -> pd.DataFrame:
    """PonderNet's table of exit rules: errors fall with steps, the last of many seeds diverged."""
    rows, most = [], 6
    for setting in settings["pondernet"]:
        for seed in range(seeds):
            diverged = seed == seeds - 1 and seeds > 1
            for number, rule in enumerate(EXIT_RULES):
                curve = rule not in ("sampled", "expected", "argmax", "oracle")
                for steps in range(1, most + 1) if curve and not diverged else [4]:
                    error = min(0.5, 0.02 * number + 0.4 / steps + 0.01 * seed)
                    rows.append({
                        "experiment": experiment, "mechanism": "pondernet", "setting": setting,
                        "seed": seed, "split": "test", "rule": rule,
                        "threshold": float(steps) if curve and not diverged else float("nan"),
                        "ponder_time": float("nan") if diverged else float(steps),
                        "trend": float("nan"),
                        "error": 1.0 if diverged else error, "examples": 1600,
                        "status": "diverged" if diverged else "finished",
                    })  # fmt: skip
    return pd.DataFrame(rows)


def traces_of(experiment: str) -> list[dict[str, Any]]:
    """Traces of one experiment, of the kind it has."""
    replica = {"mechanism": "act", "setting": 1e-3, "seed": 0}
    generator = np.random.default_rng(3)
    if experiment == "addition":
        steps = [step(r, t, 1.0 + len(r) + len(p), prediction=p) for r, t, p in ADDITION]
        return [{**replica, "kind": "sequence", "steps": steps} for _ in range(4)]
    if experiment == "sort":
        values = generator.normal(size=10)
        order = [str(i) for i in np.argsort(values)]
        guess = [*order[:4], order[5], order[4], *order[6:]]
        steps = [step(f"{v:.2f}", "", 2.0 + (i > 7), 0.0) for i, v in enumerate(values)]
        steps += [step("0", t, 3.0 + i % 3, 0.2, prediction=p)
                  for i, (t, p) in enumerate(zip(order, guess, strict=True))]  # fmt: skip
        return [{**replica, "kind": "sequence", "steps": steps} for _ in range(3)]
    if experiment == "wikipedia":
        steps = []
        for read, target in pairwise(TEXT):
            ponder = 1.2 + 2 * (read in " ,.<") + 0.2 * float(generator.random())
            guess = target if generator.random() < 0.6 else "e"
            steps.append(
                step(read, target, ponder, float(generator.exponential()), prediction=guess)
            )
        return [{**replica, "setting": 6e-3, "kind": "text", "steps": steps}]
    if experiment == "mnist":
        traces = []
        for index in range(12):
            pixels = np.clip(generator.normal(60, 60, size=(8, 8)), 0, 255).astype(int).tolist()
            which = "most" if index < 6 else "fewest"
            label = index % 10
            guess = str(label if index != 2 else 7)
            traces.append({"mechanism": "pondernet", "setting": 0.3, "seed": 0, "kind": "image",
                           "which": which, "label": label, "pixels": pixels,
                           "steps": [step("", str(label), 9 - index / 2, prediction=guess)],
                           })  # fmt: skip
        return traces
    return []


def only(*names: str, profile: str = "quick", **parts: Any) -> Results:
    """Results of these experiments alone, with their cards."""
    return Results(profile, cards={name: card_of(name) for name in names}, **parts)


def made_up_results(
    settings: dict[str, list[float]] = FEW, seeds: int = 3,
    diverged: Replica | None = ("act", 1e-1, 1), points: int = 60,
) -> Results:  # fmt: skip
    """Results of every experiment."""
    return Results(
        profile="quick",
        tables={name: table_of(name, settings, seeds, diverged) for name in SPLITS},
        curves={name: curves_of(name, settings, seeds, points, diverged) for name in SPLITS},
        traces={name: traces for name in SPLITS if (traces := traces_of(name))},
        cards={name: card_of(name) for name in SPLITS},
        exits={name: exits_of(name, settings, seeds) for name in RULED},
    )
