"""Single sequences: inputs, outputs and ponder of one replica, never chosen by its result."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from support.panels import bar_heights, drawn, line_with

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
    ("numbers", "wanted"),
    [(["0", "0"], 0), (["315", "3"], 0), (["04", "467"], 1), (["970", "65"], 2), (["999", "1"], 3),
     (["1", "2", "8"], 1)],
)  # fmt: skip
def test_carries_are_counted(numbers: list[str], wanted: int) -> None:
    assert sequences.carries(numbers) == wanted


def test_sums_with_the_most_carries_are_shown_with_targets_where_no_output_was_kept(
    results: Results,
) -> None:
    base = results.traces["addition"][0]

    def short(*numbers: str, seed: int = 0) -> dict[str, Any]:
        steps = [{"input": n, "target": f"sum{i}" * (i > 0), "ponder_time": 2.0 + i}
                 for i, n in enumerate(numbers)]  # fmt: skip
        return {**base, "kind": "mixed", "seed": seed, "steps": steps}

    full = {**base, "steps": base["steps"][:1]}
    pool = [full, short("1", "1"), short("970", "65"), short("99", "9", seed=1), short("9", "1")]
    changed = dataclasses.replace(results, traces={"addition": pool})
    first, second, third = drawn(sequences.draw(changed, "addition", 9e-4)).axes
    labels = [t.get_text() for t in first.get_xticklabels()]
    assert labels == ["970", "65"], "two carries, and of the seed that is shown"
    assert {t.get_text() for t in first.texts} == {"right sum", "", "sum1"}
    assert [t.get_text() for t in second.get_xticklabels()] == ["9", "1"]
    assert "output" in {t.get_text() for t in third.texts}


def test_what_is_asked_is_parted_from_what_is_read(results: Results) -> None:
    (base, *_) = results.traces["sort"]
    steps = [step | ({"input": ""} if step["target"] else {}) for step in base["steps"]]
    changed = dataclasses.replace(results, traces={"sort": [{**base, "steps": steps}]})
    (axes,) = drawn(sequences.draw(changed, "sort", 1e-3)).axes
    labels = [t.get_text() for t in axes.get_xticklabels()]
    assert labels[10:14] == ["1st", "2nd", "3rd", "4th"] and "." in labels[9]
    assert line_with(axes, [9.5, 9.5], [0, 1])
    assert "smallest number" in sequences.caption(changed, "sort", 1e-3)


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
