"""A train stage by its files: finished under `reports/`, or growing under `.tracking/`."""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pondering.params.ranges import setting_text
from pondering.project.paths import Layout, is_training

LIVE = ".tracking"  # below the project: the files of trainings that have not finished
Key = tuple[str, str, int]  # a replica: its mechanism with options, its setting as text, its seed


def key_of(variant: Any, setting: Any, seed: Any) -> Key:
    """One spelling for a replica, whether its setting was read as ``1``, ``1.0`` or ``"1"``."""
    return str(variant), setting_text(float(setting)), int(float(seed))


def number(value: Any) -> float | None:
    """`value` as a finite float, or None: MLflow draws gaps better than NaN."""
    try:
        result = float(value)
    except (TypeError, ValueError):
        return None
    return result if math.isfinite(result) else None


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested values as MLflow takes them: dotted names, text."""
    flat: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat.update(flatten(value, f"{prefix}{name}."))
        else:
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            flat[f"{prefix}{name}"] = text
    return flat


@dataclass(frozen=True)
class Stage:
    """The train stage of an experiment and a mechanism, with its files below `root`."""

    root: Path
    profile: str
    experiment: str
    mechanism: str

    @property
    def curves(self) -> Path:
        """The curves, as CSV."""
        return Layout(self.root, self.profile).curves(self.experiment, self.mechanism)

    @property
    def provenance(self) -> Path:
        """Configuration and origin, as JSON; it is written after the curves."""
        return Layout(self.root, self.profile).provenance(self.experiment, self.mechanism)

    @property
    def lock(self) -> Path:
        """Locked by the process that writes growing curves."""
        return self.curves.with_suffix(".lock")

    def growing(self) -> Stage:
        """The same stage while it trains."""
        return replace(self, root=self.root / LIVE)

    def finished(self) -> Stage:
        """The stage that was `growing`, when it has finished."""
        return replace(self, root=self.root.parent)

    def rows(self) -> list[dict[str, str]]:
        """The rows of the curves, without a last line that is only half written."""
        text = self.curves.read_text()
        return list(csv.DictReader(text[: text.rfind("\n") + 1].splitlines()))

    def record(self) -> dict[str, Any]:
        """What the stage says of its configuration and origin."""
        found: dict[str, Any] = json.loads(self.provenance.read_text())
        return found

    def key(self) -> str:
        """Hash of what the stage wrote."""
        digest = hashlib.sha256(f"{self.profile}/{self.experiment}/{self.mechanism}\n".encode())
        digest.update(self.curves.read_bytes())
        digest.update(self.provenance.read_bytes())
        return digest.hexdigest()


def stages(root: Path, profile: str = "*") -> Iterator[Stage]:
    """Every train stage with files below `root`, in the order of their names."""
    for path in sorted((root / "reports").glob(f"{profile}/provenance/*.json")):
        if is_training(path.stem):
            experiment, _, mechanism = path.stem.rpartition("-")
            yield Stage(root, path.parent.parent.name, experiment, mechanism)
