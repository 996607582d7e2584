"""Names beside points, each where it covers the least of the others and of the markers."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""

SIZE = 7.5
PANEL = (300.0, 112.0)
"""Points that a panel has across and up, roughly: the layout is settled only after drawing."""

MARKER = 4.0
"""Half a marker in points, with a little room."""

OFFSETS = [(6.0, 4.0), (6.0, -10.0), (-6.0, 4.0), (-6.0, -10.0), (0.0, 8.0), (0.0, -14.0),
           (18.0, 12.0), (18.0, -18.0), (-18.0, 12.0), (-18.0, -18.0), (0.0, 20.0), (0.0, -26.0),
           (34.0, 0.0), (-34.0, 0.0)]  # fmt: skip


def name_points(
    axes: Axes, points: Sequence[tuple[float, float, str]], lines: Sequence[Box] = ()
) -> None:
    """Write a name beside every point; none is left out, whatever is in the way.

    Args:
        axes: the panel, its limits final.
        points: place and name; an empty name is a marker that no other name may cover.
        lines: boxes in data units that are better not covered, as error bars.
    """
    to_panel = axes.transScale + axes.transLimits

    def at(x: float, y: float) -> tuple[float, float]:
        across, up = to_panel.transform((x, y))
        return across * PANEL[0], up * PANEL[1]

    markers = [_around(*at(x, y), MARKER) for x, y, _ in points]
    bars = [(*at(box[0], box[1]), *at(box[2], box[3])) for box in lines]
    taken: list[Box] = []
    for x, y, text in points:
        if not text:
            continue
        boxes = {offset: _text_box(at(x, y), offset, text) for offset in OFFSETS}
        best = min(boxes, key=lambda each: _cost(each, boxes[each], [*markers, *taken], bars))
        taken.append(boxes[best])
        far = max(map(abs, best)) > 14
        axes.annotate(
            text, (x, y), best, textcoords="offset points", fontsize=SIZE, zorder=6,
            ha="center" if best[0] == 0 else ("left" if best[0] > 0 else "right"),
            arrowprops={"arrowstyle": "-", "lw": 0.5} if far else None,
        )  # fmt: skip


def _cost(
    offset: tuple[float, float], box: Box, solid: Sequence[Box], bars: Sequence[Box]
) -> float:
    """What speaks against a place: what it covers, how far off it is, whether it leaves."""
    covered = 100 * sum(_overlap(box, other) for other in solid)
    covered += 5 * sum(_overlap(box, bar) for bar in bars)
    inside = box[0] >= 0 and box[1] >= 0 and box[2] <= PANEL[0] and box[3] <= PANEL[1]
    return covered + abs(offset[0]) + abs(offset[1]) + (0 if inside else 10_000)


def _text_box(here: Sequence[float], offset: tuple[float, float], text: str) -> Box:
    """The box of a name in points, roughly."""
    wide = 0.62 * SIZE * len(text)
    x, y = here[0] + offset[0], here[1] + offset[1]
    left = x - wide / 2 if offset[0] == 0 else (x if offset[0] > 0 else x - wide)
    return (left, y - 1, left + wide, y + SIZE)


def _around(x: float, y: float, half: float) -> Box:
    return (x - half, y - half, x + half, y + half)


def _overlap(one: Box, other: Box) -> float:
    """How much two boxes share, as the product of the lengths shared; at least 1 where they do."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    up = min(one[3], other[3]) - max(one[1], other[1])
    return max(1.0, across * up) if across >= 0 and up >= 0 else 0.0
