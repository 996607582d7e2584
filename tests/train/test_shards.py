"""A sweep in shards: the cuts, and results that do not depend on them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support import stages, tiny

from pondering.params.read import load_params
from pondering.project.errors import UserError
from pondering.train import shards
from pondering.train.plan import plan
from pondering.train.shards import cut, fitting
from pondering.train.stage import run

PARAMETERS = "data/runs/quick/tiny/{}/parameters.safetensors"
CURVES = "reports/quick/curves/tiny-{}.csv"


def project(folder: Path, quick: dict[str, Any] | None = None, **compute: object) -> Path:
    """The tiny project with its data."""
    stages.new_project(folder)
    values = tiny.document(**quick or {})
    values["compute"] |= compute
    tiny.write(folder, values)
    assert stages.run(folder, "datasets", *stages.QUICK).status == 0
    return folder


def train(folder: Path, mechanism: str) -> stages.Done:
    return stages.run(folder, "train", *stages.QUICK, "--mechanism", mechanism)


@pytest.mark.parametrize(
    ("count", "size", "bounds"),
    [(4, 4, [0, 4]), (4, 9, [0, 4]), (4, 2, [0, 2, 4]), (5, 2, [0, 2, 4, 5]), (3, 1, [0, 1, 2, 3])],
)
def test_cuts_are_few_and_equal(count: int, size: int, bounds: list[int]) -> None:
    shards = cut(count, size, Path("here"))
    assert [shard.first for shard in shards] == bounds[:-1]
    assert [shard.last for shard in shards] == bounds[1:]
    assert len({shard.path for shard in shards}) == len(shards)
    if len(shards) == 1:
        assert shards[0].path == Path("here/checkpoint.safetensors")


@pytest.mark.parametrize("mechanism", stages.MECHANISMS)
def test_shards_train_as_the_whole(tmp_path: Path, mechanism: str) -> None:
    """The tiny sweep has four replicas."""
    folder, whole = (
        project(tmp_path / str(count), tiny.EXACT, replicas_at_once=count) for count in (3, 4)
    )
    for each in (folder, whole):
        done = train(each, mechanism)
        assert (done.status, done.err) == (0, "")
    shards = f".checkpoints/quick/tiny-{mechanism}/*/replicas-*/*.safe*"
    assert [len(list(each.glob(shards))) for each in (folder, whole)] == [2, 0]
    for path in (PARAMETERS.format(mechanism), CURVES.format(mechanism)):
        assert (folder / path).read_bytes() == (whole / path).read_bytes()


def test_settings_with_options_keep_their_places_in_shards(tmp_path: Path) -> None:
    act = {"act": {"tau": [0.01, {"tau": 0.01, "halt_bias": -3}]}}
    found = []
    for count in (3, 4):
        folder = project(tmp_path / str(count), act, replicas_at_once=count)
        done = train(folder, "act")
        assert (done.status, done.err) == (0, "")
        found.append(pd.read_csv(folder / CURVES.format("act")))
    assert found[1]["mechanism"].tolist()[:4] == ["act"] * 2 + ["act[halt_bias=-3]"] * 2
    pd.testing.assert_frame_equal(*found)


def test_a_sweep_that_was_stopped_goes_on_shard_by_shard(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", replicas_at_once=1)
    assert train(folder, "act").status == 0
    before = stages.contents(folder)
    checkpoints = sorted(folder.glob(".checkpoints/quick/tiny-act/*/replicas-*/*.safetensors"))
    assert len(checkpoints) == 4
    kept = checkpoints[0].stat().st_mtime_ns
    for path in checkpoints[1:]:
        path.unlink()
    assert train(folder, "act").status == 0
    assert checkpoints[0].stat().st_mtime_ns == kept, "what was finished was trained again"
    after = stages.contents(folder)
    for path in (PARAMETERS.format("act"), CURVES.format("act")):
        assert after[path] == before[path]


def test_what_fits_is_found_from_one_replica(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project(tmp_path / "project")
    stage = plan(load_params(folder / "params.yaml"), "tiny", "act", folder)
    one = stage.sweep(0, 1)
    plenty = fitting(one, 4)
    assert plenty > 1000 and len(stage.shards()) == 1
    numbers = sum(parameter.numel() for parameter in one.parameters.values())
    need = 4 * (6 * numbers + 14 * 16 * 8 * 4)  # floats: parameters, and steps of 8 rows, 16 units
    monkeypatch.setattr("pondering.train.shards.free_memory", lambda device: 2 * 2 * need)
    assert fitting(one, 4) == 2 and len(stage.shards()) == 2
    monkeypatch.setattr("pondering.train.shards.free_memory", lambda device: 1)
    assert fitting(one, 4) == 1, "one is tried in any case"


def test_a_plan_trains_by_its_recipe(tmp_path: Path) -> None:
    folder = project(tmp_path / "project")
    usual = plan(load_params(folder / "params.yaml"), "tiny", "act", folder)
    knobs = {"decay": "cosine", "halting_rate": 0.1}
    tiny.write(folder, tiny.document(training=knobs, act={"tau_warmup": 5}))
    turned = plan(load_params(folder / "params.yaml"), "tiny", "act", folder)
    assert turned.key != usual.key
    sweep = turned.sweep()
    assert (sweep.schedule.decay, sweep.schedule.halting_rate) == ("cosine", 0.1)
    assert sweep.network.halting.tau_warmup == 5  # type: ignore[attr-defined]


def test_a_run_goes_on_as_it_was_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = project(tmp_path / "project")
    stage = plan(load_params(folder / "params.yaml"), "tiny", "act", folder)
    for free, others in ((1, 1e12), (1e12, 1)):
        monkeypatch.setattr("pondering.train.shards.free_memory", lambda device, free=free: free)
        begun = stage.shards()
        run(stage)
        monkeypatch.setattr("pondering.train.shards.free_memory", lambda device, free=others: free)
        assert stage.shards() == begun
        shutil.rmtree(stage.folder)


@pytest.mark.parametrize("mechanism", ["certainty", "dact"])
def test_a_mechanism_that_the_loss_does_not_fit_is_refused_in_a_line(
    tmp_path: Path, mechanism: str
) -> None:
    config = tiny.config_of_sequences(tmp_path)
    sweep = tiny.sweep(config, mechanism)
    with pytest.raises(UserError, match=r"^addition: .* is not allowed; the cross entropy of one"):
        shards.train(sweep, tmp_path / "checkpoint", "key", 60.0, shards.Watch())
