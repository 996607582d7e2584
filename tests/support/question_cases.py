"""Made-up results for the questions beyond the papers, one function for each question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from support.claim_tables import curve, results, rows

from pondering.results.results import Results

SEEDS = range(100, 110)
LEVELS = (1.0, 2.0, 3.0, 4.0)
PRIORS = (0.1, 0.2, 0.4)
BETAS = (None, 0.001, 0.1)
RULES = ("certainty", "divergence", "patience")
HALTS = ("pondernet", "correctness", "dact")
BIASES = ("bias_leading", "bias_scattered", "bias_sort")


def variant(mechanism: str, **options: Any) -> str:
    """A mechanism's name in tables; an option that is None is left out."""
    named = ",".join(f"{k}={v}" for k, v in sorted(options.items()) if v is not None)
    return f"{mechanism}[{named}]" if named else mechanism


def flat(value: float) -> Callable[[float, int, float], float]:
    """One value for every network and difficulty."""
    return lambda setting, seed, level: value


def sloped(rises: float, mixed: bool = False) -> Callable[[float, int, float], float]:
    """Steps that rise with difficulty; if `mixed`, they fall for odd seeds."""
    return lambda setting, seed, level: 5 + level * (-rises if mixed and seed % 2 else rises)


def audit_of(
    experiment: str, mechanism: str, settings: Sequence[float], read: Mapping[str, Any],
    seeds: Sequence[int] = SEEDS,
) -> pd.DataFrame:  # fmt: skip
    """Rows of the readout audit; a value of `read` is a number or a function of the seed."""
    usual = dict.fromkeys(("own", "single", "depth", "refitted"), 0.0) | {
        "mean_halting": 0.0, "ponder_time": 5.0, "ponder_sd": 1.0, "max_steps": 10,
    }  # fmt: skip
    return pd.DataFrame([
        {"experiment": experiment, "mechanism": mechanism, "setting": setting, "seed": seed,
         "split": "test", "examples": 100, "fitted": 50, "status": "finished"}
        | {name: each(seed) if callable(each) else each for name, each in (usual | read).items()}
        for setting in settings for seed in seeds
    ])  # fmt: skip


def with_audits(found: Results, audits: Sequence[pd.DataFrame]) -> Results:
    """The results with these readout audits."""
    names = dict.fromkeys(str(each["experiment"].iloc[0]) for each in audits)
    together = {
        name: pd.concat([a for a in audits if a["experiment"].iloc[0] == name]) for name in names
    }
    return replace(found, readouts=together)


def q1(
    pondernet: float = -1, act: float = 1, without: float = -1, *,
    error: float = 0.01, mixed: bool = False, beta_zero: bool = True,
) -> Results:  # fmt: skip
    """Steps against difficulty for PonderNet, ACT, and PonderNet without a prior."""
    name, more = "comparison", {"levels": LEVELS, "seeds": SEEDS}
    tables = [
        rows(name, "act", (0.0002, 0.002, 0.02), flat(0.01), sloped(act, mixed), **more),
        rows(name, "pondernet", PRIORS, flat(error), sloped(pondernet, mixed), **more),
        rows(name, variant("pondernet", kl="prior_p"), PRIORS, flat(0.3), sloped(0), **more),
    ]
    if beta_zero:
        named = variant("pondernet", beta=0)
        tables.append(rows(name, named, (0.2,), flat(0.01), sloped(without), **more))
    return results(tables)


def q2(
    difference: float | Callable[[int], float] = 0.0, *,
    sd: float = 0.5, seeds: Sequence[int] = range(20), profile: str = "reduced",
) -> Results:  # fmt: skip
    """The errors that the mean halting distribution adds."""
    taus = (0.001, 0.1)  # Q2 leaves the second out
    found = results(
        [rows("parity", "act", taus, flat(0.01), levels=LEVELS, seeds=seeds)], profile=profile
    )
    cost = difference if callable(difference) else lambda seed: float(difference)
    # Q2 leaves seeds 0 to 9 out; they say the opposite.
    read = {"own": 0.01, "mean_halting": lambda seed: 0.01 + (cost(seed) if seed > 9 else 0.4)}
    return with_audits(found, [audit_of("parity", "act", taus, read | {"ponder_sd": sd}, seeds)])


def q3(solved: Mapping[float, int], *, back: int = 0, usual: int = 3) -> Results:
    """At each bias `solved` seeds learn; of the seeds that fall to one step `back` recover."""
    tables, curves = [], []
    for name in BIASES:
        for bias in (-3, -1, 0, None, 3):
            for warmup in (None, 1000):
                named = variant("act", halt_bias=bias, tau_warmup=warmup)
                count = solved.get(bias, usual) if bias is not None else usual

                def error(setting: float, seed: int, level: float, count: int = count) -> float:
                    return 0.01 if seed - SEEDS[0] < count else 0.4

                tables.append(rows(name, named, (0.001,), error, levels=LEVELS, seeds=SEEDS))
                for seed in SEEDS:
                    rises = seed - SEEDS[0] < back

                    def steps(setting: float, share: float, rises: bool = rises) -> float:
                        return 3.0 if share < 0.3 else 1.6 if rises and share > 0.7 else 1.0

                    curves.append(curve(name, named, (0.001,), error, steps, seeds=[seed]))
    return results(tables, curves)


def exits_of(
    experiment: str, accuracy: Callable[[str, str, int, float], float], thresholds: int
) -> pd.DataFrame:
    """Rows of exit rules: each rule of each mechanism at 1, 1.5, ... mean steps."""
    return pd.DataFrame([
        {"experiment": experiment, "mechanism": mechanism, "setting": 0.5, "seed": seed,
         "split": "test", "rule": rule, "threshold": float(t), "ponder_time": 1 + 0.5 * t,
         "trend": 0.0, "error": 1 - accuracy(rule, mechanism, seed, 1 + 0.5 * t),
         "examples": 100, "status": "finished"}
        for mechanism in HALTS for rule in RULES for seed in SEEDS for t in range(thresholds)
    ])  # fmt: skip


def q4(rule: float, mechanism: float, thresholds: int = 9) -> Results:
    """Accuracies that differ by `rule` between rules and by `mechanism` between mechanisms."""

    def accuracy(name: str, halts: str, seed: int, steps: float) -> float:
        luck = 0.002 * ((seed * 7 + RULES.index(name) * 3 + HALTS.index(halts) * 5) % 11 - 5)
        spread = rule * RULES.index(name) + mechanism * HALTS.index(halts)
        return 0.5 + 0.05 * steps + spread + luck

    names = ("comparison", "comparison_digits", "comparison_rotated")
    tables = [
        rows(name, each, (0.5,), flat(0.1), levels=LEVELS, seeds=SEEDS)
        for name in names for each in HALTS
    ]  # fmt: skip
    exits = {name: exits_of(name, accuracy, thresholds) for name in names}
    return replace(results(tables), exits=exits)


def q5(beyond: Mapping[str, float], farther: Mapping[str, float]) -> Results:
    """Accuracy beyond the trained range. The setting that is better inside is worse beyond."""
    tables = []
    for name, reached in (("comparison_beyond", beyond), ("comparison_farther", farther)):
        for mechanism, accuracy in reached.items():
            for split, errors in (
                ("interpolation", (0.01, 0.02)), ("extrapolation", (1 - accuracy, 0.0)),
            ):  # fmt: skip
                tables += [
                    rows(name, mechanism, (setting,), flat(error), levels=LEVELS, split=split,
                         seeds=SEEDS)
                    for setting, error in zip((0.1, 0.2), errors, strict=True)
                ]  # fmt: skip
    return results(tables)


def q6(difference: float, saved: float) -> Results:
    """The accuracy that halting costs and the steps that it saves."""
    names = ("comparison", "comparison_addition", "comparison_logic")
    wanted = (variant("correctness"), variant("correctness", halt_bias=-5))
    more = {"levels": LEVELS, "seeds": SEEDS}
    tables = [rows(name, each, (0.5,), flat(0.1), **more) for name in names for each in wanted]
    read = {
        "own": lambda seed: 0.02 - difference + 0.001 * (seed % 3), "depth": 0.02,
        "ponder_time": lambda seed: 20 * (1 - saved) + 0.01 * (seed % 3), "max_steps": 20,
    }  # fmt: skip
    audits = [audit_of(name, each, (0.5,), read) for name in names for each in wanted]
    return with_audits(results(tables), audits)


def q7(error: float, steps: float, rises: float = 1) -> Results:
    """Errors and steps that KL(prior || p) adds; its steps rise with difficulty times `rises`."""
    tables = []
    for name in ("comparison", "comparison_digits", "comparison_rotated"):
        for beta in BETAS if name == "comparison" else (None,):
            for kl in (None, "prior_p"):
                more, way = (0.0, 1.0) if kl is None else (1.0, rises)

                def wrong(s: float, k: int, d: float, more: float = more) -> float:
                    return 0.01 + more * error + 0.001 * (k % 3)

                def steps_of(
                    s: float, k: int, d: float, more: float = more, way: float = way
                ) -> float:
                    return 5 + way * 0.1 * (d - 2.5) + more * (steps + 0.01 * (k % 3))

                named = variant("pondernet", beta=beta, kl=kl)
                tables.append(
                    rows(name, named, PRIORS, wrong, steps_of, levels=LEVELS, seeds=SEEDS)
                )
    return results(tables)
