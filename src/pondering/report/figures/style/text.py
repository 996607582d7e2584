"""Numbers, settings and turns of phrase as figures and their words print them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pondering.params.mechanisms import is_plain
from pondering.params.replica import read_variant
from pondering.report.figures.style.look import MECHANISM_NAME, SYMBOL
from pondering.results.statistics import Interval

TIMES = "\N{MULTIPLICATION SIGN}"
PLAIN = "plain"


def number(value: float) -> str:
    """A setting as the papers write it: 0.03, 1e-3, 0, 5."""
    if value == 0 or abs(value) >= 0.01:
        return f"{value:.3g}"
    digits, exponent = f"{value:.2e}".split("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"


def setting_symbol(mechanism: str, setting: float) -> str:
    """A setting with its symbol: τ = 1e-3, λp = 0.2, ρ = 3."""  # noqa: RUF002
    return f"{SYMBOL[read_variant(mechanism)[0]]} = {number(setting)}"


def setting_name(mechanism: str, setting: float) -> str:
    """A setting for a legend that names no mechanism: τ = 1e-3, Repeat 3, Plain network."""
    if mechanism != "repeat":
        return setting_symbol(mechanism, setting)
    return MECHANISM_NAME["plain"] if is_plain(mechanism, setting) else f"Repeat {number(setting)}"


def setting_in_short(mechanism: str, setting: float) -> str:
    """A setting beside a point: τ 1e-3, times 3, plain."""
    if mechanism != "repeat":
        return f"{SYMBOL[mechanism]} {number(setting)}"
    return PLAIN if is_plain(mechanism, setting) else f"{TIMES}{number(setting)}"


def count(value: float) -> str:
    """A large count in short: 500, 20k, 1.5M, 3bn."""
    for size, unit in ((1e9, "bn"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def plus_minus(mean: float, error: float) -> str:
    """A mean with its standard error, where there is one."""
    return f"{mean:.3g} ± {error:.1g}" if np.isfinite(error) else f"{mean:.3g}"


def with_interval(found: Interval) -> str:
    """An estimate with its 95% interval, where it has one that is wider than the print."""
    low, high = f"{found.low:.3g}", f"{found.high:.3g}"
    told = np.isfinite([found.low, found.high]).all() and low != high
    return f"{found.estimate:.3g}" + (f" (95% interval {low} to {high})" if told else "")


def in_steps(value: float) -> str:
    """A number of steps."""
    if not np.isfinite(value):
        return "no steps known"
    return f"{value:.3g} step{'' if f'{value:.3g}' == '1' else 's'}"


def seed_count(seeds: pd.Series) -> str:
    """The number of seeds, or its range."""
    low, high = int(seeds.min()), int(seeds.max())
    return f"{low} seed{'s' if high > 1 else ''}" if low == high else f"{low} to {high} seeds"
