"""Published networks, one trained replica of each mechanism; and records of what is published."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file
from support import stages, tiny
from support.argv import output
from support.stages import MECHANISMS, ROOT

from pondering.evaluate import publish
from pondering.evaluate.publish import in_line
from pondering.params.read import load_params
from pondering.params.replica import Replica
from pondering.params.schema import PROFILES
from pondering.project.errors import UserError
from pondering.project.paths import PUBLISHED, Layout
from pondering.results.results import read_table
from pondering.results.tables import best_setting, headline, per_seed


def best_replica(mechanism: str) -> tuple[float, int]:
    """The best setting of the finished project, and the first of its seeds 0 and 7."""
    table = read_table(Layout(stages.finished_project(), "quick").table("tiny"))
    setting = best_setting(per_seed(headline(table)), mechanism)
    assert setting is not None
    return setting, 0


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of the finished project: published results and parameters."""
    project = shutil.copytree(stages.finished_project(), tmp_path / "project")
    published = stages.publish_results(project)
    shutil.copytree(published, tmp_path / "clone/reports/quick")
    return Path(shutil.copy(project / "params.yaml", tmp_path / "clone")).parent


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_fresh_clone_shows_what_the_trained_project_shows(
    clone: Path, monkeypatch: pytest.MonkeyPatch, mechanism: str
) -> None:
    setting, seed = best_replica(mechanism)
    monkeypatch.chdir(stages.finished_project())
    chosen = ("--setting", str(setting), "--seed", str(seed))
    trained = output("show", "tiny", "--mechanism", mechanism, *chosen)
    assert output("show", "tiny", "--mechanism", mechanism) == trained
    monkeypatch.chdir(clone)
    assert output("show", "tiny", "--mechanism", mechanism) == trained
    assert "on the test set: error" in trained


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_published_network_is_one_trained_replica_alone(clone: Path, mechanism: str) -> None:
    whole = Layout(stages.finished_project(), "quick").run("tiny", mechanism)
    copy = Layout(clone, "quick", PUBLISHED).run("tiny", mechanism)
    record, full = (json.loads((each / "run.json").read_text()) for each in (copy, whole))
    assert record["config"] == full["config"]
    (replica,) = record["replicas"]
    assert (replica["setting"], replica["seed"]) == best_replica(mechanism)
    (k,) = (n for n, each in enumerate(full["replicas"]) if replica.items() <= each.items())
    published, trained = (load_file(each / "parameters.safetensors") for each in (copy, whole))
    assert published.keys() == trained.keys()
    for name, tensor in published.items():
        assert tensor.equal(trained[name][k : k + 1]), name
    size = sum(4 * tensor.numel() for tensor in published.values())
    assert size <= (copy / "parameters.safetensors").stat().st_size < size + 1000
    index = json.loads((copy.parent / "index.json").read_text())
    assert index[mechanism] == replica


def test_replicas_are_published_by_setting_status_and_seed() -> None:
    """`test_tables.py` has the best setting."""
    names = [Replica("act", tau, seed) for tau in (0.001, 0.003, 0.01) for seed in (5, 2)]
    act = dict.fromkeys(names, "finished")
    assert in_line(act, 0.003) == [names[3], names[2]]
    assert in_line(act | {names[3]: "diverged"}, 0.003) == [names[2], names[3]]
    assert in_line(dict.fromkeys(names[:2], "diverged"), 0.001) == [names[1], names[0]]
    biased = [Replica("act", 0.1, 0, (("halt_bias", -3.0),)), Replica("act", 0.1, 0)]
    assert in_line(dict.fromkeys(biased, "finished"), 0.1) == biased[1:]
    assert in_line(act, None) == []


def test_publishing_deletes_older_results(tmp_path: Path) -> None:
    project = shutil.copytree(stages.finished_project(), tmp_path / "project")
    reports = project / "reports/quick"
    old = [reports / name for name in ("models/tiny/another/run.json", "tables/another.csv")]
    frozen = reports / "NOTES.md"
    for path in (*old, frozen):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    stages.publish_results(project)
    assert frozen.exists() and not any(path.exists() for path in old)


def test_missing_results_are_refused_and_nothing_is_copied(tmp_path: Path) -> None:
    project = shutil.copytree(stages.finished_project(), tmp_path / "project")
    params = load_params(project / "params.yaml")
    with pytest.raises(UserError, match=r"claims.json: no such file; .* run `dvc repro` first"):
        publish.publish(params)
    more = load_params(tiny.write(project, tiny.document(seeds=[0, 7, 9])))
    for name in ("claims.json", "index.html"):
        (project / "data/results/quick" / name).touch()
    with pytest.raises(UserError, match=r"seed 9 is not trained; run `dvc repro train@quick-tiny`"):
        publish.publish(more)
    assert not (project / "reports/quick/tables").exists()


KEYS = {"commit", "params_hash", "data_hash", "device", "versions", "wall_seconds"}
UNRECORDED = {  # made before there were records
    "reduced/search": {
        "addition-act", "logic-act", "parity-act", "parity_scattered-act", "sort-act",
        "wikipedia-act",
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", ["tables", "curves", "search"])
@pytest.mark.parametrize("profile", PROFILES)
def test_every_published_file_has_a_complete_record(profile: str, kind: str) -> None:
    missing, paths = set(), sorted((ROOT / "reports" / profile / kind).rglob("*.csv"))
    assert paths or profile != "reduced"
    for path in paths:
        home = ROOT / "reports" / profile
        place = (path.relative_to(home / kind)).with_suffix(".json")
        record = home / ("search" if kind == "search" else "provenance") / place
        if record.is_file():
            content = json.loads(record.read_text())
            for part in content.get("parts", {"the whole": content}).values():
                assert part.keys() >= KEYS, record
        else:
            missing.add(path.stem)
    assert missing == UNRECORDED.get(f"{profile}/{kind}", set())
