"""Published networks: one trained replica of each mechanism, in a small file."""

from __future__ import annotations

import csv
import json
import shutil
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

import pandas as pd
import pytest
from safetensors.torch import load_file
from support import stages, tiny
from support.argv import output

from pondering.evaluate import publish
from pondering.evaluate.publish import in_line
from pondering.params.read import load_params
from pondering.params.replica import Replica
from pondering.project.errors import UserError
from pondering.project.paths import PUBLISHED, Layout
from pondering.results.tables import best_setting

MECHANISMS = ("repeat", "act", "pondernet")


def best_replica(mechanism: str) -> tuple[float, int]:
    """Setting and seed of least mean error, then fewest steps; the first of seeds 0 and 7."""
    found = defaultdict[float, list[tuple[float, float]]](list)
    with Layout(stages.finished_project(), "quick").table("tiny").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if row["mechanism"] == mechanism and row["prediction"] != "expected":
            found[float(row["setting"])].append((float(row["error"]), float(row["ponder_time"])))
    means = {
        setting: tuple(map(fmean, zip(*pairs, strict=True))) for setting, pairs in found.items()
    }
    return min(means, key=lambda setting: (*means[setting], setting)), 0


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


def best_of(status: Mapping[Replica, str], *errors: float) -> float | None:
    """The best setting, if replicas have these errors in their order."""
    pairs = zip(status, errors, strict=True)
    rows = [each.row() | {"error": error, "ponder_time": 2.0} for each, error in pairs]
    return best_setting(pd.DataFrame(rows), next(iter(status)).mechanism)


def test_replicas_are_published_by_setting_status_and_seed() -> None:
    names = [Replica("act", tau, seed) for tau in (0.001, 0.003, 0.01) for seed in (5, 2)]
    act = dict.fromkeys(names, "finished")
    # The only solver has the setting with the larger mean error.
    errors = (0.0, 0.5, 0.1, 0.12, 0.3, 0.3)
    assert in_line(act, best_of(act, *errors)) == [names[3], names[2]]  # by seed, not by error
    one_diverged = act | {names[3]: "diverged"}
    assert in_line(one_diverged, best_of(act, *errors)) == [names[2], names[3]]
    errors = (*errors[:3], 1.0, *errors[4:])  # the error of a diverged replica counts
    assert in_line(one_diverged, best_of(act, *errors))[0] == names[1]
    all_diverged = dict.fromkeys(names[:2], "diverged")
    assert in_line(all_diverged, best_of(all_diverged, 1.0, 1.0))[0] == names[1]
    repeat = dict.fromkeys([Replica("repeat", 2, 0), Replica("repeat", 1, 0)], "finished")
    for errors, place in (((0.1, 0.2), 0), ((0.2, 0.1), 1), ((0.1, 0.1), 1)):
        assert in_line(repeat, best_of(repeat, *errors)) == [list(repeat)[place]]
    biased = [Replica("act", 0.1, 0, (("halt_bias", -3.0),)), Replica("act", 0.1, 0)]
    both = dict.fromkeys(biased, "finished")
    assert in_line(both, best_of(both, 0.0, 0.9)) == biased[1:]


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
