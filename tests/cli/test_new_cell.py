"""A cell of one's own: a class and a line in `CELLS`, then `network.cell` in params.yaml."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support import tiny
from torch import Tensor, nn

from pondering.model.cells import CELLS, Linear
from pondering.params.read import MECHANISMS
from pondering.report.pages.summary import trained_in_words


class Residual(nn.Module):
    """s' = s + tanh(W_x x + W_s s + b), without the first-step flag."""

    def __init__(
        self, inputs: int, hidden: int, flag: bool, generator: torch.Generator | None
    ) -> None:
        super().__init__()
        self.state_sizes = (hidden,)
        self.input = Linear(inputs, hidden, generator)
        self.recurrent = Linear(hidden, hidden, generator)

    def embed(self, x: Tensor) -> Tensor:
        embedded: Tensor = self.input(x)
        return embedded

    def step(self, drive: Tensor, state: tuple[Tensor, ...], first: bool) -> tuple[Tensor, ...]:
        return (state[0] + torch.tanh(drive + self.recurrent(state[0])),)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_class_and_its_name_are_enough_to_train(
    monkeypatch: pytest.MonkeyPatch, mechanism: str
) -> None:
    monkeypatch.setitem(CELLS, "residual", Residual)
    learns = mechanism == "act"
    updates = 150 if learns else 5
    values: Any = {"network": {"cell": "residual"}, "training": {"updates": updates}}
    config = tiny.config(**values)
    sweep = tiny.sweep(config, mechanism)
    before = [parameter.clone() for parameter in sweep.network.cell.parameters()]
    tiny.train(sweep)
    assert type(sweep.network.cell) is Residual
    assert set(sweep.status()) == {"finished"}
    after = sweep.network.cell.parameters()
    assert not any(torch.equal(old, new) for old, new in zip(before, after, strict=True))
    losses = torch.stack(sweep.curves)[..., 1]
    assert losses.isfinite().all() and (not learns or (losses[-1] < losses[0]).all())
    assert trained_in_words(config).startswith("Residual of 16 units; ")
