"""Which file lies where: the one place that knows the folders the stages write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

RESULTS = "data/results"  # what the pipeline writes; DVC keeps copies
PUBLISHED = "reports"  # what `pondering publish` has copied into git


@dataclass(frozen=True)
class Layout:
    """The files of one profile below a project's root.

    Args:
        root: the project's folder.
        profile: quick, reduced or paper.
        top: where results lie, `RESULTS` or `PUBLISHED`; both have the same files inside.
    """

    root: Path
    profile: str
    top: str = RESULTS

    @property
    def raw(self) -> Path:
        """Downloaded files, unpacked and checked."""
        return self.root / "data" / "raw" / self.profile

    @property
    def report(self) -> Path:
        """The folder of tables, curves, figures and pages."""
        return self.root / self.top / self.profile

    @property
    def screens(self) -> Path:
        """The screens that chose recipes: published files, which no stage writes."""
        return self.root / PUBLISHED / self.profile / "search"

    @property
    def notes(self) -> Path:
        """What we make of the published results, written by hand."""
        return self.root / PUBLISHED / self.profile / "NOTES.md"

    @property
    def remarks(self) -> Path:
        """What is said of the published verdicts, written by hand."""
        return self.notes.with_name("remarks.yaml")

    def frozen(self, experiment: str) -> Path:
        """The evaluation sets and prepared data of an experiment."""
        return self.root / "data" / "tasks" / self.profile / f"{experiment}.npz"

    def card(self, experiment: str) -> Path:
        """Its data card."""
        return self.report / "cards" / f"{experiment}.json"

    def networks(self, experiment: str) -> Path:
        """All its trained replicas; of published results a few, and small."""
        kind = "models" if self.top == PUBLISHED else "networks"
        return self.report / kind / experiment

    def run(self, experiment: str, mechanism: str) -> Path:
        """The trained replicas of a mechanism: parameters.safetensors and run.json."""
        return self.networks(experiment) / mechanism

    def checkpoints(self, experiment: str) -> Path:
        """Unfinished trainings, a folder each; no DVC out, so nothing deletes them before a run.

        A training resumes from its checkpoint, also after its values were changed and changed
        back. The folder may be deleted whenever no training is at work.
        """
        return self.root / ".checkpoints" / self.profile / experiment

    def curves(self, experiment: str, mechanism: str) -> Path:
        """Training curves."""
        return self.report / "curves" / experiment / f"{mechanism}.csv"

    def provenance(self, experiment: str, mechanism: str | None = None) -> Path:
        """Commit, hashes, versions, device and wall time of a training, or of an evaluation.

        Args:
            mechanism: None for the evaluation of all of them.
        """
        folder = self.report / "provenance"
        if mechanism is None:
            return folder / f"{experiment}.json"
        return folder / experiment / f"{mechanism}.json"

    def table(self, experiment: str) -> Path:
        """The tidy evaluation."""
        return self.report / "tables" / f"{experiment}.csv"

    def metrics(self, experiment: str) -> Path:
        """A few numbers for `dvc metrics`; git has them, also of results that are not published."""
        return self.root / PUBLISHED / self.profile / "metrics" / f"{experiment}.json"

    def traces(self, experiment: str) -> Path:
        """Single examples step by step."""
        return self.report / "traces" / f"{experiment}.json"

    def exits(self, experiment: str) -> Path:
        """Error and steps by every exit rule."""
        return self.report / "exits" / f"{experiment}.csv"


def current(root: Path, profile: str) -> Layout:
    """Where to read a profile's results: what the pipeline has written, else what is published."""
    local = Layout(root, profile)
    written = any((local.report / "tables").glob("*.csv"))
    return local if written else Layout(root, profile, PUBLISHED)
