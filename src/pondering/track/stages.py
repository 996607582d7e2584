"""A train stage by its files: finished under `reports/`, or growing under `.tracking/`."""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from pondering.params.mechanisms import MECHANISMS
from pondering.params.ranges import setting_text
from pondering.params.replica import Replica
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


def own_params(config: Mapping[str, Any], mechanism: str, replica: Key) -> dict[str, str]:
    """The parameters of one replica, as MLflow takes them.

    What a stage has a list of, its setting and its seeds, is this replica's alone, and what an
    option may say stands there by its plain name for every replica: tau, halt_bias, seed.
    """
    entry, of = MECHANISMS[mechanism], Replica.of_row(*replica)
    shared, block = config.get("halting", {}), config.get(mechanism, {})
    own = {name: block.get(name) for name in entry.sweeps}
    own = {name: shared.get(name) if value is None else value for name, value in own.items()}
    own = {name: value for name, value in own.items() if value is not None} | dict(of.options)
    hidden = {f"{part}.{name}" for part in ("halting", mechanism) for name in own}
    hidden |= {f"{mechanism}.{entry.setting}", "seeds"}
    rest = {name: value for name, value in flatten(config).items() if name not in hidden}
    plain = own | {entry.setting: of.setting}
    named = {"mechanism": of.variant, "setting": setting_text(of.setting), "seed": str(of.seed)}
    return rest | {name: setting_text(value) for name, value in plain.items()} | named


def seed_means(values: Mapping[Key, Mapping[str, float]]) -> dict[str, float]:
    """Means over the seeds of each setting that have a value: "error/tau 0.01" and so on."""
    found: dict[str, list[float]] = defaultdict(list)
    for key, own in values.items():
        setting = Replica.of_row(*key).setting_name().replace(",", "")
        for name, value in own.items():
            found[f"{name}/{setting}"].append(value)
    return {name: fmean(each) for name, each in found.items()}


def origin_of(record: Mapping[str, Any], replica: Key) -> Mapping[str, Any]:
    """The part of a stage's record that tells of the training that a replica comes from."""
    name = Replica.of_row(*replica).text()
    return next((each for each in record.get("earlier", ()) if name in each["replicas"]), record)


def seconds(record: Mapping[str, Any]) -> float:
    """What all trainings of a stage took; 0 of one at work."""
    parts = (record, *record.get("earlier", ()))
    return float(sum(each.get("wall_seconds", 0.0) for each in parts))


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
