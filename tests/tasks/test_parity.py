"""Parity against counting by hand, at every difficulty of both papers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pondering.tasks.base import concatenate
from pondering.tasks.parity import Parity

SMALL = Parity(12, "leading", (1, 12), {"test": (1, 12)})


@pytest.mark.parametrize("layout", ["leading", "scattered"])
@pytest.mark.parametrize("bits", [64, 96])
def test_labels_at_every_difficulty(layout: str, bits: int) -> None:
    splits = {"near": (1, bits // 2), "far": (bits // 2 + 1, bits)}
    sets = Parity(bits, layout, (1, bits), splits).evaluation_sets(4)
    batch = concatenate([sets["near"], sets["far"]])
    assert batch.inputs.shape == (1, 4 * bits, bits) and batch.inputs.dtype == np.float32
    assert batch.mask.all() and batch.scored.all()
    counts = []
    for row, vector in enumerate(batch.inputs[0].tolist()):
        assert set(vector) <= {-1.0, 0.0, 1.0}
        ones = nonzero = 0
        for value in vector:
            ones += value == 1.0
            nonzero += value != 0.0
        assert batch.targets[0, row] == ones % 2
        assert batch.difficulty[row] == nonzero
        if layout == "leading":
            assert all(value != 0.0 for value in vector[:nonzero])
        counts.append(nonzero)
    assert counts == [k for k in range(1, bits + 1) for _ in range(4)]


@pytest.mark.parametrize("bits", [1, 3, 64])
def test_signs_are_what_numpy_draws_as_integers(bits: int) -> None:
    """Three calls share a generator; some draw a number of bytes that four does not divide."""
    ours, plain = (np.random.Generator(np.random.Philox(5)) for _ in range(2))
    task = Parity(bits, "leading", (1, bits), {"test": (1, bits)})
    for count in (5, 128, 1001):
        batch = task.draw(ours, count)
        nonzero = plain.integers(1, bits + 1, count)
        signs = 2 * plain.integers(0, 2, (count, bits), dtype=np.int8) - 1
        wanted = np.where(np.arange(bits) < nonzero[:, None], signs, 0)
        assert (batch.inputs[0] == wanted).all()
        assert (batch.targets[0] == (wanted == 1).sum(1) % 2).all()


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet="+-0", min_size=1, max_size=12).filter(lambda signs: set(signs) != {"0"}))
def test_a_vector_is_parsed_and_described(signs: str) -> None:
    batch = SMALL.parse(signs)
    odd = signs.count("+") % 2 == 1
    assert batch.inputs.shape == (1, 1, 12)
    assert bool(batch.targets[0, 0]) == odd
    assert batch.difficulty[0] == 12 - (signs + "0" * (12 - len(signs))).count("0")
    step = SMALL.describe(torch.full((1, 1, 1), 2.0), batch, 0)
    words = {"target": "odd" if odd else "even", "prediction": "odd"}
    assert step == [{"input": signs.ljust(12, "0"), **words}]
