"""Shards of a sweep on the CPUs and GPUs of a Ray cluster, gathered where `dvc repro` runs.

Every node has this project installed; no folder is shared. A worker gets the values, the frozen
data and the last checkpoint, and sends each checkpoint home, so that one that dies, or its whole
node, costs what was done since. The files and the results are those of a local run.
"""

from __future__ import annotations

import logging
import socket
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pondering.project import machine
from pondering.project.atomic import atomic_write
from pondering.project.errors import UserError
from pondering.train import checkpoint
from pondering.train.news import News
from pondering.train.processes import SECONDS_BETWEEN_LOOKS
from pondering.train.replica import by_hash
from pondering.train.shard import Shard, finish, train

ATTEMPTS = 3  # of a shard, by Ray


class Home:
    """An actor beside the project's folder: keeps checkpoints, collects what the shards report."""

    def __init__(self, paths: list[str]) -> None:
        self._paths = [Path(path) for path in paths]
        self._news: list[Any] = []

    def checkpoint(self, number: int) -> bytes | None:
        """The last checkpoint of a shard; None before the first."""
        path = self._paths[number]
        return path.read_bytes() if path.is_file() else None

    def keep(self, number: int, content: bytes) -> None:
        """Keep the new checkpoint of a shard."""
        atomic_write(self._paths[number], content)

    def tell(self, *news: Any) -> None:
        """The arguments of `News.tell`."""
        self._news.append(news)

    def news(self) -> list[Any]:
        """All that was told since the last call."""
        news, self._news = self._news, []
        return news


def train_away(shard: Shard, number: int, frozen: bytes, home: Any) -> None:
    """Train a shard on this node; its checkpoints go home."""
    import ray

    machine.settle(shard.params.compute.threads)
    with tempfile.TemporaryDirectory() as folder:
        here = replace(shard, params=shard.params.model_copy(update={"root": Path(folder)}))
        atomic_write(here.params.layout.frozen(here.experiment), frozen)
        known = by_hash(here.params, here.experiment, here.mechanism)
        if not known.keys() >= here.replicas.keys():
            raise UserError("a node has other code than the one that asks it")
        if content := ray.get(home.checkpoint.remote(number)):
            atomic_write(here.checkpoint, content)

        def saved(path: Path) -> None:
            ray.get(home.keep.remote(number, path.read_bytes()))

        train(here, lambda *news: home.tell.remote(number, *news), saved=saved)


def train_on_cluster(shards: Sequence[Shard], news: News) -> None:
    """Train every shard on the cluster of `compute.ray_address`, else of the environment, else one
    on this machine.

    Raises:
        UserError: Ray is not installed, no cluster is there, or a shard failed three times; what
            the others did is kept.
    """
    params = shards[0].params
    ray = _connected(params.compute.ray_address)
    node = ray.get_runtime_context().get_node_id()
    here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, soft=False)
    paths = [str(shard.checkpoint.absolute()) for shard in shards]
    home = ray.remote(Home).options(num_cpus=0, scheduling_strategy=here).remote(paths)
    frozen = params.layout.frozen(shards[0].experiment).read_bytes()
    task = ray.remote(train_away).options(
        num_cpus=params.compute.threads,
        num_gpus=int(shards[0].device.type == "cuda"),
        max_retries=ATTEMPTS - 1,
        retry_exceptions=True,
    )
    running = {
        task.remote(shard, number, frozen, home): number for number, shard in enumerate(shards)
    }
    failures: dict[int, str] = {}
    try:
        with news.bar:
            while running:
                done, _ = ray.wait(list(running), timeout=SECONDS_BETWEEN_LOOKS)
                for each in done:
                    number = running.pop(each)
                    try:
                        ray.get(each)
                    except ray.exceptions.RayError as error:
                        reason = str(getattr(error, "cause", None) or error)
                        failures[number] = reason.strip().splitlines()[-1]
                for each in ray.get(home.news.remote()):
                    news.tell(*each)
    finally:
        ray.shutdown()
    for number, shard in enumerate(shards):
        if number not in failures:
            trained = shard.trainer()
            checkpoint.load(trained, shard.checkpoint)
            finish(shard, trained)
    if failures:
        number, reason = next(iter(failures.items()))
        raise UserError(
            f"{len(failures)} of {len(shards)} shards failed {ATTEMPTS} times, shard "
            f"{number + 1} with: {reason}; the rest is kept, the same command goes on"
        )


def _connected(address: str | None) -> Any:
    try:
        import ray
        import ray.util.scheduling_strategies
    except ImportError:
        raise UserError(
            "params.yaml: compute.executor: ray is not installed; pip install 'pondering[cluster]'"
        ) from None
    host, _, port = (address or "").rpartition(":")
    try:
        if port.isdigit():  # Ray itself would ask for many minutes
            socket.create_connection((host, int(port)), timeout=10).close()
        ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise UserError(f"params.yaml: compute.ray_address: {address}: {reason}") from None
    return ray
