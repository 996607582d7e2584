"""The part beyond the papers on the pages: its wide figure, its questions with their figures."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from support import question_cases as cases
from support.published import REGISTER

from pondering.claims.answers import answer
from pondering.report.figures import FIGURES
from pondering.report.pages import build
from pondering.results.results import Results


@pytest.fixture(autouse=True)
def few_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("site", "view"):
        chosen = tuple(spec for spec in FIGURES if spec.id == "beyond-exits")
        monkeypatch.setattr(f"pondering.report.pages.{module}.FIGURES", chosen)


def test_an_answer_has_literature_and_its_figure_or_what_to_run_for_one(tmp_path: Path) -> None:
    found = cases.q6(-0.05, 0.5)
    seen = {"seen": 0.0, "error_seen": 0.0, "error_unseen": 0.0}
    tables = {name: table.assign(**seen) for name, table in found.tables.items()}
    build(dataclasses.replace(found, tables=tables), REGISTER, tmp_path / "reduced", {})
    html = (tmp_path / "reduced/index.html").read_text(encoding="utf-8")
    beyond = html[html.index('<section id="beyond"') :]
    one, other = (beyond[beyond.index(f'id="answer-{name}"') :] for name in ("Q6", "Q7"))
    other = other[: other.index('id="answer-Q8"')]
    one = one[: one.index('id="answer-Q7"')]
    seen_first = one.partition("<details>")[0]
    assert "answered" in seen_first and "(\N{MINUS SIGN}" in seen_first  # an interval
    assert 'href="#figure-question-Q6"' in one and 'id="figure-question-Q6"' in beyond
    assert "TRM (arXiv 2510.04871): Trains this halting and evaluates at a fixed N" in one
    assert f"<p>Why: {REGISTER.cause('reduced', 'Q6')}</p>" in one and "Why: " not in other
    assert "No figure" not in one and "#figure" not in other
    assert '<span class="verdict reproduced">' in seen_first
    section = html[html.index('<section id="comparison"') :].partition("</section>")[0]
    asked = re.search(r"they help to answer\s+(.*?)\.", section, re.S)
    assert asked and re.findall(r'href="#answer-(Q\d)"', asked[1]) == ["Q1", "Q4", "Q6", "Q7", "Q8"]
    assert "<code>dvc repro exits@reduced-comparison_digits</code>" in other
    figure = beyond[beyond.index('<figure id="figure-question-Q6"') :]
    assert "dvc repro exits@reduced-comparison_logic\n" in figure
    markdown = (tmp_path / "reduced/report.md").read_text(encoding="utf-8")
    told = markdown[markdown.index("## Beyond the papers") :]
    assert "(figures/question-Q6.png)" in told
    assert "these runs; they help to answer Q1, Q4, Q6, Q7 and Q8.\n" in markdown
    assert f"  - Why: {REGISTER.cause('reduced', 'Q6')}\n" in told
    assert "  - Others: TRM (arXiv 2510.04871): Trains this halting" in told
    drawn = {path.stem for path in (tmp_path / "reduced/figures").glob("*.svg")}
    assert drawn == {"question-Q6", "question-Q8"}  # whose readouts are those of Q6
    assert told.count("No figure of what decides it yet; for one run `dvc repro exits@") == 6


def test_an_answer_of_which_nothing_holds_is_no_success() -> None:
    found = answer(REGISTER.questions[5], cases.q6(-0.5, -0.5))
    assert found.state == "answered" and not found.holds
    assert answer(REGISTER.questions[5], cases.q6(-0.05, 0.5)).holds


def test_the_figure_of_all_ways_spans_a_page_and_fits_a_phone(
    browser: Browser, results: Results, tmp_path: Path
) -> None:
    alone = dataclasses.replace(results, tables={"comparison": results.tables["comparison"]})
    unasked = REGISTER.model_copy(update={"questions": (), "literature": {}})
    build(alone, unasked, tmp_path / "quick", {})
    for width, shown in ((1280, 1), (360, 0)):
        context = browser.new_context(viewport={"width": width, "height": 900})
        page = context.new_page()
        page.goto((tmp_path / "quick/index.html").as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        figure = page.locator("#figure-beyond-exits")
        widths = figure.evaluate(
            "f => [...f.querySelectorAll('.drawing > *')].map(d => d.getBoundingClientRect().width)"
        )
        across = figure.evaluate("f => f.getBoundingClientRect().width")
        assert len(widths) == 2 and widths[1 - shown] == 0
        assert widths[shown] > 0.95 * across and across > 0.85 * width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        context.close()
    markdown = (tmp_path / "quick/report.md").read_text(encoding="utf-8")
    assert "(figures/beyond-exits-wide.png)" in markdown
