"""dvc.yaml: every experiment with its files, stages that hand on what they write, plain DVC."""

from __future__ import annotations

import configparser
import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from ruamel.yaml import YAML
from support import tiny
from support.repository import commit

from pondering.data.frozen import card, freeze
from pondering.params.read import PROFILES, load_params
from pondering.project.paths import RESULTS, Layout
from pondering.tasks import make_task

ROOT = Path(__file__).parents[2]
FILE: dict[str, Any] = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())
STAGES: dict[str, Any] = {name: each.get("do", each) for name, each in FILE["stages"].items()}
ORDER = ("download", "datasets", "train", "evaluate", "exits", "report")
ITEM = {
    "${item.profile}": "P",
    "${profile}": "P",
    "${item.experiment}": "E",
}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "dvc.yaml", tmp_path)
    shutil.copy(ROOT / "params.yaml", tmp_path)
    return tmp_path


def paths(stage: str, *kinds: str) -> set[str]:
    """Dependencies or outputs of a stage with P and E in place of its item."""
    found = set()
    for kind in kinds:
        for entry in STAGES[stage].get(kind, []):
            path = entry if isinstance(entry, str) else next(iter(entry))
            for item, letter in ITEM.items():
                path = path.replace(item, letter)
            found.add(path)
    return found


def test_stages_hand_their_files_to_the_next() -> None:
    assert tuple(STAGES) == ORDER
    layout = Layout(Path(), "P")
    frozen, networks = str(layout.frozen("E")), str(layout.networks("E"))
    assert paths("download", "outs") == {str(layout.raw)} <= paths("datasets", "deps")
    assert paths("datasets", "outs") == {frozen, str(layout.card("E"))}
    assert frozen in paths("train", "deps")
    curves, records = layout.curves("E", "act").parent, layout.provenance("E", "act").parent
    assert paths("train", "outs") == {networks, str(curves), str(records)}
    assert {frozen, networks} <= paths("evaluate", "deps") & paths("exits", "deps")
    found = {layout.table("E"), layout.traces("E"), layout.provenance("E")}
    assert paths("evaluate", "outs") == {*map(str, found)}
    assert paths("evaluate", "metrics") == {str(layout.metrics("E"))}
    assert paths("exits", "outs") == {str(layout.exits("E"))}
    read = {*found, layout.card("E"), curves, layout.exits("E"), records}
    assert {str(each.parent) for each in read} | {"claims.yaml"} <= paths("report", "deps")


def test_dvc_keeps_copies_of_results_and_git_the_metrics() -> None:
    """Without copies an edit could not be taken back without a run."""
    for name, stage in STAGES.items():
        for entry in stage.get("outs", []):
            if name != "download":
                assert isinstance(entry, str) and entry.startswith("data/"), (name, entry)
        for entry in stage.get("metrics", []):
            ((path, how),) = entry.items()
            assert path.startswith("reports/") and how == {"cache": False}
    assert FILE["plots"][0].keys() == {f"{RESULTS}/${{profile}}/curves"}
    (raw,) = STAGES["download"]["outs"]
    assert next(iter(raw.values())) == {"persist": True}, "a download by hand would be deleted"


def test_every_experiment_is_there_with_the_files_of_its_task_and_cell() -> None:
    items = FILE["stages"]["train"]["foreach"]
    for stage in ("datasets", "evaluate"):
        assert FILE["stages"][stage]["foreach"] == items
    named = [each["experiment"] for each in items.values()]
    assert named == list(load_params(ROOT / "params.yaml").experiments)
    for profile in PROFILES:
        params = load_params(ROOT / "params.yaml", profile)
        for name, item in items.items():
            config = params.experiment(item["experiment"])
            assert name == f"${{profile}}-{item['experiment']}"
            assert item["task"].removesuffix(".py") == config.task["name"]
            assert item["cell"] == config.network.cell
            assert (ROOT / "src/pondering/tasks" / item["task"]).exists()


@pytest.mark.parametrize("stage", ORDER)
def test_what_a_stage_depends_on_is_there(stage: str) -> None:
    for path in paths(stage, "deps"):
        if not path.startswith("data/") and "${" not in path:
            assert (ROOT / path).exists(), path


def project_of(copy: Path, scm: bool = False) -> Any:
    """The folder as a project of DVC's."""
    from dvc.repo import Repo

    (copy / ".dvc").mkdir()
    (copy / ".dvc/config").write_text(f"[core]\n    no_scm = {not scm}\n    analytics = false\n")
    return Repo(str(copy))


def test_dvc_itself_sees_these_stages(copy: Path) -> None:
    """And finds every parameter that a stage names."""
    text = (copy / "params.yaml").read_text()
    assert text.count("\nprofile: quick") == 1
    document = YAML(typ="safe").load(text)
    for profile in PROFILES:
        (copy / "params.yaml").write_text(text.replace("profile: quick", f"profile: {profile}"))
        shutil.rmtree(copy / ".dvc", ignore_errors=True)
        with project_of(copy) as repo:
            stages = {str(stage.name): stage for stage in repo.index.stages}
        wanted = {f"download@{profile}", f"report@{profile}"}
        for each in load_params(ROOT / "params.yaml").experiments:
            wanted |= {f"{stage}@{profile}-{each}" for stage in ("datasets", "train", "evaluate")}
        exits = FILE["stages"]["exits"]["matrix"]["experiment"]
        assert set(stages) == wanted | {f"exits@{profile}-{each}" for each in exits}
        for name in {n for stage in stages.values() for p in stage.params for n in p.params}:
            value = document
            for part in name.split("."):
                assert part in value, f"params.yaml lacks {name}"
                value = value[part]


def test_the_numbers_of_all_experiments_fit_a_terminal(copy: Path) -> None:
    """A row an experiment, the same few columns; a key "error" would be a failure to DVC."""
    from dvc.cli import main as dvc
    from dvc.utils import errored_revisions

    shutil.copytree(ROOT / "reports/quick/metrics", copy / "reports/quick/metrics")
    with project_of(copy) as repo:
        shown = repo.metrics.show()
    assert errored_revisions(shown) == []
    columns = {"plain", "act", "act_steps", "pondernet", "pondernet_steps", "best"}
    for path in (copy / "reports/quick/metrics").iterdir():
        found = shown[""]["data"][str(path.relative_to(copy))]["data"]
        assert found == json.loads(path.read_text()) and found.keys() <= columns
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(copy)
        assert dvc(["metrics", "show"]) == 0


@pytest.mark.parametrize(
    ("kind", "file", "x"),
    [("curves", "parity/act", "update"), ("tables", "logic", "difficulty")],
)
def test_dvc_plots_the_tables_beside_those_of_head(
    copy: Path,
    kind: str,
    file: str,
    x: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Drawn by columns that are there; what Vega makes of them only a browser shows."""
    from dvc.cli import main as dvc

    alone = {"params": FILE["params"], "plots": FILE["plots"]}  # without stages nothing need run
    YAML().dump(alone, copy / "dvc.yaml")
    path = copy / RESULTS / "quick" / kind / f"{file}.csv"
    path.parent.mkdir(parents=True)
    shutil.copy(ROOT / "reports/reduced" / kind / f"{file}.csv", path)
    (copy / ".dvc/plots").mkdir(parents=True)
    shutil.copy(ROOT / ".dvc/plots/by_setting.json", copy / ".dvc/plots")
    (copy / ".dvc/config").write_text("[core]\n    analytics = false\n")
    commit(copy)
    table = pd.read_csv(path)
    table.assign(error=table["error"] / 2).to_csv(path, index=False)
    monkeypatch.chdir(copy)
    monkeypatch.setenv("DVC_TEST", "1")  # it takes the stream that there was at its import, else
    capsys.readouterr()
    assert dvc(["plots", "diff", "--show-vega", "--targets", f"{RESULTS}/quick/{kind}"]) == 0
    said = capsys.readouterr().out
    assert "<DVC_METRIC" not in said
    spec = json.loads(said)
    drawn = spec["spec"]["encoding"]
    assert (drawn["x"]["field"], drawn["y"]["field"]) == (x, "error")
    rows = pd.DataFrame(spec["data"]["values"])
    assert {each["field"] for each in (*drawn.values(), spec["facet"]["column"])} <= set(rows)
    means = rows.astype({"error": float}).groupby("rev")["error"].mean()
    assert means["workspace"] == pytest.approx(means["HEAD"] / 2)


def test_the_frozen_data_depend_on_task_and_evaluation_alone(tmp_path: Path) -> None:
    written = {}
    changes: dict[str, dict[str, Any]] = {
        "none": {},
        "bits": {"task": {"bits": 4}},
        "examples": {"evaluation": {"examples": 11}},
        "updates": {"training": {"updates": 31}},
        "seeds": {"seeds": [1]},
    }
    for name, change in changes.items():
        config = tiny.config(tmp_path, **change)
        task = make_task(config.task, "tiny")
        frozen, target = tmp_path / "tiny.npz", tmp_path / "card.json"
        freeze(task, tmp_path, frozen, config.evaluation.examples)
        card(task, config, frozen, target)
        written[name] = frozen.read_bytes() + target.read_bytes()
    same = {name for name, content in written.items() if content == written["none"]}
    assert same == {"none", "updates", "seeds"}


def test_dvc_is_quiet_and_heavy_files_stay_out_of_git() -> None:
    config = configparser.ConfigParser()
    config.read_string((ROOT / ".dvc/config").read_text().replace("    ", ""))
    assert config["core"]["analytics"] == "false"
    assert config["core"]["check_update"] == "false"
    ignored = (ROOT / ".gitignore").read_text().split()
    assert {"/data/*", "/.checkpoints/", "/mlflow.db*"} <= set(ignored)
