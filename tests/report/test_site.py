"""Building the report: stable bytes, missing parts, searches, and the page that leads to it."""

from __future__ import annotations

import dataclasses
import json
import shutil
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner
from markupsafe import escape
from support.published import CLAIMS, REGISTER, ROOT, hostile_results, publish
from support.synthetic_results import card_of

from pondering.claims.claims import Amendment
from pondering.claims.verdicts import MEANINGS, VERDICTS
from pondering.params.read import load_params
from pondering.project.errors import UserError
from pondering.report import pages
from pondering.report.figures import FIGURES
from pondering.report.pages import build, build_index
from pondering.report.pages.searches import SearchLink, searches
from pondering.report.pages.site import VERDICT_CLASS, VERDICT_SIGN
from pondering.results.results import Results

STABLE = ("index.html", "report.md", "claims.json")


@pytest.fixture
def few_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two figures instead of all, for tests that build a report of their own."""
    chosen = tuple(spec for spec in FIGURES if spec.id in ("graves-04", "graves-06"))
    for module in ("site", "view"):
        monkeypatch.setattr(f"pondering.report.pages.{module}.FIGURES", chosen)


@pytest.fixture
def parity() -> Results:
    """Results of parity alone."""
    source = hostile_results()
    return dataclasses.replace(source, tables={"parity": source.tables["parity"]})


def _claims_json(folder: Path, profile: str, **more: object) -> None:
    path = folder / profile / "claims.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"profile": profile, "unfinished": [], "missing": [],
               "claims": [{"id": "G1", "title": "T", "verdict": "partly"}]}  # fmt: skip
    path.write_text(json.dumps(content | more))


@pytest.mark.usefixtures("few_figures")
def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = (publish(hostile_results(), tmp_path / name) for name in ("one", "two"))
    names = [*STABLE, *(f"figures/{path.name}" for path in (first / "figures").iterdir())]
    assert len(names) == len(STABLE) + 4
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


def test_without_any_result_the_report_says_so_and_old_figures_go(tmp_path: Path) -> None:
    stale = tmp_path / "quick" / "figures" / "graves-99.svg"
    stale.parent.mkdir(parents=True)
    stale.touch()
    settings = load_params(ROOT / "params.yaml", "quick").experiments
    page = build(Results("quick"), REGISTER, tmp_path / "quick", settings)
    assert page.counts["not run"] == len(CLAIMS)
    assert page.absent == tuple(settings) and page.sections == ()
    assert "have no results" in (tmp_path / "quick" / "index.html").read_text()
    assert not stale.exists()


@pytest.mark.parametrize(
    ("verdict", "first"),
    [("not reproduced", "reduced"), ("cannot be judged at this scale", "quick")],
)
def test_the_index_leads_to_the_profile_that_judges_most(
    tmp_path: Path, verdict: str, first: str
) -> None:
    _claims_json(tmp_path, "quick")
    claims = [{"id": "G1", "title": "T", "verdict": verdict}]
    _claims_json(tmp_path, "reduced", missing=["sort"], claims=claims)
    build_index(tmp_path)
    text = (tmp_path / "index.html").read_text()
    other = {"quick": "reduced", "reduced": "quick"}[first]
    assert text.index(f"{first}/index.html") < text.index(f"{other}/index.html")
    assert "Not finished" in text


def test_the_index_without_reports_says_so(tmp_path: Path) -> None:
    build_index(tmp_path)
    assert "No report yet" in (tmp_path / "index.html").read_text()


@pytest.mark.usefixtures("few_figures")
def test_the_page_says_when_what_it_judges_by_was_registered(
    parity: Results, tmp_path: Path
) -> None:
    folder, registered = tmp_path / "quick", REGISTER.registered

    def pages(**more: object) -> tuple[str, str]:
        found = {"on": registered.on, "sha256": REGISTER.content_hash()}
        fixed = registered.model_copy(update=found)
        register = REGISTER.model_copy(update={"registered": fixed, "changes": ()} | more)
        build(parity, register, folder, {})
        return (folder / "index.html").read_text(), (folder / "report.md").read_text()

    for text in pages():
        assert "fixed before the runs" in text and "registered on 2026-11-23" in text
        assert REGISTER.content_hash()[:12] in text and "They have not changed since" in text
        assert "Changed without" not in text and "before any report was published" in text
        assert "Questions beyond the papers" in text and "is no evidence" in text
        assert REGISTER.questions[7].question in text
    found = REGISTER.content_hash()
    change = Amendment(on=date(2026, 12, 1), sha256=found, of=("G1", "Q2"), what="milder now")
    for text in pages(changes=(change,)):
        assert "from then on), G1, Q2: milder now" in text and "They have not changed" not in text
        assert text.count("; changed 2026-12-01") == text.count("Changed 2026-12-01") == 1
    for text in pages(questions=REGISTER.questions[:7]):
        assert "Changed without registration" in text and "taken out: Q8" in text
        assert "They have not changed" not in text
        hidden = REGISTER.model_copy(update={"questions": REGISTER.questions[:7]})
        assert hidden.content_hash() in text


def test_every_verdict_is_drawn_and_explained(tmp_path: Path) -> None:
    build(Results("quick"), REGISTER, tmp_path / "quick", {})
    page = (tmp_path / "quick/index.html").read_text()
    text = (tmp_path / "quick/report.md").read_text()
    for verdict, meaning in MEANINGS.items():
        kind = VERDICT_CLASS[verdict]
        assert page.count(f'id="sign-{kind}"') == 1 and f".verdict.{kind} {{" in page
        assert f"<strong>{verdict.capitalize()}</strong>: {escape(meaning)}." in page
        assert f"- {VERDICT_SIGN[verdict]} {verdict}: {meaning}." in text
    assert len(set(VERDICT_CLASS.values())) == len(set(VERDICT_SIGN.values())) == len(VERDICTS)


@pytest.mark.usefixtures("few_figures")
def test_a_section_links_to_the_searches_beside_it(parity: Results, tmp_path: Path) -> None:
    folder = tmp_path / "quick" / "search"
    folder.mkdir(parents=True)
    for name in ("parity-act-rates", "parity-act", "parity-new"):
        (folder / f"{name}.png").write_bytes(b"")
    training = {"learning_rate": 0.003}
    record = {"config": {"act": {"tau": [0.001]}, "training": training, "seeds": [0, 1]},
              "rates": [0.001, 0.003], "updates": 9000}  # fmt: skip
    (folder / "parity-act-rates.json").write_text(json.dumps(record))
    with pytest.raises(UserError, match=r"rates\.csv: no such file, though parity-act-rates\.json"):
        build(parity, REGISTER, tmp_path / "quick", {})
    for name in ("parity-act-rates.csv", "parity-late.csv"):
        (folder / name).write_bytes(b"")
    (folder / "parity-late.json").write_text("no figure yet, so that it is not read")
    section = build(parity, REGISTER, tmp_path / "quick", {}).sections[0]
    words = "τ = 1e-3 at learning rates 1e-3 and 3e-3, seeds 0 and 1, 9,000 updates"
    assert section.searches == (SearchLink("ACT", words, "search/parity-act-rates.png"),)
    page = (tmp_path / "quick" / "index.html").read_text()
    assert f'<a href="search/parity-act-rates.png">ACT</a>: {words}' in page
    text = (tmp_path / "quick" / "report.md").read_text()
    assert f"[ACT](search/parity-act-rates.png): {words}" in text
    (folder / "parity-act-rates.json").write_text("[]")
    with pytest.raises(UserError, match=r"rates\.json: not a record of a search"):
        build(parity, REGISTER, tmp_path / "quick", {})


def test_a_screen_lists_its_losers_too(tmp_path: Path) -> None:
    plan = {"arms": {"today": {}, "new": {}}, "seeds": [1000, 1001], "updates": 9000}
    record = {"plan": plan | {"solved_below": 0.05}, "parts": {}}
    (tmp_path / "parity-recipe.json").write_text(json.dumps(record))
    (tmp_path / "parity-recipe.png").write_bytes(b"")
    errors = {"today": (0.3, ""), "new": (0.01, 0.04)}  # one diverged
    rows = [f"{arm},act,0.001,{1000 + seed},9000,0.1,{error},2"
            for arm, found in errors.items() for seed, error in enumerate(found)]  # fmt: skip
    rows += [f"{arm},repeat,1,1000,9000,0.1,0.3,1" for arm in errors]  # not counted
    head = "arm,mechanism,setting,seed,update,loss,error,ponder_time"
    (tmp_path / "parity-recipe.csv").write_text("\n".join([head, *rows]))
    ((link,),) = searches(tmp_path).values()
    assert link.words.endswith(
        "9,000 updates; networks that solved the task in training, the best recipe first, by the "
        "median error where 2 networks or fewer lie between: new: 2 of 2; today: 0 of 2"
    )


@pytest.mark.usefixtures("few_figures")
def test_the_stage_works_when_only_some_experiments_exist(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("params.yaml", "claims.yaml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    table = results.tables["parity"]
    (tmp_path / "reports/quick/tables").mkdir(parents=True)
    table.to_csv(tmp_path / "reports/quick/tables/parity.csv", index=False)
    (tmp_path / "reports/quick/cards").mkdir()
    content = dataclasses.asdict(card_of("parity"))
    (tmp_path / "reports/quick/cards/parity.json").write_text(json.dumps(content))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PONDERING_TRACKING", "off")
    monkeypatch.syspath_prepend(str(ROOT / "pipeline"))
    import report as script

    done = CliRunner().invoke(script.main, ["--profile", "quick"])
    assert done.exit_code == 0, done.output
    assert "reports/quick/index.html" in done.output
    assert (tmp_path / "reports" / "index.html").exists()
    wrong = CliRunner().invoke(script.main, ["--profile", "huge"])
    assert wrong.exit_code == 2 and "error: " in wrong.output and "huge" in wrong.output


@pytest.mark.usefixtures("few_figures")
def test_settings_are_those_of_the_evaluation_not_of_an_edit_since(
    results: Results, tmp_path: Path
) -> None:
    for name in ("params.yaml", "claims.yaml", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    home = tmp_path / "reports/quick"
    for kind in ("tables", "cards", "provenance"):
        (home / kind).mkdir(parents=True)
    results.tables["parity"].to_csv(home / "tables/parity.csv", index=False)
    (home / "cards/parity.json").write_text(json.dumps(dataclasses.asdict(card_of("parity"))))
    record = home / "provenance/parity.json"
    evaluated = json.loads((ROOT / "reports/quick/provenance/parity.json").read_text())
    evaluated["config"]["network"]["hidden"] = 77
    record.write_text(json.dumps(evaluated))
    pages.publish(tmp_path, "quick", {})
    assert "| tanh recurrent network, 77 units |" in (home / "report.md").read_text()
    record.unlink()  # of an evaluation without a record the parameters speak
    pages.publish(tmp_path, "quick", {})
    assert "| tanh recurrent network, 77 units |" not in (home / "report.md").read_text()
