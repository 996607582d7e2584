"""The networks on the first page: what they compute there, and how one plays with them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Page
from support.published import ROOT

from pondering import from_pretrained
from pondering.model.halting import ACT
from pondering.report.pages import build_index
from pondering.report.pages.playable import EXPERIMENT, MECHANISMS, PROFILES, playable

SIGNS = {"+": 1.0, "-": -1.0, "0": 0.0}
SENTENCE = ".summary"


def reports(folder: Path, *profiles: str) -> Path:
    """A folder with the published networks of these profiles, and the page over them."""
    for profile in profiles:
        own = Path(profile) / "models" / EXPERIMENT
        shutil.copytree(ROOT / "reports" / own, folder / own)
    build_index(folder)
    return folder


Opener = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opener]:
    """Opens the page of a profile's networks; whatever goes wrong on it fails the test."""
    contexts, wrong = [], []

    def opener(profile: str = "reduced", width: int = 1280, at: str = "", **more: Any) -> Page:
        page_path = reports(tmp_path / f"{profile}-{width}", profile) / "index.html"
        assert page_path.stat().st_size < 300_000
        options: Any = {"viewport": {"width": width, "height": 900}, "reduced_motion": "reduce"}
        contexts.append(browser.new_context(**options, offline=True, **more))
        page = contexts[-1].new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda problem: wrong.append(str(problem)))
        page.on("request", lambda request: wrong.append(request.url)
                if not request.url.startswith(("file:", "data:")) else None)  # fmt: skip
        page.goto(page_path.as_uri() + at)
        return page

    yield opener
    for context in contexts:
        context.close()
    assert wrong == []


def drawn(bits: int) -> list[str]:
    """200 inputs, every square 0, +1 or -1 by chance."""
    draws = np.random.default_rng(0).integers(0, 3, (200, bits))
    return ["".join("+-0"[each] for each in row) for row in draws]


@torch.no_grad()
def by_python(profile: str, mechanism: str, inputs: list[str]) -> list[dict[str, Any]]:
    """What `think` of the page shall give, by the network of the library."""
    network, _ = from_pretrained(f"{EXPERIMENT}/{mechanism}", profile=profile)
    x = torch.tensor([[[SIGNS[sign] for sign in signs] for signs in inputs]])
    halting = network.halting
    whole = network(x, halting=halting)
    if isinstance(halting, ACT):  # had it stopped at n: the same with n as the limit
        limited = (replace(halting, max_steps=n + 1) for n in range(len(whole.weights)))
        outputs = torch.stack([network(x, halting=each).mixture for each in limited])
    else:
        outputs = whole.outputs
    odd = outputs[:, 0, :, 0].sigmoid()
    found = []
    for row in range(len(inputs)):
        steps = int(whole.ponder_time[0, row])
        p = whole.weights[:steps, 0, row]
        stop = steps if mechanism == "act" else int(p.argmax()) + 1
        found.append({"p": p.tolist(), "odd": odd[:steps, row].tolist(), "stop": stop,
                      "answer": float(odd[stop - 1, row]),
                      "expected": float(whole.expected_steps[0, row])})  # fmt: skip
    return found


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("profile", PROFILES)
def test_the_page_thinks_what_the_library_thinks(opened: Opener, profile: str, width: int) -> None:
    page = opened(profile, width)
    inputs = drawn(page.locator(".squares button").count())
    for k, mechanism in enumerate(MECHANISMS):
        there = page.evaluate(
            "([k, inputs]) => inputs.map(signs => think(PLAY.networks[k], signs))", [k, inputs]
        )
        for own, wanted in zip(there, by_python(profile, mechanism, inputs), strict=True):
            assert [step["p"] for step in own["steps"]] == pytest.approx(wanted["p"], abs=1e-4)
            assert [step["odd"] for step in own["steps"]] == pytest.approx(wanted["odd"], abs=1e-4)
            assert own["odd"] == pytest.approx(wanted["answer"], abs=1e-4)
            assert own["expected"] == pytest.approx(wanted["expected"], abs=1e-4)
            assert own["stop"] == wanted["stop"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1440])
def test_nothing_is_cut_off_and_the_squares_are_large(
    opened: Opener, width: int, scheme: str
) -> None:
    page = opened(width=width, at="#--00+000-000", color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    squares = page.locator(".squares button").all()
    assert len(squares) == 12
    for box in (square.bounding_box() for square in squares):
        assert box and min(box["width"], box["height"]) >= 44
    cut = page.evaluate(
        """() => [...document.querySelectorAll(".play *")]
             .filter(one => !one.closest(".hidden") && one.clientWidth)
             .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.outerHTML)"""
    )
    assert cut == []
    first, second = (page.locator(".thinker").nth(k).bounding_box() for k in range(2))
    assert first and second and (first["y"] == second["y"]) == (width > 360)


def test_a_tap_changes_the_address_and_the_sentence_and_the_address_restores_both(
    opened: Opener,
) -> None:
    page = opened(at="#+-0+")
    square, sentence = page.locator(".squares button"), page.locator(SENTENCE)
    seen = []
    for sign in ("+", "-", "0"):
        square.nth(2).click()
        assert page.evaluate("location.hash") == f"#+-{sign}+00000000"
        seen.append(sentence.text_content())
    assert seen[0] is not None and "3 of 12 squares are +1, so the truth is odd." in seen[0]
    assert seen[2] is not None and "2 of 12 squares are +1, so the truth is even." in seen[2]
    page.evaluate("location.hash = '#+-++'")
    page.wait_for_function("document.querySelector('.summary').textContent.startsWith('3 of')")
    assert square.nth(2).get_attribute("aria-label") == "Square 3 of 12: +1"
    assert sentence.text_content() == seen[0]
    again = opened(width=1000, at="#%2B-%2B%2B00000000")
    assert again.locator(SENTENCE).text_content() == seen[0]


@pytest.mark.parametrize("signs", ["+++++--+-+++", "--00+000-000"])  # ACT errs; it does not
def test_the_page_says_who_is_right_and_where_each_stops(opened: Opener, signs: str) -> None:
    page = opened(at=f"#{signs}")
    truth = ("even", "odd")[signs.count("+") % 2]
    sentence = page.locator(SENTENCE).text_content() or ""
    assert f"so the truth is {truth}. " in sentence
    for mechanism, title in zip(MECHANISMS, ("ACT", "PonderNet"), strict=True):
        wanted = by_python("reduced", mechanism, [signs])[0]
        stop = wanted["stop"]
        said = ("even", "odd")[wanted["answer"] > 0.5]
        judged = "right" if said == truth else "wrong"
        stops = {
            "pondernet": f"takes {wanted['expected']:.1f} steps on average, most likely {stop},",
            "act": f"stops after {stop} steps"
            if stop < 20
            else "is stopped after 20 steps, the most it may take,",
        }[mechanism]
        assert f"{title} {stops} and says {said}: {judged}." in sentence
        part = page.locator(f"#play-{mechanism}")
        assert part.locator(".answer").text_content() == said + judged
        stopped = part.locator("tr.stop")
        assert stopped.locator("th").text_content() == f"{stop}, stops here"
        bar, whole = (stopped.locator(each).bounding_box() for each in (".bar span", ".bar"))
        assert bar and whole
        assert bar["width"] / whole["width"] == pytest.approx(wanted["p"][stop - 1], abs=0.02)


def test_an_input_unlike_training_is_said_to_be(opened: Opener) -> None:
    page = opened(at="#0")
    note = page.locator('[role="status"] .note')
    assert "Neither network was trained on this: in training 1 to 12" in (note.text_content() or "")
    assert note.is_visible()
    page.locator(".squares button").first.click()
    assert not note.is_visible()


def test_the_keyboard_reaches_everything(opened: Opener) -> None:
    page = opened(at="#000000000000")
    label = "document.activeElement.getAttribute('aria-label')"
    page.locator(".squares button").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert page.evaluate(label) == "Square 2 of 12: +1"
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#0+000000000+"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Draw at random"
    before = page.evaluate("location.hash")
    for _ in range(3):  # three draws alike are less likely than a broken processor
        page.keyboard.press("Space")
    assert page.evaluate("location.hash") != before
    page.keyboard.press("Shift+Tab")
    assert (page.evaluate(label) or "").startswith("Square 12 of 12")


def test_without_a_script_the_page_is_as_without_networks(opened: Opener) -> None:
    page = opened(java_script_enabled=False)
    assert not page.locator(".play").is_visible()
    assert page.locator(".lead").is_visible()


def test_reduced_comes_first_and_only_what_the_page_can_compute(tmp_path: Path) -> None:
    both = playable(reports(tmp_path, "quick", "reduced"))
    assert both is not None and both["bits"] == 12 and both["trained"] == [1, 12]
    assert [each["title"] for each in both["networks"]] == ["ACT", "PonderNet"]
    record = tmp_path / "reduced/models" / EXPERIMENT / "act/run.json"
    record.write_text(record.read_text().replace("tanh_rnn", "gru"))
    small = playable(tmp_path)
    assert small is not None and small["bits"] == 8
    shutil.rmtree(tmp_path / "quick")
    assert playable(tmp_path) is None
    build_index(tmp_path)
    assert "<script" not in (tmp_path / "index.html").read_text()
