"""Which file lies where: the one place that knows the folders the stages write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """The files of one profile below a project's root."""

    root: Path
    profile: str

    @property
    def raw(self) -> Path:
        """Downloaded files, unpacked and checked."""
        return self.root / "data" / "raw" / self.profile

    @property
    def tasks(self) -> Path:
        """Frozen evaluation sets and prepared data, with their cards."""
        return self.root / "data" / "tasks" / self.profile

    @property
    def report(self) -> Path:
        """Everything that is published."""
        return self.root / "reports" / self.profile

    def frozen(self, experiment: str) -> Path:
        """The evaluation sets and prepared data of an experiment."""
        return self.tasks / f"{experiment}.npz"

    def stage_key(self, stage: str, experiment: str) -> Path:
        """The key of an experiment's stage, which changes where its program or values do."""
        return self.root / "data" / "keys" / stage / f"{experiment}.json"

    def card(self, experiment: str) -> Path:
        """Its data card."""
        return self.report / "cards" / f"{experiment}.json"

    def run(self, experiment: str, mechanism: str) -> Path:
        """The trained replicas of a mechanism."""
        return self.root / "data" / "runs" / self.profile / experiment / mechanism

    def models(self, experiment: str, mechanism: str) -> Path:
        """A trained replica that is published: the files of `run`, where a fresh clone has them."""
        return self.published(experiment) / mechanism

    def published(self, experiment: str) -> Path:
        """The published replicas of an experiment, and which they are."""
        return self.report / "models" / experiment

    def checkpoints(self, experiment: str) -> Path:
        """Unfinished trainings, a folder each; no DVC out, so nothing deletes them before a run."""
        return self.root / ".checkpoints" / self.profile / experiment

    def curves(self, experiment: str, mechanism: str) -> Path:
        """Training curves."""
        return self.report / "curves" / f"{experiment}-{mechanism}.csv"

    def provenance(self, experiment: str, mechanism: str | None = None) -> Path:
        """Commit, hashes, versions, device and wall time of a training, or of an evaluation.

        Args:
            mechanism: None for the evaluation of all of them; `is_training` tells the two apart.
        """
        name = experiment if mechanism is None else f"{experiment}-{mechanism}"
        return self.report / "provenance" / f"{name}.json"

    def table(self, experiment: str) -> Path:
        """The tidy evaluation."""
        return self.report / "tables" / f"{experiment}.csv"

    def metrics(self, experiment: str) -> Path:
        """Flat summaries for `dvc metrics`."""
        return self.report / "metrics" / f"{experiment}.json"

    def traces(self, experiment: str) -> Path:
        """Single examples step by step."""
        return self.report / "traces" / f"{experiment}.json"

    def exits(self, experiment: str) -> Path:
        """Error and steps by every exit rule."""
        return self.report / "exits" / f"{experiment}.csv"


def to_run(stage: str, profile: str, *parts: str) -> str:
    """What makes a stage run, in words: DVC knows those of one profile, that of params.yaml.

    Args:
        stage: as dvc.yaml names it.
        profile: the one to run it for, active or not.
        parts: the experiment, and of a training the mechanism.
    """
    name = "-".join((profile, *parts))
    return f"with `profile: {profile}` in params.yaml run `dvc repro {stage}@{name}`"


def is_training(record: str) -> bool:
    """Whether a record of that name, its suffix left out, is a training's or an evaluation's.

    The name of an experiment has no hyphen.
    """
    return "-" in record
