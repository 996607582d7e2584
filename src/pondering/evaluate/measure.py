"""Trained replicas against the frozen evaluation sets: one tidy table per experiment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from pondering.model.halting import Halting, SampledHalting, SampledState
from pondering.model.network import Network
from pondering.params.replica import Replica
from pondering.tasks.base import Batch, Task, random_stream

Array = NDArray[Any]
COLUMNS = (
    "experiment", "mechanism", "setting", "seed", "split", "difficulty", "prediction", "examples",
    "error", "loss", "ponder_time", "ponder_sd", "remainder", "status",
)  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """What each replica did with each example of a split, arrays (K, B)."""

    error: Array  # 0 or 1; Wikipedia: bits per character
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

    streams: tuple[np.random.Generator, ...]

    def start(self, running: Tensor) -> SampledState:
        """Draw u for each of the rows (K, B)."""
        draws = [stream.random(running.shape[-1], dtype=np.float32) for stream in self.streams]
        draw = torch.from_numpy(np.stack(draws)).to(running.device)
        return replace(super().start(running), draw=draw)


def modes(halting: Halting, seeds: Sequence[int]) -> dict[str, Halting]:
    """How a mechanism's outputs become predictions: PonderNet samples, and takes expectations.

    Args:
        halting: of K stacked replicas.
        seeds: their K seeds.
    """
    sampled = halting.at_inference(Generator())
    if not isinstance(sampled, SampledHalting):
        return {"mixture": halting}
    streams = tuple(random_stream("sampled halting", seed) for seed in seeds)
    own = SampledBySeed(sampled.max_steps, sampled.generator, streams)
    return {"sampled": own, "expected": halting}


@torch.no_grad()
def measure(
    network: Network, halting: Halting, task: Task, batch: Batch, replicas: int, rows: int
) -> Measured:
    """Run all replicas over one split.

    Args:
        network: K stacked replicas.
        halting: what they are judged with.
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


def table_rows(
    measured: Measured,
    replicas: Sequence[Replica],
    status: Sequence[str],
    worst: float,
    has_remainder: bool,
) -> list[dict[str, Any]]:
    """Means per replica and difficulty.

    Args:
        status: of each replica; a diverged one gets error `worst` and no ponder.
        worst: the error of a failure: 1, or 8 bits per character.
        has_remainder: whether R means anything for this mechanism.
    """
    rows = []
    for k, (replica, state) in enumerate(zip(replicas, status, strict=True)):
        for difficulty in np.unique(measured.difficulty):
            chosen = measured.difficulty == difficulty
            row = {
                "difficulty": float(difficulty), "examples": int(chosen.sum()), "status": state,
            }  # fmt: skip
            means = _means(measured, k, chosen, state, worst, has_remainder)
            rows.append(replica.row() | row | means)
    return rows


def _means(
    measured: Measured, k: int, chosen: Array, state: str, worst: float, has_remainder: bool
) -> dict[str, float]:
    if state == "diverged":
        nothing = dict.fromkeys(("loss", "ponder_time", "ponder_sd", "remainder"), np.nan)
        return {"error": worst} | nothing
    ponder = measured.ponder_time[k, chosen]
    return {
        "error": measured.error[k, chosen].mean(),
        "loss": measured.loss[k, chosen].mean(),
        "ponder_time": ponder.mean(),
        "ponder_sd": ponder.std(),
        "remainder": measured.remainder[k, chosen].mean() if has_remainder else np.nan,
    }
