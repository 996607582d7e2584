"""The train stage: finds what is trained of an experiment, trains the rest, collects all of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from pondering.params.schema import Params
from pondering.project import provenance
from pondering.project.errors import UserError
from pondering.project.progress import duration
from pondering.train.outs import write_outs
from pondering.train.replica import ByHash, by_hash, data_hash, file_of
from pondering.train.replicas_csv import published

Rows = list[dict[str, Any]]


def run(
    params: Params,
    experiment: str,
    mechanisms: Sequence[str] = (),
    listen: Callable[[Rows], None] = lambda rows: None,
) -> None:
    """Train what is missing of an experiment; write curves, stacked parameters and records.

    Args:
        mechanisms: those of the experiment to train; none: all.
        listen: gets the curve rows of what is trained, as they grow.

    Raises:
        Interrupted: told to stop; the checkpoints are written.
        UserError: a value that is refused, a damaged checkpoint, no GPU for a profile that needs
            one, or a cluster that fails.
    """
    names = mechanisms or tuple(params.experiment(experiment).mechanisms)
    planned = {each: by_hash(params, experiment, each) for each in names}
    every = {sha256: each for replicas in planned.values() for sha256, each in replicas.items()}
    with alone(params.layout.checkpoints(experiment) / "lock"):
        missing = missing_of(params, experiment, every)
        if there := len(every) - len(missing):
            name = f"{params.profile} {experiment}"
            print(f"{name}: {there} of {len(every)} replicas are trained", flush=True)
        if missing:
            _train(params, experiment, planned, missing, listen)
    for mechanism, replicas in planned.items():
        write_outs(params, experiment, mechanism, replicas)


def missing_of(params: Params, experiment: str, replicas: ByHash) -> list[str]:
    """The hashes of those replicas that have no file and no published results that are kept."""
    keeps = params.compute.published == "keep"
    kept = published(params, experiment, replicas) if keeps else {}
    missing = [each for each in replicas if each not in kept]
    return [each for each in missing if not file_of(params.root, each).is_file()]


def alone(path: Path) -> AbstractContextManager[object]:
    """Lock a file; wait while another process has it, as one that a killed `dvc` left at work."""
    lock = FileLock(path)
    try:
        return lock.acquire(timeout=0)
    except Timeout:
        print(f"{path.parent}: another trainer is at work on this run; waiting for it", flush=True)
        return lock.acquire()


def _train(
    params: Params,
    experiment: str,
    planned: Mapping[str, ByHash],
    missing: Sequence[str],
    listen: Callable[[Rows], None],
) -> None:
    """Train some of the planned replicas, and write a file for each."""
    import torch  # takes seconds, as what follows does

    from pondering.project import machine
    from pondering.tasks import make_task
    from pondering.train import build, cut, fit, news, processes, ray, shard

    for name, config in params.experiments.items():  # all of them, before one trains for hours
        fit.check_fit(f"{name}.{params.profile}", config, make_task(config.task, name))
    machine.settle(params.compute.threads)
    device = build.pick_device(params.device)
    origin = provenance.record(
        params.root,
        data_hash(params, params.experiment(experiment)),
        machine.name_of(device),
        torch.get_num_threads(),
        params.training(experiment),
    )
    sweeps = [
        shard.Shard(params, experiment, replicas, device, origin) for replicas in planned.values()
    ]
    work = cut.cut(sweeps, missing)
    if params.profile == "paper" and not any(each.checkpoint.is_file() for each in work):
        estimate = f"{experiment} takes about {duration(cut.seconds(work))}"
        if device.type == "cpu" and not params.compute.insist:
            raise UserError(
                f"params.yaml: profile: paper needs a GPU: {estimate} on this CPU; use a GPU, "
                "choose reduced or quick, or insist with compute.insist: true"
            )
        print(f"paper {estimate} on {machine.name_of(device)}, by a few updates", flush=True)
    on_cluster = params.compute.executor == "ray"
    execute = ray.train_on_cluster if on_cluster else processes.train_here
    execute(work, news.News(work, listen))
