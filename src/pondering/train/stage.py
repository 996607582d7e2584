"""A training stage: from parameters to curves and trained replicas, resumable at any moment."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from typing import Any

import pandas as pd

from pondering.project import locks, machine
from pondering.project.atomic import json_text, write_together
from pondering.project.errors import UserError
from pondering.project.progress import duration
from pondering.train import checkpoint, finished, local, ray
from pondering.train.plan import Plan, earlier
from pondering.train.shards import ShardResult, gathered
from pondering.train.trainer import Row

Listener = Callable[[list[Row]], None]


def run(plan: Plan, listen: Listener = lambda rows: None) -> None:
    """Train what is missing, from the last checkpoint if there is one, and write all.

    See `train_all`.
    """
    if not plan.missing:
        why = "every replica has been trained before" if plan.replicas else "left out: no seeds"
        print(f"{plan.label}: {why}", flush=True)
        write(plan)
        return
    with locks.alone(plan.folder):
        write(plan, train_all(plan, listen))
        locks.prune(plan.folder)


def train_all(plan: Plan, listen: Listener = lambda rows: None) -> ShardResult:
    """Train every shard of what is missing, here or on a cluster; what is left is checkpoints.

    Args:
        listen: gets the curve rows at each logging point.

    Raises:
        Interrupted: told to stop, or whoever led this process has ended; the checkpoint is
            written.
        UserError: a damaged checkpoint, or no GPU for a profile that needs one.
    """
    machine.settle(plan.params.compute.threads)
    shards = plan.shards()
    if not any(shard.path.is_file() for shard in shards):
        _refuse_hopeless(plan)
    for shard in shards:
        shard.path.parent.mkdir(exist_ok=True)
    execute = ray.train_on_cluster if plan.params.compute.executor == "ray" else local.train_here
    return gathered(execute(plan, shards, listen), plan.missing)


def write(plan: Plan, outcome: ShardResult | None = None) -> None:
    """Curves, parameters, the list of replicas, and where they came from.

    Args:
        outcome: of those that were missing; None where none was.
    """
    now = plan.origin()
    parts = earlier(plan.params, plan.experiment, plan.mechanism, plan.root)
    if outcome is not None:
        parts.append(_trained(plan, outcome, now))
    whole = finished.joined(plan.replicas, plan.keys, plan.experiment, parts)
    here = finished.here(plan.keys, parts)
    replicas = list(itertools.compress(whole.records().values(), here))
    content = checkpoint.parameters(whole.parameters, len(replicas))
    curves = whole.curves.to_csv(index=False).encode()
    sha256 = finished.hashes(content, curves)
    values = plan.config.of_mechanism(plan.mechanism)
    run = {"config": values, "replicas": replicas, "sha256": sha256}
    nothing = now | {"updates": 0, "wall_seconds": 0.0}  # of a mechanism that is left out
    of_all = {"trained_hash": sha256["parameters"]} | now
    origin = {name: each for name, each in of_all.items() if name in finished.WHOLE}
    stage = plan.experiment, plan.mechanism
    folder = plan.layout.run(*stage)
    write_together(
        {
            folder / "parameters.safetensors": content,
            plan.layout.curves(*stage): curves,
            plan.layout.provenance(*stage): json_text(
                finished.record(origin, whole.origins or [nothing])
            ),
            folder / "run.json": json_text(run),  # last: it vouches for the others
        }
    )


def _trained(plan: Plan, outcome: ShardResult, origin: dict[str, Any]) -> finished.Finished:
    """What this run has trained."""
    keys = [key for key in plan.keys if key not in plan.done]
    rows = pd.DataFrame(plan.named(outcome.rows))
    rows["computed_steps"] = rows["computed_steps"].astype("int64")
    spent = {"updates": outcome.update, "wall_seconds": round(outcome.seconds, 3)}
    return finished.Finished(
        plan.missing,
        keys,
        outcome.status,
        outcome.parameters,
        finished.as_text(rows),
        [origin | spent],
    )


def _refuse_hopeless(plan: Plan) -> None:
    """Stop before a `paper` run on a CPU, with its cost, unless the user insists."""
    insists = plan.params.compute.insist or os.environ.get("PONDERING_INSIST") == "1"
    if plan.params.profile != "paper" or plan.device.type != "cpu" or insists:
        return
    seconds = _seconds_of_two_updates(plan) * len(plan.missing)
    left = seconds / 2 * plan.config.updates(plan.mechanism)
    raise UserError(
        f"params.yaml: profile: paper needs a GPU: {plan.experiment} {plan.mechanism} "
        f"would take about {duration(left)} on this CPU; use a GPU, choose reduced or "
        "quick, or insist with compute.insist: true or PONDERING_INSIST=1"
    )


def _seconds_of_two_updates(plan: Plan) -> float:
    """Measured with one replica: a whole sweep may not fit into this machine's memory."""
    trial = plan.sweep(0, 1)
    start = time.monotonic()
    trial.run(lambda _: None, lambda: trial.update >= 2)
    return time.monotonic() - start
