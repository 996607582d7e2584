"""The networks on the first page: their numbers and their controls."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Browser, Page
from support.published import ROOT

from pondering import from_pretrained
from pondering.data.encoding import encodings
from pondering.model.halting import ACT
from pondering.report.pages import build_index
from pondering.report.pages.playable import GAMES, MECHANISMS, PROFILES, playable
from pondering.tasks import make_task
from pondering.tasks.addition import CLASSES
from pondering.tasks.base import Batch, Task, concatenate
from pondering.tasks.digits.files import SIDE
from pondering.tasks.digits.task import DEVIATION, MEAN, rotate

ENCODINGS = cache(encodings)
COUNT = {"parity": 200}  # number of inputs; other games have 40
NAMES = {"\n": "line break", " ": "space", "": "nothing"}
OTHERS = [game for game in GAMES if game != "parity"]
OFFERED = [
    (profile, game)
    for profile in PROFILES
    for game, experiment in GAMES.items()
    if all(
        (ROOT / "reports" / profile / "models" / experiment / m / "run.json").is_file()
        for m in MECHANISMS
    )
]


def reports(folder: Path, *profiles: str) -> Path:
    """A folder with the published networks of these profiles and the page that plays them."""
    for profile in profiles:
        models = (f"models/{each}" for each in GAMES.values())
        for name in (*models, "traces/mnist.json", "cards", "tables"):
            place = Path(profile) / name
            if not (ROOT / "reports" / place).exists():
                continue  # reduced lacks the networks of some games; quick has them
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copy if place.suffix else shutil.copytree
            copy(ROOT / "reports" / place, folder / place)
    build_index(folder, ENCODINGS())
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """The page with the networks of some profiles, built once."""
    return cache(lambda *profiles: reports(tmp_path_factory.mktemp("reports"), *profiles))


Opener = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, site: Callable[..., Path]) -> Iterator[Opener]:
    """Opens the page with some profiles' networks; an error on the page fails the test.

    If the address names a game, the page waits for its networks.
    """
    contexts, wrong = [], []

    def opener(*profiles: str, width: int = 1280, height: int = 900, at: str = "",
               folder: Path | None = None, **more: Any) -> Page:  # fmt: skip
        page_path = (folder or site(*profiles or PROFILES)) / "index.html"
        assert page_path.stat().st_size < 300_000
        options: Any = {"viewport": {"width": width, "height": height}, "reduced_motion": "reduce"}
        contexts.append(browser.new_context(**options, offline=True, **more))
        page = contexts[-1].new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda problem: wrong.append(str(problem)))
        page.on("request", lambda request: wrong.append(request.url)
                if not request.url.startswith(("file:", "data:")) else None)  # fmt: skip
        page.goto(page_path.as_uri() + at)
        game = at[1:].split("?")[0]
        if game in OTHERS:
            summary_of(page, game)
        return page

    yield opener
    for context in contexts:
        context.close()
    assert wrong == []


def summary_of(page: Page, game: str) -> str:
    """The page's summary of a game, once its networks are loaded."""
    page.locator(f"#play-{game} tbody tr.stop").first.wait_for()
    return page.locator(f"#play-{game} .summary").text_content() or ""


def draw_inputs(game: str, task: Task) -> tuple[list[str], Batch]:
    """Random inputs, as texts of the page and as a batch."""
    rng, count = np.random.default_rng(0), COUNT.get(game, 40)
    if game in ("logic", "addition"):
        batch = task.draw(rng, count)  # type: ignore[attr-defined]
        no_answers = torch.zeros(*batch.mask.shape, task.output_size)
        described = [task.describe(no_answers, batch, row) for row in range(count)]
        joint = {"logic": "; ", "addition": " + "}[game]
        return [joint.join(word["input"] for word in words) for words in described], batch.torch()
    if game == "digits":
        greys = rng.integers(0, 16, (count, SIDE, SIDE)) * (rng.random((count, SIDE, SIDE)) < 0.2)
        angles = rng.integers(-180, 181, count)
        images = (rotate(greys / 15, angles) - MEAN) / DEVIATION
        texts = [
            f"{''.join(f'{each:x}' for each in picture.ravel())}.{angle}."
            for picture, angle in zip(greys, angles, strict=True)
        ]
        there = np.ones((1, count), bool)
        flat = images.astype(np.float32).reshape(1, count, -1)
        return texts, Batch(flat, np.zeros((1, count)), there, ~there, np.zeros(count)).torch()
    signs = "+-0" if game == "parity" else "".join(map(chr, range(32, 127))) + "\n"
    size = task.input_size if game == "parity" else 16
    draws = rng.integers(0, len(signs), (count, size))
    texts = ["".join(signs[each] for each in row) for row in draws]
    return texts, concatenate([task.parse(text) for text in texts]).torch()


@torch.no_grad()
def by_python(game: str, mechanism: str, batch: Batch, **which: Any) -> list[list[dict[str, Any]]]:
    """The library's numbers for each input's vectors, as the page's `thought` returns them."""
    network, card = from_pretrained(f"{GAMES[game]}/{mechanism}", **which)
    network.double()  # like the page; float32's rounding grows beyond 1e-4 in twenty steps
    if batch.inputs.is_floating_point():
        batch = batch._replace(inputs=batch.inputs.double())
    task, halting, state = make_task(dict(card.task), game), network.halting, None
    found: list[list[dict[str, Any]]] = [[] for _ in batch.difficulty]
    for t in range(len(batch.mask)):
        now = Batch._make([*(part[t : t + 1] for part in batch[:-1]), batch.difficulty])
        now = now._replace(scored=now.mask)

        def run(halting: Any, now: Batch = now, state: Any = state) -> Any:
            return network(now.inputs, now.mask, state=state, keep_state=True, halting=halting)

        whole = run(halting)
        if isinstance(halting, ACT):  # the output after n steps is that with n as the limit
            limits = range(1, len(whole.weights) + 1)
            outputs = torch.stack([run(replace(halting, max_steps=n)).mixture for n in limits])
        else:
            outputs = whole.outputs
        state, sure = whole.state, highest_probability(task, outputs)
        for row in np.flatnonzero(now.mask[0]):
            steps = int(whole.ponder_time[0, row])
            p = whole.weights[:steps, 0, row]
            described = [task.describe(each, now, row)[0] for each in outputs[:steps]]
            found[row].append(
                {
                    "p": p.tolist(),
                    "text": [name_of(game, each["prediction"]) for each in described],
                    "sure": sure[:steps, 0, row].tolist(),
                    "stop": steps if mechanism == "act" else int(p.argmax()) + 1,
                    "expected": float(whole.expected_steps[0, row]),
                    "truth": name_of(game, described[0]["target"])
                    if batch.scored[t, row]
                    else None,
                }
            )
    return found


@cache
def library(game: str, profile: str) -> tuple[list[str], dict[str, Any]]:
    """Random inputs, and each mechanism's result of `by_python`."""
    _, card = from_pretrained(f"{GAMES[game]}/act", profile=profile)
    inputs, batch = draw_inputs(game, make_task(dict(card.task), game))
    return inputs, {each: by_python(game, each, batch, profile=profile) for each in MECHANISMS}


def highest_probability(task: Task, outputs: torch.Tensor) -> torch.Tensor:
    """The probability of the most probable answer: (..., C) to (...)."""
    if task.output_size == 1:
        odd = outputs[..., 0].sigmoid()
        return torch.maximum(odd, 1 - odd)
    classes = CLASSES if task.name == "addition" else task.output_size
    return outputs.unflatten(-1, (-1, classes)).softmax(-1).amax(-1).prod(-1)


def name_of(game: str, answer: str) -> str:
    """An answer as the page writes it."""
    return NAMES.get(answer, f"“{answer}”" if game == "wikipedia" else answer)


@pytest.mark.parametrize(("profile", "game"), OFFERED)
def test_the_page_computes_the_librarys_numbers(open_page: Opener, profile: str, game: str) -> None:
    profiles = PROFILES if profile == "quick" else (profile,)  # parity's networks are in reduced
    page = open_page(*profiles, at="" if game == "parity" else f"#{game}")
    inputs, by_library = library(game, profile)
    for k, mechanism in enumerate(MECHANISMS):
        there = page.evaluate(
            """([game, k, inputs]) => inputs.map((text) => {
              const truths = PLAY[game].task.truths(text);
              return thought(PLAY[game], k, text).map((each, t) => ({ ...each, truth: truths[t] }));
            })""",
            [game, k, inputs],
        )
        for vectors, wanted in zip(there, by_library[mechanism], strict=True):
            if game == "wikipedia":  # the page also reads the last byte, whose target is unknown
                assert vectors.pop()["truth"] is None
            for found, right in zip(vectors, wanted, strict=True):
                for name, values in (("p", right["p"]), ("sure", right["sure"])):
                    shares = [step[name] for step in found["steps"]]
                    assert shares == pytest.approx(values, abs=1e-4)
                assert [step["text"] for step in found["steps"]] == right["text"]
                assert found["expected"] == pytest.approx(right["expected"], abs=1e-4)
                assert found["stop"] == right["stop"]
                assert found["answer"] == found["steps"][found["stop"] - 1]
                assert found["truth"] == right["truth"]


@pytest.mark.parametrize(
    ("at", "width"),
    [("#--00+000-000", 1440), *((f"#{game}", 360) for game in ("+0000000000", *OTHERS))],
)
def test_the_page_fits_its_controls_are_large_and_its_first_input_has_no_warning(
    open_page: Opener, at: str, width: int
) -> None:
    page = open_page(width=width, at=at)
    assert page.locator(".note:visible").count() == 0, "an input as in training has a warning"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    part = page.locator(f"#play-{at[1:] if at[1:] in OTHERS else 'parity'}")
    taps = part.locator(".controls :is(button, select, input, textarea)").all()
    assert taps
    for box in (tap.bounding_box() for tap in taps if tap.is_visible()):
        assert box and min(box["width"], box["height"]) >= 44
    page.evaluate("document.querySelectorAll('.runs').forEach((each) => { each.open = true; })")
    cut = page.evaluate(
        """() => [...document.querySelectorAll(".play *")]
             .filter(one => !one.closest(".hidden, textarea") && one.clientWidth)
             .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.outerHTML)"""
    )
    assert cut == []
    first, second = (part.locator(".thinker").nth(k).bounding_box() for k in range(2))
    assert first and second and (first["y"] == second["y"]) == (width > 360)


@pytest.mark.parametrize("game", GAMES)
def test_the_address_holds_the_input_and_restores_it(open_page: Opener, game: str) -> None:
    page = open_page(at="#+-0+" if game == "parity" else f"#{game}")
    part = page.locator(f"#play-{game}")
    if game == "parity":
        part.locator(".squares button").nth(2).click()
        written, at, sentence = "+-++00000000", 0, "3 of 12 squares are +1, so the truth is odd."
    elif game == "logic":
        part.get_by_label("Vector 1, bit 2: 1").click()
        part.get_by_label("Vector 2, gate 2").select_option("AND")
        part.get_by_role("button", name="Add a vector").click()
        part.get_by_role("button", name="Remove the last vector").click()
        part.get_by_label("Vector 1, gate 3").select_option("OR")
        written, at, sentence = "00 XOR AND OR; 1 NOR AND XOR", 0, "of vector 1 the last bit is 0."
    elif game == "addition":
        part.get_by_label("Numbers to add").fill("12+7+ 50")
        part.locator(".strip button").nth(1).click()
        written, at, sentence = "12 + 7 + 50", 1, "After number 2 the sum is 19."
    elif game == "wikipedia":
        part.get_by_label("Write here").fill("Lout <é&+# mas")
        part.locator(".strip button").nth(2).press("ArrowLeft")
        written, at, sentence = "Lout <é&+# mas", 1, "After “Lo” comes “u”."
    else:
        part.get_by_role("button", name="Clear").click()
        part.locator("canvas.paper").focus()
        for move in ("ArrowUp", "Shift+ArrowUp", "Shift+ArrowUp", "ArrowLeft", "Shift+ArrowDown"):
            part.locator("canvas.paper").press(move)
        part.get_by_label("Turned by").fill("-20")
        part.get_by_label("What you drew").select_option("1")
        written, at, sentence = ".-20.1", 0, "This is a 1, turned by -20 degrees."
    done = "PLAY[game].input.endsWith(text) && location.hash === address(PLAY[game])"
    page.wait_for_function(f"([game, text]) => {done}", arg=[game, written])
    assert page.evaluate(f"PLAY.{game}.at || 0") == at
    assert sentence in summary_of(page, game)
    there, state = page.evaluate("location.hash"), f"[PLAY.{game}.input, PLAY.{game}.at]"
    again = open_page(width=500, at=there)
    assert again.evaluate(state) == page.evaluate(state)
    assert summary_of(again, game) == summary_of(page, game)
    for other in ("#000000000000", "#content"):  # the second is the skip link
        again.evaluate("hash => { location.hash = hash; }", other)
        again.evaluate("new Promise(requestAnimationFrame)")
    again.evaluate("hash => { location.hash = hash; }", there)
    again.wait_for_function("hash => location.hash === hash", arg=there)
    assert again.evaluate(state) == page.evaluate(state)


@pytest.mark.parametrize(
    ("at", "why"),
    [
        ("#0", "in training 1 to 12 of the squares were not 0"),
        ("#logic?input=01 OR" + "; 1 OR" * 5, "in training sequences had 1 to 5 vectors"),
        ("#addition?input=1 2 3", "in training 1 to 2 numbers were added"),
        ("#wikipedia?input=zoo", "in training “z” was never read"),
        ("#digits?input=" + "5" * 784 + ".23.", "in training digits were turned by at most 22.5"),
    ],
)
def test_an_input_unlike_training_has_a_warning(open_page: Opener, at: str, why: str) -> None:
    page = open_page(at=at)
    game = at[1:].split("?")[0]
    note = page.locator(f"#play-{game if game in OTHERS else 'parity'} [role='status'] .note")
    assert f"Neither network was trained on this: {why}" in (note.text_content() or "")
    assert note.is_visible()


def test_the_keyboard_reaches_every_control(open_page: Opener) -> None:
    page = open_page(at="#000000000000")
    label = "document.activeElement.getAttribute('aria-label')"
    page.locator(".squares button").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert page.evaluate(label) == "Square 2 of 12: +1"
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash === '#0+000000000+'")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Draw at random"
    for _ in range(3):  # three equal draws are practically impossible
        page.keyboard.press("Space")
    page.wait_for_function("location.hash !== '#0+000000000+'")
    page.keyboard.press("Shift+Tab")
    assert (page.evaluate(label) or "").startswith("Square 12 of 12")


def test_every_published_run_can_be_chosen(open_page: Opener) -> None:
    """The test chooses the last setting and the last seed; the address restores them."""
    page = open_page("reduced", at="#+-+0-0000000")
    task = make_task(dict(from_pretrained(f"{GAMES['parity']}/act").card.task), "parity")
    inputs, batch = draw_inputs("parity", task)
    for k, (mechanism, name) in enumerate(zip(MECHANISMS, ("tau", "lambda_p"), strict=True)):
        for each in (name, "seed"):
            page.locator(f"#play-parity-{mechanism}").get_by_label(f"{each} =").press("End")
        wait = "(k) => Object.hasOwn(PARAMETERS, PLAY.parity.runs[k].file)"
        page.wait_for_function(wait, arg=k)
        run = page.evaluate(f"PLAY.parity.runs[{k}]")
        which = {"profile": "reduced", "setting": run["setting"], "seed": run["seed"]}
        wanted = by_python("parity", mechanism, batch, **which)
        there = page.evaluate(
            "([k, texts]) => texts.map((text) => thought(PLAY.parity, k, text))", [k, inputs]
        )
        for found, right in zip(chain(*there), chain(*wanted), strict=True):
            assert [step["p"] for step in found["steps"]] == pytest.approx(right["p"], abs=1e-4)
    runs = page.evaluate("PLAY.parity.runs")
    again = open_page("reduced", at=page.evaluate("location.hash"))
    again.wait_for_function("file => PLAY.parity.runs[0].file === file", arg=runs[0]["file"])
    assert again.evaluate("PLAY.parity.runs") == runs


def test_a_finger_taps_squares_and_draws_a_digit(open_page: Opener) -> None:
    page = open_page(at="#000000000000", width=360, has_touch=True)
    square = page.locator("#play-parity .squares button").nth(4)
    for sign in "+-0":
        square.tap()
        page.wait_for_function("hash => location.hash === hash", arg=f"#0000{sign}0000000")
    page.get_by_text("A digit, drawn and turned").tap()
    summary_of(page, "digits")
    page.locator("#play-digits").get_by_role("button", name="Clear").tap()
    paper = page.locator("canvas.paper")
    paper.scroll_into_view_if_needed()
    box, touch = paper.bounding_box(), page.context.new_cdp_session(page)
    assert box
    places = [(0.5, 0.25), (0.5, 0.5), (0.5, 0.75)]
    points = [
        {"x": box["x"] + x * box["width"], "y": box["y"] + y * box["width"]} for x, y in places
    ]
    scrolled = page.evaluate("scrollY")
    for kind, at in (
        ("touchStart", points[:1]),
        ("touchMove", points[1:2]),
        ("touchMove", points[2:]),
        ("touchEnd", []),
    ):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})
    page.wait_for_function("PLAY.digits.input.split('.')[0].replaceAll('0', '') !== ''")
    assert page.evaluate("scrollY") == scrolled  # the finger has drawn, not scrolled
    ink = page.evaluate("PLAY.digits.task.inputs(PLAY.digits.input)[0]")
    picture = np.reshape(ink, (SIDE, SIDE)) * DEVIATION + MEAN
    assert picture[7:21, 14] == pytest.approx(1, abs=1e-6)
    assert picture[:, :11] == pytest.approx(0, abs=1e-6)
    assert "says 1" in summary_of(page, "digits")


def test_without_scripts_the_page_has_a_note(open_page: Opener) -> None:
    page = open_page(java_script_enabled=False)
    assert not page.locator(".play").is_visible()
    assert page.locator("noscript .note").is_visible()
    assert page.locator(".lead").is_visible()


def test_reduced_comes_first_and_only_games_that_the_page_can_compute(tmp_path: Path) -> None:
    reports(tmp_path, "quick", "reduced")
    both = playable(tmp_path, ENCODINGS())
    assert both is not None and [game["name"] for game in both.games] == list(GAMES)
    facts = {game["name"]: game["facts"] for game in both.games}
    assert facts["parity"]["bits"] == 12 and facts["wikipedia"]["source"] == "generated"
    assert [each["title"] for each in both.games[0]["networks"]] == ["ACT", "PonderNet"]
    stale = tmp_path / "play/wikipedia.js"
    assert stale.is_file()
    shutil.rmtree(tmp_path / "quick")
    alone = playable(tmp_path, ENCODINGS())
    assert alone is not None and "wikipedia" not in {game["name"] for game in alone.games}
    record = tmp_path / "reduced/models" / GAMES["parity"] / "act/run.json"
    record.write_text(record.read_text().replace("tanh_rnn", "gru"))
    assert playable(tmp_path, ENCODINGS()) is None
    build_index(tmp_path, ENCODINGS())
    assert "<script" not in (tmp_path / "index.html").read_text() and not stale.exists()
