"""One trained replica of each mechanism beside the tables, small enough for git.

A fresh clone has them, so that `pondering show` needs no training there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
        """Take one replica of a mechanism, if there is room for it.

        Args:
            trained: the replicas that are here, if there are any.
            table: how they did, and those that are kept.
            kept: those whose results are published; one whose parameters are, too, may be taken
                again, for the others the next in line is.
        """
        folder = self._layout.models(self._experiment, mechanism)
        status = dict(zip(trained.replicas, trained.status, strict=True)) if trained else {}
        status |= (elsewhere := kept.status(mechanism))
        again = set()
        if elsewhere and (folder / "run.json").is_file():
            again = {each for each, _ in recorded(folder / "run.json", mechanism)[0]}
        line = [each for each in in_line(status, table) if each in again or each not in elsewhere]
        if not line:
            return
        one = line[0]
        if trained is None or one in elsewhere:
            alone, _ = checkpoint.read(folder / "parameters.safetensors")
        else:
            k = trained.replicas.index(one)
            alone = {name: p[k : k + 1] for name, p in trained.network.named_parameters()}
        record = one.record() | {"status": status[one]}
        size = sum(4 * parameter.numel() for parameter in alone.values())
        fits = ORDER.index(mechanism) < BUDGET // size
        self._index[mechanism] = record | {"bytes": size, "published": fits}
        if fits:
            config = self._config.of_mechanism(mechanism)
            whole = json_text({"config": config, "replicas": [record]})
            self._files[folder / "parameters.safetensors"] = checkpoint.parameters(alone, 1)
            self._files[folder / "run.json"] = whole

    def list(self, measured: dict[str, Any]) -> None:
        """Say which replicas were measured, published or not."""
        self._files[self._layout.measured(self._experiment)] = json_text(measured)

    def files(self) -> dict[Path, bytes | str]:
        """What to write, by path, with a list of what was taken."""
        index = self._layout.published(self._experiment) / "index.json"
        return self._files | {index: json_text(self._index)}

    def prune(self) -> None:
        """Remove what an earlier evaluation published and this one did not."""
        for path in self._layout.published(self._experiment).rglob("*.*"):
            if path.is_file() and path not in self.files():
                path.unlink()


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
