"""Results into git: tables, figures and pages of a profile, and a few of its networks.

A fresh clone has them, so that `pondering show` needs no training there: of each mechanism one
network in full, or of each setting as many as `evaluation.publish` says, in half precision.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from pondering.evaluate.kept import Kept, kept
from pondering.evaluate.load import Trained, load_trained, recorded
from pondering.params.mechanisms import MECHANISMS
from pondering.params.ranges import setting_text
from pondering.params.read import ExperimentConfig, Params
from pondering.params.replica import Replica
from pondering.project.atomic import atomic_write, json_text
from pondering.project.errors import UserError
from pondering.project.paths import PUBLISHED, Layout
from pondering.results.results import read_table
from pondering.results.tables import best_setting, headline, per_seed
from pondering.tasks import make_task
from pondering.train import checkpoint
from pondering.train.published import NAME, replicas_csv
from pondering.train.replica import hashes

Tensors = Mapping[str, Tensor]
BUDGET = 1_500_000  # bytes of parameters per experiment; larger networks are left out
FIRST = ("act", "pondernet", "repeat")
ORDER = tuple(dict.fromkeys((*FIRST, *MECHANISMS)))  # where not all of them fit
KINDS = ("cards", "curves", "models", "provenance", "tables", "traces")
"""Folders that hold nothing but the last published results."""


def publish(params: Params, root: Path) -> Path:
    """Copy a profile's results, page and chosen networks to reports/PROFILE.

    Returns:
        The folder.

    Raises:
        UserError: a result is missing, or of other values or another program than today's; nothing
            has been copied.
    """
    own, there = Layout(root, params.profile), Layout(root, params.profile, PUBLISHED)
    files: dict[Path, bytes | str] = {}
    for experiment, config in params.experiments.items():
        known = kept(params, experiment, root)
        _refuse_unfinished(own, params, experiment, known)
        copies = Copies(there, experiment, config)
        seeds = per_seed(headline(read_table(own.table(experiment))))
        task = make_task(config.task, experiment, own.frozen(experiment))
        for mechanism in config.mechanisms:
            here = not known.whole(mechanism)
            trained = load_trained(own, params, experiment, mechanism, task) if here else None
            copies.add(mechanism, trained, best_setting(seeds, mechanism), known)
        files |= copies.files()
    files[there.report / NAME] = replicas_csv(params, root)
    for path in own.report.rglob("*"):
        name = path.relative_to(own.report)
        if path.is_file() and name.parts[0] != "networks":
            files[there.report / name] = path.read_bytes()
    for path, content in files.items():
        atomic_write(path, content)
    for kind in KINDS:
        for path in (there.report / kind).rglob("*.*"):
            if path.is_file() and path not in files:
                path.unlink()
    return there.report


def _refuse_unfinished(own: Layout, params: Params, experiment: str, known: Kept) -> None:
    """Refuse an experiment whose results are not all there, or not those of today's values."""
    config = params.experiment(experiment)
    runs = {each: own.run(experiment, each) / "run.json" for each in config.mechanisms}
    needed = [own.table(experiment), own.traces(experiment), own.card(experiment), *runs.values()]
    for path in (*needed, own.report / "claims.json", own.report / "index.html"):
        if not path.is_file():
            todo = f"with `profile: {params.profile}` in params.yaml run `dvc repro` first"
            raise UserError(f"{path}: no such file; {todo}")
    for mechanism, path in runs.items():
        run = json.loads(path.read_text(encoding="utf-8"))
        here = {each["key"] for each in run["replicas"]}
        for replica, sha256 in hashes(params, experiment, mechanism).items():
            if sha256 not in here and replica not in known.records:
                stage = f"dvc repro {params.training(experiment)}"
                raise UserError(f"{path}: {replica.text()} is not trained; run `{stage}` first")


class Copies:
    """The networks of one experiment that are published.

    Args:
        layout: where they go.
        experiment: its name.
        config: its parameters, the same that it was trained with.
    """

    def __init__(self, layout: Layout, experiment: str, config: ExperimentConfig) -> None:
        self._layout = layout
        self._experiment = experiment
        self._config = config
        self._files: dict[Path, bytes | str] = {}
        self._index: dict[str, dict[str, Any]] = {}

    def add(
        self, mechanism: str, trained: Trained | None, setting: float | None, kept: Kept
    ) -> None:
        """Take the replicas of a mechanism that are to be published, if there is room.

        Args:
            trained: the replicas that are here, if there are any.
            setting: the one that pages show.
            kept: those whose results are published; one whose parameters are, too, may be taken
                again, for the others the next in line is.
        """
        folder = self._layout.run(self._experiment, mechanism)
        status = kept.status(mechanism)
        there = _published(folder, mechanism, status)
        if trained:
            there |= _each(trained.replicas, dict(trained.network.named_parameters()))
            status |= dict(zip(trained.replicas, trained.status, strict=True))
        line = [each for each in in_line(status, setting) if each in there]
        if not line:
            return
        count = self._config.evaluation.publish
        seeds = self._config.seeds_of(mechanism)[:count] if count else ()
        planned = [each for each in self._config.replicas(mechanism) if each in there]
        taken = [each for each in planned if each == line[0] or each.seed in seeds]
        size = sum(4 * parameter.numel() for parameter in there[line[0]].values())
        fits = count is not None or ORDER.index(mechanism) < BUDGET // size
        records = {each: each.record() | {"status": status[each]} for each in taken}
        self._index[mechanism] = records[line[0]] | {"bytes": size, "published": fits}
        if fits:
            parts = [there[each] for each in taken]
            tensors = {name: torch.stack([each[name] for each in parts]) for name in parts[0]}
            if count:
                tensors = {name: each.half() for name, each in tensors.items()}
            config = self._config.of_mechanism(mechanism)
            whole = json_text({"config": config, "replicas": list(records.values())})
            content = checkpoint.parameters(tensors, len(taken))
            self._files[folder / "parameters.safetensors"] = content
            self._files[folder / "run.json"] = whole

    def files(self) -> dict[Path, bytes | str]:
        """What to write, by path, with a list of what was taken."""
        index = self._layout.networks(self._experiment) / "index.json"
        return self._files | {index: json_text(self._index)}


def _published(folder: Path, mechanism: str, wanted: Container[Replica]) -> dict[Replica, Tensors]:
    """Those of some replicas whose parameters have been published before."""
    if not (folder / "run.json").is_file():
        return {}
    replicas = [each for each, _ in recorded(folder / "run.json", mechanism)[0]]
    found = _each(replicas, checkpoint.read(folder / "parameters.safetensors")[0])
    return {each: parameters for each, parameters in found.items() if each in wanted}


def _each(replicas: Sequence[Replica], stacked: Tensors) -> dict[Replica, Tensors]:
    """The parameters of each replica of a stack."""
    return {each: {n: p[k] for n, p in stacked.items()} for k, each in enumerate(replicas)}


def in_line(status: Mapping[Replica, str], setting: float | None) -> list[Replica]:
    """Which replicas stand for a mechanism, the one to publish first; none with options.

    They are all seeds of a setting, in order, however well they did; those that diverged come last.

    Args:
        status: of the replicas of one mechanism.
        setting: the one that pages show; None has no replica.
    """
    shown = None if setting is None else setting_text(setting)
    own = [k for k in status if not k.options and setting_text(k.setting) == shown]
    return sorted(own, key=lambda each: (status[each] == "diverged", each.seed))
