"""A sweep in which some settings name options: through every stage, and to every place of sight."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from support import stages, tiny
from support.argv import refused, shown

from pondering.results.tables import best_setting, headline, per_seed

PONDERNET = {"lambda_p": 0.3, "beta": 0.5, "halt_bias": 1.0}
ACT = {"tau": 0.01, "halt_bias": -3.0}
VARIANTS = {"act": "act[halt_bias=-3]", "pondernet": "pondernet[beta=0.5,halt_bias=1]"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project after training, evaluation and report, with options of some settings."""
    folder = stages.new_project(tmp_path_factory.mktemp("options") / "p")
    shutil.copy(stages.ROOT / "claims.yaml", folder)
    settings = {"act": {"tau": [0.01, ACT, 0.1]}, "pondernet": {"lambda_p": [0.3, PONDERNET]}}
    values = tiny.document(**settings)
    values["parity"] = values.pop("tiny")
    values["parity"]["reduced"] = values["parity"]["quick"]
    tiny.write(folder, values)
    stages.work(folder, "datasets", "train", "evaluate", "report", experiment="parity")
    return folder


def table(root: Path) -> pd.DataFrame:
    """The evaluation's rows."""
    return pd.read_csv(root / "data/results/quick/tables/parity.csv")


def test_rows_with_options_stand_beside_the_others(project: Path) -> None:
    found = table(project)
    for name, variant in VARIANTS.items():
        own = found[found["mechanism"] == variant]
        setting = {"act": 0.01, "pondernet": 0.3}[name]
        assert set(zip(own["setting"], own["seed"], strict=True)) == {(setting, 0), (setting, 7)}
        plain = found[(found["mechanism"] == name) & (found["setting"] == setting)]
        assert (own["loss"].to_numpy() != plain["loss"].to_numpy()).all()
        curves = pd.read_csv(project / f"data/results/quick/curves/parity/{name}.csv")
        assert set(curves["mechanism"]) == {name, variant}
    metrics = json.loads((project / "reports/quick/metrics/parity.json").read_text())
    plain = per_seed(headline(found[found["mechanism"] == "act"]))
    best = plain[plain["setting"] == best_setting(plain, "act")]["error"].mean()
    assert metrics["act"] == pytest.approx(best, abs=1e-4), "options are another mechanism"


def test_records_keep_options_and_only_what_has_none_is_published_and_traced(
    project: Path, tmp_path: Path
) -> None:
    record = json.loads((project / "data/results/quick/networks/parity/act/run.json").read_text())
    assert [each.get("options") for each in record["replicas"]] == [
        None, None, {"halt_bias": -3.0}, {"halt_bias": -3.0}, None, None,
    ]  # fmt: skip
    assert record["config"]["act"]["tau"] == [0.01, ACT, 0.1]
    reports = project / "data/results/quick"
    copy = shutil.copytree(project, tmp_path / "copy")
    for name in VARIANTS:
        published = json.loads(
            (stages.published(copy) / f"models/parity/{name}/run.json").read_text()
        )
        assert "options" not in published["replicas"][0]
    traces = json.loads((reports / "traces/parity.json").read_text())["traces"]
    assert {trace["mechanism"] for trace in traces} == {"act", "pondernet"}


def test_pages_name_them_and_the_papers_figures_leave_them_out(project: Path) -> None:
    reports = project / "data/results/quick"
    for page in ("index.html", "report.md"):
        text = (reports / page).read_text().replace("\\_", "_")  # as Markdown has it
        assert "ACT, halt_bias -3" in text and "PonderNet, beta 0.5, halt_bias 1" in text
    rows = re.findall(r"^\| ((?:ACT|PonderNet)[^|]*) \| [τλ]p? = 0\.\d+ ", text, re.MULTILINE)
    assert list(dict.fromkeys(rows)) == [
        "ACT", "ACT, halt_bias -3", "PonderNet", "PonderNet, beta 0.5, halt_bias 1",
    ]  # fmt: skip
    drawn = sorted((reports / "figures").glob("*.svg"))
    naming = [path.stem for path in drawn if "halt_bias" in path.read_text()]
    assert naming == ["beyond-pondernet"] and len(drawn) > 1


def test_one_with_options_is_shown_by_its_name(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    show = ("show", "parity", "--mechanism")
    assert "act, tau 0.01, seed 0" in shown(*show, "act", "--setting", "0.01")
    named = shown(*show, "act[halt_bias=-3]")
    assert "act, tau 0.01, halt_bias -3, seed 0; on the test set: error" in named
    said = "act[halt_bias=-4] is not trained; there are: act, act[halt_bias=-3]"
    assert refused(*show, "act[halt_bias=-4]") == f"error: {said}\n"
    said = "parity/pondernet[beta=0.5,halt_bias=1]: no such network; there are: 0.3 seed 0, "
    said += "0.3 seed 7"
    none = refused(*show, "pondernet[halt_bias=1.0,beta=0.50]", "--setting", "0.6")
    assert none == f"error: {said}\n"
