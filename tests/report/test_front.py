"""The front of parity: bits mastered, by error, over training and by setting."""

from __future__ import annotations

import numpy as np
import pytest
from support.panels import drawn, line_with
from support.synthetic_results import curves_of, only, table_of

from pondering.report.figures import front, style
from pondering.results.results import Results

SETTINGS: dict[str, list[float]] = {"repeat": [1.0, 2.0], "act": [0.01, 0.1]}


@pytest.fixture
def moving() -> Results:
    """Networks right up to 4 + seed bits, and guessing beyond; training errors fall by 0.1."""
    table = table_of("parity", SETTINGS, 3)
    table["error"] = np.where(table["difficulty"] > 4 + table["seed"], 0.5, 0.0)
    curves = curves_of("parity", SETTINGS, 3)
    curves["error"] = 0.3 - 0.1 * curves["update"] / curves["update"].max()
    return only("parity", tables={"parity": table}, curves={"parity": curves})


def test_the_front_is_where_guessing_begins() -> None:
    for bits in (0, 5, 16):
        error = np.mean([0.0] * bits + [0.5] * (16 - bits))
        assert front.front(error, 16) == pytest.approx(bits)
    assert front.front(np.array([0.7, 1.0]), 16).tolist() == [0, 0]


def test_rows_are_networks_sorted_by_error_within_their_setting(moving: Results) -> None:
    table = moving.tables["parity"]
    methods = front.shown(table)
    assert [method.setting for method in methods] == [1, 0.1, 0.01, 2]
    image, edges = front.error_map(table, methods)
    assert image.shape == (12, 16) and edges == [0, 3, 6, 9, 12]
    assert (image == 0).sum(axis=1).tolist() == [4, 5, 6] * 4
    upper, lower, _ = drawn(front.draw(moving, "parity")).axes
    np.testing.assert_array_equal(upper.images[0].get_array(), image)
    names = [text.get_text() for text in upper.get_yticklabels()]
    assert names == ["plain", "τ 0.1", "τ 0.01", f"{style.TIMES}2"]
    updates = moving.curves["parity"]["update"].unique()
    assert line_with(lower, updates, 16 * (1 - 2 * (0.3 - 0.1 * updates / 6000)))


def test_the_plain_network_is_dotted_and_no_settings_colour(moving: Results) -> None:
    _, lower, _ = drawn(front.draw(moving, "parity")).axes
    bold = [line for line in lower.lines if line.get_linewidth() > 1]
    assert [line.get_linestyle() for line in bold] == [":", "-", "-", "-"]
    assert bold[0].get_color() == style.INK
    assert len({line.get_color() for line in bold}) == 4


def test_the_words_have_medians_and_how_far_the_front_still_moves(moving: Results) -> None:
    said = front.words(moving, "parity")
    assert said.startswith("Median front of 16 bits: Plain network: 5; ACT, τ = 0.1: 5; ")
    # from the error 0.25 at half of training to 0.2 at its end
    (moved,) = [float(word) for word in said.split("front moves by ")[1].split() if word[0] == "1"]
    assert moved == pytest.approx(1.6, abs=0.05)
