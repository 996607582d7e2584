"""The train stage: collects what is trained of an experiment, trains the rest, writes it."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from safetensors.numpy import save

from pondering.params.replica import Replica
from pondering.params.schema import Params
from pondering.project.atomic import json_text, write_together
from pondering.project.errors import UserError
from pondering.project.paths import PUBLISHED, Layout
from pondering.project.progress import duration
from pondering.project.provenance import hash_values
from pondering.train.published import finished, published, row_of
from pondering.train.replica import Finished, data_hash, hashes, is_stored, read, store

COLUMNS = (
    "experiment", "mechanism", "setting", "seed", "update", "loss", "error", "ponder_time",
    "remainder", "computed_steps",
)  # fmt: skip
Rows = list[dict[str, Any]]
ByHash = Mapping[str, Replica]


def run(
    params: Params,
    experiment: str,
    root: Path,
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
    wanted = {
        each: {sha256: replica for replica, sha256 in hashes(params, experiment, each).items()}
        for each in names
    }
    layout = Layout(root, params.profile)
    if missing_of(params, experiment, root, wanted):
        with alone(layout.checkpoints(experiment) / "lock"):
            # Another process may have trained it meanwhile.
            if missing := missing_of(params, experiment, root, wanted):
                _train(params, experiment, root, wanted, missing, listen)
    else:
        count = sum(map(len, wanted.values()))
        print(f"{params.profile} {experiment}: all of {count} replicas are trained", flush=True)
    for mechanism, replicas in wanted.items():
        write_out(params, experiment, mechanism, root, replicas)


def _train(
    params: Params,
    experiment: str,
    root: Path,
    wanted: Mapping[str, ByHash],
    missing: Sequence[str],
    listen: Callable[[Rows], None],
) -> None:
    """Train some of the wanted replicas, and write a file for each."""
    from pondering.project import machine
    from pondering.train import cost, cut, processes, ray, shard  # torch takes seconds

    machine.settle(params.compute.threads)
    origin = shard.origin_of(params, experiment, root)
    sweeps = [
        shard.Shard(params, experiment, mechanism, root, replicas, origin)
        for mechanism, replicas in wanted.items()
    ]
    work = cut.cut(sweeps, missing)
    if params.profile == "paper" and not any(each.checkpoint.is_file() for each in work):
        device = sweeps[0].device
        told = f"{experiment} takes about {duration(cost.seconds(work))}"
        if device.type == "cpu" and not params.compute.insist:
            raise UserError(
                f"params.yaml: profile: paper needs a GPU: {told} on this CPU; use a GPU, choose "
                "reduced or quick, or insist with compute.insist: true"
            )
        print(f"paper {told} on {machine.name_of(device)}, by a few updates", flush=True)
    on_cluster = params.compute.executor == "ray"
    execute = ray.train_on_cluster if on_cluster else processes.train_here
    execute(work, processes.News(work, listen))


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Lock a file; wait while another process has it, as one that a killed `dvc` left at work."""
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        print(f"{path.parent}: another trainer is at work on this run; waiting for it", flush=True)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def missing_of(
    params: Params, experiment: str, root: Path, wanted: Mapping[str, ByHash]
) -> list[str]:
    """The hashes of those replicas that have no file and no published results that are kept."""
    folder, results = store(root), Layout(root, params.profile, PUBLISHED).report
    kept = published(results, experiment) if params.compute.published == "keep" else {}
    return [
        sha256
        for replicas in wanted.values()
        for sha256, replica in replicas.items()
        if (replica.text(), sha256) not in kept and not is_stored(folder, sha256)
    ]


def write_out(
    params: Params, experiment: str, mechanism: str, root: Path, replicas: ByHash
) -> None:
    """Write what a mechanism's replicas leave for the evaluation and for the report.

    Curves and record are of all replicas, the stack holds those whose networks are here.
    """
    layout, folder = Layout(root, params.profile), store(root)
    config = params.experiment(experiment)
    here = {sha256: done for sha256 in replicas if (done := read(folder, sha256))}
    there = Layout(root, params.profile, PUBLISHED)
    kept = finished(there, experiment, mechanism, replicas) if len(here) < len(replicas) else {}
    every = {sha256: here.get(sha256) or kept[sha256] for sha256 in replicas}
    stacked = {
        name: np.stack([each.parameters[name] for each in here.values()])
        for name in (next(iter(here.values())).parameters if here else ())
    }
    evaluation = config.evaluation.model_dump(mode="json")  # for DVC: a change evaluates again
    content = save(stacked, {"replicas": str(len(here))})
    values = config.of_mechanism(mechanism)
    records = [
        replicas[sha256].record() | {"status": done.status, "key": sha256}
        for sha256, done in here.items()
    ]
    origin = {
        "trained_hash": hashlib.sha256(content).hexdigest(),
        "params_hash": hash_values(values),
        "config": values,
        "data_hash": data_hash(params, config),
    }
    run = layout.run(experiment, mechanism)
    write_together(
        {
            run / "parameters.safetensors": content,
            layout.curves(experiment, mechanism): _curves(experiment, replicas, every),
            layout.provenance(experiment, mechanism): json_text(origin | _record(replicas, every)),
            run / "run.json": json_text(
                {"config": values, "evaluation": evaluation, "replicas": records}
            ),
        }
    )


def _curves(experiment: str, replicas: ByHash, every: Mapping[str, Finished]) -> str:
    """The curves of all replicas as CSV, point by point."""
    found = [
        (int(update), place, [experiment, *row_of(replicas[sha256]), int(update)], rest)
        for place, (sha256, done) in enumerate(every.items())
        for update, *rest in done.curve.tolist()
    ]
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for _, _, names, (*means, computed) in sorted(found, key=lambda row: row[:2]):
        table.writerow([*names, *map(_text, means), int(computed)])
    return text.getvalue()


def _text(value: float) -> str:
    return "" if value != value else f"{value:.6g}"


def _record(replicas: ByHash, every: Mapping[str, Finished]) -> dict[str, Any]:
    """Where the numbers come from: of the last training, with those before it as `earlier`.

    Where there was one, its replicas are all and need no list.
    """
    runs: list[dict[str, Any]] = []
    names: list[list[str]] = []
    for sha256, done in every.items():
        own = dict(done.record)
        seconds = own.pop("wall_seconds")
        number = next((n for n, run in enumerate(runs) if run | own == run), len(runs))
        if number == len(runs):
            runs.append(own | {"wall_seconds": 0.0})
            names.append([])
        runs[number]["wall_seconds"] += seconds
        names[number].append(replicas[sha256].text())
    for run, own_names in zip(runs, names, strict=True):
        run["wall_seconds"] = round(run["wall_seconds"], 3)
        if len(runs) > 1:
            run["replicas"] = own_names
    *earlier, last = runs
    return last | ({"earlier": earlier} if earlier else {})
