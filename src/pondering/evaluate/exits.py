"""The table of exit rules: error and steps of trained networks that each rule stops.

Nothing is trained. Every network takes all N steps on single vectors, on the first examples of
each difficulty of the frozen sets; `rules.py` says where each rule would have stopped it. (On
sequences a rule also decides which state crosses to the next input: v1 had such tables.)

Thresholds are chosen for each replica and split on the part "validation", never on the test. They
are written in full, since near 0 and 1 they lie closer than six digits tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import torch

from pondering.evaluate.load import Trained
from pondering.evaluate.measure import ROWS_AT_A_TIME, chunks
from pondering.evaluate.rules import OF_LOGITS, RULES, Array, Shown
from pondering.evaluate.stage import Evaluation
from pondering.model.halting import relative_change, side_by_side
from pondering.model.network import Network
from pondering.project.atomic import atomic_write
from pondering.project.errors import UserError
from pondering.results.results import EXIT_COLUMNS
from pondering.results.statistics import spearman
from pondering.tasks.base import Batch, Task

VALUES = ("threshold", "ponder_time", "trend", "error")


def run(work: Evaluation) -> None:
    """Write the table of an experiment's rules: rows of mechanisms that score every step.

    Raises:
        UserError: the inputs are sequences; trained replicas are missing or damaged.
    """
    if any(len(batch.mask) > 1 for batch in work.sets.values()):
        raise UserError(f"exits: {work.experiment} has sequences; exit rules need single vectors")
    rows = [
        {"experiment": work.experiment} | row
        for trained in work.trained().values()
        for row in table_rows(trained, work.task, work.sets, work.config.evaluation.stored)
    ]
    table = pd.DataFrame(rows, columns=list(EXIT_COLUMNS))
    table = work.merge.rows(table, work.published.exits(work.experiment))
    table["threshold"] = [_in_full(each) for each in table["threshold"]]
    atomic_write(work.layout.exits(work.experiment), table.to_csv(index=False, float_format="%.6g"))


def _in_full(threshold: float) -> str:
    return "" if np.isnan(threshold) else repr(float(threshold)).removesuffix(".0")


def table_rows(
    trained: Trained, task: Task, sets: Mapping[str, Batch], examples: int
) -> Iterator[dict[str, Any]]:
    """Mean steps and error of every rule at each of its thresholds, for every replica and split.

    Difficulties weigh alike. `trend` is Spearman's correlation of mean steps with difficulty, blank
    where all are the same. A replica that diverged has one row a rule, with the worst error and no
    steps.

    Args:
        trained: the replicas of one mechanism; no rows if it does not score every step.
        task: what they were trained on, which judges outputs.
        sets: the frozen evaluation sets by split, tensors (1, B, ...).
        examples: how many of each difficulty.
    """
    halting = trained.network.halting
    if not halting.scores_every_step:
        return
    rules = [each for each in RULES if halting.learns or each not in OF_LOGITS]
    device = next(trained.network.parameters()).device
    tests = {split: first(batch, examples) for split, batch in sets.items()}
    shown, chosen = {}, {}
    for split, batch in task.evaluation_sets(examples, "validation").items():
        shown[split] = every_step(trained, task, tests[split])
        chosen[split] = every_step(trained, task, first(batch.torch(device), examples))
    for k, (replica, status) in enumerate(zip(trained.replicas, trained.status, strict=True)):
        for split, test in tests.items():
            difficulty = test.difficulty.cpu().numpy()
            common = replica.row() | {"split": split, "status": status, "examples": len(difficulty)}
            if status == "diverged":
                lost = dict(zip(VALUES, (*[np.nan] * 3, task.worst_error), strict=True))
                yield from (common | {"rule": rule} | lost for rule in rules)
                continue
            for rule in rules:
                thresholds = RULES[rule].thresholds(chosen[split][k])
                steps, error = RULES[rule].outcome(shown[split][k], thresholds)
                for values in zip(thresholds, *means(steps, error, difficulty), strict=True):
                    yield common | {"rule": rule} | dict(zip(VALUES, values, strict=True))


def means(steps: Array, error: Array, difficulty: Array) -> tuple[Array, list[float], Array]:
    """Mean steps, their trend and mean error at each of T thresholds, from (T, B) and (B,)."""
    levels, place, count = np.unique(difficulty, return_inverse=True, return_counts=True)
    shares = 1 / (len(count) * count[place])
    by_level = np.stack([steps[:, difficulty == level].mean(1) for level in levels], axis=1)
    return steps @ shares, [spearman(levels, each) for each in by_level], error @ shares


def first(batch: Batch, count: int) -> Batch:
    """The first `count` examples of each difficulty, in the order of the batch."""
    values = batch.difficulty.unique()
    rows = [torch.nonzero(batch.difficulty == each).flatten()[:count] for each in values]
    return batch.take(torch.cat(rows).sort().values)


def every_step(trained: Trained, task: Task, batch: Batch) -> list[Shown]:
    """What all N steps of each replica showed, also where its mechanism would have stopped it.

    Outputs and changes are rounded to float16, as in all published tables.

    Args:
        batch: tensors (1, B, ...), without replica axis.
    """
    logits, outputs, changes = _arrays(trained.network, batch, len(trained.replicas))
    targets, every = batch.targets[None].cpu(), torch.ones(1, 1, len(batch.difficulty)) > 0
    known = Batch(None, targets, every, every, torch.empty(0))

    def judge(outputs: Array) -> Array:
        found: Array = task.error(torch.from_numpy(outputs[None]), known).numpy()
        return found.astype(float)

    return [
        Shown(logits[:, k], outputs[:, k], changes[:, k], judge)
        for k in range(len(trained.replicas))
    ]


@torch.no_grad()
def _arrays(network: Network, batch: Batch, replicas: int) -> list[Array]:
    """Halting logits (N, K, B), outputs (N, K, B, C), changes of state (N, K, B)."""
    pieces: list[list[torch.Tensor]] = []
    for chunk in chunks(batch, ROWS_AT_A_TIME, replicas):
        drive = network.cell.embed(chunk.inputs[0])
        rows = chunk.mask.shape[1:]
        state = tuple(drive.new_zeros(*rows, size) for size in network.cell.state_sizes)
        logits, outputs, changes = [], [], []
        before: tuple[torch.Tensor, ...] = ()
        for n in range(1, network.halting.max_steps + 1):
            state = network.cell.step(drive, state, n == 1)
            output, logit = network.heads.read(state)
            now = (*before, side_by_side(state))
            logits.append(logit)
            outputs.append(output.half())
            changes.append(relative_change(now).half())
            before = now[-1:]
        pieces.append([torch.stack(each).cpu() for each in (logits, outputs, changes)])
    joined = (torch.cat(parts, dim=2).numpy() for parts in zip(*pieces, strict=True))
    return [each.astype(float) for each in joined]
