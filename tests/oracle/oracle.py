"""The papers' equations in NumPy float64: one example, step and unit at a time.

It shares no code with the package and never imports torch. Letters are the papers':
x_t input, s_t^n state, y_t^n output, h_t^n halting unit, N(t) steps, R(t) remainder, p_t^n weight.
Graves is arXiv 1603.08983, Banino arXiv 2107.05407, Fojo the ICLR 2018 workshop paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from oracle.oracle_cells import Array, State, log_sigmoid, sigmoid

# --- weights of the ponder steps --------------------------------------------------------------


@dataclass
class Pondering:
    """The steps of one example at one input time."""

    steps: int
    weights: list[float]  # p^1 .. p^N
    remainder: float = math.nan
    outputs: list[Array] = field(default_factory=list)  # y^1 .. y^N
    states: list[State] = field(default_factory=list)  # s^1 .. s^N
    logits: list[float] = field(default_factory=list)
    output: Array | None = None
    state: State = ()


def act_weights(
    h: list[float], epsilon: float, max_steps: int, forced: int | None = None
) -> tuple[int, float, list[float]]:
    """N, R and p of Graves Eqs. 6-8 with the cap of Eq. 13; `forced` holds N constant (Eq. 14)."""
    steps = forced
    if steps is None:
        total = 0.0
        for n in range(1, max_steps + 1):
            total += h[n - 1]
            if total >= 1.0 - epsilon or n == max_steps:
                steps = n
                break
    assert steps is not None
    remainder = 1.0
    for n in range(1, steps):
        remainder -= h[n - 1]
    return steps, remainder, [*h[: steps - 1], remainder]


def pondernet_log_weights(logits: list[float]) -> list[float]:
    """log p_n = log lambda_n + sum_{j<n} log(1 - lambda_j) (Banino Eq. 2); p_N is the rest."""
    result = []
    rest = 0.0
    for n, logit in enumerate(logits, start=1):
        result.append(rest + log_sigmoid(logit) if n < len(logits) else rest)
        rest += log_sigmoid(-logit)
    return result


def pondernet_steps(logits: list[float], epsilon: float | None, max_steps: int) -> int:
    """N: the cap, or the first n whose cumulated lambda_n prod(1 - lambda_j) exceeds 1 - eps."""
    if epsilon is None:
        return max_steps
    still_running = 1.0
    for n in range(1, max_steps + 1):
        still_running *= 1.0 - sigmoid(logits[n - 1])
        if 1.0 - still_running > 1.0 - epsilon:
            return n
    return max_steps


def geometric_prior(lambda_p: float, steps: int) -> list[float]:
    """Geometric(lambda_p) truncated at `steps` and normalised: its mass is 1."""
    masses = [lambda_p * (1.0 - lambda_p) ** (n - 1) for n in range(1, steps + 1)]
    return [mass / sum(masses) for mass in masses]


def kl_divergence(logits: list[float], lambda_p: float, direction: str = "p_prior") -> float:
    """KL(p || prior) (Banino Eq. 3); a step with p = 0 adds its limit, 0.

    The direction "prior_p" is KL(prior || p). The prior of lambda_p = 0 is uniform.
    """
    count = len(logits)
    prior = geometric_prior(lambda_p, count) if lambda_p > 0 else [1 / count] * count
    total = 0.0
    for log_p, g in zip(pondernet_log_weights(logits), prior, strict=True):
        p = math.exp(log_p)
        if direction == "prior_p":
            total += g * (math.log(g) - log_p)
        elif p > 0.0:
            total += p * (log_p - math.log(g))
    return total


def expected_steps(p: list[float]) -> float:
    return sum(n * value for n, value in enumerate(p, start=1))


# --- one example through the network ----------------------------------------------------------


@dataclass
class Model:
    """The parts of a network: a cell, an output head (Eq. 4) and a halting head (Eq. 5)."""

    cell: Callable[[Array, State], State]  # takes the input with its flag
    state_sizes: tuple[int, ...]
    W_y: Array
    b_y: Array
    w_h: Array  # of h, or of [h; c]
    b_h: float
    flag: bool = True  # first-step flag
    embed: Callable[[Array], Array] = lambda x: x  # done once per input

    def steps(
        self, x: Array, state: State, count: int, held: Mapping[int, State] | None = None
    ) -> Pondering:
        """`count` steps from `state` on input x: states (Eq. 3), outputs and halting logits.

        held: n -> the detached state from which step n starts instead.
        """
        result = Pondering(steps=count, weights=[])
        x = self.embed(x)
        for n in range(1, count + 1):
            # x_t^n: one extra element, 1 at n = 1 and 0 after.
            x_n = np.append(x, 1.0 if n == 1 else 0.0) if self.flag else x
            state = self.cell(x_n, (held or {}).get(n, state))
            result.states.append(state)
            result.outputs.append(self.W_y @ state[0] + self.b_y)
            read = np.concatenate(state)[: len(self.w_h)]
            result.logits.append(float(self.w_h @ read + self.b_h))
        return result


Rule = Callable[..., Pondering]  # (model, x, state, forced N or None)


def act(epsilon: float, max_steps: int, carry: str = "mean_field") -> Rule:
    """One input time of ACT: mean-field output and state (Eq. 9), cell state included."""

    def rule(model: Model, x: Array, state: State, forced: int | None = None) -> Pondering:
        done = model.steps(x, state, max_steps)
        h = [sigmoid(logit) for logit in done.logits]
        done.steps, done.remainder, done.weights = act_weights(h, epsilon, max_steps, forced)
        return _finish(done, carry)

    return rule


def pondernet(epsilon: float | None, max_steps: int, carry: str = "mean_field") -> Rule:
    """One input time of PonderNet. The paper has no sequences; here the state is averaged."""

    def rule(model: Model, x: Array, state: State, forced: int | None = None) -> Pondering:
        done = model.steps(x, state, max_steps)
        done.steps = forced or pondernet_steps(done.logits, epsilon, max_steps)
        log_weights = pondernet_log_weights(done.logits[: done.steps])
        done.weights = [math.exp(v) for v in log_weights]
        return _finish(done, carry)

    return rule


def repeat(rho: int) -> Rule:
    """One input time of Fojo's Repeat-RNN: output and state of the last of rho repetitions."""

    def rule(model: Model, x: Array, state: State, forced: int | None = None) -> Pondering:
        done = model.steps(x, state, rho)
        done.weights = [0.0] * (rho - 1) + [1.0]
        return _finish(done)

    return rule


def exit_where(stops: Callable[[Pondering], bool], max_steps: int) -> Rule:
    """Output and state of the first step n for which `stops` of steps 1 .. n is true.

    `forced` holds N constant.
    """

    def rule(model: Model, x: Array, state: State, forced: int | None = None) -> Pondering:
        for n in range(1, max_steps + 1):
            done = model.steps(x, state, n)
            if n == (forced or max_steps) or (forced is None and stops(done)):
                break
        done.weights = [0.0] * (done.steps - 1) + [1.0]
        return _finish(done)

    return rule


def dact(max_steps: int, early: bool = False) -> Rule:
    """One input time of DACT: pi_n = prod (1 - h_j); p_n = pi_{n-1} - pi_n mixes the states.

    With `early` it stops where a_(1) (1 - pi_n)^d > a_(2) + pi_n d. The two leading classes are
    a_(1) and a_(2), and d steps are left.
    """

    def rule(model: Model, x: Array, state: State, forced: int | None = None) -> Pondering:
        for n in range(1, max_steps + 1):
            done = model.steps(x, state, n)
            still = dact_still(done.logits)
            *_, second, first = sorted(dact_answer(done))
            left = max_steps - n
            decided = first * (1 - still[n]) ** left > second + still[n] * left
            if n == (forced or max_steps) or (forced is None and early and decided):
                break
        done.weights = [still[m - 1] - still[m] for m in range(1, n)] + [still[n - 1]]
        done.remainder = still[n - 1]
        return _finish(done)

    return rule


def dact_still(logits: list[float]) -> list[float]:
    """pi_0 .. pi_n."""
    still = [1.0]
    for logit in logits:
        still.append(still[-1] * (1.0 - sigmoid(logit)))
    return still


def dact_answer(done: Pondering) -> Array:
    """a_n = pi_{n-1} softmax(y_n) + (1 - pi_{n-1}) a_{n-1}."""
    still = dact_still(done.logits)
    answer = np.zeros_like(done.outputs[0])
    for n, y in enumerate(done.outputs, start=1):
        answer = still[n - 1] * softmax(y) + (1.0 - still[n - 1]) * answer
    return answer


def _finish(done: Pondering, carry: str = "mean_field") -> Pondering:
    """Drop steps after N; output and state are means under p (Eq. 9), or s^N if carry is last."""
    n = done.steps
    done.outputs, done.states, done.logits = done.outputs[:n], done.states[:n], done.logits[:n]
    done.output = _mix(done.weights, done.outputs)
    parts = range(len(done.states[0]))
    done.state = tuple(_mix(done.weights, [s[part] for s in done.states]) for part in parts)
    if carry == "last":
        done.state = done.states[-1]
    return done


def _mix(weights: list[float], values: list[Array]) -> Array:
    total = np.zeros_like(values[0])
    for weight, value in zip(weights, values, strict=True):
        total = total + weight * value
    return total


def unroll(
    model: Model,
    rule: Rule,
    xs: Array,
    mask: Array | None = None,
    forced: list[Pondering | None] | None = None,
) -> list[Pondering | None]:
    """One example's sequence; a masked time gives None and leaves the state as it is."""
    state: State = tuple(np.zeros(size) for size in model.state_sizes)
    result: list[Pondering | None] = []
    for t in range(len(xs)):
        if mask is not None and not mask[t]:
            result.append(None)
            continue
        held = forced[t].steps if forced and forced[t] else None
        done = rule(model, xs[t], state, held)
        state = done.state
        result.append(done)
    return result


# --- gradients --------------------------------------------------------------------------------


def act_halting_gradient(
    d_output: Array,
    d_state: State,
    outputs: list[Array],
    states: list[State],
    steps: int,
    tau: float,
) -> list[float]:
    """dL_hat/dh^n by hand: Graves Eqs. 15-20 with p^N = 1 - sum_{n<N} h^n.

    d_output = dL/dy_t and d_state = dL/ds_t are the derivatives at the mean-field output and
    state. dp^n/dh^n = 1 and dp^N/dh^n = -1 for n < N; the time penalty adds -tau (Eq. 14).
    """

    def value_of(n: int) -> float:
        """dL/dp^n = dL/dy . y^n + dL/ds . s^n."""
        total = float(d_output @ outputs[n - 1])
        for d_part, part in zip(d_state, states[n - 1], strict=True):
            total += float(d_part @ part)
        return total

    gradient = []
    for n in range(1, len(outputs) + 1):
        gradient.append(value_of(n) - value_of(steps) - tau if n < steps else 0.0)
    return gradient


def central_differences(
    function: Callable[[dict[str, Array]], float], values: dict[str, Array], step: float = 1e-6
) -> dict[str, Array]:
    """d function / d every element of every array in `values`."""
    gradient = {}
    for name, array in values.items():
        slope = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            one = np.zeros_like(array)
            one[index] = 1.0
            slope[index] = slope_along(function, values, name, one, step)
        gradient[name] = slope
    return gradient


def slope_along(
    function: Callable[[dict[str, Array]], float],
    values: dict[str, Array],
    name: str,
    direction: Array,
    step: float = 1e-6,
) -> float:
    """Central difference of the function along a direction of one of the arrays."""
    above = function({**values, name: values[name] + step * direction})
    below = function({**values, name: values[name] - step * direction})
    return (above - below) / (2 * step)


# --- losses of one example at one input time --------------------------------------------------

Score = Callable[[Array], float]


def act_loss(done: Pondering, score: Score, tau: float) -> float:
    """L(y_t) + tau (N + R) (Graves Eqs. 10-12)."""
    return score(done.output) + tau * (done.steps + done.remainder)


def pondernet_loss(
    done: Pondering, score: Score, lambda_p: float, beta: float, direction: str = "p_prior"
) -> float:
    """sum_n p_n L(y_n) + beta KL(p || prior) (Banino Eq. 3)."""
    total = beta * kl_divergence(done.logits, lambda_p, direction)
    for p, y in zip(done.weights, done.outputs, strict=True):
        total += p * score(y)
    return total


def softmax(y: Array) -> Array:
    shares = np.exp(y - y.max())
    return shares / shares.sum()


def cross_entropy(y: Array, label: int) -> float:
    """-log P(label) for softmax outputs with logits y."""
    return -math.log(softmax(y)[label])


def correctness_loss(done: Pondering, label: int, weight: float) -> float:
    """sum over the steps taken of CE_n + weight BCE(a_n, 1[y_n is right]) (TRM)."""
    total = 0.0
    for y, logit in zip(done.outputs, done.logits, strict=True):
        right = int(np.argmax(y)) == label
        total += cross_entropy(y, label) - weight * log_sigmoid(logit if right else -logit)
    return total


def certainty_of(y: Array) -> float:
    """1 - H(softmax y) / log C (CTM)."""
    p = softmax(y)
    return 1.0 + sum(float(each) * math.log(each) for each in p) / math.log(len(p))


def most_certain(done: Pondering) -> int:
    """Index of the first of the most certain steps."""
    certain = [certainty_of(y) for y in done.outputs]
    return certain.index(max(certain))


def certainty_loss(done: Pondering, label: int, chosen: tuple[int, int] | None = None) -> float:
    """Half of min_n CE_n plus half of CE of the most certain step; `chosen` holds both steps."""
    losses = [cross_entropy(y, label) for y in done.outputs]
    least, most = chosen or (losses.index(min(losses)), most_certain(done))
    return (losses[least] + losses[most]) / 2.0


def dact_loss(done: Pondering, label: int, tau: float) -> float:
    """-log a_N[label] + tau sum of pi_n (DACT)."""
    return -math.log(dact_answer(done)[label]) + tau * sum(dact_still(done.logits)[1:])
