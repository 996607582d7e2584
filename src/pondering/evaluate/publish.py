"""Results into git: tables, figures and pages of a profile, and a few of its networks.

A fresh clone has them, so that `pondering show` needs no training there: of each mechanism one
network in full, or of each setting as many as `evaluation.publish` says, in half precision.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from pondering.evaluate.load import trained_here
from pondering.evaluate.merge import Merge
from pondering.params.replica import Replica, setting_text
from pondering.params.schema import Params
from pondering.project.atomic import atomic_write, json_text
from pondering.project.errors import UserError
from pondering.results.results import read_table
from pondering.results.tables import best_setting, headline, per_seed
from pondering.train.replica import read_tensors, stack
from pondering.train.replicas_csv import NAME, replicas_csv

Tensors = Mapping[str, Tensor]
KINDS = ("cards", "curves", "models", "provenance", "tables", "traces")
"""Folders that hold nothing but the last published results."""


def publish(params: Params) -> Path:
    """Copy a profile's results, page and chosen networks to reports/PROFILE.

    Returns:
        The folder.

    Raises:
        UserError: a result is missing, or of other values or another program than today's; nothing
            has been copied.
    """
    local, there = params.layout, params.published
    files: dict[Path, bytes | str] = {}
    for experiment, config in params.experiments.items():
        merged = Merge(params, experiment)
        _refuse_missing(params, experiment)
        seeds = per_seed(headline(read_table(local.table(experiment))))
        index = {}
        for mechanism in config.mechanisms:
            setting = best_setting(seeds, mechanism)
            if taken := copy(params, experiment, mechanism, setting, merged.published):
                index[mechanism] = taken[0]
                files |= taken[1]
        files[there.networks(experiment) / "index.json"] = json_text(index)
    files[there.report / NAME] = replicas_csv(params)
    for path in local.report.rglob("*"):
        name = path.relative_to(local.report)
        if path.is_file() and name.parts[0] != "networks":
            files[there.report / name] = path.read_bytes()
    for path, content in files.items():
        atomic_write(path, content)
    for kind in KINDS:
        for path in (there.report / kind).rglob("*.*"):
            if path.is_file() and path not in files:
                path.unlink()
    return there.report


def _refuse_missing(params: Params, experiment: str) -> None:
    """Refuse an experiment whose results are not all there."""
    local = params.layout
    needed = (local.table(experiment), local.traces(experiment), local.card(experiment))
    for path in (*needed, local.report / "claims.json", local.report / "index.html"):
        if not path.is_file():
            todo = f"with `profile: {params.profile}` in params.yaml run `dvc repro` first"
            raise UserError(f"{path}: no such file; {todo}")


def copy(
    params: Params,
    experiment: str,
    mechanism: str,
    setting: float | None,
    published: Mapping[Replica, str],
) -> tuple[dict[str, Any], dict[Path, bytes | str]] | None:
    """The networks of a mechanism that are to be published.

    Args:
        setting: the one that pages show.
        published: the status of those replicas of the experiment whose results are published. One
            whose parameters are, too, may be taken again, for the others the next in line is.

    Returns:
        What index.json says of the mechanism, and the files to write; None: no network is left.

    Raises:
        UserError: a network of today's values is not trained.
    """
    config, folder = params.experiment(experiment), params.published.run(experiment, mechanism)
    status = {each: said for each, said in published.items() if each.mechanism == mechanism}
    parameters = {each: p for each, p in _published(folder, mechanism).items() if each in status}
    here = trained_here(params, experiment, mechanism)
    parameters |= _each([*here], params.layout.run(experiment, mechanism))
    status |= here
    for replica in config.replicas(mechanism):
        if replica not in status:
            todo = params.training(experiment)
            raise UserError(f"{experiment}: {replica.text()} is not trained; run `{todo}`")
    line = [each for each in in_line(status, setting) if each in parameters]
    if not line:
        return None
    count = config.evaluation.publish
    seeds = config.seeds_of(mechanism)[:count] if count else ()
    taken = [
        each
        for each in config.replicas(mechanism)
        if each in parameters and (each == line[0] or each.seed in seeds)
    ]
    records = {each: each.record() | {"status": status[each]} for each in taken}
    kept = torch.float16 if count else torch.float32
    numbers = [{n: p.to(kept).numpy() for n, p in parameters[k].items()} for k in taken]
    whole = {"config": config.of_mechanism(mechanism), "replicas": list(records.values())}
    return records[line[0]], {
        folder / "parameters.safetensors": stack(numbers),
        folder / "run.json": json_text(whole),
    }


def _published(folder: Path, mechanism: str) -> dict[Replica, Tensors]:
    """The replicas whose parameters have been published before."""
    if not (folder / "run.json").is_file():
        return {}
    records = json.loads((folder / "run.json").read_text(encoding="utf-8"))["replicas"]
    replicas = [Replica.of_record(mechanism, each) for each in records]
    return _each(replicas, folder)


def _each(replicas: Sequence[Replica], folder: Path) -> dict[Replica, Tensors]:
    """The parameters of each replica of the stack in a folder."""
    stacked, _ = read_tensors(folder / "parameters.safetensors", "pt")
    return {each: {n: p[k] for n, p in stacked.items()} for k, each in enumerate(replicas)}


def in_line(status: Mapping[Replica, str], setting: float | None) -> list[Replica]:
    """Which replicas stand for a mechanism, the one to publish first; none with options.

    They are all seeds of a setting, in order, however well they did; those that diverged come last.

    Args:
        status: of the replicas of one mechanism.
        setting: the one that pages show; None has no replica.
    """
    shown = None if setting is None else setting_text(setting)
    chosen = [k for k in status if not k.options and setting_text(k.setting) == shown]
    return sorted(chosen, key=lambda each: (status[each] == "diverged", each.seed))
