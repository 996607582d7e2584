"""The moving picture of networks that think."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from support.published import HOSTILE, ROOT

from pondering.report.pages.demonstration import EXPERIMENT, demonstration


def trace(mechanism: str, signs: str, halting: list[float], said: str = "odd") -> dict[str, object]:
    step = {"input": signs, "target": "odd", "prediction": said, "halting": halting,
            "ponder_time": float(len(halting))}  # fmt: skip
    return {"mechanism": mechanism, "setting": 0.1, "steps": [step]}


def test_each_input_shows_the_steps_of_both_and_what_they_say() -> None:
    svg = demonstration([
        trace("act", "+0-", [0.25, 0.75]), trace("pondernet", "+0-", [1.0], HOSTILE),
        trace("act", "+++", [1.0]),
    ])  # fmt: skip
    assert svg is not None and HOSTILE not in svg
    root = ET.fromstring(svg)
    bars = [each for each in root.iter() if each.get("class", "").startswith(("act", "pondernet"))]
    assert [float(each.get("height", 0)) for each in bars] == [11.0, 33.0, 44.0]
    words = [each.text or "" for each in root.iter() if each.tag.endswith("text")]
    assert "odd after 2 steps: right" in words and f"{HOSTILE} after 1 step: wrong" in words
    assert demonstration([trace("act", "+", [1.0]), trace("pondernet", "-", [1.0])]) is None


def test_steps_of_no_weight_are_left_out() -> None:
    thought = trace("pondernet", "+0-", [0.3, 0.695, 0.004, 0.001])
    short, long = (
        demonstration([trace("act", "+0-", each), thought]) for each in ([1.0], [0.1] * 10)
    )
    assert short is not None and short.count('class="pondernet') == 2
    assert long is not None and long.count('class="act') == 10


@pytest.mark.parametrize("profile", ["quick", "reduced"])
def test_the_published_one_is_small(profile: str) -> None:
    path = ROOT / "reports" / profile / "traces" / f"{EXPERIMENT}.json"
    svg = demonstration(json.loads(path.read_text(encoding="utf-8"))["traces"])
    assert svg is not None and len(svg) < 20_000
