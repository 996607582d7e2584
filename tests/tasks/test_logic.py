"""Logic against gates written in words and applied one by one, at every number of gates."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pondering.tasks.logic import GATES, TRUTH, Logic

# Table 1 of Graves 2016, row by row as printed: P, Q, then the gates.
PAPER = """
P Q NOR Xq ABJ XOR NAND AND XNOR if/then then/if OR
T T F   F  F   F   F    T   T    T       T       T
T F F   F  T   T   T    F   F    F       T       T
F T F   T  F   T   T    F   F    T       F       T
F F T   F  F   F   T    F   T    T       T       F
"""

IN_WORDS = {
    "NOR": lambda p, q: not (p or q),
    "Xq": lambda p, q: q and not p,
    "ABJ": lambda p, q: p and not q,
    "XOR": lambda p, q: p != q,
    "NAND": lambda p, q: not (p and q),
    "AND": lambda p, q: p and q,
    "XNOR": lambda p, q: p == q,
    "if/then": lambda p, q: (not p) or q,
    "then/if": lambda p, q: p or not q,
    "OR": lambda p, q: p or q,
}
ORDER = list(IN_WORDS)


def answer(vectors: list[tuple[list[int], list[str]]]) -> list[bool]:
    """The targets of a sequence of (bits, gates): two bits at first, then b1 only."""
    targets: list[bool] = []
    for bits, gates in vectors:
        sequence = [bool(bit) for bit in bits]
        if targets:
            sequence = [targets[-1], *sequence]
        for gate in gates:
            sequence.append(bool(IN_WORDS[gate](sequence[-1], sequence[-2])))
        targets.append(sequence[-1])
    return targets


def read(vector: list[float], gates: int) -> tuple[list[int], list[str]]:
    """Bits and gate names of one input vector; the used chunks come first, each one-hot."""
    names = []
    ended = False
    for i in range(gates):
        chunk = vector[2 + 10 * i : 12 + 10 * i]
        assert sorted(chunk) in ([0.0] * 10, [0.0] * 9 + [1.0])
        if 1.0 in chunk:
            assert not ended
            names.append(ORDER[chunk.index(1.0)])
        else:
            ended = True
    return [int(vector[0]), int(vector[1])], names


def check_against_brute_force(task: Logic, batch: object) -> None:
    times, examples = batch.mask.shape
    assert batch.inputs.shape == (times, examples, 2 + 10 * task.gates)
    for b in range(examples):
        length = int(batch.mask[:, b].sum())
        vectors = [read(batch.inputs[t, b].tolist(), task.gates) for t in range(length)]
        assert all(bits[0] == 0 for bits, _ in vectors[1:])  # b0 is hidden after the first
        shown = [(bits if t == 0 else bits[1:], names) for t, (bits, names) in enumerate(vectors)]
        assert answer(shown) == batch.targets[:length, b].astype(bool).tolist()
        assert batch.mask[:length, b].all() and not batch.mask[length:, b].any()
        assert not batch.inputs[length:, b].any() and not batch.targets[length:, b].any()
        mean = sum(len(names) for _, names in vectors) / length
        assert batch.difficulty[b] == pytest.approx(mean)
        assert all(1 <= len(names) <= task.gates for _, names in vectors)
    np.testing.assert_array_equal(batch.scored, batch.mask)


def test_the_truth_table_is_the_papers() -> None:
    header, *rows = [line.split() for line in PAPER.strip().splitlines()]
    assert list(GATES) == header[2:] == ORDER
    for p, q, *cells in rows:
        for gate, cell in enumerate(cells):
            assert bool(TRUTH[gate, 2 * (p == "T") + (q == "T")]) == (cell == "T")
            assert bool(IN_WORDS[ORDER[gate]](p == "T", q == "T")) == (cell == "T")


def test_targets_at_every_number_of_gates_and_in_training() -> None:
    task = Logic()
    check_against_brute_force(task, task.training_block(0, 0, 8))
    batch = task.evaluation_sets(12)["test"]
    assert batch.difficulty.tolist() == [float(k) for k in range(1, 11) for _ in range(12)]
    assert batch.mask.shape == (5, 120) and batch.mask.all()
    check_against_brute_force(task, batch)


vector_of = st.tuples(st.integers(0, 1), st.lists(st.sampled_from(ORDER), min_size=1, max_size=10))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1), st.lists(vector_of, min_size=1, max_size=10))
def test_a_sequence_is_parsed_and_described(b0: int, vectors: list[tuple[int, list[str]]]) -> None:
    task = Logic()
    shown = [([b0, b1] if t == 0 else [b1], names) for t, (b1, names) in enumerate(vectors)]
    words = [" ".join(["".join(map(str, bits)), *names]) for bits, names in shown]
    batch = task.parse("; ".join(words).upper())
    check_against_brute_force(task, batch)
    steps = task.describe(torch.ones(len(words), 1, 1), batch, 0)
    assert [step["input"] for step in steps] == words
    assert [step["target"] for step in steps] == [str(int(bit)) for bit in answer(shown)]
    assert {step["prediction"] for step in steps} == {"1"}
