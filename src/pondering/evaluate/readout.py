"""How much of a result is the readout: four readings of the same trained networks.

A head trained on mixtures of states is unfair to single states, and the other way round. Of each
replica there are four errors:

- `own`: as its mechanism is evaluated, PonderNet by sampled halting;
- `single`: halted in the same way, by the step at which a row stops, alone: its output is the
  answer and, on sequences, its state crosses to the next input (certainty itself answers by its
  most certain step, which may be an earlier one);
- `depth`: by step N, N steps being forced, of fixed repeat its rho;
- `refitted`: by logistic regressions in place of the head, one for each softmax of an output, on
  the part of the frozen states s_N that the head reads, of an LSTM h without c; fitted on the part
  "validation" without the inputs that the test has too. Blank where what is left has fewer than
  two classes.

Of single vectors, where a mechanism learns to halt and no exit rule may stop it (ACT), a fifth
tells whether its halting follows the input:

- `mean_halting`: by sum_n m_n y_n, m_n being the mean over the test inputs of its p_n.

Of single vectors with test sets beyond the first, which may lie beyond what was trained on, two
more tell whether a longer thought goes on to the answer:

- `twice`, `fourfold`: by step 2N and 4N, which no training saw.

All are of the first test examples of each difficulty, as many as `steps.py` stores. Fixed repeat
reads one state alone: what a head fitted anew gains there is what it gains without any halting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits
from torch import Generator, Tensor

from pondering.evaluate.load import Trained
from pondering.evaluate.measure import chunks, modes
from pondering.evaluate.rules import shares
from pondering.evaluate.sequences import never, softmaxes
from pondering.evaluate.stage import Evaluation
from pondering.evaluate.steps import first
from pondering.model.halting import (
    Exit,
    FixedRepeat,
    Halting,
    HaltingState,
    MeanField,
    Pondered,
    Score,
)
from pondering.model.halting.contract import where_present
from pondering.model.network import Network
from pondering.project.atomic import atomic_write
from pondering.results.results import LONGER, READINGS
from pondering.tasks.base import Batch, Task
from pondering.train.build import make_halting

Array = NDArray[Any]
COLUMNS = (
    "experiment", "mechanism", "setting", "seed", "split", *READINGS, "mean_halting", *LONGER,
    "ponder_time", "ponder_sd", "max_steps", "examples", "fitted", "status",
)  # fmt: skip
ROWS = 4096
"""Examples x replicas in one pass, of which the states of all steps are held."""
UPDATES = 1000
"""At most, of a fit by L-BFGS with scikit-learn's own penalty on standardised states."""


@dataclass(frozen=True)
class Alone(MeanField):
    """A mechanism's own halting, with all weight on the step at which a row stops.

    Args:
        own: the mechanism.
    """

    own: Halting
    scores_every_step: ClassVar[bool] = True
    learns: ClassVar[bool] = False

    @property
    def max_steps(self) -> int:
        """That of the mechanism."""
        return self.own.max_steps

    def start(self, running: Tensor) -> HaltingState:
        """As the mechanism does."""
        return self.own.start(running)

    def look(self, output: Tensor, hidden: tuple[Tensor, ...], state: HaltingState) -> HaltingState:
        """As the mechanism does."""
        return self.own.look(output, hidden, state)

    def step(self, n: int, halt_logit: Tensor, state: HaltingState) -> tuple[Tensor, HaltingState]:
        """p_n = 1 where the mechanism stops a row."""
        _, after = self.own.step(n, halt_logit, state)
        stops = state.running & ~after.running
        return stops.to(halt_logit.dtype), after

    def objective(self, score: Score, pondered: Pondered) -> Tensor:
        """The score of that step's output."""
        return where_present(score(pondered.mixture), pondered)

    def at_inference(self, generator: Generator | None = None) -> Alone:
        """The same."""
        return self


class Read(NamedTuple):
    """What K replicas did with B examples: errors and steps (K, B), and states h_N (K, T, B, H)."""

    own: Array
    single: Array
    depth: Array
    steps: Array
    states: Array


def run(work: Evaluation) -> None:
    """Write the audit of an experiment."""
    rows: list[dict[str, Any]] = []
    for trained in work.trained().values():
        rows += table_rows(trained, work)
    path = work.layout.readout(work.experiment)
    table = work.kept.rows(pd.DataFrame(rows, columns=list(COLUMNS)), path, by=("split",))
    atomic_write(path, table.to_csv(index=False, float_format="%.6g"))


def table_rows(trained: Trained, work: Evaluation) -> Iterator[dict[str, Any]]:
    """A row for each replica and split; difficulties weigh alike, a diverged one has the worst."""
    count, halting = work.config.evaluation.stored, trained.network.halting
    validation = work.task.evaluation_sets(count, "validation")
    for split, whole in work.sets.items():
        test, other = first(whole, count), first(validation[split].torch(work.device), count)
        new = torch.from_numpy(unseen(other, test)).to(work.device)
        other = other.take(torch.nonzero(new).flatten())
        found, fit = read(trained, work.task, test), read(trained, work.task, other)
        means = shares(test.difficulty.cpu().numpy())
        sizes = {"examples": len(means), "fitted": len(other.difficulty)}
        follows = len(test.mask) == 1 and halting.learns and not halting.exits
        mean = with_mean_halting(trained, work.task, test, means) if follows else None
        asked = LONGER if len(test.mask) == 1 and len(work.sets) > 1 else {}
        longer = {name: at_depth(trained, work.task, test, asked[name]) for name in asked}
        for k, (replica, status) in enumerate(zip(trained.replicas, trained.status, strict=True)):
            row = {"experiment": work.experiment} | replica.row() | {"split": split}
            most = make_halting(work.config, replica).max_steps
            row |= sizes | {"max_steps": most, "status": status}
            if status == "diverged":
                yield row | dict.fromkeys((*READINGS, *longer), work.task.worst_error)
                continue
            errors = {name: getattr(found, name)[k] @ means for name in READINGS[:3]}
            wrong = refitted_anew((fit.states[k], other), (found.states[k], test))
            errors["refitted"] = wrong @ means
            errors["mean_halting"] = np.nan if mean is None else mean[k] @ means
            errors |= {name: each[k] @ means for name, each in longer.items()}
            steps = found.steps[k]
            yield row | errors | {"ponder_time": steps @ means, "ponder_sd": steps.std()}


def unseen(other: Batch, test: Batch) -> Array:
    """Which examples of a set have an input that the test has not, (B,) bool."""
    found, known = (each.inputs.transpose(0, 1).cpu().numpy() for each in (other, test))
    there = {row.tobytes() for row in known}
    return np.array([row.tobytes() not in there for row in found], bool)


@torch.no_grad()
def read(trained: Trained, task: Task, batch: Batch) -> Read:
    """Run all replicas, by their own halting and to the depth N.

    Args:
        batch: tensors (T, B, ...), without replica axis.
    """
    network, replicas = trained.network, trained.replicas
    seeds, times = [each.seed for each in replicas], len(batch.mask)
    own, same = (next(iter(modes(network.halting, seeds).values())) for _ in range(2))
    size = network.cell.state_sizes[0]
    parts = [[np.empty((len(replicas), 0))] * 4 + [np.empty((len(replicas), times, 0, size))]]
    for chunk in chunks(batch, _rows(batch, len(replicas)), len(replicas)):
        stopped = network(chunk.inputs, chunk.mask, halting=own)
        alone = network(chunk.inputs, chunk.mask, halting=Alone(same))  # by the same draws
        deep, states = _forced(network, chunk)
        outputs = own.predict(stopped), alone.mixture, deep
        steps = own.ponder_time(stopped).sum(0) / chunk.mask.sum(0).clamp(min=1)
        found = *(task.error(each, chunk) for each in outputs), steps, states
        parts.append([each.cpu().numpy() for each in found])
    *values, every = zip(*parts, strict=True)
    own_error, single, depth, taken = (np.concatenate(each, axis=1) for each in values)
    return Read(own_error, single, depth, taken, np.concatenate(every, axis=2))


def _forced(network: Network, batch: Batch) -> tuple[Tensor, Tensor]:
    """After N steps at every input the outputs, (T, K, B, C), and what heads read, (K, T, B, H)."""
    state, outputs, states = None, [], []
    for inputs, mask in zip(batch.inputs[:, None], batch.mask[:, None], strict=True):
        done = network(inputs, mask, halting=_deep(network), state=state, keep_state=True)
        state = done.state
        outputs.append(done.mixture[0])
        states.append(state[0])
    return torch.stack(outputs), torch.stack(states, dim=1)


@torch.no_grad()
def with_mean_halting(trained: Trained, task: Task, batch: Batch, means: Array) -> Array:
    """Errors (K, B) where every input is answered under a network's mean halting distribution.

    Args:
        batch: single vectors, tensors (1, B, ...), without replica axis.
        means: (B,), the share of each example in the mean over test inputs.
    """
    network, replicas = trained.network, len(trained.replicas)
    own, rows = network.halting.at_inference(), _rows(batch, replicas)
    total = torch.zeros(own.max_steps, replicas, dtype=torch.float64)
    parts = np.split(means, range(rows, len(means), rows))
    for chunk, part in zip(chunks(batch, rows, replicas), parts, strict=True):
        taken = network(chunk.inputs, chunk.mask, halting=own, path="readable").weights[:, 0]
        total[: len(taken)] += taken.cpu().double() @ torch.from_numpy(part)
    errors = []
    for chunk in chunks(batch, rows, replicas):
        outputs = network(chunk.inputs, chunk.mask, halting=_deep(network)).outputs
        mean = total.to(outputs)[:, None, :, None, None]
        errors.append(task.error((mean * outputs).sum(0), chunk).cpu().numpy())
    return np.concatenate(errors, axis=1)


@torch.no_grad()
def at_depth(trained: Trained, task: Task, batch: Batch, times: int) -> Array:
    """Errors (K, B) of single vectors by the step that is so many times N, of fixed repeat rho."""
    network, replicas = trained.network, len(trained.replicas)
    halting = network.halting
    usual = halting.rho if isinstance(halting, FixedRepeat) else halting.max_steps
    longer = FixedRepeat(times * usual)
    found = [
        task.error(network(chunk.inputs, chunk.mask, halting=longer).mixture, chunk).cpu().numpy()
        for chunk in chunks(batch, _rows(batch, replicas), replicas)
    ]
    return np.concatenate(found, axis=1)


def _rows(batch: Batch, replicas: int) -> int:
    """Examples in one pass."""
    return max(16, ROWS // (replicas * len(batch.mask)))


def _deep(network: Network) -> Halting:
    """Every input takes all N steps, of fixed repeat each replica its own."""
    halting = network.halting
    return halting if isinstance(halting, FixedRepeat) else Exit(never, halting.max_steps)


def refitted_anew(fit: tuple[Array, Batch], test: tuple[Array, Batch]) -> Array:
    """Where heads fitted on other sequences make a mistake, (B,); NaN where one has no two classes.

    Args:
        fit, test: states (T, B, H) and the batch that they are of.
    """
    wrong = np.zeros(len(test[1].difficulty))
    (known, wanted), (asked, answers) = (_scored(*each) for each in (fit, test))
    example = np.nonzero(test[1].scored.cpu().numpy())[1]
    for part in range(wanted.shape[1]):
        missed = refitted(known, wanted[:, part], asked, answers[:, part])
        if np.isnan(missed).any():
            return np.full(len(wrong), np.nan)
        np.maximum.at(wrong, example, missed)
    return wrong


def _scored(states: Array, batch: Batch) -> tuple[Array, Array]:
    """The states of inputs that have a target, (A, H), and the classes there, (A, parts)."""
    there = batch.scored.cpu().numpy()
    return states[there], batch.targets.cpu().numpy()[there].reshape(-1, softmaxes(batch))


def refitted(states: Array, targets: Array, test_states: Array, test_targets: Array) -> Array:
    """Where a logistic regression on other states is wrong, (B,); NaN with less than two classes.

    Args:
        states: (A, H), to fit; targets: (A,) classes.
        test_states: (B, H), to judge; test_targets: (B,) classes.
    """
    if len(np.unique(targets)) < 2:
        return np.full(len(test_targets), np.nan)
    head = make_pipeline(StandardScaler(), LogisticRegression(max_iter=UPDATES))
    with threadpool_limits(1):  # threads of BLAS wait longer for each other than they compute
        wrong: Array = head.fit(states, targets).predict(test_states) != test_targets
    return wrong.astype(float)
