"""Captions say which setting is shown and, where it differs, how long each mechanism trained."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pandas as pd
import pytest
from support.published import CLAIMS
from support.synthetic_results import made_up_results

from pondering.report.figures import FIGURES
from pondering.report.pages import build
from pondering.results.results import Results

BY_ID = {spec.id: spec for spec in FIGURES}
TRACES = ["graves-15", "graves-20", "graves-23", "graves-24"]
ALONE = ["banino-2a", "banino-2b", "banino-2c", "mnist-gallery"]


@pytest.fixture(scope="module")
def results() -> Results:
    return made_up_results(points=5)


def shortened(source: Results, mechanism: str, share: float) -> Results:
    """One mechanism trained for a share of the others' updates, in every experiment."""
    curves = {}
    for name, frame in source.curves.items():
        own = frame["mechanism"] == mechanism
        curves[name] = frame.assign(update=frame["update"].mask(own, share * frame["update"]))
    return dataclasses.replace(source, curves=curves)


@pytest.mark.parametrize("name", [name for name in BY_ID if name not in TRACES + ALONE])
def test_mechanisms_trained_for_different_times_are_not_compared_in_silence(
    name: str, results: Results
) -> None:
    spec = BY_ID[name]
    alone = spec.caption(results)
    assert "Not trained" not in alone
    for mechanism, words in (("repeat", "fixed repeat"), ("act", "ACT")):
        text = spec.caption(shortened(results, mechanism, 0.5))
        assert text.startswith(alone) and text.endswith(".")
        assert "Not trained equally long here" in text
        told = text.split("Not trained equally long")[1]
        assert "3,000" in told and "6,000" in told and words in told


def test_pondernets_share_is_told_where_it_is_compared(results: Results) -> None:
    short = shortened(results, "pondernet", 0.2)
    text = BY_ID["banino-1a"].caption(short)
    assert (
        "6,000 for the plain network and fixed repeats, 6,000 with ACT, 1,200 with PonderNet"
        in (text)
    )
    assert "with PonderNet: parity 1,200 of 6,000" in BY_ID["beyond-pondernet"].caption(short)
    assert "Not trained" not in BY_ID["graves-04"].caption(short)


def test_layouts_trained_for_different_times_are_told_apart(results: Results) -> None:
    longer = results.curves["parity"].assign(update=2 * results.curves["parity"]["update"])
    changed = dataclasses.replace(results, curves=results.curves | {"parity": longer})
    text = BY_ID["beyond-layout"].caption(changed)
    assert "parity 12,000" in text and "parity scattered 6,000" in text
    # these compare within each task alone
    assert "Not trained" not in BY_ID["beyond-pondernet"].caption(changed)


def test_a_diverged_seed_is_no_shorter_training(results: Results) -> None:
    frame = results.curves["parity"]
    cut = frame[(frame["seed"] != 1) | (frame["mechanism"] != "act") | (frame["update"] < 3000)]
    changed = dataclasses.replace(results, curves=results.curves | {"parity": pd.DataFrame(cut)})
    assert "Not trained" not in BY_ID["graves-04"].caption(changed)


@pytest.mark.parametrize("name", TRACES)
def test_traces_name_the_setting_that_is_shown(name: str, results: Results) -> None:
    (experiment,) = BY_ID[name].experiment
    paper = {"addition": 9e-4, "sort": 1e-3, "wikipedia": 6e-3}[experiment]
    written = {9e-4: "9e-4", 1e-3: "1e-3", 6e-3: "6e-3"}[paper]
    for shown, said in ((paper, "as in the paper"), (0.03, f"not the paper's {written}")):
        traces = [each | {"setting": shown, "seed": 4} for each in results.traces[experiment]]
        changed = dataclasses.replace(results, traces={experiment: traces})
        text = BY_ID[name].caption(changed)
        assert f"Shown is τ = {'0.03' if shown == 0.03 else written}, {said}; " in text
        assert text.endswith("first seed is 4." if experiment == "wikipedia" else "; seed 4.")
    nothing = dataclasses.replace(results, traces={})
    assert "Shown is" not in BY_ID[name].caption(nothing)


def test_the_pages_print_the_whole_caption(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("site", "view"):
        monkeypatch.setattr(f"pondering.report.pages.{module}.FIGURES", (BY_ID["graves-04"],))
    build(shortened(results, "act", 0.5), CLAIMS, tmp_path / "quick")
    for page in ("index.html", "report.md"):
        text = (tmp_path / "quick" / page).read_text()
        assert "updates: 6,000 for the plain network and fixed repeats, 3,000 with ACT." in text
