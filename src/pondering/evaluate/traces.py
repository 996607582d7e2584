"""Single examples step by step: what the trace figures, the tinted text and the gallery show.

And many sequences in short, steps alone, for the claims on what happens inside a sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pondering.evaluate.measure import Array, Measured
from pondering.model.network import Network
from pondering.params.replica import Replica
from pondering.tasks.base import Batch, SyntheticTask, Task, random_stream

Trace = dict[str, Any]
GALLERY = 8  # images of either kind
MIXED = 30  # sequences that are traced in short, by every seed


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
        one trace per example and chosen replica, as in `reports/<profile>/traces`.
    """
    every = batch.replicate(len(replicas))
    # The readable path keeps the halting distribution.
    pondered = network(every.inputs, every.mask, path="readable")
    assert pondered.weights is not None
    outputs = network.halting.predict(pondered)
    time_of = network.halting.ponder_time(pondered)
    losses = task.loss(outputs, every)
    entropy = task.entropy(outputs) if hasattr(task, "entropy") else None
    traces = []
    for k in chosen:
        for row in range(batch.difficulty.shape[0]):
            words = task.describe(outputs[:, k], batch, row)
            steps = []
            for t, word in enumerate(words):
                if not bool(batch.mask[t, row]):
                    break
                step: Trace = dict(word)
                step["ponder_time"] = _short(time_of[t, k, row])
                step["remainder"] = _short(pondered.remainder[t, k, row])
                step["loss"] = _short(losses[t, k, row])
                step["entropy"] = None if entropy is None else _short(entropy[t, k, row])
                step["halting"] = _distribution(pondered.weights[t, :, k, row])
                if kinds is not None:
                    step["kind"] = str(kinds[t, row])
                steps.append(step)
            difficulty = float(batch.difficulty[row])
            traces.append(replicas[k].row() | {"difficulty": difficulty, "steps": steps})
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


@torch.no_grad()
def in_short(
    network: Network,
    task: Task,
    batch: Batch,
    replicas: Sequence[Replica],
    chosen: Sequence[int],
) -> list[Trace]:
    """Steps alone at every input of every example: small in a file, however many there are.

    Args:
        network, task, batch, replicas, chosen: as of `sequences`.

    Returns:
        one trace per chosen replica and example; a step has input, target and ponder_time.
    """
    every = batch.replicate(len(replicas))
    pondered = network(every.inputs, every.mask)
    outputs = network.halting.predict(pondered)
    time_of = network.halting.ponder_time(pondered)
    traces = []
    for k in chosen:
        for row in range(batch.difficulty.shape[0]):
            steps = [
                {
                    "input": word["input"],
                    "target": word["target"],
                    "ponder_time": _short(time_of[t, k, row]),
                }
                for t, word in enumerate(task.describe(outputs[:, k], batch, row))
            ]
            traces.append(replicas[k].row() | {"steps": steps})
    return traces


def extremes(measured: Measured, replica: int) -> tuple[list[int], list[int]]:
    """Which examples took one replica the most and the fewest steps, `GALLERY` of each."""
    order = np.argsort(measured.ponder_time[replica], kind="stable")
    return order[::-1][:GALLERY].tolist(), order[:GALLERY].tolist()


def _short(value: Tensor) -> float | None:
    number = float(value)
    return round(number, 4) if np.isfinite(number) else None


def _distribution(weights: Tensor) -> list[float]:
    """p_1 ... p_N up to the last step with any weight."""
    values = [round(float(w), 4) for w in weights]
    while len(values) > 1 and values[-1] == 0:
        values.pop()
    return values
