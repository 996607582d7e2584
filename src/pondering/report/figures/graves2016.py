"""The figures of Graves 2016, "Adaptive Computation Time for Recurrent Neural Networks".

One function per figure of the paper, each reading the results of one experiment; all axes are
linear. PonderNet has no place in these: see `pondering.report.figures.beyond`.
"""

from __future__ import annotations

from matplotlib.figure import Figure

from pondering.report.figures.bars import BITS, error_bars
from pondering.report.figures.sweeps import by_difficulty, learning_and_ponder
from pondering.report.figures.texts import text_panels
from pondering.report.figures.traces import sequence_panels
from pondering.results.results import Results

ADDITION_TAU, SORT_TAU, TEXT_TAU = 9e-4, 1e-3, 6e-3
"""The time penalties of the paper's single sequences (Figs. 15, 20, 23 and 24)."""


def figure_4(results: Results) -> Figure | None:
    """Parity: error by time penalty. Source: Graves 2016, Fig. 4."""
    return error_bars(results.tables.get("parity"))


def figure_5(results: Results) -> Figure | None:
    """Parity: learning curves, and error against ponder. Source: Graves 2016, Fig. 5."""
    return learning_and_ponder(results.curves.get("parity"), results.tables.get("parity"))


def figure_6(results: Results) -> Figure | None:
    """Parity: ponder and error against the number of bits. Source: Graves 2016, Fig. 6."""
    return by_difficulty(results.tables.get("parity"), label="difficulty: nonzero bits")


def figure_8(results: Results) -> Figure | None:
    """Logic: error by time penalty. Source: Graves 2016, Fig. 8."""
    return error_bars(results.tables.get("logic"))


def figure_9(results: Results) -> Figure | None:
    """Logic: learning curves, and error against ponder. Source: Graves 2016, Fig. 9."""
    return learning_and_ponder(results.curves.get("logic"), results.tables.get("logic"))


def figure_10(results: Results) -> Figure | None:
    """Logic: ponder and error against the number of gates. Source: Graves 2016, Fig. 10."""
    return by_difficulty(results.tables.get("logic"), label="difficulty: gates per vector")


def figure_12(results: Results) -> Figure | None:
    """Addition: error by time penalty. Source: Graves 2016, Fig. 12."""
    return error_bars(results.tables.get("addition"))


def figure_13(results: Results) -> Figure | None:
    """Addition: learning curves, and error against ponder. Source: Graves 2016, Fig. 13."""
    return learning_and_ponder(results.curves.get("addition"), results.tables.get("addition"))


def figure_14(results: Results) -> Figure | None:
    """Addition: ponder and error against the number of digits. Source: Graves 2016, Fig. 14."""
    return by_difficulty(results.tables.get("addition"), label="difficulty: digits per number")


def figure_15(results: Results) -> Figure | None:
    """Addition: ponder during single sequences. Source: Graves 2016, Fig. 15 (tau = 9e-4)."""
    return sequence_panels(results.traces.get("addition"), setting=ADDITION_TAU)


def figure_17(results: Results) -> Figure | None:
    """Sort: error by time penalty. Source: Graves 2016, Fig. 17."""
    return error_bars(results.tables.get("sort"))


def figure_18(results: Results) -> Figure | None:
    """Sort: learning curves, and error against ponder. Source: Graves 2016, Fig. 18."""
    return learning_and_ponder(results.curves.get("sort"), results.tables.get("sort"))


def figure_19(results: Results) -> Figure | None:
    """Sort: ponder and error against the length. Source: Graves 2016, Fig. 19."""
    return by_difficulty(results.tables.get("sort"), label="difficulty: numbers to sort")


def figure_20(results: Results) -> Figure | None:
    """Sort: ponder during single sequences. Source: Graves 2016, Fig. 20 (tau = 1e-3)."""
    return sequence_panels(results.traces.get("sort"), setting=SORT_TAU)


def figure_21(results: Results) -> Figure | None:
    """Text: bits per character by time penalty. Source: Graves 2016, Fig. 21 (training text)."""
    table = results.tables.get("wikipedia")
    return error_bars(table, split="train", second_split="heldout", unit=BITS)


def figure_22(results: Results) -> Figure | None:
    """Text: learning curves, and bits against ponder. Source: Graves 2016, Fig. 22."""
    curves, table = results.curves.get("wikipedia"), results.tables.get("wikipedia")
    return learning_and_ponder(curves, table, split="train", unit=BITS)


def figure_23(results: Results) -> Figure | None:
    """Text: ponder, loss and entropy in running text. Source: Graves 2016, Fig. 23."""
    return text_panels(results.traces.get("wikipedia"), setting=TEXT_TAU, markup=False)


def figure_24(results: Results) -> Figure | None:
    """Text: ponder, loss and entropy among tags and ID numbers. Source: Graves 2016, Fig. 24."""
    return text_panels(results.traces.get("wikipedia"), setting=TEXT_TAU, markup=True)
