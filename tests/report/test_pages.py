"""The pages of the report: read back, followed link by link, and opened in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from markupsafe import escape
from playwright.sync_api import Browser, Page
from support.published import CLAIMS, HOSTILE, REGISTER, ROOT, hostile_results, publish

from pondering.params.read import load_params
from pondering.report.figures import FIGURES
from pondering.report.pages import build, build_index
from pondering.report.pages.markdown import escaped
from pondering.report.pages.names import PAPERS


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published report of a part of the experiments, with the page that leads to it."""
    folder = tmp_path_factory.mktemp("project") / "reports"
    publish(hostile_results(), folder)
    build_index(folder)
    (folder.parent / "README.md").write_text("# Pondering\n")
    return folder


@pytest.fixture(scope="module")
def html(site: Path) -> str:
    return (site / "quick" / "index.html").read_text(encoding="utf-8")


Opener = Callable[..., tuple[Page, list[str]]]


def unfold(page: Page) -> None:
    """Open whatever is folded."""
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")


@pytest.fixture
def opened(browser: Browser, site: Path) -> Iterator[Opener]:
    """Opens a page of the site: the page, and everything that went wrong while it opened."""
    contexts = []

    def opener(name: str = "quick/index.html", width: int = 1280, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page, wrong = context.new_page(), []
        page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda problem: wrong.append(f"error: {problem}"))
        page.on("requestfailed", lambda request: wrong.append(f"failed: {request.url}"))
        page.on("dialog", lambda dialog: (wrong.append("dialog"), dialog.dismiss()))
        own = (site / name).as_uri()
        page.on("request", lambda request: wrong.append(f"loaded: {request.url}")
                if not request.url.startswith((own, "data:")) else None)  # fmt: skip
        page.goto(own)
        return page, wrong

    yield opener
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_report_opens_clean_and_shows_every_figure(
    opened: Opener, site: Path, width: int, scheme: str
) -> None:
    page, wrong = opened(width=width, color_scheme=scheme)
    assert wrong == []
    folded = page.locator("details.fold:not([open])").count()
    assert folded == (0 if width > 360 else page.locator("details.fold").count())
    unfold(page)
    drawn = {path.stem for path in (site / "quick" / "figures").glob("*.svg")}
    boxes = page.evaluate(
        """() => [...document.querySelectorAll("figure")].map(f => {
             const image = f.querySelector(".drawing svg, .drawing img");
             const box = image.getBoundingClientRect();
             return [f.id, box.width, box.height, image.naturalWidth ?? -1,
                     image.getAttribute("aria-label") ?? image.alt,
                     f.getBoundingClientRect().right]; })"""
    )
    assert {box[0] for box in boxes} == {f"figure-{name}" for name in drawn}
    for name, across, tall, natural, alternative, right in boxes:
        # 8 points of 360 across are 8 pixels on a phone, whose figures reach from edge to edge
        assert across >= min(width, 440) and tall > 100 and natural != 0, f"{name} is too small"
        assert right <= width and len(alternative) > 60, name
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", dark))) < 200) == (scheme == "dark")
    inks = page.evaluate(
        """() => [...document.querySelectorAll("figure svg text")].slice(0, 40)
             .map(text => getComputedStyle(text).fill)
             .concat(getComputedStyle(document.querySelector(".drawing")).backgroundColor)"""
    )
    *texts, paper = (sum(map(int, re.findall(r"\d+", ink))) for ink in inks)
    assert all((text > paper) == (scheme == "dark") for text in texts)


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", ["index.html", "quick/provenance.html"])
def test_the_other_pages_open_clean(opened: Opener, name: str, width: int) -> None:
    page, wrong = opened(name, width)
    assert wrong == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_provenance_page_has_trainings_and_evaluations(site: Path) -> None:
    text = (site / "quick/provenance.html").read_text(encoding="utf-8")
    cards = dict(re.findall(r'(?s)<section id="([^"]+)"(.*?)</section>', text))
    act = [f"{name}-{each}" for name in ("parity", "wikipedia") for each in ("repeat", "act")]
    assert {*act, "parity-evaluation", "wikipedia-evaluation"} <= set(cards)
    assert list(cards).index("parity-evaluation") < list(cards).index("wikipedia-repeat")
    assert "3f9c2ab" in cards["parity-evaluation"] and "66.7 min" in cards["parity-evaluation"]
    assert f"repeat 1ee7, act {escape(HOSTILE)}" in cards["parity-evaluation"]
    assert "before evaluations left a record" in cards["wikipedia-evaluation"]
    assert ">Parity: ACT</h2>" in cards["parity-act"]
    assert all(f'<a href="#{name}">' in text for name in cards)
    settings = cards["parity-act"][cards["parity-act"].index("Settings") :]
    assert "act: tau 0.001 and 0.01\ntraining: clip 1" in settings and "None" not in settings
    assert "Nothing was recorded of this run." in cards["parity-pondernet"]


def test_text_of_a_figure_can_be_selected_and_a_table_reached_by_keyboard(opened: Opener) -> None:
    page, _ = opened()
    selected = page.evaluate(
        """() => { const text = document.querySelector("#figure-graves-04 svg text");
             getSelection().selectAllChildren(text); return getSelection().toString(); }"""
    )
    assert selected.strip()
    reachable = page.evaluate(
        """() => [...document.querySelectorAll(".scroll")].every(one => one.tabIndex === 0
             && one.getAttribute("aria-label"))"""
    )
    assert reachable


@pytest.mark.parametrize("width", [380, 1280])
def test_the_tinted_text_speaks_on_hover_and_on_focus_by_arrow_keys(
    opened: Opener, width: int
) -> None:
    page, _ = opened(width=width)
    unfold(page)
    letters = page.locator(".running").first.locator(".c")
    said = "one => getComputedStyle(one, '::after').content"
    letters.nth(4).hover()
    assert "N " in letters.nth(4).evaluate(said) and "R 0.30" in letters.nth(4).evaluate(said)
    tall = letters.nth(4).evaluate("one => parseFloat(getComputedStyle(one, '::after').height)")
    readout = page.locator(".tinted .readout").first.bounding_box()
    assert readout is not None and abs(tall - readout["height"]) <= 1  # no text is covered
    page.mouse.move(0, 0)
    letters.nth(0).focus()
    page.keyboard.press("ArrowRight")
    focused = letters.nth(1)
    assert focused.evaluate("one => one === document.activeElement")
    assert "loss" in focused.evaluate(said) and "entropy" in focused.evaluate(said)
    colours = {letters.nth(i).evaluate("one => getComputedStyle(one).backgroundColor")
               for i in range(12)}  # fmt: skip
    assert len(colours) > 1


def test_the_pages_read_without_scripts(opened: Opener) -> None:
    page, _ = opened(java_script_enabled=False)
    assert page.locator("#claims .verdict").first.is_visible()
    assert page.locator(".running .c").first.get_attribute("tabindex") == "0"
    assert page.locator("#figure-graves-04 .drawing svg").is_visible()


@pytest.mark.parametrize("width", [360, 1920])
def test_a_figure_is_enlarged_and_arrows_walk_through_all(opened: Opener, width: int) -> None:
    page, wrong = opened(width=width)
    unfold(page)
    figures = page.locator("figure").count()
    title = page.locator("#slide")
    first, last = (page.locator("figure h3").nth(k).text_content() for k in (0, -1))
    page.locator(".enlarge").first.focus()
    page.keyboard.press("Enter")
    assert title.text_content() == f"{first} (1 of {figures})"
    box = page.locator("dialog .drawing svg").bounding_box()
    assert box and box["width"] >= (540 if width == 360 else 600)
    page.keyboard.press("ArrowLeft")
    assert title.text_content() == f"{last} ({figures} of {figures})"
    assert page.locator("dialog .drawing").count() == 1
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()
    assert page.locator("figure .drawing").count() == figures  # each is back in its place
    assert page.evaluate("document.activeElement.closest('figure').id") == "figure-graves-04"
    page.locator("#figure-graves-06 .drawing").click(position={"x": 120, "y": 120})
    assert page.locator("dialog").is_visible() and "Fig. 6" in (title.text_content() or "")
    assert wrong == []


def test_on_a_phone_contents_stay_and_links_open_what_holds_their_target(opened: Opener) -> None:
    page, wrong = opened(width=360)
    assert page.evaluate("document.documentElement.scrollHeight") < 12 * 900
    page.evaluate("scrollTo(0, 5000)")
    page.locator("nav.contents summary").click()
    page.locator("nav.contents a", has_text="Wikipedia").click()
    top = page.evaluate("document.getElementById('wikipedia').getBoundingClientRect().top")
    bar = page.locator("nav.contents").bounding_box()
    assert bar and bar["height"] < 60 and bar["y"] <= 0 < top < 100
    page.evaluate("location.hash = 'figure-graves-06'")
    page.wait_for_function("document.querySelector('#parity details.fold').open")
    page.evaluate("location.hash = 'settings-wikipedia'")
    page.wait_for_function("document.getElementById('settings-wikipedia').open")
    top = page.evaluate("document.getElementById('settings-wikipedia').getBoundingClientRect().top")
    assert bar["height"] <= top < 100, "the bar hides no target"
    rows = page.locator("#parity .reached tbody tr:not(.group)")
    steps = rows.last.locator("td:visible").nth(2).bounding_box()
    assert steps and steps["x"] + steps["width"] <= 360, "no table loses its steps"
    assert wrong == []


def test_strings_from_files_are_escaped_everywhere(site: Path, html: str) -> None:
    pages = [html, *((site / name).read_text() for name in ("index.html", "quick/provenance.html"))]
    for page in pages:
        assert HOSTILE not in page and "<img src=x" not in page
        assert page.count("<script") == page.count("</script") <= 1
    assert str(escape(HOSTILE)) in pages[0] and str(escape(HOSTILE)) in pages[2]
    markdown = (site / "quick" / "report.md").read_text(encoding="utf-8")
    assert "<script" not in markdown and "<img" not in markdown
    assert escaped("a|b<c>*d*_e_[f]") == r"a\|b&lt;c&gt;\*d\*\_e\_\[f\]"


def test_every_link_leads_somewhere_and_none_abroad(site: Path) -> None:
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    ids = {path: {unquote(i) for i in re.findall(r'\bid="([^"]+)"', text)}
           for path, text in pages.items()}  # fmt: skip
    for path, text in pages.items():
        assert "@import" not in text and "url(http" not in text
        for url in re.findall(r'(?:src|href)="([^"]*)"', text):
            own = url.startswith("data:") or not re.match(r"[a-z]+:|//", url)
            assert own or url in PAPERS.values(), url
        for url in re.findall(r'<a [^>]*href="([^"]*)"|src="([^"]*)"', text):
            if "".join(url) in PAPERS.values():
                continue
            name, _, anchor = "".join(url).partition("#")
            target = (path.parent / unquote(name)).resolve() if name else path
            assert target.exists(), f"{path.name}: {url}"
            if anchor and target in ids:
                assert unquote(anchor) in ids[target], f"{path.name}: {url}"


@pytest.mark.parametrize("page", [None, ROOT / "reports/quick", ROOT / "reports/reduced"])
def test_ids_are_unique_and_every_inner_reference_resolves(html: str, page: Path | None) -> None:
    text = (page / "index.html").read_text(encoding="utf-8") if page else html
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    inner = re.findall(r'url\(#([^)]+)\)|xlink:href="#([^"]+)"', text)
    assert inner and all((a or b) in set(ids) for a, b in inner)


def test_both_pages_tell_what_is_published_and_which_state_crosses(site: Path, html: str) -> None:
    for text in (html, (site / "quick" / "report.md").read_text(encoding="utf-8")):
        assert (
            text.count("of 3 seeds solved the task") == text.count("not the best") == 1
        )  # parity's
        assert text.count("the state of the step at which it halts") == 1  # Wikipedia's alone


def test_markdown_tables_have_as_many_cells_in_every_row(site: Path) -> None:
    text = (site / "quick" / "report.md").read_text(encoding="utf-8")
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert_is_a_table(block)
    images = re.findall(r"\]\((figures/[^)]+)\)", text)
    assert images and all((site / "quick" / name).exists() for name in images)


@pytest.mark.parametrize("profile", ["quick", "reduced"])
def test_published_tables_are_tables(profile: str) -> None:
    text = (ROOT / "reports" / profile / "report.md").read_text(encoding="utf-8")
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert_is_a_table(block)


def assert_is_a_table(block: str) -> None:
    """What Markdown draws as a table: a line of dashes, as many cells in every row."""
    lines = block.splitlines()
    assert re.fullmatch(r"\|( *:?-+:? *\|)+", lines[1]), block
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1, block


def test_every_claim_stands_first_with_its_verdict_figure_and_runs(html: str) -> None:
    assert html.index('id="claims"') < html.index('id="parity"')
    for claim in CLAIMS:
        row = html[html.index(f'<tbody id="claim-{claim.id}">') :]
        row = row[: row.index("</tbody>\n<tbody") if "</tbody>\n<tbody" in row else None]
        assert str(escape(claim.statement)) in row and str(escape(claim.paper_value)) in row
        assert 'class="verdict' in row and "#sign-" in row
    row = html[html.index('<tbody id="claim-G1">') : html.index('<tbody id="claim-G2">')]
    assert 'href="#figure-graves-04"' in row and "provenance.html#parity-act" in row
    assert re.search(r"\d%? \(.+ to .+\)", row) and "3 seeds a setting" in row
    assert re.search(r"Tested on Parity \(elements: 1 to \d+; the paper to 64\)", row)


def test_a_figure_stands_beside_the_paper_its_command_settings_and_runs(
    site: Path, html: str
) -> None:
    figure = html[html.index('id="figure-graves-06"') :]
    figure = figure[: figure.index("</figure>")]
    spec = next(spec for spec in FIGURES if spec.id == "graves-06")
    assert str(escape(spec.paper_value)) in figure
    caption = spec.caption(hostile_results())
    assert caption in figure and caption in (site / "quick/report.md").read_text(encoding="utf-8")
    assert "dvc repro evaluate@quick-parity\ndvc repro report@quick" in figure
    assert 'href="#settings-parity"' in figure and "provenance.html#parity-act" in figure
    assert 'href="figures/graves-06.png"' in figure and "tables/parity.csv" in figure


def test_stand_in_data_are_flagged_and_no_line_breaks_inside_a_number(html: str) -> None:
    assert html.count("Stand-in data") >= 2 + html.count('id="figure-')
    assert re.search(r'<span class="whole">τ = \d+e-\d+</span>', html)
    assert re.search(r'<span class="whole">λp = \d\.\d+</span>', html)


def test_a_text_of_equal_steps_is_folded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("site", "view"):
        monkeypatch.setattr(f"pondering.report.pages.{module}.FIGURES", ())
    settings = load_params(ROOT / "params.yaml", "quick").experiments
    results = hostile_results()
    for steps in (None, 6.0):
        for trace in results.traces["wikipedia"]:
            changed = [s | {"ponder_time": steps or s["ponder_time"]} for s in trace["steps"]]
            trace["steps"] = changed
        build(results, REGISTER, tmp_path / "quick", settings)
        html = (tmp_path / "quick/index.html").read_text()
        assert ("<details><summary>Every character took 6 steps" in html) == (steps is not None)
        assert html.count("<details") == html.count("</details>")


def test_what_was_not_run_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = tuple(spec for spec in FIGURES if spec.id in ("graves-04", "graves-12"))
    for module in ("site", "view"):
        monkeypatch.setattr(f"pondering.report.pages.{module}.FIGURES", chosen)
    settings = load_params(ROOT / "params.yaml", "quick").experiments
    build(hostile_results(), REGISTER, tmp_path / "quick", settings)
    html = (tmp_path / "quick/index.html").read_text()
    part = html[html.index('id="not-run"') :]
    assert "<li>logic</li>" in part and "<li>parity</li>" not in part.lower()
    assert "Graves 2016, Fig. 12. " in part
