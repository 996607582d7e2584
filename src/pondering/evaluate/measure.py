"""Trained replicas against the frozen evaluation sets: one tidy table per experiment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from pondering.evaluate.load import Trained
from pondering.model.halting import Halting, SampledHalting, SampledState
from pondering.model.network import Network
from pondering.params.mechanisms import MECHANISMS
from pondering.tasks.base import Batch, Task, random_stream

Array = NDArray[Any]
ROWS_AT_A_TIME = 512  # examples x times in one pass, which bounds the memory
SplitMode = tuple[str, str]  # a split, and how outputs become predictions


@dataclass(frozen=True)
class Measured:
    """What each replica did with each example of a split, arrays (K, B)."""

    error: Array  # 0 or 1, or in the unit of the task
    loss: Array  # nats per sequence
    ponder_time: Array  # mean steps per input vector of the sequence
    remainder: Array  # mean R per input vector
    difficulty: Array  # (B,)


@dataclass(frozen=True)
class SampledBySeed(SampledHalting):
    """Sampled halting where each seed draws for itself; the settings of a seed share its draws.

    With one draw for all seeds the luck of the draws would be common to them, and an interval over
    seeds blind to it. A replica's draws depend on its seed alone, whatever is stacked with it.

    Args:
        streams: K generators, those of one seed alike.
    """

    streams: tuple[np.random.Generator, ...] = ()

    def start(self, running: Tensor) -> SampledState:
        """Draw u for each of the rows (K, B)."""
        draws = [stream.random(running.shape[-1], dtype=np.float32) for stream in self.streams]
        draw = torch.from_numpy(np.stack(draws)).to(running.device)
        return replace(super().start(running), draw=draw)


def every(trained: Trained, task: Task, sets: Mapping[str, Batch]) -> dict[SplitMode, Measured]:
    """Every split in every mode of prediction, by both their names.

    Args:
        trained: the replicas of one mechanism.
        task: what they were trained on.
        sets: by split, tensors (T, B, ...).
    """
    network, replicas, found = trained.network, trained.replicas, {}
    for split, batch in sets.items():
        # Not by the number of replicas: sampled halting draws piece by piece.
        rows = max(16, ROWS_AT_A_TIME // batch.mask.shape[0])
        for mode, halting in modes(network.halting, [each.seed for each in replicas]).items():
            found[split, mode] = measure(network, halting, task, batch, len(replicas), rows)
    return found


def modes(halting: Halting, seeds: Sequence[int]) -> dict[str, Halting]:
    """How a mechanism's outputs become predictions: PonderNet samples, and takes expectations.

    Args:
        halting: of K stacked replicas.
        seeds: their K seeds.
    """
    evaluated = halting.at_inference(Generator())
    if not isinstance(evaluated, SampledHalting):
        return {"mixture": evaluated}
    streams = tuple(random_stream("sampled halting", seed) for seed in seeds)
    sampled = SampledBySeed(evaluated.max_steps, evaluated.generator, evaluated.epsilon, streams)
    return {"sampled": sampled, "expected": halting}


@torch.no_grad()
def measure(
    network: Network, halting: Halting, task: Task, batch: Batch, replicas: int, rows: int
) -> Measured:
    """Run all replicas over one split.

    Args:
        network: K stacked replicas.
        halting: what they are evaluated with.
        batch: tensors (T, B, ...), without replica axis.
        rows: examples at a time, which bounds the memory.
    """
    parts: list[list[Array]] = []
    for chunk in chunks(batch, rows, replicas):
        pondered = network(chunk.inputs, chunk.mask, halting=halting)
        prediction = halting.predict(pondered)
        present = chunk.mask.sum(0).clamp(min=1)
        values = (
            task.error(prediction, chunk),
            task.loss(prediction, chunk).sum(0),
            halting.ponder_time(pondered).sum(0) / present,
            pondered.remainder.sum(0) / present,
        )
        parts.append([value.double().cpu().numpy() for value in values])
    columns = zip(*parts, strict=True)
    error, loss, ponder, remainder = (np.concatenate(column, axis=1) for column in columns)
    return Measured(error, loss, ponder, remainder, batch.difficulty.cpu().numpy())


def chunks(batch: Batch, rows: int, replicas: int) -> Iterator[Batch]:
    """A batch in pieces of at most `rows` examples, each seen by all replicas."""
    for start in range(0, batch.difficulty.shape[0], rows):
        yield batch.take(slice(start, start + rows)).replicate(replicas)


def table_rows(measured: Measured, trained: Trained, worst: float) -> list[dict[str, Any]]:
    """Means per replica and difficulty; R only where it means anything for the mechanism.

    Args:
        measured: of one split and mode.
        trained: the replicas; a diverged one gets error `worst` and no ponder.
        worst: the error of a failure: 1, or 8 bits per character.
    """
    rows, has_remainder = [], MECHANISMS[trained.mechanism].remainder
    for k, (replica, state) in enumerate(zip(trained.replicas, trained.status, strict=True)):
        for difficulty in np.unique(measured.difficulty):
            chosen = measured.difficulty == difficulty
            known = {"difficulty": float(difficulty), "examples": int(chosen.sum())}
            row = replica.row() | known | {"status": state, "error": worst}
            if state != "diverged":
                ponder = measured.ponder_time[k, chosen]
                row |= {
                    "error": measured.error[k, chosen].mean(),
                    "loss": measured.loss[k, chosen].mean(),
                    "ponder_time": ponder.mean(),
                    "ponder_sd": ponder.std(),
                    "remainder": measured.remainder[k, chosen].mean() if has_remainder else np.nan,
                }
            rows.append(row)
    return rows
