"""Single examples step by step: what the trace figures, the tinted text and the gallery show.

And many sequences, for the claims on what happens inside a sequence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pondering.evaluate.load import Trained
from pondering.evaluate.measure import Array, Measured, SplitMode
from pondering.model.network import Network
from pondering.params.replica import Replica
from pondering.params.schema import ExperimentConfig
from pondering.tasks.base import (
    Batch,
    ImageTask,
    SyntheticTask,
    Task,
    TextTask,
    random_stream,
)

Trace = dict[str, Any]
GALLERY = 8  # images of either kind
MIXED = 30  # sequences that every seed is traced on


def of_mechanism(
    trained: Trained,
    measured: Mapping[SplitMode, Measured],
    task: Task,
    sets: Mapping[str, Batch],
    config: ExperimentConfig,
) -> list[Trace]:
    """What is traced of one mechanism, by the kind of its task; of fixed repeats nothing.

    Args:
        trained: its replicas.
        measured: what `measure.every` gives of them.
        task: what they were trained on.
        sets: the evaluation sets by split, tensors (T, B, ...).
        config: the experiment, which says which setting is traced and how many sequences.
    """
    if trained.mechanism == "repeat":
        return []
    count, setting = config.evaluation.trace.sequences, config.traced(trained.mechanism)
    shown = [
        k
        for k, each in enumerate(trained.replicas)
        if each.setting == setting and not each.options and trained.status[k] != "diverged"
    ]
    if isinstance(task, ImageTask):
        return _gallery(trained, measured, task, sets, shown[:1])
    if isinstance(task, TextTask):
        return _texts(trained, task, count, shown)
    *_, last = sets.values()
    return _sequences(trained, task, last, count, shown)


def _texts(trained: Trained, task: TextTask, count: int, shown: Sequence[int]) -> list[Trace]:
    """Some windows of the held-out text, read by every seed."""
    batch, kinds = task.traced(count)
    windows = batch.torch(next(trained.network.parameters()).device)
    found = sequences(trained.network, task, windows, trained.replicas, shown, kinds)
    return [{"mechanism": trained.mechanism, "kind": "text"} | trace for trace in found]


def _sequences(
    trained: Trained, task: Task, batch: Batch, count: int, shown: Sequence[int]
) -> list[Trace]:
    """A few sequences from one seed, and, if they are long, many from all."""
    network, replicas = trained.network, trained.replicas
    size = batch.difficulty.shape[0]
    # evenly over the set: from its easiest examples to its hardest
    picked, many = torch.linspace(0, size - 1, min(count, size)).long(), []
    if isinstance(task, SyntheticTask) and batch.mask.shape[0] > 1:
        batch = mixed(task).torch(batch.mask.device)
        picked = longer(batch, count)
        if trained.mechanism == "act":
            many = sequences(network, task, batch, replicas, shown)
    few = sequences(network, task, batch.take(picked), replicas, shown[:1])
    return [
        {"mechanism": trained.mechanism, "kind": kind} | trace
        for kind, found in (("sequence", few), ("mixed", many))
        for trace in found
    ]


def _gallery(
    trained: Trained,
    measured: Mapping[SplitMode, Measured],
    task: ImageTask,
    sets: Mapping[str, Batch],
    shown: Sequence[int],
) -> list[Trace]:
    """The images that took the most and the fewest steps."""
    split, batch = next(iter(sets.items()))
    mode = next(m for s, m in reversed(list(measured)) if s == split)
    found = []
    for k in shown:
        order = np.argsort(measured[split, mode].ponder_time[k], kind="stable")
        for which, rows in (("most", order[::-1][:GALLERY]), ("fewest", order[:GALLERY])):
            part = batch.take(torch.from_numpy(rows.copy()))
            listed = sequences(trained.network, task, part, trained.replicas, [k])
            for row, trace in enumerate(listed):
                image, label = task.pixels(part, row).tolist(), int(part.targets[0, row])
                found.append(
                    trace | {"kind": "image", "which": which, "pixels": image, "label": label}
                )
    return found


@torch.no_grad()
def sequences(
    network: Network,
    task: Task,
    batch: Batch,
    replicas: Sequence[Replica],
    chosen: Sequence[int],
    kinds: Array | None = None,
) -> list[Trace]:
    """Trace every example of a small batch through some of the stacked replicas.

    Args:
        batch: tensors (T, B, ...), without replica axis.
        chosen: which replicas.
        kinds: (T, B) names of what each input is, for text.

    Returns:
        one trace per example and chosen replica, with a list for each value of its steps.
    """
    every = batch.replicate(len(replicas))
    pondered = network(every.inputs, every.mask, path="readable")
    outputs = network.halting.predict(pondered)
    measured = {
        "ponder_time": network.halting.ponder_time(pondered),
        "loss": task.loss(outputs, every),
    }
    if hasattr(task, "entropy"):
        measured["entropy"] = task.entropy(outputs)
    traces = []
    for k in chosen:
        for row, difficulty in enumerate(batch.difficulty.tolist()):
            words = task.describe(outputs[:, k], batch, row)
            steps: list[Trace] = []
            for t in range(int(batch.mask[:, row].sum())):
                numbers = {name: _short(each[t, k, row]) for name, each in measured.items()}
                kind = {} if kinds is None else {"kind": str(kinds[t, row])}
                steps.append(dict(words[t]) | numbers | kind)
            columns = {name: [step[name] for step in steps] for name in steps[0]}
            traces.append(replicas[k].row() | {"difficulty": difficulty, "steps": columns})
    return traces


def mixed(task: SyntheticTask) -> Batch:
    """Sequences as in training, whose vectors differ in difficulty: arrays with B = `MIXED`.

    The evaluation sets have sequences of one difficulty each, which cannot show whether ponder
    follows difficulty within a sequence. Training never draws from this stream.
    """
    return task.draw(random_stream(task.name, "test", "trace"), MIXED)


def longer(batch: Batch, count: int) -> Tensor:
    """Rows to show: from the sequence of median length, if they are few, to the longest.

    Args:
        batch: tensors (T, B, ...).
        count: how many.

    Returns:
        (count,), or all B if there are no more.
    """
    order = batch.mask.sum(0).argsort(stable=True)
    size = order.shape[0]
    count = min(count, size)
    first = min(size // 2, size - count)
    shown: Tensor = order[torch.linspace(first, size - 1, count).long()]
    return shown


def _short(value: Tensor) -> float | None:
    number = float(value)
    return round(number, 4) if np.isfinite(number) else None
