"""The papers' values: the sentences and the numbers that are drawn say the same."""

from __future__ import annotations

from pondering.report.figures import FIGURES, paper, style


def test_every_figure_of_a_paper_has_a_sentence_and_no_sentence_is_left_over() -> None:
    shown = {spec.id for spec in FIGURES}
    assert {name for name in shown if name.startswith(("graves", "banino"))} <= {*paper.SAID}
    assert {*paper.SAID} <= shown


def test_the_sentences_have_the_numbers_that_are_drawn() -> None:
    said = paper.SAID
    for point in paper.ACCURACY_AND_STEPS["test"].values():
        assert f"{style.share(point.accuracy)} at {point.steps}" in said["banino-1a"]
    for point in paper.ACCURACY_AND_STEPS["extrapolation"].values():
        assert f"{style.share(point.accuracy)} at {point.steps:g}" in said["banino-1b"]
    medians = ", ".join(f"{value:.0%}" for value in paper.MEDIANS["pondernet"].values())
    assert medians in said["banino-2b"].replace("\n", " ")
    low, middle, high = paper.LONG_PRIOR
    assert f"median read off {middle}, quartiles {low} and {high}" in said["banino-2c"]
    assert "almost 40%" in said["graves-04"] and paper.ERRORS["parity"].plain == 0.4
    assert "below 5%" in said["graves-04"] and paper.ERRORS["parity"].small == 0.05
    assert "about 20%" in said["graves-08"] and paper.ERRORS["logic"].plain == 0.2
    sort = paper.ERRORS["sort"]
    assert f"About {sort.plain:.0%} without ACT, about {sort.best:.0%}" in said["graves-17"]
    parity, addition = paper.SOLVED_AT["parity"], paper.SOLVED_AT["addition"]
    assert f"twice solves it at update {parity['repeat', 2.0]:,}" in said["beyond-repeat-parity"]
    assert (
        f"5 times solves it at update {addition['repeat', 5.0]:,}"
        in (said["beyond-repeat-addition"])
    )


def test_the_papers_size_stands_beside_its_value() -> None:
    shown = {spec.id: spec.paper_value for spec in FIGURES}
    assert shown["graves-04"].endswith(" Size there: 64 bits, RNN of 128, 16,000,000 updates.")
    assert "LSTM of 512" in shown["beyond-repeat-addition"]
    assert "Size" not in shown["beyond-direction"]
