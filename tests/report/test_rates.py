"""The figure of a search says what was searched."""

from __future__ import annotations

import pandas as pd
from support.synthetic_results import curves_of

from pondering.report.figures.rates import figure_rates


def test_one_learning_rate_is_no_search() -> None:
    curves = curves_of("parity", {"act": [0.01, 0.1]}, 1, points=4)
    one = curves.assign(learning_rate=1e-3)
    two = pd.concat([one, curves.assign(learning_rate=1e-2)])
    for rows, title in ((one, "Parity, ACT: learning curves"),
                        (two, "Parity, ACT: learning rates tried")):  # fmt: skip
        texts = figure_rates(rows, "16 bits", "error rate", 1.0).texts
        assert title in [text.get_text() for text in texts]
