"""An evaluation stage: trained replicas of every mechanism into one table, summary and traces."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch

from pondering import checkpoints, evaluation, traces
from pondering.build import make_network, pick_device
from pondering.config import MECHANISMS, SETTING_NAMES, ExperimentConfig, Params
from pondering.errors import UserError
from pondering.evaluation import Measured
from pondering.files import atomic_write, write_json
from pondering.freezing import read_arrays, unpack
from pondering.layout import Layout
from pondering.network import Network
from pondering.tasks import make_task
from pondering.tasks.base import Batch, Task
from pondering.tasks.images import Digits, pixels
from pondering.tasks.wikipedia import Wikipedia

ROWS_AT_A_TIME = 512  # examples x times in one pass, which bounds the memory


class Trained(NamedTuple):
    """The replicas of one mechanism, as a training stage left them."""

    mechanism: str
    network: Network
    replicas: list[tuple[float, int]]
    status: list[str]


def load_trained(
    layout: Layout,
    config: ExperimentConfig,
    experiment: str,
    mechanism: str,
    task: Task,
    device: torch.device | str = "cpu",
) -> Trained:
    """Read trained replicas back.

    Raises:
        UserError: missing, damaged, or trained with other parameters than these.
    """
    folder = layout.run(experiment, mechanism)
    path = folder / "run.json"
    stage = f"dvc repro train@{layout.profile}-{experiment}-{mechanism}"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        replicas = [(float(each["setting"]), int(each["seed"])) for each in record["replicas"]]
        status = [str(each["status"]) for each in record["replicas"]]
        config_then = record["config"]
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run `{stage}` first") from None
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{path}: damaged; run `{stage}` again") from None
    if config_then != config.of_mechanism(mechanism):
        raise UserError(f"{path}: trained with other parameters than params.yaml; run `{stage}`")
    tensors, _ = checkpoints.read(folder / "parameters.safetensors")
    network = make_network(config, mechanism, task, replicas, device)
    try:
        network.load_state_dict(tensors)
    except RuntimeError:
        where = folder / "parameters.safetensors"
        raise UserError(f"{where}: of another configuration; run `{stage}` again") from None
    return Trained(mechanism, network, replicas, status)


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
        """Evaluate every mechanism; write table, summary and traces."""
        torch.set_num_threads(min(self.params.compute.threads, os.cpu_count() or 1))
        rows: list[dict[str, Any]] = []
        found: list[dict[str, Any]] = []
        for mechanism in MECHANISMS:
            trained = load_trained(
                self.layout, self.config, self.experiment, mechanism, self.task, self.device
            )
            measured = self._measure(trained)
            rows += self._rows(trained, measured)
            found += self._traces(trained, measured)
        table = pd.DataFrame(rows)[list(evaluation.COLUMNS)]
        text = table.to_csv(index=False, float_format="%.6g")
        atomic_write(self.layout.table(self.experiment), text)
        write_json(self.layout.metrics(self.experiment), summary(table))
        document = {"experiment": self.experiment, "traces": found}
        atomic_write(self.layout.traces(self.experiment), json.dumps(document) + "\n")

    def _measure(self, trained: Trained) -> dict[tuple[str, str], Measured]:
        """Every split in every mode of prediction."""
        network, count = trained.network, len(trained.replicas)
        training_halting = network.halting
        found = {}
        for split, batch in self.sets.items():
            # Not by the number of replicas: sampled halting draws per piece, for all replicas.
            rows = max(16, ROWS_AT_A_TIME // batch.mask.shape[0])
            for mode, halting in evaluation.modes(training_halting).items():
                network.halting = halting
                found[split, mode] = evaluation.measure(network, self.task, batch, count, rows)
        network.halting = training_halting
        return found

    def _rows(
        self, trained: Trained, measured: dict[tuple[str, str], Measured]
    ) -> list[dict[str, Any]]:
        worst = getattr(self.task, "worst_error", 1.0)
        rows = []
        for (split, mode), each in measured.items():
            names = {
                "experiment": self.experiment, "mechanism": trained.mechanism,
                "split": split, "prediction": mode,
            }  # fmt: skip
            has_remainder = trained.mechanism == "act"
            part = evaluation.table_rows(
                each, trained.replicas, trained.status, worst, has_remainder
            )
            rows += [names | row for row in part]
        return rows

    def _traces(
        self, trained: Trained, measured: dict[tuple[str, str], Measured]
    ) -> list[dict[str, Any]]:
        if trained.mechanism == "repeat":
            return []
        name = {"mechanism": trained.mechanism}
        chosen = self._chosen(trained)
        if isinstance(self.task, Digits):
            return [name | trace for trace in self._gallery(trained, measured, chosen)]
        split, batch = list(self.sets.items())[-1]
        count = batch.difficulty.shape[0]
        size = min(self.config.evaluation.trace.sequences, count)
        picked = torch.linspace(0, count - 1, size).long()
        kinds = None
        text = isinstance(self.task, Wikipedia)
        if isinstance(self.task, Wikipedia):
            examples = self.config.evaluation.examples
            kinds = self.task.evaluation_kinds(examples)[split][:, picked.numpy()]
        found = traces.sequences(
            trained.network, self.task, take(batch, picked), trained.replicas, chosen, kinds
        )
        kind = {"kind": "text" if text else "sequence"}
        return [name | kind | trace for trace in found]

    def _chosen(self, trained: Trained) -> list[int]:
        """The replicas to trace: one setting, every seed that did not diverge."""
        wanted = self.config.evaluation.trace.tau
        settings = sorted({setting for setting, _ in trained.replicas})
        if trained.mechanism == "act":
            setting = min(settings, key=lambda each: abs(each - wanted))
        else:
            setting = settings[(len(settings) - 1) // 2]
        alive = [
            k
            for k, (each, _) in enumerate(trained.replicas)
            if each == setting and trained.status[k] != "diverged"
        ]
        return alive if isinstance(self.task, Wikipedia) else alive[:1]

    def _gallery(
        self,
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
                part = take(batch, torch.tensor(rows))
                listed = traces.sequences(trained.network, self.task, part, trained.replicas, [k])
                for row, trace in enumerate(listed):
                    image = pixels(part, row).tolist()
                    label = int(part.targets[0, row])
                    found.append(
                        trace | {"kind": "image", "which": which, "pixels": image, "label": label}
                    )
        return found


def take(batch: Batch, rows: torch.Tensor) -> Batch:
    """Some examples of a batch without replica axis."""
    return Batch._make([*(part[:, rows] for part in batch[:-1]), batch.difficulty[rows]])


def summary(table: pd.DataFrame) -> dict[str, dict[str, float]]:
    """For `dvc metrics`: mean error and ponder of each mechanism's settings, over seeds.

    Difficulties weigh equally; the first split and the paper's mode of prediction count.
    """
    first = table["split"].iloc[0]
    chosen = table[(table["split"] == first) & (table["prediction"] != "expected")]
    found: dict[str, dict[str, float]] = {}
    for (mechanism, setting), group in chosen.groupby(["mechanism", "setting"], sort=False):
        per_seed = group.groupby("seed")[["error", "ponder_time"]].mean()
        name = f"{mechanism} {SETTING_NAMES[str(mechanism)]}={setting:g}"
        means = per_seed.mean().to_dict()
        found[name] = {key: round(v, 5) for key, v in means.items() if np.isfinite(v)}
    return found
