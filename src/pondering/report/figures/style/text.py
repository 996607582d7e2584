"""Numbers, settings and turns of phrase as figures and their words print them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from pondering.params.mechanisms import is_plain
from pondering.params.replica import read_variant
from pondering.report.figures.style.look import MECHANISM_NAME, SYMBOL
from pondering.results.results import Card
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


def share(value: float) -> str:
    """A share in percent: 4.83%."""
    return f"{100 * value:.3g}%"


def error_text(error: float, card: Card) -> str:
    """An error in percent where it is a share, else as it is."""
    return share(error) if card.is_share else f"{error:.3g}"


def plus_minus(mean: float, spread: float, card: Card) -> str:
    """A mean error with its standard error, where there is one: 5.83 ± 0.2%."""
    told = error_text(mean, card)
    if not np.isfinite(spread):
        return told
    return (
        f"{told.removesuffix('%')} ± {100 * spread:.2g}%"
        if card.is_share
        else f"{told} ± {spread:.2g}"
    )


def with_interval(found: Interval, of_shares: bool = False) -> str:
    """An estimate with its 95% interval, where it has one that is wider than the print."""
    scale, sign = (100, "%") if of_shares else (1, "")
    value, low, high = (f"{scale * each:.3g}" for each in (found.estimate, found.low, found.high))
    told = np.isfinite([found.low, found.high]).all() and low != high
    return f"{value}{sign}" + (f" (95% interval {low} to {high}{sign})" if told else "")


def in_steps(value: float) -> str:
    """A number of steps."""
    if not np.isfinite(value):
        return "no steps known"
    return f"{value:.3g} step{'' if f'{value:.3g}' == '1' else 's'}"


def seed_count(seeds: pd.Series) -> str:
    """The number of seeds, or its range."""
    low, high = int(seeds.min()), int(seeds.max())
    return f"{low} seed{'s' if high > 1 else ''}" if low == high else f"{low} to {high} seeds"
