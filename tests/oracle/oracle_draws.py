"""The device's draws in Python and NumPy: one example and one word at a time.

It shares no code with the package and never imports torch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

FULL = 2**32
LOGIC = ("FFFT", "FFTF", "FTFF", "FTTF", "FTTT", "TFFF", "TFFT", "TFTT", "TTFT", "TTTF")


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Philox4x32-10 of Salmon et al. 2011: four words of a counter under a key."""
    a, b, c, d = counter
    k, m = key
    for _ in range(10):
        left, right = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (
            right // FULL ^ b ^ k, right % FULL, left // FULL ^ d ^ m, left % FULL,
        )  # fmt: skip
        k, m = (k + 0x9E3779B9) % FULL, (m + 0xBB67AE85) % FULL
    return [a, b, c, d]


class Example(NamedTuple):
    """One example, by time."""

    inputs: Any  # (T, D)
    targets: Any  # (T) or (T, parts)
    mask: list[bool]
    scored: list[bool]
    difficulty: float


class Words:
    """The random words of one example; each call uses whole counters of four words."""

    def __init__(self, task: str, seed: int, update: int, row: int) -> None:
        name = repr((task, "train", "device", seed)).encode()
        digest = hashlib.blake2b(name, digest_size=8).digest()
        self._key = [int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:], "little")]
        self._update, self._row, self._place = update, row, 0

    def next(self, count: int) -> Iterator[int]:
        found: list[int] = []
        while len(found) < count:
            found += philox([self._place, self._row, self._update, 0], self._key)
            self._place += 1
        return iter(found[:count])

    def below(self, limit: int, count: int = 1) -> Iterator[int]:
        return iter([word * limit // FULL for word in self.next(count)])

    def within(self, span: tuple[int, int]) -> int:
        return span[0] + next(self.below(span[1] - span[0] + 1))


def parity(task: Any, words: Words) -> Example:
    nonzero = words.within(task.train_nonzero)
    packed = list(words.next(-(-task.bits // 32)))
    signs = [1 if packed[i // 32] >> (i % 32) & 1 else -1 for i in range(task.bits)]
    order = list(range(task.bits))
    if task.layout == "scattered":
        keys = list(words.next(task.bits))
        order = sorted(order, key=keys.__getitem__)
    elements = [sign if rank < nonzero else 0 for sign, rank in zip(signs, order, strict=True)]
    return Example([elements], [elements.count(1) % 2], [True], [True], nonzero)


def logic(task: Any, words: Words) -> Example:
    length, longest, gates = words.within(task.length), task.length[1], task.gates
    used, bits = words.below(gates, longest), words.below(2, 2 * longest)
    chosen = words.below(10, gates * longest)
    inputs, targets, counts, carried = [], [], [], 0
    for time in range(longest):
        count, old, new = 1 + next(used), next(bits), next(bits)
        names = [next(chosen) for _ in range(gates)][:count]
        if time >= length:
            inputs.append([0] * (2 + 10 * gates))
            targets.append(0)
            continue
        before, newest = old if time == 0 else carried, new
        vector = [before if time == 0 else 0, newest] + [0] * 10 * gates
        for place, name in enumerate(names):
            vector[2 + 10 * place + name] = 1
            column = 2 * (1 - newest) + (1 - before)  # TT, TF, FT, FF
            before, newest = newest, int(LOGIC[name][column] == "T")
        carried = newest
        inputs.append(vector)
        targets.append(newest)
        counts.append(count)
    mask = [time < length for time in range(longest)]
    return Example(inputs, targets, mask, mask, float(np.mean(counts)))


def addition(task: Any, words: Words) -> Example:
    length, longest = words.within(task.length), task.length[1]
    used, digits = words.below(task.digits, longest), words.below(10, task.digits * longest)
    inputs, targets, counts, total = [], [], [], 0
    for time in range(longest):
        count = 1 + next(used)
        shown = [next(digits) for _ in range(task.digits)][:count]
        vector = [0] * 10 * task.digits
        if time < length:
            for place, digit in enumerate(shown):
                vector[10 * place + digit] = 1
            total += int("".join(map(str, shown)))
            counts.append(count)
        inputs.append(vector)
        written = [int(digit) for digit in str(total)]
        targets.append(written + [10] * (task.digits + 1 - len(written)))
    mask = [time < length for time in range(longest)]
    return Example(inputs, targets, mask, [False, *mask[1:]], float(np.mean(counts)))


def sort(task: Any, words: Words) -> Example:
    length, longest = words.within(task.length), task.length[1]
    values = [normal(word) for word in words.next(longest)][:length]
    inputs = [[value, float(i == length - 1)] for i, value in enumerate(values)]
    inputs += [[0.0, 0.0]] * (2 * longest - length)
    order = sorted(range(length), key=values.__getitem__)
    rest = 2 * (longest - length)
    mask = [True] * 2 * length + [False] * rest
    scored = [False] * length + [True] * length + [False] * rest
    return Example(inputs, [0] * length + order + [0] * rest, mask, scored, length)


def normal(word: int) -> Any:
    """Between two neighbours of 65,537 quantiles of the standard normal distribution."""
    cell, way = divmod(word, 2**16)
    begin, end = (
        np.float32(NormalDist().inv_cdf((each + 0.5) / 65537)) for each in (cell, cell + 1)
    )
    return begin + (end - begin) * np.float32(way / 2**16)


DRAWS: dict[str, Callable[[Any, Words], Example]] = {
    "parity": parity, "logic": logic, "addition": addition, "sort": sort,
}  # fmt: skip
