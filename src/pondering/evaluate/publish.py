"""Trained replicas beside the tables, few or small enough for git.

A fresh clone has them, so that `pondering show` needs no training there: of each mechanism one in
full, or of each setting as many as `evaluation.publish` says, in half precision.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from pondering.evaluate.kept import Kept
from pondering.evaluate.load import Trained, recorded
from pondering.evaluate.standings import Standings, best
from pondering.params.mechanisms import MECHANISMS
from pondering.params.ranges import setting_text
from pondering.params.read import ExperimentConfig
from pondering.params.replica import Replica
from pondering.project.atomic import json_text
from pondering.project.paths import Layout
from pondering.train import checkpoint

Tensors = Mapping[str, Tensor]
BUDGET = 1_500_000  # bytes of parameters per experiment; larger networks are left out
FIRST = ("act", "pondernet", "repeat")
ORDER = tuple(dict.fromkeys((*FIRST, *MECHANISMS)))  # where not all of them fit


class Copies:
    """The replicas of one experiment that are published.

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

    def add(self, mechanism: str, trained: Trained | None, table: Standings, kept: Kept) -> None:
        """Take the replicas of a mechanism that are to be published, if there is room.

        Args:
            trained: the replicas that are here, if there are any.
            table: how they did, and those that are kept.
            kept: those whose results are published; one whose parameters are, too, may be taken
                again, for the others the next in line is.
        """
        folder = self._layout.models(self._experiment, mechanism)
        status = kept.status(mechanism)
        there = _published(folder, mechanism, status)
        if trained:
            there |= _each(trained.replicas, dict(trained.network.named_parameters()))
            status |= dict(zip(trained.replicas, trained.status, strict=True))
        line = [each for each in in_line(status, table) if each in there]
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
        index = self._layout.published(self._experiment) / "index.json"
        return self._files | {index: json_text(self._index)}

    def prune(self) -> None:
        """Remove what an earlier evaluation published and this one did not."""
        for path in self._layout.published(self._experiment).rglob("*.*"):
            if path.is_file() and path not in self.files():
                path.unlink()


def _published(folder: Path, mechanism: str, wanted: Container[Replica]) -> dict[Replica, Tensors]:
    """Those of some replicas whose parameters an earlier evaluation has published."""
    if not (folder / "run.json").is_file():
        return {}
    replicas = [each for each, _ in recorded(folder / "run.json", mechanism)[0]]
    found = _each(replicas, checkpoint.read(folder / "parameters.safetensors")[0])
    return {each: parameters for each, parameters in found.items() if each in wanted}


def _each(replicas: Sequence[Replica], stacked: Tensors) -> dict[Replica, Tensors]:
    """The parameters of each replica of a stack."""
    return {each: {n: p[k] for n, p in stacked.items()} for k, each in enumerate(replicas)}


def in_line(status: Mapping[Replica, str], table: Standings) -> list[Replica]:
    """Which replicas stand for a mechanism, the one to publish first; none with options.

    Those of the setting with the lowest mean error over seeds, by their seeds, however well they
    did themselves; those that diverged last.

    Args:
        status: of the replicas of one mechanism.
        table: how they did.
    """
    plain = [each for each in status if not each.options]
    setting = best(plain, table)
    own = [each for each in plain if setting_text(each.setting) == setting]
    return sorted(own, key=lambda each: (status[each] == "diverged", each.seed))
