"""Every figure is drawn, put into words and saved, from much data, from little and from none."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure
from support.synthetic_results import (
    card_of,
    curves_of,
    made_up_results,
    only,
    rows_of,
    traces_of,
)

from pondering.report.figures import FIGURES, alt_text, save, style
from pondering.results.results import Results

BY_ID = {spec.id: spec for spec in FIGURES}


@pytest.fixture(scope="module")
def results() -> Results:
    return made_up_results()


def drawn(figure: Figure | None) -> Figure:
    assert figure is not None
    return figure


def test_catalogue_has_every_figure_of_both_papers() -> None:
    numbers = [*range(4, 7), *range(8, 11), *range(12, 16), *range(17, 25)]
    wanted = {f"graves-{n:02d}" for n in numbers} | {f"banino-{n}" for n in
              ("1a", "1b", "1c", "2a", "2b", "2c")}  # fmt: skip
    assert wanted <= set(BY_ID)
    assert len(BY_ID) == len(FIGURES)
    for spec in FIGURES:
        assert spec.paper_value.endswith("."), spec.id


@pytest.mark.parametrize("spec", FIGURES, ids=lambda spec: spec.id)
def test_every_figure_is_drawn_and_put_into_words(spec: Any, results: Results) -> None:
    figure = drawn(spec.draw(results))
    said = " ".join(text.get_text() for text in figure.texts).replace("\n", " ")
    assert spec.title.split(":")[0] in said and "Profile quick" in said
    words = alt_text(spec, results)
    assert "No data" not in words and "nan" not in words and "\n" not in words
    assert re.search(r"\d", words.split(spec.title)[1])
    stand_in = any(results.cards[name].stand_in for name in spec.experiment)
    assert ("Stand-in:" in said) == stand_in == ("Stand-in data:" in words)


@pytest.mark.parametrize("spec", FIGURES, ids=lambda spec: spec.id)
def test_every_figure_is_absent_without_its_data(spec: Any) -> None:
    assert spec.draw(Results("quick")) is None
    assert alt_text(spec, Results("quick")).endswith("No data in this profile.")


def three_rows() -> Results:
    """One replica of each mechanism, one difficulty, one logging point, one trace of two steps."""
    settings: dict[str, list[float]] = {"repeat": [1], "act": [0.01], "pondernet": [0.2]}
    repeat: dict[str, list[float]] = {"repeat": [1, 2], "act": [0.01]}
    tables, curves = {}, {}
    for name, splits in {
        "parity": ["test"], "parity_scattered": ["test"], "parity_interpolation": ["test"],
        "parity_extrapolation": ["interpolation"], "logic": ["test"], "addition": ["test"],
        "sort": ["test"], "wikipedia": ["train"], "mnist": ["test"],
        "mnist_rotated": ["range", "angle"],
    }.items():  # fmt: skip
        chosen = repeat if name == "addition" else settings
        rows = [row for split in splits for row in rows_of(name, split, [1], chosen, 1)]
        tables[name] = pd.DataFrame([row for row in rows if row["prediction"] != "expected"])
        assert len(tables[name]) == 3 * len(splits)
        curves[name] = curves_of(name, chosen, 1, points=1)
    shown = {name: traces_of(name) for name in ("addition", "sort", "wikipedia", "mnist")}
    for name in ("addition", "sort", "wikipedia"):
        shown[name] = [{**shown[name][0], "steps": shown[name][0]["steps"][:2]}]
    shown["mnist"] = shown["mnist"][:1]
    return Results("quick", tables, curves, shown, {name: card_of(name) for name in tables})


@pytest.mark.parametrize("spec", FIGURES, ids=lambda spec: spec.id)
def test_three_row_tables_are_enough(spec: Any, recwarn: Any) -> None:
    results = three_rows()
    if spec.id == "beyond-repeat-parity":
        results.tables["parity"] = results.tables["addition"].assign(experiment="parity")
    figure = drawn(spec.draw(results))
    figure.canvas.draw()
    assert not [w for w in recwarn if "divide" in str(w.message) or "slice" in str(w.message)]
    assert alt_text(spec, results).count("No data") == 0


@pytest.mark.parametrize("spec", FIGURES, ids=lambda spec: spec.id)
def test_a_table_of_diverged_replicas_is_drawn(spec: Any) -> None:
    results = three_rows()
    for name, table in results.tables.items():
        failure = 8.0 if name == "wikipedia" else 1.0
        table[["error", "ponder_time", "status"]] = [failure, math.nan, "diverged"]
        results.curves[name][["error", "ponder_time", "computed_steps"]] = math.nan
    if spec.id != "beyond-repeat-parity":
        drawn(spec.draw(results)).canvas.draw()
        assert alt_text(spec, results)


@pytest.mark.parametrize("name", ["graves-05", "banino-1b", "graves-23", "mnist-gallery"])
def test_saved_bytes_are_stable_and_text_is_text(
    name: str, results: Results, tmp_path: Path
) -> None:
    spec = BY_ID[name]
    first = save(drawn(spec.draw(results)), tmp_path / "one" / f"{name}.v1")
    second = save(drawn(spec.draw(results)), tmp_path / "two" / f"{name}.v1")
    assert [path.name for path in first] == [f"{name}.v1.svg", f"{name}.v1.png"]
    for left, right in zip(first, second, strict=True):
        assert left.read_bytes() == right.read_bytes()
    svg = first[0].read_text()
    xml.etree.ElementTree.fromstring(svg)
    assert spec.paper in svg and "<text" in svg and "<dc:date>" not in svg
    assert first[1].read_bytes().startswith(b"\x89PNG") and b"Software" not in first[1].read_bytes()


def test_a_panel_without_data_says_so(results: Results) -> None:
    curves = {"parity": results.curves["parity"].query("mechanism == 'act'")}
    figure = drawn(BY_ID["graves-05"].draw(only("parity", curves=curves)))
    upper, lower = figure.axes
    assert not upper.texts and [text.get_text() for text in lower.texts] == ["no data"]
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["τ = 1e-3", "τ = 0.01", "τ = 0.1"]


def test_numbers_are_written_as_the_papers_do() -> None:
    written = [style.number(v) for v in (0, 1e-4, 9e-4, 2.5e-3, 0.01, 0.3, 1, 10)]
    assert written == ["0", "1e-4", "9e-4", "2.5e-3", "0.01", "0.3", "1", "10"]
    assert [style.count(v) for v in (0, 500, 1500, 2e6, 3e9)] == ["0", "500", "1.5k", "2M", "3bn"]
    assert style.spread([5, 1, 4, 2, 3], 3) == [1, 3, 5]
