"""`compute.executor: ray`: shards on a real cluster of two nodes, one of which is killed."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster
from support import stages, tiny

from pondering.data.frozen import freeze
from pondering.params.read import Params, load_params
from pondering.project import locks
from pondering.project.errors import Interrupted, UserError
from pondering.project.paths import Layout
from pondering.tasks import make_task
from pondering.train.plan import plan
from pondering.train.stage import run


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Two nodes on the loopback interface, one CPU each."""
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield found
    ray.shutdown()
    found.shutdown()


def trained(folder: Path, address: str | None = None, **training: int) -> tuple[Path, Any]:
    """The tiny ACT sweep in two shards of two, here or on a cluster."""
    params = parameters(folder, address, **training)
    rows: list[Any] = []
    run(plan(params, "tiny", "act", prepared(folder)), rows.extend)
    return folder, rows


def parameters(folder: Path, address: str | None, **training: int) -> Params:
    values = tiny.document(training=training)
    executor = {"executor": "ray", "ray_address": address} if address else {}
    values["compute"] |= {"replicas_at_once": 2, "checkpoint_seconds": 0.05, **executor}
    folder.mkdir()
    return load_params(tiny.write(folder, values))


def results(folder: Path) -> dict[str, bytes]:
    found = stages.contents(folder)
    return {path: content for path, content in found.items() if "provenance" not in path}


def test_a_node_that_dies_costs_nothing_but_time(
    cluster: Cluster, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The second node is killed in the middle of its shard; the first takes it over."""
    second = cluster.add_node(num_cpus=1)
    here, plan = tmp_path / "away", {"updates": 3000, "log_points": 30}
    folders: set[Path] = set()

    def kill_after_the_checkpoints() -> None:
        end = time.monotonic() + stages.PATIENCE
        while len(folders) < 2 and time.monotonic() < end:
            folders.update(here.glob(".checkpoints/quick/tiny-act/*/replicas-*/checkpoint.*"))
            time.sleep(0.02)
        cluster.remove_node(second, allow_graceful=False)

    killer = threading.Thread(target=kill_after_the_checkpoints)
    killer.start()
    away, rows = trained(here, cluster.address, **plan)
    killer.join()
    assert len(folders) == 2, "both shards were at work when the node died"
    assert capfd.readouterr().out.count(" of 2: ") == 1, "one of them died with it"
    local, told = trained(tmp_path / "local", **plan)
    assert results(away) == results(local)
    points = {(row["setting"], row["seed"], row["update"]) for row in rows}
    assert points == {(row["setting"], row["seed"], row["update"]) for row in told}


def test_it_ends_with_its_leader(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "leader").touch()  # and nobody holds it
    monkeypatch.setenv(locks.LEADER, str(tmp_path / "leader"))
    folder = tmp_path / "project"
    with pytest.raises(Interrupted, match="the same command goes on from the checkpoints"):
        trained(folder, cluster.address, updates=10**5)
    assert not (folder / "data/runs").exists()


def test_a_shard_that_fails_three_times_is_told_and_the_rest_kept(
    cluster: Cluster, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "project"
    stage = plan(parameters(folder, None), "tiny", "act", prepared(folder))
    damaged = stage.shards()[1].path
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(os.urandom(100))
    with pytest.raises(UserError, match=r"1 of 2 shards failed 3 times, shard 2 with: .*damaged"):
        trained_again(folder, cluster.address)
    assert capfd.readouterr().out.count("shard 2 of 2: ") == 3
    assert stage.shards()[0].path.is_file()
    assert not (folder / "data/runs").exists(), "a part of the results was published"
    damaged.unlink()
    trained_again(folder, cluster.address)
    assert results(folder) == results(trained(tmp_path / "local")[0])


def prepared(folder: Path) -> Path:
    config = load_params(folder / "params.yaml").experiment("tiny")
    layout = Layout(folder, "quick")
    task = make_task(config.task, "tiny")
    freeze(task, layout.raw, layout.frozen("tiny"), config.evaluation.examples)
    return folder


def trained_again(folder: Path, address: str) -> None:
    values = load_params(folder / "params.yaml")
    compute = values.compute.model_copy(update={"executor": "ray", "ray_address": address})
    params = values.model_copy(update={"compute": compute})
    run(plan(params, "tiny", "act", folder))


def test_a_missing_ray_and_a_missing_cluster_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = parameters(tmp_path / "project", "127.0.0.1:1")
    planned = plan(params, "tiny", "act", prepared(tmp_path / "project"))
    with pytest.raises(UserError, match=r"compute\.ray_address: 127\.0\.0\.1:1: "):
        run(planned)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"compute\.executor: ray is not installed; pip install"):
        run(planned)
