"""`compute.executor: ray`: shards that fail on a real cluster, and a leader that ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray
from ray.cluster_utils import Cluster
from support import stages, tiny
from support.ray_shards import parameters, trained

from pondering.params.read import load_params
from pondering.project.errors import UserError
from pondering.train.cut import cut
from pondering.train.replica import file_of
from pondering.train.stage import run


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A node on the loopback interface, with one CPU."""
    found = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    yield found
    ray.shutdown()
    found.shutdown()


def test_a_shard_that_fails_three_times_is_told_and_the_rest_kept(
    cluster: Cluster, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    params = parameters(folder, None)
    whole = tiny.shard(folder, params)
    first, second = cut([whole], whole.replicas)
    damaged = second.checkpoint
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(os.urandom(100))
    with pytest.raises(UserError, match=r"1 of 2 shards failed 3 times, shard 2 with: .*damaged"):
        trained_again(folder, cluster.address)
    assert all(file_of(folder, each).is_file() for each in first.replicas)
    assert not (folder / "data/results").exists(), "a part of the results was published"
    damaged.unlink()
    trained_again(folder, cluster.address)
    assert stages.results(folder) == stages.results(trained(tmp_path / "local")[0])


def trained_again(folder: Path, address: str) -> None:
    values = load_params(folder / "params.yaml")
    compute = values.compute.model_copy(update={"executor": "ray", "ray_address": address})
    params = values.model_copy(update={"compute": compute})
    run(params, "tiny", folder, ("act",))
