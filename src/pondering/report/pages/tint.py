"""A traced text as running text, each character tinted by its ponder time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pondering.report.pages import names

MAXIMUM_CHARACTERS = 500
MAXIMUM_SEEDS = 3
BITS = 1 / math.log(2)
"""Bits in a nat, which traces count in."""

SMALLEST_RANGE = 0.005
"""Steps; below it the ends of a legend print alike, and no tint would mean anything."""


@dataclass(frozen=True)
class Character:
    """One character: what is shown, how strongly it is tinted (0 to 10), and its numbers."""

    shown: str
    level: int
    label: str


@dataclass(frozen=True)
class TintedText:
    """A text with the range of its ponder times; `low` and `high` are the ends of the legend.

    `constant` says how many steps every character took, where all took equally many; else empty.
    """

    title: str
    low: str
    high: str
    constant: str
    characters: tuple[Character, ...]


def tinted_texts(traces: Sequence[Mapping[str, Any]], caps: Mapping[str, int]) -> list[TintedText]:
    """The first text of each mechanism's first seeds: no passage and no seed is picked.

    Args:
        traces: traces of one experiment.
        caps: mechanism -> the most steps it may take, if known.

    Returns:
        Tinted texts numbered within their mechanism, at most MAXIMUM_SEEDS of each and
        MAXIMUM_CHARACTERS long.
    """
    texts = []
    for mechanism, name in names.TITLES.items():
        own = [t for t in traces if t["kind"] == "text" and t["mechanism"] == mechanism]
        firsts = {trace["seed"]: trace for trace in reversed(own) if trace["steps"]}
        seeds = sorted(firsts)[:MAXIMUM_SEEDS]
        for number, seed in enumerate(seeds, 1):
            setting = names.setting_sign(mechanism, float(firsts[seed]["setting"]))
            title = f"{name}, {setting}: reading {number} of {len(seeds)}, by seed {seed}"
            steps = firsts[seed]["steps"][:MAXIMUM_CHARACTERS]
            texts.append(_tinted(title, steps, caps.get(mechanism)))
    return texts


def _tinted(title: str, steps: Sequence[Mapping[str, Any]], cap: int | None) -> TintedText:
    ponder = [_number(step.get("ponder_time")) for step in steps]
    present = [value for value in ponder if not math.isnan(value)]
    low, high = (min(present), max(present)) if present else (0.0, 0.0)
    width = high - low
    characters = tuple(
        Character(_shown(str(step["input"])), _level(value, low, width), _label(step, value))
        for step, value in zip(steps, ponder, strict=True)
    )
    return TintedText(title, f"{low:.2f}", f"{high:.2f}", _constant(low, high, cap), characters)


def _constant(low: float, high: float, cap: int | None) -> str:
    """What to say in a legend's place where all characters took equally many steps."""
    if high - low >= SMALLEST_RANGE:
        return ""
    steps = f"{high:.3g}"
    unit = "step" if steps == "1" else "steps"
    return f"Every character took {steps} {unit}{' (the cap)' if steps == str(cap) else ''}."


def _level(value: float, low: float, width: float) -> int:
    return 0 if math.isnan(value) or width < SMALLEST_RANGE else round(10 * (value - low) / width)


def _label(step: Mapping[str, Any], ponder: float) -> str:
    """What hovering and focus say; R and entropy may have no meaning and are then left out."""
    parts = [f"{_spoken(str(step['input']))} → {_spoken(str(step['target']))}", f"N {ponder:.2f}"]
    for name, key, scale, unit in (("R", "remainder", 1.0, ""), ("loss", "loss", BITS, " bits"),
                                   ("entropy", "entropy", BITS, " bits")):  # fmt: skip
        value = scale * _number(step.get(key))
        if not math.isnan(value):
            parts.append(f"{name} {value:.2f}{unit}")
    return " · ".join(parts)


def _shown(character: str) -> str:
    """Line breaks are made visible; they break the line in the page's style as well."""
    return "↵\n" if character == "\n" else character


def _spoken(character: str) -> str:
    return {" ": "space", "\n": "line break", "": "nothing"}.get(character, f"“{character}”")


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")
