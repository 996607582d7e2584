"""Made-up results for each claim of the papers: reproducing, contradicting, undecidable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from support.claim_tables import SEEDS, curve, results, rows, step, trace

from pondering.results.results import Results

TAUS = (1e-3, 3e-3, 1e-2, 3e-2)
BITS = (1, 16, 32, 48, 64)
PRIORS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.9)
PENALTIES = (1e-4, 3e-4, *TAUS)
NAMES = {" ": "space", ",": "comma", ".": "stop", "<": "bracket"}
Case = tuple[Results, Results, Results]


def luck(seed: int) -> float:
    return 0.001 * (seed % 3)


def plain_rows(experiment: str, error: float, levels: Sequence[float], **more: Any) -> pd.DataFrame:
    """The plain network, and a bad fixed repeat that no claim reads."""
    return rows(experiment, "repeat", [1, 2], lambda s, k, d: luck(k) + (error if s == 1 else 0.9),
                levels=levels, **more)  # fmt: skip


def _learning(experiment: str, mechanism: str, settings: Sequence[float], final: Any) -> Any:
    """Training error falling in a straight line to `final(setting)`, faster where it is lower."""
    return curve(
        experiment, mechanism, settings,
        lambda s, k, share: 0.5 + (final(s) - 0.5) * min(1.0, share / 0.5) + luck(k),
    )  # fmt: skip


def with_and_without(experiment: str, plain: float, levels: Sequence[float]) -> Case:
    """G1 and G4. ACT without a penalty fails."""

    def of(without: float, with_act: float, levels: Sequence[float]) -> Results:
        taus = (0.0, *TAUS)
        act = rows(experiment, "act", taus, lambda s, k, d: luck(k) + (with_act if s else 0.9),
                   levels=levels)  # fmt: skip
        training = _learning(experiment, "act", taus, lambda s: with_act if s else 0.9)
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
            rows(experiment, "act", (5e-4, *TAUS), lambda s, k, d: error,
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
            "logic", "act", [0.0, 1e-3, 1e-2], lambda s, k, d: 0.01 if s else 0.5,
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

    taus = (*TAUS, 0.1)
    slopes = dict(zip(taus, (0.4, 0.6, 0.8, 1.0, 9.0), strict=True))

    def error(tau: float, seed: int, level: float) -> float:
        """The largest penalty fails on a third of the seeds; the next errs by the bound."""
        return {0.1: 0.01 if seed % 3 else 0.99, TAUS[-1]: 0.25}.get(tau, 0.01)

    def of(bend: bool, digits: Sequence[float]) -> Results:
        act = rows(
            "addition", "act", taus, error,
            lambda s, k, d: 3 + (-1) ** int(d) if bend else slopes[s] * d + 0.02 * k, levels=digits,
        )  # fmt: skip
        traces = [  # the last seed was not traced
            trace("mixed", steps, seed=seed, setting=TAUS[0])
            for seed in SEEDS[:-1]
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
            "sort", "act", TAUS, lambda s, k, d: (best + 0.02 * (s != TAUS[1])) * d / 8.5 + luck(k),
            lambda s, k, d: 3 * d**0.5 + (s != TAUS[1]), levels=lengths,
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
            curve("wikipedia", "repeat", [1, 2],
                  lambda s, k, share: 8 - (8 - plain) * share if s == 1 else 8.0),
            curve("wikipedia", "act", TAUS,  # twice as long, all wrong in the second half
                  lambda s, k, share: 8 - (8 - act) * (2 * share) ** 0.9 if share <= 0.5 else 8.0,
                  updates=20_000, points=40),
        ]  # fmt: skip
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


def _pair(
    experiment: str, split: str, ponder: tuple[Any, Any], act: tuple[Any, Any],
    levels: Sequence[float] = BITS, mechanism: str = "pondernet", settings: int = 2,
) -> list[pd.DataFrame]:  # fmt: skip
    """PonderNet and ACT with (error, steps) rules, at `settings` settings each."""
    return [
        rows(experiment, mechanism, PRIORS[:settings], *ponder, levels=levels, split=split),
        rows(experiment, "act", PENALTIES[:settings], *act, levels=levels, split=split),
    ]


def _flat(value: float) -> Any:
    return lambda s, k, d: value + luck(k)


def b1(name: str = "parity_interpolation") -> Case:
    """PonderNet against ACT."""

    def of(ponder: tuple[float, float], act: tuple[float, float]) -> Results:
        rules = [tuple(_flat(value) for value in pair) for pair in (ponder, act)]
        return results(_pair(name, "test", *rules))

    return of((0.02, 2.7), (0.05, 3.1)), of((0.08, 2.7), (0.05, 3.1)), of((0.45, 2), (0.46, 2))


def b2() -> Case:
    """Extrapolation."""
    name = "parity_extrapolation"

    def of(inside: float, ponder: tuple[float, float], act: float) -> Results:
        trained = _pair(name, "interpolation", (_flat(inside), _flat(2.5)),
                        (_flat(0.05), _flat(2.0)), (1, 24, 48))  # fmt: skip
        beyond = _pair(name, "extrapolation", (_flat(ponder[0]), _flat(ponder[1])),
                       (_flat(act), _flat(2.0)), (49, 72, 96))  # fmt: skip
        return results([*trained, *beyond])

    return of(0.01, (0.05, 5.0), 0.48), of(0.01, (0.49, 1.5), 0.48), of(0.4, (0.49, 1.5), 0.48)


def b3() -> Case:
    """Computation in training, where N is not constant. ACT trains twice as long."""
    name, variant = "parity_interpolation", "pondernet[epsilon=0.05]"

    def of(steps: tuple[float, float], error: float) -> Results:
        rules = [(_flat(error), _flat(value)) for value in steps]

        def fall(share: float) -> float:
            return 0.5 - (0.5 - error) * min(1.0, share)

        curves = [
            curve(name, variant, PRIORS[:2], lambda s, k, share: fall(share),
                  lambda s, share: steps[0]),
            curve(name, "act", PENALTIES[:2], lambda s, k, share: fall(2 * share),
                  lambda s, share: steps[1] if share <= 0.5 else 9.0, updates=20_000, points=40),
        ]  # fmt: skip
        return results(_pair(name, "test", *rules, mechanism=variant), curves)

    return of((2.0, 4.0), 0.02), of((4.0, 2.0), 0.02), of((2.0, 4.0), 0.45)


def b4(name: str = "parity_interpolation") -> Case:
    """Robustness over settings."""

    def of(ponder: Any, act: Any) -> Results:
        """At the largest prior, which the claim leaves out, PonderNet fails."""
        below = lambda s, k, d: ponder(s, k, d) if s < 0.9 else 0.5  # noqa: E731
        rules = (below, _flat(2)), (act, _flat(2))
        return results(_pair(name, "test", *rules, settings=7))

    def few(tau: float, seed: int, level: float) -> float:
        return 0.05 + 40 * luck(seed) if tau in (PENALTIES[0], PRIORS[0]) else 0.5

    return of(_flat(0.02), few), of(few, _flat(0.02)), of(_flat(0.45), _flat(0.45))


def b5(name: str = "parity_interpolation") -> Case:
    """Steps under a long prior."""

    def of(steps: float, error: float) -> Results:
        table = rows(name, "pondernet", PRIORS, _flat(error), _flat(steps), levels=BITS)
        training = curve(name, "pondernet", PRIORS, lambda s, k, share: error,
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
    """Fixed repeats against ACT. One step is best, but a single step is no repeat."""

    def of(repeat: float, act: float) -> Results:
        tables, curves = [], []
        for name, levels in {"parity_fojo": BITS, "addition": (1, 5)}.items():
            tables += [
                rows(name, "repeat", [1, 2, 3], lambda s, k, d: repeat if s > 1 else 0.0,
                     levels=levels),
                rows(name, "act", TAUS, _flat(act), levels=levels),
            ]  # fmt: skip
            curves += [
                curve(name, "repeat", [1, 2, 3],
                      lambda s, k, share: max(0.01, 0.5 - share) if s > 1 else 0.0),
                curve(name, "act", TAUS, lambda s, k, share: max(0.01, 0.5 - 0.6 * share)),
            ]  # fmt: skip
        return results(tables, curves)

    return of(0.01, 0.01), of(0.3, 0.01), of(0.4, 0.4)


CASES: dict[str, Case] = {
    "G1": with_and_without("parity", 0.38, BITS), "G2": g2(), "G3": g3(),
    "G4": with_and_without("logic", 0.2, range(1, 11)), "G5": g5(), "G6": g6(), "G7": g7(),
    "G8": g8(), "G9": g9(), "G10": g10(), "B1": b1(), "B2": b2(), "B3": b3(), "B4": b4(),
    "B5": b5(), "M1": m1(), "M2": m2(), "F1": f1(),
}  # fmt: skip
"""Claim -> results that reproduce it, that contradict it, that cannot decide it."""

LUCK = 0.00095
"""The mean of `luck` over twenty seeds; its median is 0.001."""
NUMBERS: dict[str, dict[str, float]] = {
    "G1": {"plain_error": 0.381, "act_error": 0.011, "solved_settings": 1, "gap": 1,
           "solve_updates": 5000, "solved_below_largest": 1, "plain_solved": 0,
           "plain_mean_error": 0.38 + LUCK, "act_mean_error": 0.01 + LUCK},
    "G2": {"plain_error": 0.4 + LUCK, "act_error": 0.02, "ponder_trend": -1, "error_trend": 1,
           "speed_trend": 1, "spread_ratio": 0.2 / 0.01},
    "G3": {"solved_networks": 100, "rise": 2.332178, "linearity": 1, "rise_all": 2.332178,
           "steepness_trend": -0.93905, "plain_error_rise": 0.006 * (64 - 1)},
    "G5": {"act_error": 0.01, "rise": 1, "gradual": 1, "easiest_excess": 1, "plain_jump": 0.3},
    "G6": {"solved_settings": 1, "worst_error": 0.01, "speed_trend": -1},
    "G7": {"act_error": 0.01, "linearity": 1, "highest_slope": 1, "tracking": 0.664671 * 19 / 20},
    "G8": {"plain_error": 0.12 + LUCK, "best_error": 0.06 + LUCK, "gain": 0.06,
           "relative_gain": 0.06 / (0.12 + LUCK), "error_trend": 1, "growth": 0.5,
           "computation": 3 * sum(d**0.5 for d in range(2, 16)) / 14, "end_spike": 1 + LUCK / 2},
    "G9": {"plain_bits": 1.5 + LUCK, "difference": -0.01, "range_over_tau": 0, "ponder": 1.5,
           "learning_difference": -0.181536},
    "G10": {"digit_loss": 2.3, "id_rise": 0, "id_loss": 1.3, "id_entropy": 1.3},
    "B1": {"pondernet_accuracy": 0.98 - LUCK, "act_accuracy": 0.95 - LUCK,
           "best_accuracy": 0.98 - LUCK, "accuracy_gain": 0.03, "steps_difference": 2.7 - 3.1},
    "B2": {"inside_accuracy": 0.99 - LUCK, "pondernet_accuracy": 0.95 - LUCK,
           "act_accuracy": 0.52 - LUCK, "accuracy_gain": 0.43, "steps_beyond": 5 + LUCK,
           "steps_ratio": (5 + LUCK) / (2.5 + LUCK)},
    "B3": {"best_accuracy": 0.98 - LUCK, "compute_ratio": 0.5, "compute_ratio_highest": 0.5,
           "compute_to_learn": 0.5, "sampled_steps": 2 + LUCK, "accuracy_gain": 0},
    "B4": {"best_accuracy": 0.98 - LUCK, "pondernet_solved": 1, "act_solved": 1 / 6,
           "solved_gap": 5 / 6, "scatter_gap": 0.0321975},
    "B5": {"accuracy": 0.98 - LUCK, "steps": 3.201, "steps_of_shortest": 3.201, "drift": 0},
    "M1": {"pondernet_accuracy": 0.991 - LUCK, "plain_accuracy": 0.991 - LUCK, "against_plain": 0},
    "M2": {"trained_accuracy": 0.99 - 0.35 / 4, "accuracy_fall": 0.35 * 3 / 4,
           "steps_change": -0.675, "angle_trend": -1},
    "F1": {"best": 0.99, "gap": -LUCK, "speed": 5000 / 8500},
}  # fmt: skip
"""Numbers of the reproducing results, for claims that measure means and trends."""
