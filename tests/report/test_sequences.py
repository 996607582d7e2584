"""Single sequences: inputs, outputs and ponder of one replica, never chosen by its result."""

from __future__ import annotations

import dataclasses

from support.panels import bar_heights, drawn, line_with

from pondering.report.figures import sequences, style
from pondering.results.results import Results


def test_sequence_traces_show_inputs_outputs_and_ponder(results: Results) -> None:
    axes = drawn(sequences.draw(results, "addition")).axes
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
    figure = drawn(sequences.draw(changed, "addition"))
    assert len(figure.axes) == 1
    assert figure.legends[0].get_title().get_text() == "τ = 0.0001, seed 1"


def test_what_is_asked_is_parted_from_what_is_read(results: Results) -> None:
    (base, *_) = results.traces["sort"]
    steps = [step | ({"input": ""} if step["target"] else {}) for step in base["steps"]]
    changed = dataclasses.replace(results, traces={"sort": [{**base, "steps": steps}]})
    (axes,) = drawn(sequences.draw(changed, "sort")).axes
    labels = [t.get_text() for t in axes.get_xticklabels()]
    assert labels[10:14] == ["1st", "2nd", "3rd", "4th"] and "." in labels[9]
    assert line_with(axes, [9.5, 9.5], [0, 1])
