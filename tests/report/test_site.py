"""Building the report: stable bytes, missing parts, and the index page."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
from markupsafe import escape
from support import question_cases as cases
from support.argv import output, refusal
from support.published import REGISTER, ROOT, hostile_results, publish
from support.synthetic_results import card_of

from pondering.claims.claims import Outcome
from pondering.claims.words import MEANINGS, VERDICTS
from pondering.params.read import load_params
from pondering.project.paths import PUBLISHED, Layout
from pondering.report import pages
from pondering.report.figures import FIGURES
from pondering.report.pages import build, build_index, names
from pondering.results.results import Results


@pytest.fixture(autouse=True)
def few_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two figures instead of all."""
    chosen = tuple(spec for spec in FIGURES if spec.id in ("graves-04", "graves-06"))
    for module in ("site", "view"):
        monkeypatch.setattr(f"pondering.report.pages.{module}.FIGURES", chosen)


def _claims_json(folder: Path, profile: str, **more: object) -> None:
    path = folder / profile / "claims.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"profile": profile, "unfinished": [], "missing": [],
               "claims": [{"id": "G1", "title": "T", "verdict": VERDICTS[1]}]}  # fmt: skip
    path.write_text(json.dumps(content | more))


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = (
        publish(hostile_results(), tmp_path / name / "reports") for name in ("one", "two")
    )
    found = ["index.html", "report.md", "claims.json"]
    found += [f"figures/{path.name}" for path in (first / "figures").iterdir()]
    assert len(found) == 3 + 2
    for name in found:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


def test_without_results_the_report_says_so_and_older_pictures_stay(tmp_path: Path) -> None:
    layout = Layout(tmp_path, "quick", PUBLISHED)
    frozen = layout.report / "figures/an-older-one.svg"
    frozen.parent.mkdir(parents=True)
    frozen.touch()
    settings = load_params(ROOT / "params.yaml", "quick").experiments
    page = build(Results("quick"), REGISTER, layout, settings)
    assert {view.judgement.verdict for view in page.claims} == {"undecided"}
    assert page.absent == tuple(settings) and page.sections == () and page.story == ()
    assert "Not run in this profile" in (layout.report / "index.html").read_text()
    assert frozen.exists()


def test_an_unfinished_and_a_diverged_training_are_marked(tmp_path: Path) -> None:
    source = hostile_results()
    table = source.tables["parity"]
    act = (table["mechanism"] == "act") & (table["seed"] == 0)
    tables = {"parity": table.assign(status=table["status"].mask(act, "running"))}
    layout = Layout(tmp_path, "quick", PUBLISHED)
    build(dataclasses.replace(source, tables=tables), REGISTER, layout, {})
    html, markdown = ((layout.report / name).read_text() for name in ("index.html", "report.md"))
    assert "Unfinished:" in html and "Unfinished:" in markdown and "1 diverged" in html


@pytest.mark.parametrize(
    ("verdict", "first"), [(VERDICTS[2], "reduced"), ("too small to tell", "quick")]
)
def test_the_index_begins_with_the_profile_that_decides_most(
    tmp_path: Path, verdict: str, first: str
) -> None:
    _claims_json(tmp_path, "quick", story=["A story of quick."])
    claims = [{"id": "G1", "title": "T", "verdict": verdict}]
    story = ["A story of reduced."]
    _claims_json(tmp_path, "reduced", missing=["sort"], claims=claims, story=story)
    build_index(tmp_path, {})
    text = (tmp_path / "index.html").read_text()
    other = {"quick": "reduced", "reduced": "quick"}[first]
    assert text.index(f"{first}/index.html") < text.index(f"{other}/index.html")
    assert "not finished" in text
    assert f"A story of {first}." in text and f"A story of {other}." not in text


def test_the_index_without_reports_says_so(tmp_path: Path) -> None:
    build_index(tmp_path, {})
    assert "No report yet" in (tmp_path / "index.html").read_text()


def test_every_verdict_and_outcome_has_a_colour_and_every_verdict_a_meaning(tmp_path: Path) -> None:
    layout = Layout(tmp_path, "quick", PUBLISHED)
    build(Results("quick"), REGISTER, layout, {})
    page = (layout.report / "index.html").read_text()
    for verdict in VERDICTS:
        assert f".{names.COLOURS[verdict]} {{" in page
        assert (
            f"{names.SIGNS[verdict]}</span> {verdict}</span>: {escape(MEANINGS[verdict])}." in page
        )
    assert {*names.SIGNS} == {*VERDICTS} and {*Outcome.__args__} <= {*names.COLOURS}


def test_a_question_has_its_figure_and_cause_on_the_page(tmp_path: Path) -> None:
    found = cases.q6(-0.05, 0.5)
    columns = {"seen": 0.0, "error_seen": 0.0, "error_unseen": 0.0}
    tables = {name: table.assign(**columns) for name, table in found.tables.items()}
    layout = Layout(tmp_path, "reduced", PUBLISHED)
    build(dataclasses.replace(found, tables=tables), REGISTER, layout, {})
    html = (layout.report / "index.html").read_text(encoding="utf-8")
    answer = html.partition('id="judged-Q6"')[2].partition("</article>")[0]
    assert 'id="figure-question-Q6"' in answer and 'class="criteria ' in answer
    (claim,) = (each for each in REGISTER.claims if each.id == "Q6")
    assert claim.remark and claim.remark.cause in answer


@pytest.fixture
def layout(results: Results, tmp_path: Path) -> Layout:
    """A project in which parity alone was evaluated."""
    for name in ("params.yaml", "claims.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    layout = Layout(tmp_path, "quick")
    for path in (layout.table("parity"), layout.card("parity"), layout.provenance("parity")):
        path.parent.mkdir(parents=True)
    results.tables["parity"].to_csv(layout.table("parity"), index=False)
    layout.card("parity").write_text(json.dumps(dataclasses.asdict(card_of("parity"))))
    return layout


def test_the_stage_works_when_only_some_experiments_exist(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(layout.root)
    monkeypatch.setenv("PONDERING_TRACKING", "off")
    output("report.py", "--profile", "quick")
    html = (layout.report / "index.html").read_text()
    assert html.count('<tr id="claim-') == len(REGISTER.claims)
    assert (layout.root / "reports/index.html").exists()
    assert "huge" in refusal("report.py", "--profile", "huge")


def test_the_page_shows_the_settings_of_the_evaluation(layout: Layout) -> None:
    evaluated = json.loads((ROOT / "reports/reduced/provenance/parity.json").read_text())
    evaluated["config"]["network"]["hidden"] = 77
    layout.provenance("parity").write_text(json.dumps(evaluated))
    pages.write_pages(layout.root, "quick", {})
    assert "of 77 units" in (layout.report / "index.html").read_text()
    layout.provenance("parity").unlink()  # without a record the page shows params.yaml
    pages.write_pages(layout.root, "quick", {})
    assert "of 77 units" not in (layout.report / "index.html").read_text()
