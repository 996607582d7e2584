"""Captions say how long each mechanism trained, where that differs."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest
from support.panels import drawn

from pondering.report.figures import FIGURES
from pondering.results.results import Results

BY_ID = {spec.id: spec for spec in FIGURES}
OF_ONE_REPLICA_OR_MECHANISM = {
    "graves-15", "graves-20", "graves-23", "graves-24", "banino-2a", "banino-2b", "banino-2c",
    "mnist-gallery",
}  # fmt: skip


def shortened(source: Results, mechanism: str, share: float) -> Results:
    """One mechanism trained for a share of the others' updates, in every experiment."""
    curves = {}
    for name, frame in source.curves.items():
        own = frame["mechanism"] == mechanism
        curves[name] = frame.assign(update=frame["update"].mask(own, share * frame["update"]))
    return dataclasses.replace(source, curves=curves)


@pytest.mark.parametrize("name", sorted(set(BY_ID) - OF_ONE_REPLICA_OR_MECHANISM))
def test_mechanisms_trained_for_different_times_are_not_compared_in_silence(
    name: str, results: Results
) -> None:
    spec = BY_ID[name]
    alone = spec.caption(results)
    assert "Not trained" not in alone
    for mechanism, words in (("repeat", "fixed repeat"), ("act", "ACT")):
        text = spec.caption(shortened(results, mechanism, 0.5))
        assert text.startswith(alone) and text.endswith(".")
        told = text.split("Not trained equally long here")[1]
        assert "3,000" in told and "6,000" in told and words in told


def test_pondernets_share_is_told_where_it_is_compared(results: Results) -> None:
    short = shortened(results, "pondernet", 0.2)
    told = "6,000 for the plain network and fixed repeats, 6,000 with ACT, 1,200 with PonderNet"
    assert told in BY_ID["banino-1a"].caption(short)
    assert f"updates, at most: parity {told}; logic" in BY_ID["beyond-pondernet"].caption(short)
    assert "Not trained" not in BY_ID["graves-04"].caption(short)


def test_the_updates_stand_over_each_panel_where_they_differ(results: Results) -> None:
    spec = BY_ID["beyond-pondernet"]
    short = shortened(results, "pondernet", 0.2)
    for source, told in ((results, []), (short, ["updates: PonderNet 1.2k; others 6k"] * 5)):
        texts = [text.get_text() for axes in drawn(spec.draw(source)).axes for text in axes.texts]
        assert [text for text in texts if text] == told


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
