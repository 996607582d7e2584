"""The exit rules in plain Python: one row, one step and one class at a time.

It shares no code with the package. A row has N halting logits a_n, N outputs y_n, N changes of
state, and a target class. An output is a list of logits; a sigmoid has a single logit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass
class Row:
    """The N steps of one example."""

    halt_logits: Sequence[float]
    outputs: Sequence[Sequence[float]]
    change: Sequence[float]
    target: int = 0

    @property
    def steps(self) -> int:
        return len(self.outputs)


def sigmoid(a: float) -> float:
    return 1 / (1 + math.exp(-a))


def classes(y: Sequence[float]) -> list[float]:
    """Probabilities of the classes; a sigmoid's classes are no and yes."""
    logits = [0.0, y[0]] if len(y) == 1 else list(y)
    top = max(logits)
    total = sum(math.exp(each - top) for each in logits)
    return [math.exp(each - top) / total for each in logits]


def answer(y: Sequence[float]) -> int:
    """The most probable class; the first if several are equal."""
    logits = [0.0, y[0]] if len(y) == 1 else list(y)
    best = 0
    for number, each in enumerate(logits):
        if each > logits[best]:
            best = number
    return best


def wrong(row: Row, n: int) -> float:
    return float(answer(row.outputs[n - 1]) != row.target)


def distribution(row: Row) -> list[float]:
    """p_1 .. p_N; step N gets the rest."""
    left, found = 1.0, []
    for n, a in enumerate(row.halt_logits, start=1):
        found.append(left * sigmoid(a) if n < row.steps else left)
        left *= 1 - sigmoid(a)
    return found


def first_where(row: Row, stops: Callable[[int], bool]) -> int:
    """The first step that stops; N if no step stops."""
    for n in range(1, row.steps):
        if stops(n):
            return n
    return row.steps


def cumulated(row: Row, q: float) -> int:
    p = distribution(row)
    return first_where(row, lambda n: sum(p[:n]) >= q)


def threshold(row: Row, theta: float) -> int:
    return first_where(row, lambda n: sigmoid(row.halt_logits[n - 1]) > theta)


def patience(row: Row, k: float) -> int:
    answers = [answer(y) for y in row.outputs]
    return first_where(row, lambda n: n >= k and len(set(answers[n - int(k) : n])) == 1)


def state(row: Row, theta: float) -> int:
    return first_where(row, lambda n: row.change[n - 1] < theta)


def kl(p: Sequence[float], q: Sequence[float]) -> float:
    return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))


def divergence(row: Row, theta: float) -> int:
    p = [classes(y) for y in row.outputs]
    return first_where(row, lambda n: n > 1 and kl(p[n - 2], p[n - 1]) < theta)


def certainty(row: Row, theta: float) -> int:
    def sure(y: Sequence[float]) -> float:
        p = classes(y)
        return 1 + sum(each * math.log(each) for each in p) / math.log(len(p))

    return first_where(row, lambda n: sure(row.outputs[n - 1]) > theta)


def argmax(row: Row) -> int:
    p = distribution(row)
    return p.index(max(p)) + 1


def oracle(row: Row) -> int:
    for n in range(1, row.steps + 1):
        if not any(wrong(row, later) for later in range(n, row.steps + 1)):
            return n
    return row.steps


STOPS: dict[str, Callable[[Row, float], int]] = {
    "argmax": lambda row, _: argmax(row),
    "cumulated": cumulated,
    "threshold": threshold,
    "patience": patience,
    "state": state,
    "divergence": divergence,
    "certainty": certainty,
    "fixed": lambda row, n: int(n),
    "oracle": lambda row, _: oracle(row),
}
"""The step at which a rule stops a row."""


def sampled(row: Row) -> tuple[float, float]:
    """Mean steps and error over the draws."""
    p = distribution(row)
    steps = sum(n * each for n, each in enumerate(p, start=1))
    return steps, sum(each * wrong(row, n) for n, each in enumerate(p, start=1))


def expected(row: Row) -> tuple[float, float]:
    """Mean steps, and whether the mean output is wrong."""
    p, mixed = distribution(row), [0.0] * len(row.outputs[0])
    for each, y in zip(p, row.outputs, strict=True):
        mixed = [total + each * part for total, part in zip(mixed, y, strict=True)]
    return sampled(row)[0], float(answer(mixed) != row.target)
