"""An evaluation stage: trained replicas of every mechanism into table, summary and traces."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import pandas as pd
import torch

from pondering.data.frozen import unpack
from pondering.evaluate import measure, traces
from pondering.evaluate.load import Trained, trained_here
from pondering.evaluate.measure import table_rows
from pondering.evaluate.merge import Merge
from pondering.params.schema import Params
from pondering.project import machine, provenance
from pondering.project.atomic import json_text, sha256_file, write_together
from pondering.project.errors import UserError
from pondering.results.results import TABLE_COLUMNS
from pondering.results.tables import best_setting, headline, per_seed, per_setting
from pondering.tasks import make_task
from pondering.tasks.base import read_arrays
from pondering.train import program
from pondering.train.build import make_network, pick_device
from pondering.train.replica import read_tensors


class Evaluation:
    """One experiment's evaluation: what it needs besides the trained replicas.

    Args:
        params: the checked parameters; experiment: a name in them.

    Attributes:
        config: the experiment's parameters.
        layout: where its files lie; published: where its published results do.
        device: where the networks run.
        task: with its data.
        sets: the frozen evaluation sets by split, tensors (T, B, ...).
        merge: the published results of replicas that are not here.

    Raises:
        UserError: no such experiment; its frozen data are missing or damaged.
    """

    def __init__(self, params: Params, experiment: str) -> None:
        self.params, self.experiment = params, experiment
        self.config, self.device = params.experiment(experiment), pick_device(params.device)
        self.layout, self.published = params.layout, params.published
        frozen = self.layout.frozen(experiment)
        self.task = make_task(self.config.task, experiment, frozen)
        sets = unpack(read_arrays(frozen))
        self.sets = {split: batch.torch(self.device) for split, batch in sets.items()}
        self.merge = Merge(params, experiment)

    def trained(self) -> dict[str, Trained]:
        """The replicas that are here, by mechanism; as `read_back`."""
        here = (each for each in self.config.mechanisms if not self.merge.has_all(each))
        return {each: self.read_back(each) for each in here}

    def read_back(self, mechanism: str) -> Trained:
        """The replicas of a mechanism that are here.

        Raises:
            UserError: none, damaged, or trained with other values than these.
        """
        status = trained_here(self.params, self.experiment, mechanism)
        if not status:
            todo = self.params.training(self.experiment)
            raise UserError(
                f"{self.experiment}: no trained {mechanism} is here; run `{todo}` first"
            )
        network = make_network(self.config, self.task, list(status), self.device)
        path = self.layout.run(self.experiment, mechanism) / "parameters.safetensors"
        network.load_state_dict(read_tensors(path, "pt")[0])
        return Trained(network, list(status), list(status.values()))


def run(work: Evaluation) -> None:
    """Evaluate every mechanism; write table, traces, origin, and metrics for DVC."""
    start, layout, name = time.monotonic(), work.layout, work.experiment
    machine.settle(work.params.compute.threads)
    rows: list[dict[str, Any]] = []
    found: list[dict[str, Any]] = []
    every = work.trained()
    for trained in every.values():
        measured = measure.every(trained, work.task, work.sets)
        for (split, mode), each in measured.items():
            names = {"experiment": name, "split": split, "prediction": mode}
            means = table_rows(each, trained, work.task.worst_error)
            rows += [names | row for row in means]
        found += traces.of_mechanism(trained, measured, work.task, work.sets, work.config)
    table = pd.DataFrame(rows, columns=list(TABLE_COLUMNS))
    there = work.published
    table = work.merge.rows(table, there.table(name), by=("split", "prediction"))
    document = {"experiment": name, "traces": work.merge.traces(found, there.traces(name))}
    if every:
        record = origin(work) | {"wall_seconds": round(time.monotonic() - start, 3)}
    else:  # nothing was measured here
        record = json.loads(there.provenance(name).read_text(encoding="utf-8"))
    write_together(
        {
            layout.table(name): table.to_csv(index=False, float_format="%.6g"),
            layout.metrics(name): json_text(summary(table)),
            layout.traces(name): json.dumps(document, separators=(",", ":")) + "\n",
            layout.provenance(name): json_text(record),
        }
    )


def origin(work: Evaluation) -> dict[str, Any]:
    """Where an evaluation's numbers come from, with the hashes of replicas and program."""
    values, layout = work.config.plain(), work.layout
    runs = {each: layout.run(work.experiment, each) for each in work.config.mechanisms}
    found = provenance.record(
        work.params.root,
        sha256_file(layout.frozen(work.experiment)),
        machine.name_of(work.device),
        torch.get_num_threads(),
        f"dvc repro evaluate@{work.params.profile}-{work.experiment}",
    )
    return found | {
        "params_hash": provenance.hash_values(values),
        "config": values,
        "trained_hash": {n: sha256_file(runs[n] / "parameters.safetensors") for n in runs},
        "program": program.evaluation(),
    }


def summary(table: pd.DataFrame) -> dict[str, float]:
    """For `dvc metrics`: error and steps of each mechanism at its best setting, means over seeds.

    `plain` is the network that takes one step; `best` the least error of all there are, also of
    mechanisms that have no column of their own. Options do not compete with plain settings.
    Difficulties weigh equally; the first split and the paper's mode of prediction count.
    """
    seeds = per_seed(headline(table))
    means = per_setting(seeds).set_index(["mechanism", "setting"])
    found = {}
    if ("repeat", 1.0) in means.index:
        found["plain"] = means.loc[("repeat", 1.0), "error"]
    for mechanism in ("act", "pondernet"):
        if (setting := best_setting(seeds, mechanism)) is not None:
            found[mechanism] = means.loc[(mechanism, setting), "error"]
            found[f"{mechanism}_steps"] = means.loc[(mechanism, setting), "ponder_time"]
    found["best"] = means["error"].min()
    return {name: round(float(each), 4) for name, each in found.items() if np.isfinite(each)}
