"""A Ray cluster of two nodes, one of which is killed in the middle of its shard."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray
from ray.cluster_utils import Cluster
from support import stages
from support.ray_shards import trained


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Its first node, with one CPU, on the loopback interface."""
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield found
    ray.shutdown()
    found.shutdown()


def test_a_node_that_dies_costs_nothing_but_time(cluster: Cluster, tmp_path: Path) -> None:
    """The second node is killed in the middle of its shard; the first takes it over."""
    second = cluster.add_node(num_cpus=1)
    here, plan = tmp_path / "away", {"updates": 1000, "log_points": 10}
    folders: set[Path] = set()

    def kill_after_the_checkpoints() -> None:
        end = time.monotonic() + stages.PATIENCE
        while len(folders) < 2 and time.monotonic() < end:
            folders.update(here.glob(".checkpoints/quick/tiny/*/checkpoint.*"))
            time.sleep(0.02)
        cluster.remove_node(second, allow_graceful=False)

    killer = threading.Thread(target=kill_after_the_checkpoints)
    killer.start()
    away, rows = trained(here, cluster.address, **plan)
    killer.join()
    assert len(folders) == 2, "both shards were at work when the node died"
    local, told = trained(tmp_path / "local", **plan)
    assert stages.results(away) == stages.results(local)
    points = {(row["setting"], row["seed"], row["update"]) for row in rows}
    assert points == {(row["setting"], row["seed"], row["update"]) for row in told}
