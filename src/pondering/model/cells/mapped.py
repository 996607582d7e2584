"""Any cell as a cell with replica axes: torch maps it over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from pondering.model.cells.base import State


class Mapped(nn.Module):
    """A cell of a single network as the cell of K stacked networks.

    `torch.vmap` runs `embed` and `step` with the parameters of each network. So the cell may use
    layers of torch and products without replica axes. It may not branch on the value of a tensor;
    torch refuses that when it runs.

    Args:
        cell: has the members of `cells.Cell`, and rows (B, ...).

    Raises:
        ValueError: it holds an `nn.RNNCell`, `nn.GRUCell` or `nn.LSTMCell`, which torch cannot map.
    """

    def __init__(self, cell: Any) -> None:
        super().__init__()
        for each in cell.modules():
            if isinstance(each, nn.RNNCellBase):
                name = type(each).__name__
                raise ValueError(
                    f"nn.{name}: torch cannot map it over a stack; TanhRNN, GRU and LSTM of this "
                    "library are stacked"
                )
        self.inner = cell
        self.state_sizes: tuple[int, ...] = tuple(cell.state_sizes)

    def embed(self, x: Tensor) -> Tensor:
        """The cell's `embed`, (K, B, D) to (K, B, E)."""
        embedded: Tensor = self._mapped(self.inner.embed, x)
        return embedded

    def step(self, drive: Tensor, state: State, first: bool) -> State:
        """The cell's `step` of drive (K, B, E) and state (K, B, H) each."""
        step = self.inner.step
        stepped: State = self._mapped(lambda x, s: tuple(step(x, s, first)), drive, state)
        return stepped

    def _mapped(self, member: Callable[..., Any], *inputs: Any) -> Any:
        """A member of the cell, mapped over the first axis of its parameters and inputs."""
        call = _Call(self.inner, member)
        parameters: dict[str, Tensor] = dict(call.named_parameters())

        def one(values: dict[str, Tensor], *parts: Any) -> Any:
            return functional_call(call, values, parts)

        return torch.vmap(one, randomness="different")(parameters, *inputs)


class _Call(nn.Module):
    """A member of a module as its `forward`, which `functional_call` calls."""

    def __init__(self, module: nn.Module, member: Callable[..., Any]) -> None:
        super().__init__()
        self.module = module
        self.forward = member
