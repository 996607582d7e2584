"""A traced text as running text, each character tinted by its ponder time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MAXIMUM_CHARACTERS = 500
MAXIMUM_TEXTS = 3


@dataclass(frozen=True)
class Character:
    """One character: what is shown, how strongly it is tinted (0 to 10), and its numbers."""

    shown: str
    level: int
    label: str


@dataclass(frozen=True)
class TintedText:
    """A text with the range of its ponder times; `low` and `high` are the ends of the legend."""

    title: str
    low: str
    high: str
    constant: bool
    characters: tuple[Character, ...]


def tinted_texts(
    traces: Sequence[Mapping[str, Any]], setting_text: Any, mechanism_name: Mapping[str, str]
) -> list[TintedText]:
    """The texts among the traces, in the order of the mechanisms.

    Args:
        traces: traces of one experiment.
        setting_text: (mechanism, setting) -> text.
        mechanism_name: mechanism -> name on the page, in their order.

    Returns:
        Tinted texts, at most MAXIMUM_TEXTS in all and MAXIMUM_CHARACTERS long each.
    """
    order = list(mechanism_name)
    texts = [t for t in traces if t["kind"] == "text" and t["steps"] and t["mechanism"] in order]
    texts.sort(key=lambda trace: order.index(trace["mechanism"]))
    return [
        _tinted(
            f"{mechanism_name[trace['mechanism']]}, "
            f"{setting_text(trace['mechanism'], float(trace['setting']))}, seed {trace['seed']}",
            trace["steps"][:MAXIMUM_CHARACTERS],
        )
        for trace in texts[:MAXIMUM_TEXTS]
    ]


def _tinted(title: str, steps: Sequence[Mapping[str, Any]]) -> TintedText:
    ponder = [_number(step.get("ponder_time")) for step in steps]
    present = [value for value in ponder if not math.isnan(value)]
    low, high = (min(present), max(present)) if present else (0.0, 0.0)
    width = high - low
    characters = tuple(
        Character(_shown(str(step["input"])), _level(value, low, width), _label(step, value))
        for step, value in zip(steps, ponder, strict=True)
    )
    return TintedText(title, f"{low:.2f}", f"{high:.2f}", width < 1e-9, characters)


def _level(value: float, low: float, width: float) -> int:
    return 0 if math.isnan(value) or width < 1e-9 else round(10 * (value - low) / width)


def _label(step: Mapping[str, Any], ponder: float) -> str:
    """What hovering and focus say; R and entropy may have no meaning and are then left out."""
    parts = [f"{_spoken(str(step['input']))} → {_spoken(str(step['target']))}", f"N {ponder:.2f}"]
    for name, key, unit in (("R", "remainder", ""), ("loss", "loss", " nats"),
                            ("entropy", "entropy", " nats")):  # fmt: skip
        value = _number(step.get(key))
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
