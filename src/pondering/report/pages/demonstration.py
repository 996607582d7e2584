"""A moving picture of networks that think: step by step until each of them stops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from markupsafe import escape

from pondering.report.figures import style
from pondering.report.pages import names

EXPERIMENT = "parity_interpolation"
MECHANISMS = ("act", "pondernet")

SQUARE, BAR, TALL, ROW, TOP = 17, 15, 44, 84, 58
"""Pixels: a square's and a step's width, the highest bar, a row of inputs, the heading."""

SHOWN = 0.99
"""Of the weight of an input's steps; the steps after it are left out, so that words stay large."""

STYLE = """
text { font: 13px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #222222; }
.soft { fill: #555555; font-size: 11px; } .head { font-weight: 600; }
.zero { fill: #e2e2e2; } .plus { fill: #0072b2; } .minus { fill: #e69f00; }
.act { fill: #d55e00; } .pondernet { fill: #0072b2; } .page { fill: #fdfdfd; }
.sign { font-size: 11px; font-weight: 600; text-anchor: middle; }
.plus + .sign { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
  text { fill: #e8e6e1; } .soft { fill: #a9adb4; } .page { fill: #1b1e23; } .zero { fill: #353a42; }
  .sign, .plus + .sign { fill: #222222; } .plus, .pondernet { fill: #3f9fe0; }
}
"""


def demonstration(traces: Sequence[Mapping[str, Any]]) -> str | None:
    """The first inputs that ACT and PonderNet were both traced on, as an animated SVG.

    Args:
        traces: traces of `EXPERIMENT`.

    Returns:
        An SVG document, equal for equal traces, that stands still where a reader wants no motion;
        None where a mechanism has no trace.
    """
    found = [
        {each["steps"][0]["input"]: each for each in traces if each["mechanism"] == mechanism}
        for mechanism in MECHANISMS
    ]
    inputs = [each for each in found[0] if each in found[1]]
    if not inputs:
        return None
    thoughts = [[own[each]["steps"][0] for each in inputs] for own in found]
    longest = [max(len(_weights(each)) for each in own) for own in thoughts]
    start = max(len(inputs[0]) * (SQUARE + 2), 220) + 40
    left = list(accumulate((max(n * (BAR + 2), 170) + 20 for n in longest), initial=start))
    wide, tall = left[-1], TOP + ROW * len(inputs) + 6
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" width="{wide}" '
        f'height="{tall}" role="img"><title>Networks that decide how long to think</title>',
        f"<style>{STYLE}{_motion(max(longest))}</style>",
        f'<rect class="page" width="{wide}" height="{tall}" rx="8"/>',
        _text(12, 22, "Is the number of + odd or even?", "head"),
        _text(12, 40, f"{len(inputs)} inputs, the harder below", "soft"),
    ]
    for k, own in enumerate(found):
        setting = style.setting_symbol(MECHANISMS[k], own[inputs[0]]["setting"])
        parts.append(_text(left[k], 22, f"{names.TITLES[MECHANISMS[k]]}, {setting}", "head"))
        parts.append(_text(left[k], 40, "bars: the weight of each step", "soft"))
    for row, signs in enumerate(inputs):
        top = TOP + ROW * row
        parts += [_square(12 + n * (SQUARE + 2), top + 20, sign) for n, sign in enumerate(signs)]
        for k, steps in enumerate(thoughts):
            parts.append(_thoughts(left[k], top, MECHANISMS[k], steps[row]))
    return "\n".join([*parts, "</svg>\n"])


def _motion(most: int) -> str:
    """One step after the other, then the answers stay a while; they are what one sees first."""
    part = 70 / (most + 1)
    frames = [
        f"@keyframes n{n} {{ 0%, {n * part:.1f}% {{ opacity: 0 }} "
        f"{n * part + 1:.1f}%, 97% {{ opacity: 1 }} 100% {{ opacity: 0 }} }} "
        f".n{n} {{ animation: n{n} {most + 5}s -{0.75 * (most + 5):.1f}s infinite; }}"
        for n in range(1, most + 2)
    ]
    return "@media (prefers-reduced-motion: no-preference) {\n" + "\n".join(frames) + "\n}\n"


def _thoughts(left: int, top: int, mechanism: str, step: Mapping[str, Any]) -> str:
    """The bars of one input, and under them what was said and after how many steps."""
    parts, weights = [], _weights(step)
    for n, p in enumerate(weights, 1):
        high, x = max(1.0, TALL * p), left + (n - 1) * (BAR + 2)
        parts.append(
            f'<rect class="{mechanism} n{n}" x="{x}" y="{top + TALL - high:.1f}" width="{BAR}" '
            f'height="{high:.1f}"/>'
        )
    right = step["prediction"] == step["target"]
    steps = style.in_steps(round(step["ponder_time"], 1))
    said = f"{step['prediction']} after {steps}: {'right' if right else 'wrong'}"
    return "".join(parts) + _text(left, top + TALL + 18, said, f"n{len(weights) + 1}")


def _weights(step: Mapping[str, Any]) -> list[float]:
    """p_n of the first steps, which have `SHOWN` of the weight together."""
    before = accumulate(step["halting"], initial=0.0)
    return [p for p, spent in zip(step["halting"], before, strict=False) if spent < SHOWN]


def _square(x: int, y: int, sign: str) -> str:
    kind = {"+": "plus", "-": "minus"}.get(sign, "zero")
    label = {"+": "+", "-": "\N{MINUS SIGN}"}.get(sign, "")
    return (
        f'<rect class="{kind}" x="{x}" y="{y}" width="{SQUARE}" height="{SQUARE}" rx="3"/>'
        f'<text class="sign" x="{x + SQUARE / 2}" y="{y + 13}">{label}</text>'
    )


def _text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(words)}</text>'
