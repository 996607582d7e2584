"""The page of a profile in a browser: it fits the window, and opens without an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from support.published import hostile_site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published report of three experiments, and the index page."""
    return hostile_site(tmp_path_factory.mktemp("project") / "reports")


Opener = Callable[..., tuple[Page, list[str]]]


@pytest.fixture
def open_page(browser: Browser, site: Path) -> Iterator[Opener]:
    """Opens a page of the site; returns the page and a list of what went wrong."""
    contexts = []

    def opener(name: str = "quick/index.html", width: int = 1280, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page, wrong = context.new_page(), []
        page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda problem: wrong.append(f"error: {problem}"))
        page.on("requestfailed", lambda request: wrong.append(f"failed: {request.url}"))
        address, drawings = ((site / each).as_uri() for each in (name, "quick/figures/"))
        page.on("request", lambda request: wrong.append(f"loaded: {request.url}")
                if not request.url.startswith((address, drawings, "data:")) else None)  # fmt: skip
        page.goto(address)
        return page, wrong

    yield opener
    for context in contexts:
        context.close()


@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_and_its_figures_fit_the_window(open_page: Opener, site: Path, width: int) -> None:
    page, wrong = open_page(width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = page.evaluate(
        """async () => { const all = [...document.querySelectorAll("figure")];
             for (const f of all) { f.querySelector("img").loading = "eager"; }
             await Promise.all(all.map(f => f.querySelector("img").decode()));
             return all.map(f => { const img = f.querySelector("img");
               return [f.id, img.getBoundingClientRect().width, img.alt,
                       img.naturalWidth / img.naturalHeight - img.width / img.height]; }); }"""
    )
    drawn = {path.stem for path in (site / "quick/figures").glob("*.svg")}
    assert {box[0] for box in boxes} == {f"figure-{name}" for name in drawn}
    for name, across, alternative, distorted in boxes:
        assert across >= min(width, 440) and len(alternative) > 20, name
        assert abs(distorted) < 0.02, name
    assert wrong == []


@pytest.mark.parametrize("width", [360, 1280])
def test_the_index_opens_without_errors(open_page: Opener, width: int) -> None:
    page, wrong = open_page("index.html", width)
    assert wrong == [] and page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_page_reads_without_scripts(open_page: Opener) -> None:
    page, _ = open_page(java_script_enabled=False)
    assert page.locator("#claims .verdict").first.is_visible()
    assert page.locator("#figure-graves-04 img").is_visible()


def test_a_link_opens_the_folded_part_that_holds_its_target(open_page: Opener) -> None:
    page, _ = open_page()
    page.evaluate("location.hash = 'runs-parity'")
    page.wait_for_function("document.getElementById('runs-parity').open")
