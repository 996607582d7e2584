"""An evaluation stage: trained replicas of every mechanism into one table, summary and traces."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from pondering.data.frozen import read_arrays, unpack
from pondering.evaluate import measure, publish, traces
from pondering.evaluate.load import Trained, load_trained
from pondering.evaluate.measure import Measured
from pondering.params.mechanisms import MECHANISMS
from pondering.params.ranges import setting_text
from pondering.params.read import SETTING_NAMES, Params
from pondering.project import machine, provenance
from pondering.project.atomic import json_text, sha256_file, write_together
from pondering.project.paths import Layout
from pondering.results.tables import headline, replica_means
from pondering.tasks import make_task
from pondering.tasks.base import Batch, ImageTask, SyntheticTask, TextTask
from pondering.train.build import pick_device

ROWS_AT_A_TIME = 512  # examples x times in one pass, which bounds the memory


@dataclass
class EvaluateStage:
    """One experiment's evaluation.

    Args:
        params: the checked parameters.
        experiment: a name in them.
        root: the project's folder.
    """

    params: Params
    experiment: str
    root: Path

    def __post_init__(self) -> None:
        self.device = pick_device(self.params.device)
        self.config = self.params.experiment(self.experiment)
        self.layout = Layout(self.root, self.params.profile)
        frozen = self.layout.frozen(self.experiment)
        self.task = make_task(self.config.task, self.experiment, frozen)
        arrays = read_arrays(frozen)
        self.sets = {s: batch.torch(self.device) for s, batch in unpack(arrays).items()}

    def run(self) -> None:
        """Evaluate every mechanism; write table, summary, traces, origin and a replica of each."""
        start = time.monotonic()
        machine.settle(self.params.compute.threads)
        rows: list[dict[str, Any]] = []
        found: list[dict[str, Any]] = []
        copies = publish.Copies(self.layout, self.experiment, self.config)
        for mechanism in self.config.mechanisms:
            trained = load_trained(
                self.layout, self.params, self.experiment, mechanism, self.task, self.device
            )
            measured = self._measure(trained)
            rows += self._rows(trained, measured)
            found += self._traces(trained, measured)
            copies.add(trained)
        table = pd.DataFrame(rows)[list(measure.COLUMNS)]
        document = {"experiment": self.experiment, "traces": found}
        origin = self.origin() | {"wall_seconds": round(time.monotonic() - start, 3)}
        write_together(
            {
                self.layout.table(self.experiment): table.to_csv(index=False, float_format="%.6g"),
                self.layout.metrics(self.experiment): json_text(summary(table)),
                self.layout.traces(self.experiment): json.dumps(document) + "\n",
                self.layout.provenance(self.experiment): json_text(origin),
            }
            | copies.files()
        )
        copies.prune()

    def origin(self) -> dict[str, Any]:
        """Where this evaluation's numbers come from, with the hash of the replicas it read."""
        runs = {each: self.layout.run(self.experiment, each) for each in self.config.mechanisms}
        found = provenance.record(
            self.root,
            self.config.plain(),
            sha256_file(self.layout.frozen(self.experiment)),
            machine.name_of(self.device),
            torch.get_num_threads(),
            f"dvc repro evaluate@{self.params.profile}-{self.experiment}",
        )
        trained = {each: sha256_file(runs[each] / "parameters.safetensors") for each in runs}
        return found | {"trained_hash": trained}

    def _measure(self, trained: Trained) -> dict[tuple[str, str], Measured]:
        """Every split in every mode of prediction."""
        network, count = trained.network, len(trained.replicas)
        seeds = [each.seed for each in trained.replicas]
        found = {}
        for split, batch in self.sets.items():
            # Not by the number of replicas: sampled halting draws piece by piece.
            rows = max(16, ROWS_AT_A_TIME // batch.mask.shape[0])
            for mode, halting in measure.modes(network.halting, seeds).items():
                work = network, halting, self.task, batch, count, rows
                found[split, mode] = measure.measure(*work)
        return found

    def _rows(
        self, trained: Trained, measured: dict[tuple[str, str], Measured]
    ) -> list[dict[str, Any]]:
        worst = self.task.worst_error
        rows = []
        for (split, mode), each in measured.items():
            names = {"experiment": self.experiment, "split": split, "prediction": mode}
            has_remainder = MECHANISMS[trained.mechanism].remainder
            part = measure.table_rows(each, trained.replicas, trained.status, worst, has_remainder)
            rows += [names | row for row in part]
        return rows

    def _traces(
        self, trained: Trained, measured: dict[tuple[str, str], Measured]
    ) -> list[dict[str, Any]]:
        if trained.mechanism == "repeat":
            return []
        chosen = self._chosen(trained)
        if isinstance(self.task, ImageTask):
            return self._gallery(self.task, trained, measured, chosen[:1])
        if isinstance(self.task, TextTask):
            return self._texts(self.task, trained, chosen)
        return self._sequences(trained, chosen)

    def _texts(
        self, task: TextTask, trained: Trained, chosen: Sequence[int]
    ) -> list[dict[str, Any]]:
        """Some windows of the held-out text, read by every seed."""
        batch, kinds = task.traced(self.config.evaluation.trace.sequences)
        windows = batch.torch(self.device)
        found = traces.sequences(trained.network, task, windows, trained.replicas, chosen, kinds)
        return [{"mechanism": trained.mechanism, "kind": "text"} | trace for trace in found]

    def _sequences(self, trained: Trained, chosen: Sequence[int]) -> list[dict[str, Any]]:
        """A few sequences in full from one seed, and, if they are long, many in short from all."""
        network, task, replicas = trained.network, self.task, trained.replicas
        _, batch = list(self.sets.items())[-1]
        picked, short = self._spread(batch), []
        if isinstance(task, SyntheticTask) and batch.mask.shape[0] > 1:
            batch = traces.mixed(task).torch(self.device)
            picked = traces.longer(batch, self.config.evaluation.trace.sequences)
            if trained.mechanism == "act":
                short = traces.in_short(network, task, batch, replicas, chosen)
        full = traces.sequences(network, task, batch.take(picked), replicas, chosen[:1])
        return [
            {"mechanism": trained.mechanism, "kind": kind} | trace
            for kind, found in (("sequence", full), ("mixed", short))
            for trace in found
        ]

    def _spread(self, batch: Batch) -> torch.Tensor:
        """Rows to trace, evenly over a set: from its easiest examples to its hardest."""
        count = batch.difficulty.shape[0]
        size = min(self.config.evaluation.trace.sequences, count)
        return torch.linspace(0, count - 1, size).long()

    def _chosen(self, trained: Trained) -> list[int]:
        """The replicas to trace: one setting, every seed that did not diverge."""
        wanted = self.config.evaluation.trace.tau
        settings = sorted({each.setting for each in trained.replicas})
        if trained.mechanism == "act":
            setting = min(settings, key=lambda each: abs(each - wanted))
        else:
            setting = settings[(len(settings) - 1) // 2]
        return [
            k
            for k, each in enumerate(trained.replicas)
            if each.setting == setting and trained.status[k] != "diverged"
        ]

    def _gallery(
        self,
        task: ImageTask,
        trained: Trained,
        measured: dict[tuple[str, str], Measured],
        chosen: Sequence[int],
    ) -> list[dict[str, Any]]:
        """The images that took the most and the fewest steps."""
        split, batch = next(iter(self.sets.items()))
        mode = next(m for s, m in reversed(list(measured)) if s == split)
        found = []
        for k in chosen:
            most, fewest = traces.extremes(measured[split, mode], k)
            for which, rows in (("most", most), ("fewest", fewest)):
                part = batch.take(torch.tensor(rows))
                listed = traces.sequences(trained.network, task, part, trained.replicas, [k])
                for row, trace in enumerate(listed):
                    image = task.pixels(part, row).tolist()
                    label = int(part.targets[0, row])
                    found.append(
                        trace | {"kind": "image", "which": which, "pixels": image, "label": label}
                    )
        return found


def summary(table: pd.DataFrame) -> dict[str, dict[str, float]]:
    """For `dvc metrics`: mean error and ponder of each mechanism's settings, over seeds.

    Difficulties weigh equally; the first split and the paper's mode of prediction count.
    """
    found: dict[str, dict[str, float]] = {}
    replicas = replica_means(headline(table))
    for (mechanism, setting), group in replicas.groupby(level=[0, 1], sort=False):
        name = f"{mechanism} {SETTING_NAMES[str(mechanism)]}={setting_text(setting)}"
        means = group.mean().to_dict()
        found[name] = {key: round(v, 5) for key, v in means.items() if np.isfinite(v)}
    return found
