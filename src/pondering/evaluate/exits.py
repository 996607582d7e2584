"""Exit rules on the stored steps of `steps.py`: where each would have stopped a trained network.

Nothing is trained and no network is run: a rule reads what every step showed and says at which one
a row stops. `RULES` has all of them. A rule with a threshold stops a row at the first step whose
statistic passes it, at N where none does. Which rules a mechanism allows is `Halting.exits`.

Thresholds are chosen for each replica and split on the part "validation", never on the test. Mean
steps there are 1 + (N - 1) x the share of all numbers max_(j <= n) statistic_j, n < N, that do not
pass, so that a quantile of these numbers is the threshold for any mean steps wanted: they rise from
1 to N in equal ratios. A statistic with few values has fewer thresholds than that, one that counts
steps has the N counts.

On sequences a rule also decides which state crosses to the next input, so that stored steps do not
suffice. They are left out: run the network with `Exit(rule, N)`, as `measure.measure` takes it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy.special import expit, log_softmax

from pondering.data.frozen import read_arrays
from pondering.evaluate.stage import Evaluation
from pondering.model.halting import EXITS
from pondering.project.atomic import atomic_write
from pondering.tasks.base import Batch, Task
from pondering.train.build import make_halting

Array = NDArray[Any]
COLUMNS = (
    "experiment", "mechanism", "setting", "seed", "split", "rule", "threshold", "ponder_time",
    "error", "examples", "status",
)  # fmt: skip
BETWEEN = 11
"""Thresholds between the two that stop at once and never."""


@dataclass(frozen=True)
class Shown:
    """What N steps of one replica showed of B examples.

    Args:
        halt_logits: (N, B), a_n.
        outputs: (N, B, C), the logits y_n; C = 1 is one sigmoid.
        change: (N, B), |s_n - s_(n-1)| / |s_n|, 1 at n = 1.
        judge: the share of error of outputs (M, B, C), (M, B).
    """

    halt_logits: Array
    outputs: Array
    change: Array
    judge: Callable[[Array], Array]

    @cached_property
    def error(self) -> Array:
        """Of each y_n, (N, B)."""
        return self.judge(self.outputs)

    @cached_property
    def weights(self) -> Array:
        """p_n = h_n prod_(j < n) (1 - h_j), the rest at step N; (N, B)."""
        after = np.cumprod(expit(-self.halt_logits), axis=0)
        before = np.concatenate([np.ones_like(after[:1]), after[:-1]])
        return np.concatenate([before[:-1] * expit(self.halt_logits[:-1]), before[-1:]])

    @cached_property
    def log_probabilities(self) -> Array:
        """Of the classes, (N, B, C); of one sigmoid's two classes, (N, B, 2)."""
        logits = self.outputs
        if logits.shape[-1] == 1:
            logits = np.concatenate([np.zeros_like(logits), logits], axis=-1)
        found: Array = log_softmax(logits, axis=-1)
        return found

    def at(self, steps: Array) -> tuple[Array, Array]:
        """The steps themselves (T, B), 1 to N, and the errors of the outputs there (T, B)."""
        return steps, np.take_along_axis(self.error, steps - 1, axis=0)


Outcome = tuple[Array, Array]
"""Mean steps and error of each row under each of T thresholds, (T, B) both."""


@dataclass(frozen=True)
class Rule:
    """A way to stop.

    Args:
        thresholds: from what a validation set has shown, (T,); NaN where the rule has none.
        outcome: of a rule at these thresholds.
    """

    thresholds: Callable[[Shown], Array]
    outcome: Callable[[Shown, Array], Outcome]


# --- statistics: what a rule with a threshold compares with it, (N, B) --------------------------


def cumulated(shown: Shown) -> Array:
    """p_1 + ... + p_n; stops from q on. Q-exit, PALBERT, arXiv 2204.03276."""
    return 1 - np.cumprod(expit(-shown.halt_logits), axis=0)


def halts(shown: Shown) -> Array:
    """h_n; stops above theta."""
    found: Array = expit(shown.halt_logits)
    return found


def alike(shown: Shown) -> Array:
    """How many steps running, this one included, gave the answer of step n; stops from k on."""
    answers = shown.log_probabilities.argmax(-1)
    count = np.ones(answers.shape, int)
    for n in range(1, len(answers)):
        count[n] += np.where(answers[n] == answers[n - 1], count[n - 1], 0)
    return count


def change(shown: Shown) -> Array:
    """|s_n - s_(n-1)| / |s_n|; stops below theta."""
    return shown.change


def divergence(shown: Shown) -> Array:
    """KL(y_(n-1), y_n) in nats; stops below theta. Infinite at n = 1, where nothing came before."""
    log_p = shown.log_probabilities
    found = (np.exp(log_p[:-1]) * (log_p[:-1] - log_p[1:])).sum(-1)
    return np.concatenate([np.full_like(log_p[:1, :, 0], np.inf), found])


def certainty(shown: Shown) -> Array:
    """1 - H(softmax y_n) / log C; stops above theta. CTM, arXiv 2505.05522."""
    log_p = shown.log_probabilities
    found: Array = 1 + (np.exp(log_p) * log_p).sum(-1) / np.log(log_p.shape[-1])
    return found


# --- rules without a threshold -------------------------------------------------------------------


def sampled(shown: Shown) -> Outcome:
    """Stops at n with probability p_n (Banino Sec. 2.3): the mean over all draws, none is made."""
    numbers = np.arange(1, len(shown.weights) + 1)
    steps, error = numbers @ shown.weights, (shown.weights * shown.error).sum(0)
    return steps[None], error[None]


def expected(shown: Shown) -> Outcome:
    """Never stops: the answer is that of sum p_n y_n, the steps are sum n p_n."""
    mixture = (shown.weights[..., None] * shown.outputs).sum(0)
    return sampled(shown)[0], shown.judge(mixture[None])


def argmax(shown: Shown) -> Outcome:
    """The step of the greatest p_n, the first of equals."""
    return shown.at(shown.weights.argmax(0)[None] + 1)


def oracle(shown: Shown) -> Outcome:
    """The first step from which the answer is right and stays right; N where it never is.

    It looks at the targets. Of networks that keep a right answer no rule has fewer errors; where
    answers are lost again after the step that training has them stop at, other rules beat it.
    """
    lasting = np.logical_and.accumulate(shown.error[::-1] == 0, axis=0)[::-1]
    lasting[-1] = True
    return shown.at(lasting.argmax(0)[None] + 1)


# --- the rules -----------------------------------------------------------------------------------


def first(statistic: Callable[[Shown], Array], passes: Callable[[Any, Any], Any]) -> Rule:
    """The first step whose statistic passes the threshold, N where none does."""
    below = passes is operator.lt

    def thresholds(shown: Shown) -> Array:
        found = statistic(shown)
        if np.issubdtype(found.dtype, np.integer):
            return np.arange(1, len(found) + 1)
        sign = -1 if below else 1
        most = np.maximum.accumulate(sign * found[: max(1, len(found) - 1)], axis=0)
        wanted = len(found) ** (np.arange(1, BETWEEN + 1) / (BETWEEN + 1))  # mean steps
        levels = (wanted - 1) / max(1, len(found) - 1)
        chosen = np.quantile(most, levels, method="inverted_cdf")  # one of them, also if infinite
        return sign * np.unique(np.concatenate([[-np.inf], chosen, [np.inf]]))

    def outcome(shown: Shown, at: Array) -> Outcome:
        stops = passes(statistic(shown), at[:, None, None])
        stops[:, -1] = True
        return shown.at(stops.argmax(1) + 1)

    return Rule(thresholds, outcome)


def once(outcome: Callable[[Shown], Outcome]) -> Rule:
    """A rule that has no threshold."""
    return Rule(lambda shown: np.array([np.nan]), lambda shown, _: outcome(shown))


def _every_depth(shown: Shown) -> Array:
    return np.arange(1, len(shown.outputs) + 1)


def _fixed(shown: Shown, depths: Array) -> Outcome:
    """Every row stops at n."""
    return shown.at(np.repeat(depths[:, None], shown.outputs.shape[1], axis=1))


RULES = {
    "sampled": once(sampled),
    "expected": once(expected),
    "argmax": once(argmax),
    "cumulated": first(cumulated, operator.ge),
    "threshold": first(halts, operator.gt),
    "patience": first(alike, operator.ge),
    "state": first(change, operator.lt),
    "divergence": first(divergence, operator.lt),
    "certainty": first(certainty, operator.gt),
    "fixed": Rule(_every_depth, _fixed),
    "oracle": once(oracle),
}
"""By their names in `EXITS`."""


# --- the table -----------------------------------------------------------------------------------


def run(work: Evaluation) -> None:
    """Write the table of an experiment's rules; its heading alone where no steps are stored.

    Raises:
        UserError: the stored steps are missing or damaged.
    """
    config, layout = work.config, work.layout
    stored = read_arrays(layout.steps(work.experiment))
    allowed = {
        mechanism: make_halting(config, config.replicas(mechanism)).exits
        for mechanism in config.mechanisms
        if f"{mechanism}/status" in stored
    }
    rows = [{"experiment": work.experiment} | r for r in table_rows(stored, allowed, work.task)]
    table = work.kept.rows(pd.DataFrame(rows, columns=list(COLUMNS)), layout.exits(work.experiment))
    atomic_write(layout.exits(work.experiment), table.to_csv(index=False, float_format="%.6g"))


def table_rows(
    stored: Mapping[str, Array], allowed: Mapping[str, Sequence[str]], task: Task
) -> Iterator[dict[str, Any]]:
    """Mean steps and error of every rule at each of its thresholds, for every replica and split.

    Difficulties weigh alike. A replica that diverged has one row a rule, with the worst error and
    no steps.

    Args:
        stored: what `steps.of_mechanism` gives, of all mechanisms.
        allowed: by mechanism the rules that may stop it.
        task: what the replicas were trained on, which judges outputs.
    """
    for mechanism, rules in allowed.items():
        named = [stored[f"{mechanism}/{each}"] for each in ("mechanisms", "settings", "seeds")]
        head, tail = f"{mechanism}/test/", "/targets"
        found = (name for name in stored if name.startswith(head) and name.endswith(tail))
        splits = [name.removeprefix(head).removesuffix(tail) for name in found]
        for k, status in enumerate(stored[f"{mechanism}/status"]):
            variant, setting, seed = (each[k].item() for each in named)
            replica = {"mechanism": variant, "setting": setting, "seed": seed}
            for split in splits:
                test, validation = (
                    _of_replica(stored, f"{mechanism}/{part}/{split}", k, task)
                    for part in ("test", "validation")
                )
                difficulty = stored[f"{mechanism}/test/{split}/difficulty"]
                row = replica | {"split": split, "examples": len(difficulty), "status": str(status)}
                for rule in (each for each in EXITS if each in rules):
                    if status == "diverged":
                        blank = {"threshold": np.nan, "ponder_time": np.nan}
                        yield row | {"rule": rule, "error": task.worst_error} | blank
                        continue
                    for means in _means(RULES[rule], test, validation, difficulty):
                        yield row | {"rule": rule} | means


def _means(
    rule: Rule, test: Shown, validation: Shown, difficulty: Array
) -> Iterator[dict[str, float]]:
    """A rule's mean steps and error at each threshold."""
    thresholds = rule.thresholds(validation)
    shares = weights(difficulty)
    steps, error = (each @ shares for each in rule.outcome(test, thresholds))
    for threshold, mean, wrong in zip(thresholds, steps, error, strict=True):
        yield {"threshold": threshold, "ponder_time": mean, "error": wrong}


def weights(difficulty: Array) -> Array:
    """Of each example in a mean over difficulties with equal weight, (B,)."""
    _, place, count = np.unique(difficulty, return_inverse=True, return_counts=True)
    found: Array = 1 / (len(count) * count[place])
    return found


def _of_replica(stored: Mapping[str, Array], place: str, k: int, task: Task) -> Shown:
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
    return Shown(logits, outputs, moved, judge)
