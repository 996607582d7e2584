"""The figures of the report: a file for each family of figures, with drawing, words and caption.

`catalogue.py` has a line for every figure; `style` says how all look; `shapes` are what several
share; `current` tells which are drawn already.
"""

from __future__ import annotations

from pondering.report.figures.catalogue import FIGURES, question_figure, reads_exits
from pondering.report.figures.spec import FigureSpec, alt_text
from pondering.report.figures.style import save

__all__ = ["FIGURES", "FigureSpec", "alt_text", "question_figure", "reads_exits", "save"]
