"""The claims of Graves 2016: results that reproduce each, contradict it, and cannot decide it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from support.claim_tables import SEEDS, curve, results, rows, step, trace

from pondering.results.results import Results

TAUS = (1e-3, 3e-3, 1e-2, 3e-2)
BITS = (1, 16, 32, 48, 64)
NAMES = {" ": "space", ",": "comma", ".": "stop", "<": "bracket"}
Case = tuple[Results, Results, Results]


def luck(seed: int) -> float:
    return 0.001 * (seed % 3)


def plain_rows(experiment: str, error: float, levels: Sequence[float], **more: Any) -> pd.DataFrame:
    return rows(experiment, "repeat", [1], lambda s, k, d: error + luck(k), levels=levels, **more)


def _learning(experiment: str, mechanism: str, settings: Sequence[float], final: Any) -> Any:
    """Training error falling in a straight line to `final(setting)`, faster where it is lower."""
    return curve(
        experiment, mechanism, settings,
        lambda s, k, share: 0.5 + (final(s) - 0.5) * min(1.0, share / 0.5) + luck(k),
    )  # fmt: skip


def with_and_without(experiment: str, plain: float, levels: Sequence[float]) -> Case:
    """G1 and G4."""

    def of(without: float, with_act: float, levels: Sequence[float]) -> Results:
        act = rows(experiment, "act", TAUS, lambda s, k, d: with_act + luck(k), levels=levels)
        training = _learning(experiment, "act", TAUS, lambda s: with_act)
        return results([plain_rows(experiment, without, levels), act], [training])

    return of(plain, 0.01, levels), of(plain, plain + 0.05, levels), of(0.01, 0.01, levels[:2])


def g2() -> Case:
    """Error and learning by tau; contradicted when high penalties are better."""

    def of(sign: int, taus: Sequence[float]) -> Results:
        def final(tau: float) -> float:
            return 0.02 + 0.05 * (taus.index(tau) if sign > 0 else len(taus) - 1 - taus.index(tau))

        def steps(tau: float, seed: int) -> float:
            return 2 - sign * taus.index(tau) * 0.2 + seed * (0.2 if taus.index(tau) == 0 else 0.01)

        act = rows("parity", "act", taus, lambda s, k, d: final(s), lambda s, k, d: steps(s, k))
        training = _learning("parity", "act", taus, final)
        return results([plain_rows("parity", 0.4, BITS), act], [training])

    return of(1, TAUS), of(-1, TAUS), of(1, TAUS[:2])


def g3() -> Case:
    """Steps by bits, in both layouts."""

    def of(slope: float, error: float) -> Results:
        act = [
            rows(experiment, "act", TAUS, lambda s, k, d: error,
                 lambda s, k, d: 1 + slope * d * (1 + 100 * luck(k)) / (1 + 100 * s), levels=BITS)
            for experiment in ("parity", "parity_interpolation")
        ]  # fmt: skip
        plain = [
            rows(experiment, "repeat", [1], lambda s, k, d: 0.1 + 0.006 * d, levels=BITS)
            for experiment in ("parity", "parity_interpolation")
        ]
        return results([*plain, *act])

    return of(0.05, 0.02), of(-0.05, 0.02), of(0.05, 0.4)


def g5() -> Case:
    """Steps and errors by gates."""

    def of(rise: float, jump: float, last: int) -> Results:
        gates = range(1, last + 1)
        act = rows(
            "logic", "act", [1e-3, 1e-2], lambda s, k, d: 0.01,
            lambda s, k, d: 2.5 + 0.01 * k + (rise * (d - 5) if d > 5 else 0) + (d == 1),
            levels=gates,
        )  # fmt: skip
        plain = rows("logic", "repeat", [1], lambda s, k, d: 0.05 + jump * (d > 5), levels=gates)
        return results([plain, act])

    return of(0.2, 0.3, 10), of(-0.2, 0.3, 10), of(0.2, 0.3, 4)


def g6() -> Case:
    """Addition at every tau."""

    def of(errors: Sequence[float], taus: Sequence[float]) -> Results:
        chosen = dict(zip(taus, errors, strict=False))
        act = rows("addition", "act", taus, lambda s, k, d: chosen[s], levels=(1, 3, 5))
        training = curve(
            "addition", "act", taus,
            lambda s, k, share: max(0.01, 0.9 - share * (1 + taus.index(s))),
        )  # fmt: skip
        return results([act], [training])

    return of([0.01] * 4, TAUS), of([0.5, 0.5, 0.4, 0.01], TAUS), of([0.01] * 2, TAUS[:2])


def g7() -> Case:
    """Addition by digits, and within sequences."""
    sequence = [
        step("27", "", 1.0), step("41403", "41430", 5.0), step("9", "41439", 5.1),
        step("12", "41451", 5.2), step("3", "41454", 5.0),
    ]  # fmt: skip
    growing = [step("2", "", 1.0), step("3", "5", 1.1), step("31", "36", 2.1), step("1", "37", 2.0)]

    def of(bend: bool, digits: Sequence[float]) -> Results:
        act = rows(
            "addition", "act", TAUS, lambda s, k, d: 0.01,
            lambda s, k, d: 3 + (-1) ** int(d) if bend else d + 0.02 * k, levels=digits,
        )  # fmt: skip
        traces = [
            trace("mixed", steps, seed=seed, setting=TAUS[0])
            for seed in SEEDS
            for steps in (sequence, growing)
        ]
        return results([act], traces={"addition": traces})

    return of(False, (1, 2, 3, 4, 5)), of(True, (1, 2, 3, 4, 5)), of(False, (1, 2))


def g8() -> Case:
    """Sorting."""

    def sequence(size: int, peak: float) -> list[dict[str, Any]]:
        inputs = [step(f"0.{i}", "", 2.0) for i in range(size - 1)]
        return [*inputs, step("0.9", "", peak), *(step("", str(i), 2.0) for i in range(size))]

    def of(best: float, lengths: Sequence[float]) -> Results:
        act = rows(
            "sort", "act", TAUS, lambda s, k, d: best * d / 8.5 + luck(k),
            lambda s, k, d: 3 * d**0.5, levels=lengths,
        )  # fmt: skip
        peaks = [
            trace("mixed", sequence(size, 4.0 + luck(k)), seed=k, setting=TAUS[0])
            for k in SEEDS
            for size in (3, 5)
        ]
        return results([plain_rows("sort", 0.12, lengths), act], traces={"sort": peaks})

    return of(0.06, range(2, 16)), of(0.2, range(2, 16)), of(0.06, (2, 3))


def g9() -> Case:
    """Wikipedia's bits."""

    def of(plain: float, act: float) -> Results:
        tables = [
            plain_rows("wikipedia", plain, (0,), split="train"),
            rows("wikipedia", "act", TAUS, lambda s, k, d: act + luck(k),
                 lambda s, k, d: 1.5, split="train"),
        ]  # fmt: skip
        curves = [
            curve("wikipedia", "repeat", [1], lambda s, k, share: 8 - (8 - plain) * share),
            curve("wikipedia", "act", TAUS, lambda s, k, share: 8 - (8 - act) * share**0.9),
        ]
        return results(tables, curves)

    return of(1.50, 1.49), of(1.5, 2.2), of(4.5, 4.5)


def g10() -> Case:
    """Wikipedia's text: steps by kind of character."""
    text = "the wolf, it is said, came home. then it slept. <id>8841973</id> the end, so it goes. "

    def of(extra: dict[str, float], surprise: float) -> Results:
        steps = []
        for place, character in enumerate(text * 4):
            kind = "id" if character.isdigit() else NAMES.get(character, "letter")
            ponder = 2 + extra.get(kind, 0.0) + 0.01 * (place % 3)
            loss = surprise if kind == "id" else 1.0
            steps.append(step(character, text[(place + 1) % len(text)], ponder, loss, kind=kind))
        table = rows("wikipedia", "act", [6e-3], lambda s, k, d: 2.0, split="train")
        windows = [steps[start : start + len(text)] for start in range(0, len(steps), len(text))]
        traces = [trace("text", window, seed=k) for k in SEEDS for window in windows]
        return results([table], traces={"wikipedia": traces})

    peaks = {"space": 1.0, "comma": 2.0, "stop": 2.0, "bracket": 2.0}
    return of(peaks, 2.3), of({"id": 2.0}, 2.3), of(peaks, 4.0)
