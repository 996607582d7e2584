"""For every claim: results that reproduce it, that contradict it, and that cannot decide it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from support.claim_cases_graves import (
    BITS,
    TAUS,
    Case,
    g2,
    g3,
    g5,
    g6,
    g7,
    g8,
    g9,
    g10,
    luck,
    plain_rows,
    with_and_without,
)  # fmt: skip
from support.claim_tables import curve, results, rows

from pondering.results.results import Results

PRIORS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
PENALTIES = (1e-4, 3e-4, *TAUS)


def _pair(
    experiment: str, split: str, ponder: tuple[Any, Any], act: tuple[Any, Any],
    levels: Sequence[float] = BITS, mechanism: str = "pondernet", settings: int = 2,
) -> list[pd.DataFrame]:  # fmt: skip
    """PonderNet and ACT with (error, steps) rules, at so many settings each."""
    return [
        rows(experiment, mechanism, PRIORS[:settings], *ponder, levels=levels, split=split),
        rows(experiment, "act", PENALTIES[:settings], *act, levels=levels, split=split),
    ]


def _flat(value: float) -> Any:
    return lambda s, k, d: value + luck(k)


def b1() -> Case:
    """PonderNet against ACT."""

    def of(ponder: tuple[float, float], act: tuple[float, float]) -> Results:
        rules = [tuple(_flat(value) for value in pair) for pair in (ponder, act)]
        return results(_pair("parity_interpolation", "test", *rules))

    return of((0.02, 2.7), (0.05, 3.1)), of((0.08, 2.7), (0.05, 3.1)), of((0.45, 2), (0.46, 2))


def b2() -> Case:
    """Extrapolation."""
    name = "parity_extrapolation"

    def of(inside: float, ponder: tuple[float, float], act: float) -> Results:
        trained = _pair(name, "interpolation", (_flat(inside), _flat(2.5)),
                        (_flat(0.05), _flat(2.0)), BITS[:3])  # fmt: skip
        beyond = _pair(name, "extrapolation", (_flat(ponder[0]), _flat(ponder[1])),
                       (_flat(act), _flat(2.0)), BITS[3:])  # fmt: skip
        return results([*trained, *beyond])

    return of(0.01, (0.05, 5.0), 0.48), of(0.01, (0.49, 1.5), 0.48), of(0.4, (0.49, 1.5), 0.48)


def b3() -> Case:
    """Computation in training, where N is not constant."""
    name, variant = "parity_interpolation", "pondernet[epsilon=0.05]"

    def of(steps: tuple[float, float], error: float) -> Results:
        rules = [(_flat(error), _flat(value)) for value in steps]
        curves = [
            curve(name, mechanism, settings, lambda s, k, share: 0.5 - (0.5 - error) * share,
                  lambda s, share, value=value: value)
            for mechanism, settings, value in ((variant, PRIORS[:2], steps[0]),
                                               ("act", PENALTIES[:2], steps[1]))
        ]  # fmt: skip
        return results(_pair(name, "test", *rules, mechanism=variant), curves)

    return of((2.0, 4.0), 0.02), of((4.0, 2.0), 0.02), of((2.0, 4.0), 0.45)


def b4() -> Case:
    """Robustness over settings."""

    def of(ponder: Any, act: Any) -> Results:
        rules = (ponder, _flat(2)), (act, _flat(2))
        return results(_pair("parity_interpolation", "test", *rules, settings=6))

    def few(tau: float, seed: int, level: float) -> float:
        return 0.05 + 40 * luck(seed) if tau in (PENALTIES[0], PRIORS[0]) else 0.5

    return of(_flat(0.02), few), of(few, _flat(0.02)), of(_flat(0.45), _flat(0.45))


def b5() -> Case:
    """Steps under a long prior."""

    def of(steps: float, error: float) -> Results:
        table = rows("parity_interpolation", "pondernet", PRIORS, _flat(error), _flat(steps))
        training = curve("parity_interpolation", "pondernet", PRIORS, lambda s, k, share: error,
                         lambda s, share: steps)  # fmt: skip
        return results([table], [training])

    return of(3.2, 0.02), of(9.5, 0.02), of(3.2, 0.45)


def m1() -> Case:
    """MNIST's accuracy; the stand-in cannot decide it."""

    def of(error: float, **more: Any) -> Results:
        classes = range(10)
        ponder = rows("mnist", "pondernet", [0.2], _flat(error), levels=classes)
        return results([plain_rows("mnist", 0.009, classes), ponder], **more)

    return of(0.009), of(0.05), of(0.009, stand_in=True)


def m2() -> Case:
    """Rotated digits."""
    angles = (22.5, 45, 67.5, 90)

    def of(slope: float, ranges: Sequence[float]) -> Results:
        def steps(setting: float, seed: int, angle: float) -> float:
            return 4 + slope * angle + 0.01 * seed

        def error(setting: float, seed: int, angle: float) -> float:
            return 0.01 + 0.35 * angle / 90

        return results([
            rows("mnist_rotated", "pondernet", [0.2], error, steps, levels=levels, split=split)
            for split, levels in (("range", ranges), ("angle", range(0, 91, 5)))
        ])  # fmt: skip

    return of(-0.01, angles), of(0.01, angles), of(-0.01, angles[:2])


def f1() -> Case:
    """Fixed repeats against ACT."""

    def of(repeat: float, act: float) -> Results:
        tables, curves = [], []
        for name in ("parity_fojo", "addition"):
            tables += [
                rows(name, "repeat", [1, 2, 3], lambda s, k, d: repeat if s > 1 else 0.5),
                rows(name, "act", TAUS, _flat(act)),
            ]
            curves += [
                curve(name, "repeat", [1, 2, 3], lambda s, k, share: max(0.01, 0.5 - share)),
                curve(name, "act", TAUS, lambda s, k, share: max(0.01, 0.5 - 0.6 * share)),
            ]
        return results(tables, curves)

    return of(0.01, 0.01), of(0.3, 0.01), of(0.4, 0.4)


CASES: dict[str, Case] = {
    "G1": with_and_without("parity", 0.38, BITS), "G2": g2(), "G3": g3(),
    "G4": with_and_without("logic", 0.2, range(1, 11)), "G5": g5(), "G6": g6(), "G7": g7(),
    "G8": g8(), "G9": g9(), "G10": g10(), "B1": b1(), "B2": b2(), "B3": b3(), "B4": b4(),
    "B5": b5(), "M1": m1(), "M2": m2(), "F1": f1(),
}  # fmt: skip
"""Claim -> results that reproduce it, that contradict it, that cannot decide it."""
