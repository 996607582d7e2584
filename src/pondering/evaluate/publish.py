"""One trained replica of each mechanism beside the tables, small enough for git.

A fresh clone has them, so that `pondering show` needs no training there.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pondering.evaluate.standings import Standings, best
from pondering.params.mechanisms import MECHANISMS
from pondering.params.ranges import setting_text
from pondering.params.read import ExperimentConfig
from pondering.project.atomic import json_text
from pondering.project.paths import Layout
from pondering.train import checkpoint

if TYPE_CHECKING:
    from pondering.evaluate.load import Trained

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

    def add(self, trained: Trained, table: Standings) -> None:
        """Take one replica of a mechanism, if there is room for it.

        Args:
            trained: the replicas.
            table: how they did.
        """
        k = chosen(trained, table)
        one = trained.replicas[k]
        record = one.record() | {"status": trained.status[k]}
        alone = {name: p[k : k + 1] for name, p in trained.network.named_parameters()}
        size = sum(4 * parameter.numel() for parameter in alone.values())
        fits = ORDER.index(trained.mechanism) < BUDGET // size
        self._index[trained.mechanism] = record | {"bytes": size, "published": fits}
        if fits:
            folder = self._layout.models(self._experiment, trained.mechanism)
            config = self._config.of_mechanism(trained.mechanism)
            whole = json_text({"config": config, "replicas": [record]})
            self._files[folder / "parameters.safetensors"] = checkpoint.parameters(alone, 1)
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


def chosen(trained: Trained, table: Standings) -> int:
    """Which replica is published, never one with options.

    Of the setting with the lowest mean error over seeds the lowest seed that did not diverge,
    however well it did itself; the lowest of all where every one of them diverged.

    Args:
        trained: the replicas of one mechanism.
        table: how they did.
    """
    plain = {k: each for k, each in enumerate(trained.replicas) if not each.options}
    setting = best(plain.values(), table)
    own = [k for k, each in plain.items() if setting_text(each.setting) == setting]
    return min(own, key=lambda k: (trained.status[k] == "diverged", trained.replicas[k].seed))
