"""Exit rules: from what every step of a trained network showed to where each row stops.

A rule with a threshold stops a row at the first step whose statistic passes the threshold, at N
where none does.

Thresholds are chosen on a validation set. Mean steps there are 1 + (N - 1) x the share of all
numbers max_(j <= n) statistic_j, n < N, that do not pass. A quantile of these numbers is thus the
threshold for any mean steps wanted, which rise from 1 to N in equal ratios. The threshold that a
rule is mostly used with is added. A saturated network may leave fewer than eight thresholds: then
further numbers are added, far apart in rank. A statistic that counts steps has the N counts.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax

Array = NDArray[Any]
BETWEEN = 11
"""Thresholds between the two that stop at once and never."""
LEAST = 8
"""Thresholds of a rule, where as many differ in what they stop."""


@dataclass(frozen=True)
class Shown:
    """What N steps of one replica showed of B single vectors.

    Args:
        halt_logits: (N, B), a_n.
        outputs: (N, B, C), the logits y_n; C = 1 is one sigmoid.
        change: (N, B), |s_n - s_(n-1)| / |s_n|, 1 at n = 1.
        judge: the errors of outputs (M, B, C), (M, B).
    """

    halt_logits: Array
    outputs: Array
    change: Array
    judge: Callable[[Array], Array]

    @cached_property
    def weights(self) -> Array:
        """p_n = h_n prod_(j < n) (1 - h_j), the rest at step N; (N, B)."""
        after = np.cumprod(expit(-self.halt_logits), axis=0)
        before = np.concatenate([np.ones_like(after[:1]), after[:-1]])
        return np.concatenate([before[:-1] * expit(self.halt_logits[:-1]), before[-1:]])

    @cached_property
    def expected_steps(self) -> Array:
        """sum n p_n, (B,)."""
        found: Array = np.arange(1, len(self.weights) + 1) @ self.weights
        return found

    @cached_property
    def log_probabilities(self) -> Array:
        """Of the classes of each output, (N, B, classes); a sigmoid has two classes."""
        logits = self.outputs
        if logits.shape[-1] == 1:
            logits = np.concatenate([np.zeros_like(logits), logits], axis=-1)
        found: Array = log_softmax(logits, axis=-1)
        return found

    @cached_property
    def error(self) -> Array:
        """Of each y_n, (N, B)."""
        return self.judge(self.outputs)


Outcome = tuple[Array, Array]
"""Mean steps and error of each row under each of T thresholds, (T, B) both."""


@dataclass(frozen=True)
class Rule:
    """A way to stop.

    Args:
        thresholds: from what a validation set has shown, (T,); NaN where the rule has none.
        outcome: at these thresholds.
    """

    thresholds: Callable[[Shown], Array]
    outcome: Callable[[Shown, Array], Outcome]


# --- statistics: what a rule with a threshold compares with it, (N, B) --------------------------


def cumulated(shown: Shown) -> Array:
    """p_1 + ... + p_n; stops from q on. Q-exit, PALBERT, arXiv 2204.03276."""
    return 1 - np.cumprod(expit(-shown.halt_logits), axis=0)


def halts(shown: Shown) -> Array:
    """h_n; stops above theta, at 0.5 where halting is likelier than going on."""
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
    """|s_n - s_(n-1)| / |s_n|; stops below theta, 0.03 in Huginn's code, arXiv 2502.05171."""
    return shown.change


def divergence(shown: Shown) -> Array:
    """KL(y_(n-1), y_n) in nats; stops below theta, 1e-3 in Huginn's code.

    Infinite at n = 1, where nothing came before.
    """
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
    """Stops at n with probability p_n (Banino Sec. 2.5): the mean over all draws, none is made."""
    error = (shown.weights * shown.error).sum(0)
    return shown.expected_steps[None], error[None]


def expected(shown: Shown) -> Outcome:
    """Never stops: the answer is that of sum p_n y_n, the steps are sum n p_n."""
    mixture = (shown.weights[..., None] * shown.outputs).sum(0)
    return shown.expected_steps[None], shown.judge(mixture[None])


def argmax(shown: Shown) -> Outcome:
    """The step of the greatest p_n, the first of equals."""
    return stopped(shown, shown.weights.argmax(0)[None] + 1)


def oracle(shown: Shown) -> Outcome:
    """The first step from which the answer is right and stays right; N where it never is.

    It looks at the targets. No rule has fewer errors on networks that keep a right answer. Where
    answers are lost again after the step that training has them stop at, other rules beat it.
    """
    lasting = np.logical_and.accumulate(shown.error[::-1] == 0, axis=0)[::-1]
    lasting[-1] = True
    return stopped(shown, lasting.argmax(0)[None] + 1)


# --- the rules -----------------------------------------------------------------------------------


def stopped(shown: Shown, steps: Array) -> Outcome:
    """The steps themselves (T, B), 1 to N, and the errors of the outputs there (T, B)."""
    return steps, np.take_along_axis(shown.error, steps - 1, axis=0)


def first(
    statistic: Callable[[Shown], Array],
    passes: Callable[[Any, Any], Any],
    usual: Sequence[float] = (),
) -> Rule:
    """The first step whose statistic passes the threshold, N where none does.

    Args:
        usual: the threshold that the rule is mostly used with, if there is one.
    """
    below = passes is operator.lt

    def thresholds(shown: Shown) -> Array:
        every = statistic(shown)
        if np.issubdtype(every.dtype, np.integer):
            return np.arange(1, len(every) + 1)
        sign = -1 if below else 1
        most = np.maximum.accumulate(sign * every[: max(1, len(every) - 1)], axis=0)
        wanted = len(every) ** (np.arange(1, BETWEEN + 1) / (BETWEEN + 1))  # mean steps
        levels = (wanted - 1) / max(1, len(every) - 1)
        chosen = np.quantile(most, levels, method="inverted_cdf")  # one of them, also if infinite
        found = np.unique([-np.inf, *chosen, *(sign * each for each in usual), np.inf])
        if len(found) < LEAST:
            values = np.unique(most)
            ranks = np.linspace(0, len(values) - 1, LEAST).round().astype(int)
            found = np.union1d(found, values[ranks])
        return sign * found

    def outcome(shown: Shown, at: Array) -> Outcome:
        stops = passes(statistic(shown), at[:, None, None])
        stops[:, -1] = True
        return stopped(shown, stops.argmax(1) + 1)

    return Rule(thresholds, outcome)


def once(outcome: Callable[[Shown], Outcome]) -> Rule:
    """A rule that has no threshold."""
    return Rule(lambda shown: np.array([np.nan]), lambda shown, _: outcome(shown))


def _every_depth(shown: Shown) -> Array:
    return np.arange(1, len(shown.outputs) + 1)


def _fixed(shown: Shown, depths: Array) -> Outcome:
    """Every row stops at n."""
    return stopped(shown, np.repeat(depths[:, None], shown.outputs.shape[1], axis=1))


RULES = {
    "sampled": once(sampled),
    "expected": once(expected),
    "argmax": once(argmax),
    "cumulated": first(cumulated, operator.ge, [0.5]),
    "threshold": first(halts, operator.gt, [0.5]),
    "patience": first(alike, operator.ge),
    "state": first(change, operator.lt, [0.03]),
    "divergence": first(divergence, operator.lt, [1e-3]),
    "certainty": first(certainty, operator.gt),
    "fixed": Rule(_every_depth, _fixed),
    "oracle": once(oracle),
}
"""By name."""
OF_LOGITS = ("sampled", "expected", "argmax", "cumulated", "threshold")
"""Rules that read the halting logits, for mechanisms whose halting unit learns."""
