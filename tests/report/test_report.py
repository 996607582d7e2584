"""Building the report: stable bytes, missing parts, the leading page, tables and texts."""

from __future__ import annotations

import dataclasses
import json
import math
import xml.etree.ElementTree
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.claim_tables import results
from support.published import CLAIMS, ROOT, hostile_results, publish
from support.synthetic_results import card_of, made_up_results

from pondering.params.read import load_params
from pondering.project.errors import UserError
from pondering.report.figures import FIGURES
from pondering.report.pages import build, build_index
from pondering.report.pages.searches import SearchLink
from pondering.report.pages.summary import seeds_in_words, settings_in_words, summary_rows
from pondering.report.pages.svg import inline
from pondering.report.pages.tint import tinted_texts

STABLE = ("index.html", "report.md", "claims.json")


@pytest.fixture
def few_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two figures instead of all, for tests that build a report of their own."""
    chosen = tuple(spec for spec in FIGURES if spec.id in ("graves-04", "graves-06"))
    for module in ("site", "view"):
        monkeypatch.setattr(f"pondering.report.pages.{module}.FIGURES", chosen)


def _claims_json(folder: Path, profile: str, **more: object) -> None:
    path = folder / profile / "claims.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    verdicts = ["reproduced", "partly", "not reproduced", "cannot be judged at this scale",
                "not run"]  # fmt: skip
    content = {"profile": profile, "unfinished": [], "missing": [],
               "counts": dict.fromkeys(verdicts, 0) | {"partly": 1},
               "claims": [{"id": "G1", "title": "T", "verdict": "partly"}]}  # fmt: skip
    path.write_text(json.dumps(content | more))


def test_claims_name_figures_that_exist() -> None:
    known = {spec.id for spec in FIGURES}
    for claim in CLAIMS:
        assert claim.figures and set(claim.figures) <= known, claim.id


@pytest.mark.usefixtures("few_figures")
def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = (publish(hostile_results(), tmp_path / name) for name in ("one", "two"))
    names = [*STABLE, *(f"figures/{path.name}" for path in (first / "figures").iterdir())]
    assert len(names) == len(STABLE) + 4
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


def test_an_earlier_reports_figures_go_away(tmp_path: Path) -> None:
    stale = tmp_path / "quick" / "figures" / "graves-99.svg"
    stale.parent.mkdir(parents=True)
    stale.write_text("<svg></svg>")
    build(results([], profile="quick"), CLAIMS, tmp_path / "quick")
    assert not stale.exists()


def test_without_any_result_the_report_says_so(tmp_path: Path) -> None:
    settings = load_params(ROOT / "params.yaml", "quick").experiments
    page = build(results([], profile="quick"), CLAIMS, tmp_path / "quick", settings)
    assert dict((words, count) for words, _, _, count in page.counts)["not run"] == len(CLAIMS)
    assert len(page.absent) == 10 and page.sections == ()
    assert "have no results" in (tmp_path / "quick" / "index.html").read_text()


@pytest.mark.parametrize(
    ("unfinished", "missing", "first"),
    [([], [], "reduced"), (["sort"], [], "quick"), ([], ["sort"], "quick")],
)
def test_the_index_leads_to_the_largest_finished_profile(
    tmp_path: Path, unfinished: list[str], missing: list[str], first: str
) -> None:
    _claims_json(tmp_path, "quick")
    _claims_json(tmp_path, "reduced", unfinished=unfinished, missing=missing)
    assert build_index(tmp_path) == first
    text = (tmp_path / "index.html").read_text()
    other = {"quick": "reduced", "reduced": "quick"}[first]
    assert text.index(f"{first}/index.html") < text.index(f"{other}/index.html")
    assert ("Not finished" in text) == (first == "quick")


def test_the_index_without_reports_and_with_a_broken_one(tmp_path: Path) -> None:
    assert build_index(tmp_path) is None
    assert "No report yet" in (tmp_path / "index.html").read_text()
    _claims_json(tmp_path, "quick")
    (tmp_path / "quick" / "claims.json").write_text("{}")
    with pytest.raises(UserError, match=r"claims\.json: not a claims\.json of this project"):
        build_index(tmp_path)


def test_a_summary_counts_failures_and_keeps_pondernets_two_predictions() -> None:
    table = made_up_results(seeds=4).tables["parity"]
    gone = (table["mechanism"] == "act") & (table["seed"] == 3)
    table.loc[gone, ["status", "error", "ponder_time"]] = ["diverged", 1.0, math.nan]
    found = {row.setting: row for row in summary_rows(table, "parity", card_of("parity"))}
    act = found["τ = 1e-3"]
    assert (act.seeds, act.diverged, act.solved) == (4, 1, "3 of 4")
    assert float(act.error.split()[0]) > 25
    assert {"λp = 0.1", "λp = 0.1, expectation"} <= set(found)
    assert found["ρ = 1 (plain)"].diverged == 0  # noqa: RUF001


def test_settings_are_put_into_words() -> None:
    config = load_params(ROOT / "params.yaml", "reduced").experiments["parity"]
    table, card = made_up_results().tables["parity"], card_of("parity")
    lines = dict(settings_in_words(table, card, config))
    assert lines["Data"] == card.what
    task = "layout: leading; bits: 64; nonzero in training: 1 to 64; nonzero in tests: 1 to 64"
    assert lines["Task"] == task
    assert lines["Network"] == f"tanh recurrent network, {config.network.hidden} units"
    assert f"{config.training.batch} examples" in lines["Training"]
    assert lines["ACT"] == "τ = 1e-3, 3e-3, 0.01, 0.1"


def test_seeds_are_said_once_where_every_setting_has_as_many() -> None:
    table = made_up_results(seeds=3).tables["parity"].assign(status="finished")
    assert (
        seeds_in_words(summary_rows(table, "parity", card_of("parity")))
        == "3 seeds a setting, none of them diverged."
    )
    table.loc[(table["mechanism"] == "act") & (table["seed"] == 0), "status"] = "diverged"
    assert seeds_in_words(summary_rows(table, "parity", card_of("parity"))) == ""


@pytest.mark.usefixtures("few_figures")
def test_a_section_links_to_the_searches_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "quick" / "search"
    folder.mkdir(parents=True)
    for name in ("parity-act-rates", "parity-act", "parity-new"):
        (folder / f"{name}.png").write_bytes(b"")
    training = {"learning_rate": 0.003}
    record = {"config": {"act": {"tau": [0.001]}, "training": training, "seeds": [0, 1]},
              "rates": [0.001, 0.003], "updates": 9000}  # fmt: skip
    (folder / "parity-act-rates.json").write_text(json.dumps(record))
    source = hostile_results()
    part = dataclasses.replace(source, tables={"parity": source.tables["parity"]})
    section = build(part, CLAIMS, tmp_path / "quick").sections[0]
    words = "τ = 1e-3 at learning rates 1e-3 and 3e-3, seeds 0 and 1, 9,000 updates"
    assert section.searches == (SearchLink("ACT", words, "search/parity-act-rates.png"),)
    page = (tmp_path / "quick" / "index.html").read_text()
    assert f'<a href="search/parity-act-rates.png">ACT</a>: {words}' in page
    (folder / "parity-act-rates.json").write_text("[]")
    with pytest.raises(UserError, match=r"rates\.json: not a record of a search"):
        build(part, CLAIMS, tmp_path / "quick")


def test_a_svg_becomes_an_element_whose_style_stays_its_own() -> None:
    svg = (
        '<?xml version="1.0"?><!DOCTYPE svg><svg xmlns:xlink="x" width="360pt" height="2pt" '
        'viewBox="0 0 3 2" xmlns="http://www.w3.org/2000/svg" version="1.1"><metadata>1</metadata>'
        '<defs><style type="text/css">*{stroke-linejoin: round}</style></defs>'
        '<g id="a"><use xlink:href="#a" clip-path="url(#b)"/></g></svg>'
    )
    found = inline(svg, "fig", "Alt &lt;b&gt;")
    assert xml.etree.ElementTree.fromstring(found).get("viewBox") == "0 0 3 2"
    assert 'id="fig-a"' in found and '"#fig-a"' in found and "url(#fig-b)" in found
    assert "<style>#fig * {" in found and "metadata" not in found and "width=" not in found
    with pytest.raises(ValueError, match="not an SVG"):
        inline("<html>", "fig", "")


def test_tints_run_from_the_fewest_to_the_most_steps() -> None:
    steps = [{"input": c, "target": "x", "ponder_time": n, "loss": 0.5}
             for c, n in (("a", 1.0), (" ", 3.0), ("\n", 2.0))]  # fmt: skip
    trace = {"kind": "text", "mechanism": "act", "setting": 0.006, "seed": 0, "steps": steps}
    text = tinted_texts([trace], lambda mechanism, value: f"{value:g}", {"act": "ACT"})[0]
    assert [one.level for one in text.characters] == [0, 10, 5]
    assert (text.low, text.high, text.characters[2].shown) == ("1.00", "3.00", "↵\n")
    assert text.characters[1].label.startswith("space → “x” · N 3.00 · loss 0.50")
    assert text.constant == "" and text.title == "ACT, 0.006: reading 1 of 1, by seed 0"


def test_a_text_of_equal_steps_says_so_and_no_seed_is_picked() -> None:
    steps = [{"input": "a", "target": "x", "ponder_time": 6.0}]
    traces = [{"kind": "text", "mechanism": "act", "setting": 0.006, "seed": seed, "steps": each}
              for seed in (1, 0) for each in (steps, 2 * steps)]  # fmt: skip
    first, second = tinted_texts(traces, lambda m, v: "τ", {"act": "ACT"}, {"act": 6})
    assert first.title == "ACT, τ: reading 1 of 2, by seed 0" and len(first.characters) == 1
    assert second.title == "ACT, τ: reading 2 of 2, by seed 1"
    assert first.constant == "Every character took 6 steps (the cap)."
    wider = tinted_texts(traces, lambda m, v: "τ", {"act": "ACT"}, {"act": 7})
    assert wider[0].constant == "Every character took 6 steps."


@pytest.mark.usefixtures("few_figures")
def test_a_page_too_heavy_refers_to_its_largest_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pondering.report.pages.site.PAGE_LIMIT", 30_000)
    source = hostile_results()
    part = dataclasses.replace(source, tables={"parity": source.tables["parity"]})
    page = build(part, CLAIMS, tmp_path / "quick")
    views = [view for section in page.sections for view in section.figures]
    assert {view.svg is None for view in views} == {True, False}
    assert 'alt="Graves 2016' in (tmp_path / "quick" / "index.html").read_text()


@pytest.mark.parametrize("name", ["parity-act", "parity"])
def test_a_broken_provenance_file_is_one_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / "quick" / "provenance" / f"{name}.json"
    path.parent.mkdir(parents=True)
    path.write_text("[1]")
    with pytest.raises(UserError, match="must hold an object"):
        build(results([], profile="quick"), CLAIMS, tmp_path / "quick")


@pytest.mark.usefixtures("few_figures")
def test_the_stage_works_when_only_some_experiments_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("params.yaml", "claims.yaml"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    table = made_up_results().tables["parity"]
    (tmp_path / "reports/quick/tables").mkdir(parents=True)
    table.to_csv(tmp_path / "reports/quick/tables/parity.csv", index=False)
    (tmp_path / "reports/quick/cards").mkdir()
    content = dataclasses.asdict(card_of("parity"))
    (tmp_path / "reports/quick/cards/parity.json").write_text(json.dumps(content))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT / "pipeline"))
    import report as script

    done = CliRunner().invoke(script.main, ["--profile", "quick"])
    assert done.exit_code == 0, done.output
    assert "reports/quick/index.html" in done.output
    assert (tmp_path / "reports" / "index.html").exists()
    wrong = CliRunner().invoke(script.main, ["--profile", "huge"])
    assert wrong.exit_code == 2 and "error: " in wrong.output and "huge" in wrong.output
