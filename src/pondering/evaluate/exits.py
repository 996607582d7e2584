"""The table of exit rules: error and steps of trained networks that each rule stops.

Nothing is trained. Of single vectors no network is run either: the stored steps of `steps.py` say
where each rule would have stopped it. On sequences a rule also decides which state crosses to the
next input, so that it is run through the network (`sequences.py`), on the whole test sets.

Thresholds are chosen for each replica and split on the part "validation", never on the test; that
which a rule is mostly used with is among them. They are written in full, since near 0 and 1 they
lie closer than six digits tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

from pondering.data.frozen import read_arrays
from pondering.evaluate import sequences
from pondering.evaluate.rules import RULES, Array, Judged, Outcome, shares
from pondering.evaluate.stage import Evaluation
from pondering.model.halting import EXITS
from pondering.model.network import Network
from pondering.model.stacking import select
from pondering.project.atomic import atomic_write
from pondering.results.statistics import spearman
from pondering.tasks.base import Batch, Task
from pondering.train.build import make_halting

COLUMNS = (
    "experiment", "mechanism", "setting", "seed", "split", "rule", "threshold", "ponder_time",
    "trend", "error", "examples", "status",
)  # fmt: skip
Found = Iterator[tuple[str, Array, Outcome]]
"""Of one rule after the other its M thresholds, and steps and errors of the rows, (M, B)."""


def run(work: Evaluation) -> None:
    """Write the table of an experiment's rules; its heading alone where none may stop a mechanism.

    Raises:
        UserError: the stored steps or the trained replicas are missing or damaged.
    """
    config, layout = work.config, work.layout
    trained = [mechanism for mechanism in config.mechanisms if config.replicas(mechanism)]
    ruled = {each: make_halting(config, config.replicas(each)).exits for each in trained}
    allowed = {
        mechanism: rules
        for mechanism, rules in ruled.items()
        if rules and not work.kept.whole(mechanism)
    }
    if all(len(batch.mask) == 1 for batch in work.sets.values()):
        found = table_rows(read_arrays(layout.steps(work.experiment)), allowed, work.task)
    else:
        found = rows_of_sequences(work, allowed)
    rows = [{"experiment": work.experiment} | row for row in found]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    if any(ruled.values()):
        table = work.kept.rows(table, layout.exits(work.experiment))
    table["threshold"] = [_in_full(each) for each in table["threshold"]]
    atomic_write(layout.exits(work.experiment), table.to_csv(index=False, float_format="%.6g"))


def _in_full(threshold: float) -> str:
    return "" if np.isnan(threshold) else repr(float(threshold)).removesuffix(".0")


def table_rows(
    stored: Mapping[str, Array], allowed: Mapping[str, Sequence[str]], task: Task
) -> Iterator[dict[str, Any]]:
    """Mean steps and error of every rule at each of its thresholds, for every replica and split.

    Difficulties weigh alike. `trend` is Spearman's correlation of mean steps with difficulty, blank
    where all are the same. A replica that diverged has one row a rule, with the worst error and no
    steps.

    Args:
        stored: what `steps.of_mechanism` gives, of all mechanisms.
        allowed: by mechanism the rules that may stop it.
        task: what the replicas were trained on, which judges outputs.
    """
    for mechanism, rules in _in_order(allowed):
        named = [stored[f"{mechanism}/{each}"] for each in ("mechanisms", "settings", "seeds")]
        head, tail = f"{mechanism}/test/", "/targets"
        there = (name for name in stored if name.startswith(head) and name.endswith(tail))
        splits = [name.removeprefix(head).removesuffix(tail) for name in there]
        for k, status in enumerate(stored[f"{mechanism}/status"]):
            variant, setting, seed = (each[k].item() for each in named)
            replica = {"mechanism": variant, "setting": setting, "seed": seed}
            for split in splits:
                test, validation = (
                    _of_replica(stored, f"{mechanism}/{part}/{split}", k, task)
                    for part in ("test", "validation")
                )
                difficulty = stored[f"{mechanism}/test/{split}/difficulty"]
                row = replica | {"split": split, "status": str(status)}
                found = _of_vectors(rules, test, validation)
                yield from _rows_of(row, rules, difficulty, task.worst_error, found)


def rows_of_sequences(
    work: Evaluation, allowed: Mapping[str, Sequence[str]]
) -> Iterator[dict[str, Any]]:
    """The same where each rule is run through the network; args and rows as in `table_rows`."""
    config, task, every = work.config, work.task, work.trained()
    validation = task.evaluation_sets(config.evaluation.stored, "validation")
    for mechanism, rules in _in_order(allowed):
        trained = every[mechanism]
        for k, (replica, status) in enumerate(zip(trained.replicas, trained.status, strict=True)):
            network = select(trained.network, k, make_halting(config, replica))
            for split, batch in work.sets.items():
                row = replica.row() | {"split": split, "status": status}
                other = validation[split].torch(work.device)
                found = _of_sequences(rules, network, task, (batch, other), replica.seed)
                difficulty = batch.difficulty.cpu().numpy()
                yield from _rows_of(row, rules, difficulty, task.worst_error, found)


def _in_order(allowed: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, list[str]]]:
    for mechanism, rules in allowed.items():
        yield mechanism, [each for each in EXITS if each in rules]


def _of_vectors(rules: Sequence[str], test: Judged, validation: Judged) -> Found:
    for rule in rules:
        thresholds = RULES[rule].thresholds(validation)
        yield rule, thresholds, RULES[rule].outcome(test, thresholds)


def _of_sequences(
    rules: Sequence[str], network: Network, task: Task, sets: tuple[Batch, Batch], seed: int
) -> Found:
    test, validation = sets
    thresholds = sequences.thresholds(network, validation, rules)
    found = sequences.outcomes(network, task, test, thresholds, seed)
    yield from ((rule, thresholds[rule], outcome) for rule, outcome in found.items())


def _rows_of(
    row: Mapping[str, Any],
    rules: Sequence[str],
    difficulty: Array,
    worst_error: float,
    found: Found,
) -> Iterator[dict[str, Any]]:
    """The rows of one replica and split; where it diverged nothing of `found` is asked for."""
    means, levels = shares(difficulty), np.unique(difficulty)
    common = {**row, "examples": len(difficulty)}
    if row["status"] == "diverged":
        lost = dict.fromkeys(("threshold", "ponder_time", "trend"), np.nan)
        yield from (common | {"rule": rule, "error": worst_error} | lost for rule in rules)
        return
    for rule, thresholds, (steps, error) in found:
        by_level = np.stack([steps[:, difficulty == level].mean(1) for level in levels], axis=1)
        trends = [spearman(levels, each) for each in by_level]
        measured = zip(thresholds, steps @ means, trends, error @ means, strict=True)
        for values in measured:
            names = "threshold", "ponder_time", "trend", "error"
            yield common | {"rule": rule} | dict(zip(names, values, strict=True))


def _of_replica(stored: Mapping[str, Array], place: str, k: int, task: Task) -> Judged:
    """What one replica showed of a split."""
    targets = torch.from_numpy(stored[f"{place}/targets"])[None, None]
    every, difficulty = torch.ones(1, 1, targets.shape[2], dtype=torch.bool), torch.empty(0)
    known = Batch(None, targets, every, every, difficulty)

    def judge(outputs: Array) -> Array:
        found: Array = task.error(torch.from_numpy(outputs[None]), known).numpy()
        return found.astype(float)

    logits, outputs, moved = (
        stored[f"{place}/{name}"][:, k].astype(float)
        for name in ("halt_logits", "outputs", "change")
    )
    return Judged(logits, outputs, moved, judge)
