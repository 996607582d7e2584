"""The figures of the report: one function per paper figure, tidy tables in, Figure out."""

from __future__ import annotations

from pondering.report.figures.catalogue_graves import GRAVES
from pondering.report.figures.catalogue_others import BANINO, BEYOND, DIGITS
from pondering.report.figures.spec import FigureSpec, alt_text
from pondering.report.figures.style import save

FIGURES: tuple[FigureSpec, ...] = (*GRAVES, *BANINO, *DIGITS, *BEYOND)
"""Every figure of the report, in its order."""

__all__ = ["FIGURES", "FigureSpec", "alt_text", "save"]
