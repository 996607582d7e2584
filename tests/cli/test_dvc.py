"""dvc.yaml: what a stage depends on is what it reads, and nothing besides."""

from __future__ import annotations

import configparser
import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from ruamel.yaml import YAML
from support import tiny
from support.claim_cases import CASES
from support.repository import commit

from pondering.claims.claims import load_register
from pondering.claims.record import claims_json
from pondering.claims.verdicts import judge_all
from pondering.cli import keys
from pondering.cli.stages import check_trainings
from pondering.data.frozen import card, freeze
from pondering.params.read import PROFILES, load_params
from pondering.project.atomic import write_json
from pondering.project.code import Program
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.tasks import make_task
from pondering.train.keys import PACKAGE

ROOT = Path(__file__).parents[2]
FILE: dict[str, Any] = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())
STAGES: dict[str, Any] = {name: each.get("do", each) for name, each in FILE["stages"].items()}
KEYS = {
    "download": "download",
    "datasets": "datasets/E",
    "train": "train/E-M",
    "evaluate": "evaluate/E",
    "exits": "exits/E",
    "report": "report",
}
ITEM = {
    "${item.profile}": "P",
    "${profile}": "P",
    "${item.experiment}": "E",
    "${item.mechanism}": "M",
}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "dvc.yaml", tmp_path)
    return tmp_path


def paths(stage: str, *kinds: str) -> list[str]:
    """Dependencies or outputs of a stage with P, E and M in place of its item."""
    found = []
    for kind in kinds:
        for entry in STAGES[stage].get(kind, []):
            path = entry if isinstance(entry, str) else next(iter(entry))
            for item, letter in ITEM.items():
                path = path.replace(item, letter)
            found.append(path)
    return found


def test_every_stage_depends_on_its_key() -> None:
    assert set(STAGES) == {*KEYS, "keys"}
    assert set(STAGES["keys"]["deps"]) == {"params.yaml", "pipeline", "src/pondering"}
    assert STAGES["keys"]["outs"] == [str(keys.FOLDER)]
    for name, key in KEYS.items():
        assert f"python pipeline/{name}.py" in STAGES[name]["cmd"]
        assert f"{keys.FOLDER}/{key}.json" in paths(name, "deps")


@pytest.mark.parametrize("name", KEYS)
def test_what_a_stage_made_stays_until_it_makes_it_again(name: str) -> None:
    found = [*STAGES[name]["outs"], *STAGES[name].get("metrics", [])]
    assert all(isinstance(each, dict) for each in found), "an output without `persist`"
    assert all(kept["persist"] is True for each in found for kept in each.values())


def test_stages_hand_their_files_to_the_next() -> None:
    layout = Layout(Path(), "P")
    frozen, table, run = str(layout.frozen("E")), str(layout.table("E")), str(layout.run("E", "M"))
    assert paths("download", "outs") == [str(layout.raw)]
    assert set(paths("datasets", "outs")) == {frozen, str(layout.card("E"))}
    curves, origin = str(layout.curves("E", "M")), str(layout.provenance("E", "M"))
    assert set(paths("train", "outs")) == {run, curves, origin}
    judged = {table, str(layout.traces("E")), str(layout.metrics("E"))}
    judged |= {str(layout.published("E")), str(layout.provenance("E"))}
    assert Path(layout.models("E", "M")).parent == layout.published("E")
    assert set(paths("evaluate", "outs", "metrics")) == judged
    assert str(layout.raw) in paths("datasets", "deps")
    assert frozen in paths("train", "deps")
    assert {frozen, str(Path(run).parent)} <= set(paths("evaluate", "deps"))
    assert {frozen, str(Path(run).parent)} <= set(paths("exits", "deps"))
    exits = str(layout.exits("E"))
    assert paths("exits", "outs") == [exits]
    files = (curves, table, str(layout.traces("E")), origin, exits)
    read = {str(Path(file).parent) for file in files}
    assert read | {str(layout.card("E").parent), "claims.yaml"} <= set(paths("report", "deps"))


def test_results_are_kept_by_git_and_not_by_the_cache() -> None:
    for name, stage in STAGES.items():
        for entry in stage.get("outs", []) + stage.get("metrics", []):
            path = entry if isinstance(entry, str) else next(iter(entry))
            cached = isinstance(entry, str) or entry[path].get("cache", True)
            assert cached == path.startswith("data/"), f"{name}: {path}"


def test_the_matrix_covers_every_experiment() -> None:
    profile, experiments = ["${profile}"], "${experiments}"
    for name in ("datasets", "evaluate"):
        assert STAGES[name]["matrix"] == {"profile": profile, "experiment": experiments}
    for name in ("download", "report"):
        assert STAGES[name]["matrix"] == {"profile": profile}
    ruled = STAGES["exits"]["matrix"]["experiment"]
    assert set(ruled) <= set(load_params(ROOT / "params.yaml").experiments)
    document = YAML(typ="safe").load((ROOT / "params.yaml").read_text())
    blocks = {key for key, value in document.items() if "common" in str(value)[:20]}
    assert blocks == set(document["experiments"])


def project_of(copy: Path, scm: bool = False) -> Any:
    """The folder as a project of DVC's."""
    from dvc.repo import Repo

    (copy / ".dvc").mkdir()
    (copy / ".dvc/config").write_text(f"[core]\n    no_scm = {not scm}\n    analytics = false\n")
    return Repo(str(copy))


def seen(copy: Path) -> dict[str, Any]:
    """The stages that DVC finds, by name."""
    with project_of(copy) as repo:
        return {str(stage.name): stage for stage in repo.index.stages}


def test_dvc_reads_every_metric(copy: Path) -> None:
    """A key "error" would be a failure to it."""
    from dvc.utils import errored_revisions

    shutil.copy(ROOT / "params.yaml", copy)
    shutil.copytree(ROOT / "reports/quick/metrics", copy / "reports/quick/metrics")
    shutil.copy(ROOT / "reports/quick/claims.json", copy / "reports/quick")
    with project_of(copy) as repo:
        shown = repo.metrics.show()
    assert errored_revisions(shown) == []
    for path in (copy / "reports/quick/metrics").iterdir():
        found = shown[""]["data"][str(path.relative_to(copy))]["data"]
        assert found == json.loads(path.read_text())


def test_dvc_says_which_verdict_a_change_flips(copy: Path) -> None:
    shutil.copy(ROOT / "params.yaml", copy)
    claims, file = load_register(ROOT / "claims.yaml").claims, "reports/quick/claims.json"
    (copy / file).parent.mkdir(parents=True)
    reproduced, contradicted, _ = CASES["G4"]
    write_json(copy / file, claims_json(judge_all(claims, reproduced), reproduced))
    commit(copy)
    write_json(copy / file, claims_json(judge_all(claims, contradicted), contradicted))
    with project_of(copy, scm=True) as repo:
        said = repo.metrics.diff()["diff"][file]["verdicts.G4"]
    assert (said["old"], said["new"]) == ("yes", "no")


@pytest.mark.parametrize(
    ("kind", "file", "x"), [("curves", "parity-act", "update"), ("tables", "logic", "difficulty")]
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

    path = f"reports/quick/{kind}/{file}.csv"
    for each in ("params.yaml", ".dvc/plots/by_setting.json", path):
        (copy / each).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / each, copy / each)
    (copy / ".dvc/config").write_text("[core]\n    analytics = false\n")
    commit(copy)
    table = pd.read_csv(copy / path)
    table.assign(error=table["error"] / 2).to_csv(copy / path, index=False)
    monkeypatch.chdir(copy)
    monkeypatch.setenv("DVC_TEST", "1")  # it takes the stream that there was at its import, else
    capsys.readouterr()
    assert dvc(["plots", "diff", "--show-vega", "--targets", f"reports/quick/{kind}"]) == 0
    said = capsys.readouterr().out
    assert "<DVC_METRIC" not in said
    spec = json.loads(said)
    drawn = spec["spec"]["encoding"]
    assert (drawn["x"]["field"], drawn["y"]["field"]) == (x, "error")
    rows = pd.DataFrame(spec["data"]["values"])
    assert {each["field"] for each in (*drawn.values(), spec["facet"]["column"])} <= set(rows)
    means = rows.astype({"error": float}).groupby("rev")["error"].mean()
    assert means["workspace"] == pytest.approx(means["HEAD"] / 2)


def test_every_experiment_trains_with_the_mechanisms_that_it_has_blocks_of(copy: Path) -> None:
    values = tiny.document()
    for home in ("common", "quick"):
        values["tiny"][home].pop("pondernet")
    params = load_params(tiny.write(copy, values))
    document = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())
    lines: dict[str, Any] = {
        f"${{profile}}-tiny-{each}": {"experiment": "tiny", "mechanism": each}
        for each in ("repeat", "act")
    }

    def refusal(lines: dict[str, Any]) -> str:
        document["stages"]["train"]["foreach"] = lines
        YAML().dump(document, copy / "dvc.yaml")
        with pytest.raises(UserError) as caught:
            check_trainings(copy, params)
        return str(caught.value)

    few = {name: item for name, item in lines.items() if item["mechanism"] != "act"}
    assert refusal(few) == (
        "params.yaml: tiny.act: is trained by no stage; add to `train` in dvc.yaml the line "
        "`${profile}-tiny-act: {experiment: tiny, mechanism: act}`"
    )
    more = {"${profile}-tiny-pondernet": {"experiment": "tiny", "mechanism": "pondernet"}}
    assert refusal(lines | more) == (
        "dvc.yaml: train: '${profile}-tiny-pondernet': no experiment of params.yaml has such a "
        "block in profile quick"
    )
    mixed = few | {"${profile}-tiny-act": {"experiment": "tiny", "mechanism": "repeat"}}
    assert refusal(mixed).startswith("dvc.yaml: train: '${profile}-tiny-act': no experiment")
    document["stages"]["train"]["foreach"] = lines
    YAML().dump(document, copy / "dvc.yaml")
    check_trainings(copy, params)
    found = {name for name in seen(copy) if name.startswith("train")}
    assert found == {"train@quick-tiny-repeat", "train@quick-tiny-act"}


@pytest.mark.parametrize("profile", PROFILES)
def test_every_training_of_the_parameters_has_its_stage(profile: str) -> None:
    check_trainings(ROOT, load_params(ROOT / "params.yaml", profile))


def test_dvc_itself_sees_these_stages(copy: Path) -> None:
    """And finds every parameter that a stage names."""
    profile, active = "quick", (ROOT / "params.yaml").read_text()
    assert active.count("\nprofile: quick") == 1
    (copy / "params.yaml").write_text(active)
    experiments = load_params(copy / "params.yaml").experiments
    stages = seen(copy)
    wanted = {f"{name}@{profile}-{e}" for name in ("datasets", "evaluate") for e in experiments}
    wanted |= {f"exits@{profile}-{e}" for e in STAGES["exits"]["matrix"]["experiment"]}
    wanted |= {f"train@{profile}-{e}-{m}" for e in experiments for m in experiments[e].mechanisms}
    assert set(stages) == wanted | {"keys", f"download@{profile}", f"report@{profile}"}
    named = {str(name) for stage in stages.values() for p in stage.params for name in p.params}
    document = YAML(typ="safe").load(active)
    assert named == {"download.files", f"download.needs.{profile}"}
    for name in named:
        value = document
        for part in name.split("."):
            assert part in value, f"params.yaml lacks {name}"
            value = value[part]


def test_the_keys_stand_for_the_parameters() -> None:
    """Only the key's own stage reads params.yaml: another would run for values of other stages."""
    assert FILE["params"] == ["params.yaml"]
    reading = [name for name, stage in STAGES.items() if "params.yaml" in stage.get("deps", ())]
    assert reading == ["keys"]
    assert [name for name, stage in STAGES.items() if "params" in stage] == ["download"]


CHANGES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "task.bits": ({"task": {"bits": 4}}, {"datasets", "train", "evaluate", "exits"}),
    "task.test_nonzero": (
        {"task": {"test_nonzero": {"test": [1, 2]}}}, {"datasets", "evaluate", "exits"},
    ),
    "evaluation.examples": ({"evaluation": {"examples": 11}}, {"datasets", "evaluate"}),
    "evaluation.trace": (
        {"evaluation": {"trace": {"tau": 0.1, "sequences": 2}}}, {"evaluate"},
    ),
    "evaluation.trace.sequences": (
        {"evaluation": {"trace": {"tau": 0.01, "sequences": 3}}}, {"evaluate"},
    ),
    "network.hidden": ({"network": {"hidden": 17}}, {"datasets", "train"}),  # the card says it
    "training.updates": ({"training": {"updates": 31}}, {"train"}),
    "training.log_points": ({"training": {"log_points": 200}}, {"train"}),
    "seeds": ({"seeds": [1]}, {"train"}),
    "act.tau": ({"act": {"tau": [0.02, 0.1]}}, {"train", "evaluate"}),  # another one is traced
}  # fmt: skip


@cache
def code() -> Program:
    """The project's own, which no test here changes; each file is read once."""
    return Program({"pondering": PACKAGE, keys.SCRIPTS: ROOT / keys.SCRIPTS})


@pytest.mark.parametrize("value", CHANGES)
def test_a_value_reaches_the_stages_that_read_it(tmp_path: Path, value: str) -> None:
    """What a stage hands on reaches the next one besides."""
    change, reached = CHANGES[value]
    found = []
    for each in ({}, change):
        params = load_params(tiny.write(tmp_path, tiny.document(**each)))
        found.append(keys.all_keys(params, code()))
    stages = {name.partition("/")[0] for name in found[0] if found[0][name] != found[1][name]}
    assert stages == reached


def test_only_what_changes_the_frozen_data_or_their_card_reaches_datasets(tmp_path: Path) -> None:
    for change, reached in CHANGES.values():
        written = []
        for each in ({}, change):
            config = tiny.config(tmp_path, **each)
            task = make_task(config.task, "tiny")
            frozen, target = tmp_path / "tiny.npz", tmp_path / "card.json"
            freeze(task, tmp_path, frozen, config.evaluation.examples)
            card(task, config, None, frozen, target)
            written.append(frozen.read_bytes() + target.read_bytes())
        assert (written[0] != written[1]) == ("datasets" in reached)


def test_what_an_experiment_is_called_is_on_its_card_alone(tmp_path: Path) -> None:
    found = []
    for about in ({}, {"tiny": {"title": "Tiny", "question": "What?"}}):
        params = load_params(tiny.write(tmp_path, tiny.document() | {"about": about}))
        found.append(keys.all_keys(params, code()))
    assert [name for name in found[0] if found[0][name] != found[1][name]] == ["datasets/tiny"]


def test_dvc_is_quiet_and_heavy_files_stay_out_of_git() -> None:
    config = configparser.ConfigParser()
    config.read_string((ROOT / ".dvc/config").read_text().replace("    ", ""))
    assert config["core"]["analytics"] == "false"
    assert config["core"]["check_update"] == "false"
    ignored = (ROOT / ".gitignore").read_text().split()
    assert {"/data/*", "/.checkpoints/", "/mlflow.db*"} <= set(ignored)
