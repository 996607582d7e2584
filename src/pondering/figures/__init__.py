"""The figures of the report: one function per paper figure, tidy tables in, Figure out."""

from __future__ import annotations

from pondering.figures.catalogue_graves import GRAVES
from pondering.figures.catalogue_others import BANINO, BEYOND, DIGITS
from pondering.figures.spec import FigureSpec, alt_text
from pondering.figures.style import save

FIGURES: tuple[FigureSpec, ...] = (*GRAVES, *BANINO, *DIGITS, *BEYOND)
"""Every figure of the report, in its order."""

__all__ = ["FIGURES", "FigureSpec", "alt_text", "save"]
