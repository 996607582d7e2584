"""The page of a profile: its text and its links."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from markupsafe import escape
from support.published import HOSTILE, REGISTER, hostile_results, hostile_site

from pondering.report.pages.names import PAPERS
from pondering.report.pages.site import escaped
from pondering.report.pages.view import MOST_FIGURES


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published report of three experiments, and the index page."""
    return hostile_site(tmp_path_factory.mktemp("project") / "reports")


@pytest.fixture(scope="module")
def html(site: Path) -> str:
    return (site / "quick/index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def markdown(site: Path) -> str:
    return (site / "quick/report.md").read_text(encoding="utf-8")


def section_of(html: str, name: str) -> str:
    return html[html.index(f'<section id="{name}"') :].partition("</section>")[0]


def test_claims_stand_first_and_their_details_in_the_section_of_the_task(html: str) -> None:
    assert html.index('id="claims"') < html.index('<section id="parity"')
    for claim in REGISTER.claims:
        row = html[html.index(f'<tr id="claim-{claim.id}">') :].partition("</tr>")[0]
        assert str(escape(claim.title)) in row and 'class="verdict' in row
    judged = section_of(html, "parity").partition('id="judged-G1"')[2].partition("</article>")[0]
    (claim,) = [each for each in REGISTER.claims if each.id == "G1"]
    assert str(escape(claim.statement)) in judged and 'class="criteria ' in judged
    assert '<a href="#judged-G1">' in html


def test_a_section_has_a_row_a_method_and_folds_the_rest(html: str) -> None:
    first, _, folded = section_of(html, "parity").partition('<details id="runs-parity">')
    assert len(re.findall(r'<th scope="row">', first)) < len(
        re.findall(r'<th scope="row">', folded)
    )
    assert first.partition("more figure")[0].count("<figure") <= MOST_FIGURES
    assert "commit 3f9c2ab" in folded and "66.7 min" in folded
    assert 'href="tables/parity.csv"' in folded and 'href="curves/parity/act.csv"' in folded


def test_markdown_has_the_same_verdicts_tables_and_figures(site: Path, markdown: str) -> None:
    for claim in REGISTER.claims:
        assert f"| {claim.id} " in markdown
    for block in re.findall(r"(?:^\|.*\n)+", markdown, re.MULTILINE):
        lines = block.splitlines()
        assert re.fullmatch(r"\|( *:?-+:? *\|)+", lines[1]), block
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1, block
    images = re.findall(r"\]\((figures/[^)]+)\)", markdown)
    assert images and all((site / "quick" / name).exists() for name in images)


def test_strings_from_files_are_escaped_everywhere(site: Path, html: str, markdown: str) -> None:
    for page in (html, (site / "index.html").read_text(encoding="utf-8")):
        assert HOSTILE not in page
        assert page.count("<script") == page.count("</script") <= 1
    assert html.count(str(escape(HOSTILE))) > 3
    assert "<script" not in markdown
    assert escaped("a|b<c>*d*_e_[f]") == r"a\|b&lt;c&gt;\*d\*\_e\_\[f\]"


def test_stand_in_data_are_flagged(html: str, markdown: str) -> None:
    for text in (html, markdown):
        assert text.count("Stand-in data") == 1 + len(hostile_results().tables)


def test_every_link_leads_somewhere_and_ids_are_unique(site: Path) -> None:
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    ids = {path: [unquote(i) for i in re.findall(r'\bid="([^"]+)"', text)]
           for path, text in pages.items()}  # fmt: skip
    for path, text in pages.items():
        assert len(ids[path]) == len(set(ids[path]))
        for url in re.findall(r'(?:src|href)="([^"#]*(?:#[^"]+)?)"', text):
            if url in PAPERS.values() or url.startswith("data:"):
                continue
            name, _, anchor = url.partition("#")
            target = (path.parent / unquote(name)).resolve() if name else path
            assert target.exists(), f"{path.name}: {url}"
            assert not anchor or unquote(anchor) in ids[target], f"{path.name}: {url}"
