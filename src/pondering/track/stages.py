"""What a train stage left under `reports/`, read for MLflow: rows, provenance, key, results."""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Replica = tuple[str, int]
CURVES = ("loss", "error", "ponder_time", "remainder", "active_share")


def replica_of(setting: Any, seed: Any) -> Replica:
    """One spelling for a replica, whether its setting was read as ``1``, ``1.0`` or ``"1"``."""
    return f"{float(setting):g}", int(float(seed))


def number(value: Any) -> float | None:
    """`value` as a finite float, or None: MLflow draws gaps better than NaN."""
    try:
        result = float(value)
    except (TypeError, ValueError):
        return None
    return result if math.isfinite(result) else None


@dataclass(frozen=True)
class Stage:
    """One train stage of the project at `root`, found by its files."""

    root: Path
    profile: str
    experiment: str
    mechanism: str

    @property
    def reports(self) -> Path:
        """The profile's folder of reports."""
        return self.root / "reports" / self.profile

    @property
    def curves(self) -> Path:
        """The curves this stage writes."""
        return self.reports / "curves" / f"{self.experiment}-{self.mechanism}.csv"

    def key(self) -> str | None:
        """Hash of what the stage wrote under `reports/`; None where it has not finished."""
        if not self.curves.is_file():
            return None
        digest = hashlib.sha256(f"{self.profile}/{self.experiment}/{self.mechanism}\n".encode())
        digest.update(self.curves.read_bytes())
        if self._provenance_file.is_file():
            digest.update(self._provenance_file.read_bytes())
        return digest.hexdigest()

    def rows(self) -> list[dict[str, str]]:
        """The rows of the curves."""
        return _rows(self.curves)

    @property
    def _provenance_file(self) -> Path:
        return self.reports / "provenance" / f"{self.experiment}-{self.mechanism}.json"

    def provenance(self) -> dict[str, Any]:
        """What the stage recorded of its own making; empty where it left nothing."""
        return _json(self._provenance_file)

    def config(self) -> dict[str, Any]:
        """The configuration it ran with, from its provenance or else from `data/runs`."""
        run = self.root / "data/runs" / self.profile / self.experiment / self.mechanism / "run.json"
        found = self.provenance().get("config") or _json(run).get("config")
        return found if isinstance(found, dict) else {}

    def results(self) -> tuple[str, dict[Replica, dict[str, float]]]:
        """Evaluation per replica, difficulties weighted equally, with a digest of it."""
        table = self.reports / "tables" / f"{self.experiment}.csv"
        if not table.is_file():
            return "", {}
        results = summarise(row for row in _rows(table) if row["mechanism"] == self.mechanism)
        text = json.dumps([[*replica, values] for replica, values in sorted(results.items())])
        return hashlib.sha256(text.encode()).hexdigest(), results


def stages(root: Path, profile: str | None = None) -> Iterator[Stage]:
    """Every finished train stage under `reports/`, in the order of their names."""
    for path in sorted((root / "reports").glob(f"{profile or '*'}/curves/*-*.csv")):
        experiment, _, mechanism = path.stem.rpartition("-")
        yield Stage(root, path.parent.parent.name, experiment, mechanism)


def summarise(rows: Iterable[Mapping[str, Any]]) -> dict[Replica, dict[str, float]]:
    """Error and ponder of each replica as MLflow metrics: one name per split and prediction.

    Args:
        rows: rows of a table of evaluations (one per replica, split, difficulty, prediction).

    Returns:
        replica -> {"test_error": ..., "test_ponder_time": ..., "test_expected_error": ...}:
        means over difficulties with equal weight. PonderNet's sampled prediction, the papers' own,
        has the plain name so that mechanisms share a column.
    """
    values: dict[tuple[Replica, str], list[float]] = defaultdict(list)
    for row in rows:
        prefix = row["split"] + ("_expected" if row["prediction"] == "expected" else "")
        for measure in ("error", "ponder_time"):
            value = number(row[measure])
            if value is not None:
                replica = replica_of(row["setting"], row["seed"])
                values[replica, f"{prefix}_{measure}"].append(value)
    summary: dict[Replica, dict[str, float]] = defaultdict(dict)
    for (replica, name), numbers in values.items():
        summary[replica][name] = math.fsum(numbers) / len(numbers)
    return dict(summary)


def report_files(root: Path, profile: str) -> list[Path]:
    """The figures of a profile's report and its text."""
    folder = root / "reports" / profile
    figures = [p for p in sorted(folder.glob("figures/*")) if p.suffix in (".png", ".svg")]
    return figures + [p for p in (folder / "report.md",) if p.is_file()]


def _rows(path: Path) -> list[dict[str, str]]:
    """A CSV file as rows of text."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _json(path: Path) -> dict[str, Any]:
    """A JSON object, or an empty one where the file is missing or is none."""
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
