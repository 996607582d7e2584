"""How much of a result is the readout: four readings of the same trained networks.

A head trained on mixtures of states is unfair to single states, and the other way round. Of each
replica on single vectors there are four errors:

- `own`: as its mechanism is evaluated, PonderNet by sampled halting;
- `single`: by y_n of the step n at which that evaluation stops, alone;
- `depth`: by y_N, N steps being forced;
- `refitted`: by a logistic regression on the frozen states s_N in place of the head, fitted on
  the part "validation" without the inputs that the test has too. Blank where what is left has
  fewer than two classes.

All are of the test examples whose steps `steps.py` stores. A fixed repeat has its one readout and
is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pondering.evaluate.exits import weights
from pondering.evaluate.load import Trained
from pondering.evaluate.measure import chunks, modes
from pondering.evaluate.stage import Evaluation
from pondering.evaluate.steps import first
from pondering.model.halting import Exit, Seen, side_by_side
from pondering.project.atomic import atomic_write
from pondering.results.results import READINGS
from pondering.tasks.base import Batch, Task

Array = NDArray[Any]
COLUMNS = (
    "experiment", "mechanism", "setting", "seed", "split", *READINGS, "examples", "fitted",
    "status",
)  # fmt: skip
ROWS = 4096
"""Examples x replicas in one pass, of which the states of all steps are held."""
UPDATES = 1000
"""At most, of a fit by L-BFGS with scikit-learn's own penalty on standardised states."""


class Read(NamedTuple):
    """What K replicas did with B examples: errors (K, B), and the states s_N (K, B, H)."""

    own: Array
    single: Array
    depth: Array
    states: Array


def run(work: Evaluation) -> None:
    """Write the audit of an experiment; its heading alone on sequences."""
    rows, path = [], work.layout.readout(work.experiment)
    vectors = all(len(batch.mask) == 1 for batch in work.sets.values())
    for mechanism, trained in work.trained().items() if vectors else ():
        if mechanism != "repeat":
            rows += list(table_rows(trained, work))
    table = work.kept.rows(pd.DataFrame(rows, columns=list(COLUMNS)), path, by=("split",))
    atomic_write(path, table.to_csv(index=False, float_format="%.6g"))


def table_rows(trained: Trained, work: Evaluation) -> Iterator[dict[str, Any]]:
    """A row for each replica and split; difficulties weigh alike, a diverged one has the worst."""
    count = work.config.evaluation.stored
    validation = work.task.evaluation_sets(count, "validation")
    for split, whole in work.sets.items():
        test, other = first(whole, count), first(validation[split].torch(work.device), count)
        new = torch.from_numpy(unseen(other, test)).to(work.device)
        other = other.take(torch.nonzero(new).flatten())
        found, fit = read(trained, work.task, test), read(trained, work.task, other)
        shares = weights(test.difficulty.cpu().numpy())
        targets = [batch.targets[0].cpu().numpy() for batch in (other, test)]
        sizes = {"examples": len(shares), "fitted": len(targets[0])}
        for k, (replica, status) in enumerate(zip(trained.replicas, trained.status, strict=True)):
            row = {"experiment": work.experiment} | replica.row() | {"split": split}
            errors: dict[str, Any] = dict.fromkeys(READINGS, work.task.worst_error)
            if status != "diverged":
                errors = {name: getattr(found, name)[k] @ shares for name in READINGS[:3]}
                wrong = refitted(fit.states[k], targets[0], found.states[k], targets[1])
                errors["refitted"] = wrong @ shares
            yield row | errors | sizes | {"status": status}


def unseen(other: Batch, test: Batch) -> Array:
    """Which examples of a set have an input that the test has not, (B,) bool."""
    found, known = (each.inputs[0].cpu().numpy() for each in (other, test))
    there = {row.tobytes() for row in known}
    return np.array([row.tobytes() not in there for row in found], bool)


@torch.no_grad()
def read(trained: Trained, task: Task, batch: Batch) -> Read:
    """Run all replicas over single vectors, by their own halting and to the depth N.

    Args:
        batch: tensors (1, B, ...), without replica axis.
    """
    network, replicas = trained.network, trained.replicas
    own = next(iter(modes(network.halting, [each.seed for each in replicas]).values()))
    deep = Exit(_never, network.halting.max_steps)
    sizes = sum(network.cell.state_sizes)
    parts = [[np.empty((len(replicas), 0))] * 3 + [np.empty((len(replicas), 0, sizes))]]
    for chunk in chunks(batch, max(16, ROWS // len(replicas)), len(replicas)):
        stopped = network(chunk.inputs, chunk.mask, halting=own)
        every = network(chunk.inputs, chunk.mask, halting=deep, keep_state=True)
        steps = own.ponder_time(stopped).long()[None, ..., None] - 1  # (1, T, K, B, 1)
        alone = every.outputs.gather(0, steps.expand(1, *every.outputs.shape[1:]))[0]
        outputs = own.predict(stopped), alone, every.mixture
        errors = [task.error(each, chunk).cpu().numpy() for each in outputs]
        parts.append([*errors, side_by_side(every.state).cpu().numpy()])
    return Read(*(np.concatenate(each, axis=1) for each in zip(*parts, strict=True)))


def refitted(states: Array, targets: Array, test_states: Array, test_targets: Array) -> Array:
    """Where a logistic regression on other states is wrong, (B,); NaN with less than two classes.

    Args:
        states: (A, H), to fit; targets: (A,) classes.
        test_states: (B, H), to judge; test_targets: (B,) classes.
    """
    if len(np.unique(targets)) < 2:
        return np.full(len(test_targets), np.nan)
    head = make_pipeline(StandardScaler(), LogisticRegression(max_iter=UPDATES))
    wrong: Array = head.fit(states, targets).predict(test_states) != test_targets
    return wrong.astype(float)


def _never(seen: Seen) -> torch.Tensor:
    return torch.zeros_like(seen.halt_logits[-1], dtype=torch.bool)
