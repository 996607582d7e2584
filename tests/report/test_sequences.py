"""Single sequences: inputs, outputs and ponder of one replica, never chosen by its result."""

from __future__ import annotations

import dataclasses

import pytest
from support.panels import bar_heights, drawn

from pondering.report.figures import FIGURES, sequences, style
from pondering.results.results import Results

BY_ID = {spec.id: spec for spec in FIGURES}


def test_sequence_traces_show_inputs_outputs_and_ponder(results: Results) -> None:
    axes = drawn(sequences.draw(results, "addition", 9e-4)).axes
    assert len(axes) == 3
    steps = results.traces["addition"][0]["steps"]
    assert bar_heights(axes[0]) == [step["ponder_time"] for step in steps]
    assert [t.get_text() for t in axes[0].get_xticklabels()] == [s["input"] for s in steps]
    texts = {t.get_text(): t.get_color() for t in axes[0].texts}
    assert texts["41430"] == style.INK and texts["42219\n≠42209"] == style.WRONG


def test_traces_are_acts_of_the_first_seed(results: Results) -> None:
    base = results.traces["addition"][0]
    pool = [{**base, "setting": 1e-4, "seed": k} for k in (2, 1)]
    pool.append({**base, "setting": 1e-3, "seed": 0, "mechanism": "pondernet"})
    pool.append({**base, "setting": 9e-4, "seed": 0, "kind": "text"})
    changed = dataclasses.replace(results, traces={"addition": pool})
    figure = drawn(sequences.draw(changed, "addition", 9e-4))
    assert len(figure.axes) == 1
    told = sequences.caption(changed, "addition", 9e-4)
    assert told.endswith("Shown is τ = 1e-4, not the paper's 9e-4; seed 1.")


@pytest.mark.parametrize(
    ("name", "paper", "written"),
    [("graves-15", 9e-4, "9e-4"), ("graves-20", 1e-3, "1e-3"),
     ("graves-23", 6e-3, "6e-3"), ("graves-24", 6e-3, "6e-3")],
)  # fmt: skip
def test_traces_name_the_setting_that_is_shown(
    name: str, paper: float, written: str, results: Results
) -> None:
    (experiment,) = BY_ID[name].experiment
    for shown, said in ((paper, "as in the paper"), (0.03, f"not the paper's {written}")):
        traces = [each | {"setting": shown, "seed": 4} for each in results.traces[experiment]]
        changed = dataclasses.replace(results, traces={experiment: traces})
        text = BY_ID[name].caption(changed)
        assert f"Shown is τ = {'0.03' if shown == 0.03 else written}, {said}; " in text
        assert text.endswith("first seed is 4." if experiment == "wikipedia" else "; seed 4.")
    assert "Shown is" not in BY_ID[name].caption(dataclasses.replace(results, traces={}))
