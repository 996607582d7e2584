"""The keys in `dvc.lock` and in the trainings' records, computed again from what is in git.

No data are needed: the key of a stage is made of program and values alone, and for the key of a
record, which holds the data too, the record has their hash. Not to be computed is the key of a
training that went on from an earlier one: it is of the added replicas alone, and the list of them
lies in data/runs.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from pondering.cli.keys import FOLDER
from pondering.params.read import ExperimentConfig, load_params
from pondering.params.screens import read_screen
from pondering.project.atomic import json_text
from pondering.project.paths import Layout
from pondering.project.provenance import hash_values
from pondering.train.keys import replica_keys, training_key

ROOT = Path(__file__).parents[2]
LOCKED = YAML(typ="safe").load((ROOT / "dvc.lock").read_text(encoding="utf-8"))["stages"]


def present_keys(profile: str) -> dict[tuple[str, str], str]:
    """The key of every training of a profile, by experiment and mechanism."""
    params = load_params(ROOT / "params.yaml", profile)
    return {
        (name, mechanism): training_key(config, mechanism)
        for name, config in params.experiments.items()
        for mechanism in config.mechanisms
    }


def locked(profile: str, stage: str, what: str) -> tuple[str, int] | None:
    """Hash and size of the key's file that the last run of a stage had; None without a run.

    Args:
        profile: of the run.
        stage: as "train".
        what: its experiment, of a training with the mechanism.
    """
    path = (FOLDER / stage / f"{what}.json").as_posix()
    ran = LOCKED.get(f"{stage}@{profile}-{what}", {"deps": ()})
    found = ((each["md5"], each["size"]) for each in ran["deps"] if each["path"] == path)
    return next(found, None)


def written(key: str) -> tuple[str, int]:
    """Hash and size of the file that the stage `keys` writes."""
    content = json_text({"key": key}).encode()
    return hashlib.md5(content, usedforsecurity=False).hexdigest(), len(content)


def in_lock(profile: str) -> set[tuple[str, str]]:
    """The trainings whose key in `dvc.lock` is the present one."""
    keys = present_keys(profile)
    return {
        (name, mechanism)
        for (name, mechanism), key in keys.items()
        if locked(profile, "train", f"{name}-{mechanism}") == written(key)
    }


def records(profile: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The record of every training, but for those that went on from an earlier one."""
    layout = Layout(ROOT, profile)
    files = {each: layout.provenance(*each) for each in present_keys(profile)}
    found = {each: json.loads(path.read_bytes()) for each, path in files.items() if path.is_file()}
    return {each: record for each, record in found.items() if "earlier" not in record}


def is_present(record: dict[str, Any], config: ExperimentConfig, mechanism: str) -> bool:
    """Whether a record has the key that its training would have today.

    It is made of the keys of the replicas, which hold the hash of the data, of the kind of device
    and of the path.
    """
    replicas = list(replica_keys(config, mechanism, record["data_hash"]))
    path = record.get("path", "fast")
    return record["key"] in {hash_values((replicas, kind, path)) for kind in ("cpu", "cuda")}


PLANS = [  # of the screens that have run
    path
    for path in sorted((ROOT / "reports").glob("*/search/*.yaml"))
    if path.with_suffix(".json").is_file()
]


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_a_published_screen_is_what_its_plan_would_train_today(path: Path) -> None:
    screen, parts = read_screen(path), json.loads(path.with_suffix(".json").read_bytes())["parts"]
    assert parts
    for name, part in parts.items():
        arm, mechanism = name.rsplit(", ", 1)
        config = screen.params(arm, path.parents[1].name, ROOT / "params.yaml")
        assert is_present(part, config.experiment(screen.experiment), mechanism), name


def test_every_training_of_quick_is_up_to_date() -> None:
    assert in_lock("quick") == set(present_keys("quick"))


@pytest.mark.parametrize("profile", ["quick", "reduced"])
def test_lock_and_records_name_the_same_trainings_as_up_to_date(profile: str) -> None:
    """A training from before the last change of the arithmetic has an old key in both."""
    params, found = load_params(ROOT / "params.yaml", profile), records(profile)
    present = {
        (name, mechanism)
        for (name, mechanism), record in found.items()
        if is_present(record, params.experiment(name), mechanism)
    }
    assert present == in_lock(profile) & found.keys()
