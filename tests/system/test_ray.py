"""`compute.executor: ray` on real clusters: a shard that fails, a node that is killed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster
from support import stages, tiny

from pondering.params.schema import Params
from pondering.project.errors import UserError
from pondering.train.cut import cut
from pondering.train.replica import file_of
from pondering.train.stage import run


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A cluster of one node with one CPU."""
    found = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    yield found
    ray.shutdown()
    found.shutdown()


def project(folder: Path, **training: int) -> Params:
    """The tiny project, with ACT's sweep in two shards of two replicas."""
    values = tiny.document(training=training)
    values["compute"] |= {"replicas_at_once": 2, "checkpoint_seconds": 0.05}
    folder.mkdir(exist_ok=True)
    tiny.write(folder, values)
    return tiny.freeze_all(folder)


def train(params: Params, address: str | None = None) -> list[Any]:
    """Train on a cluster or on this machine; returns the logged rows."""
    executor = {"executor": "ray", "ray_address": address} if address else {}
    compute, rows = params.compute.model_copy(update=executor), list[Any]()
    params = params.model_copy(update={"compute": compute})
    run(params, "tiny", ("act",), rows.extend)
    return rows


def test_a_shard_that_fails_three_times_is_named_and_the_others_are_kept(
    cluster: Cluster, tmp_path: Path
) -> None:
    params = project(tmp_path)
    whole = tiny.shard(params)
    first, second = cut([whole], whole.replicas)
    second.checkpoint.parent.mkdir(parents=True)
    second.checkpoint.write_bytes(os.urandom(100))
    with pytest.raises(UserError, match=r"1 of 2 shards failed 3 times, shard 2 with: .*damaged"):
        train(params, cluster.address)
    assert all(file_of(tmp_path, each).is_file() for each in first.replicas)
    assert not (tmp_path / "data/results").exists(), "a part of the results was published"
    second.checkpoint.unlink()
    train(params, cluster.address)
    assert all(file_of(tmp_path, each).is_file() for each in whole.replicas)


def test_results_do_not_change_when_a_node_dies(cluster: Cluster, tmp_path: Path) -> None:
    """The second node is killed in the middle of its shard; the first continues the shard."""
    node = cluster.add_node(num_cpus=1)
    away, here, plan = tmp_path / "away", tmp_path / "here", {"updates": 1000, "log_points": 10}
    folders: set[Path] = set()

    def kill_after_the_checkpoints() -> None:
        end = time.monotonic() + stages.PATIENCE
        while len(folders) < 2 and time.monotonic() < end:
            folders.update(away.glob(".checkpoints/quick/tiny/*/checkpoint.*"))
            time.sleep(0.02)
        cluster.remove_node(node, allow_graceful=False)

    killer = threading.Thread(target=kill_after_the_checkpoints)
    killer.start()
    found = train(project(away, **plan), cluster.address)
    killer.join()
    assert len(folders) == 2, "a shard was not at work when the node died"
    wanted = train(project(here, **plan))
    assert stages.results(away) == stages.results(here)
    points = [
        {(row["setting"], row["seed"], row["update"]) for row in each} for each in (found, wanted)
    ]
    assert points[0] == points[1]
