"""The figures of the report: a file for each family of figures, with its drawing and its caption.

`catalogue.py` has a line for every figure; `style.py` says how all look; `drawing.py` writes them.
"""

from __future__ import annotations

from pondering.report.figures.catalogue import FIGURES, claim_figure
from pondering.report.figures.drawing import draw_all, save
from pondering.report.figures.spec import FigureSpec

__all__ = ["FIGURES", "FigureSpec", "claim_figure", "draw_all", "save"]
