"""The network of the public MNIST notebook: a CNN and an MLP."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional

from pondering.model.cells.base import Linear, State, uniform


class ConvMLP(nn.Module):
    """A CNN embeds the image once; at each step an MLP reads the embedding and the hidden state.

    Convolutions of 10 and 20 channels, kernel 5, each followed by 2x2 max-pooling and ReLU, a
    linear layer of `hidden`; then per step h' = W_2 relu(W_1 [e; h; flag] + b_1) + b_2.

    Args:
        inputs: pixels of an image, 784.
        hidden: H, of the embedding, of the state and of the MLP.
        first_step_flag, generator: as in `Recurrent`.

    Raises:
        ValueError: `inputs` is not 784.

    Source: the public MNIST notebook of PonderNet.
    Deviation: the CNN runs once per image and without dropout; the notebook runs it at each step.
    """

    side = 28
    channels = (10, 20)

    def __init__(
        self,
        inputs: int,
        hidden: int,
        first_step_flag: bool = False,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        if inputs != self.side**2:
            raise ValueError(f"conv_mlp reads images of {self.side**2} pixels, not {inputs}")
        self.state_sizes: tuple[int, ...] = (hidden,)
        first, second = self.channels
        bounds = 1 / math.sqrt(25), 1 / math.sqrt(25 * first)
        self.filters1 = nn.Parameter(uniform((first, 1, 5, 5), bounds[0], generator))
        self.bias1 = nn.Parameter(uniform((first,), bounds[0], generator))
        self.filters2 = nn.Parameter(uniform((second, first, 5, 5), bounds[1], generator))
        self.bias2 = nn.Parameter(uniform((second,), bounds[1], generator))
        self.embedding = Linear(second * 16, hidden, generator)
        self.join = Linear(hidden, hidden, generator)
        self.recurrent = Linear(hidden, hidden, generator)
        self.out = Linear(hidden, hidden, generator)
        bound = 1 / math.sqrt(hidden)
        self.flag = nn.Parameter(uniform((hidden,), bound, generator)) if first_step_flag else None

    def matrices(self) -> list[list[Tensor]]:
        """Filters and layers; the flag is a column of `join`."""
        flag = [] if self.flag is None else [self.flag.unsqueeze(-1)]
        others: list[Tensor] = [self.filters1, self.filters2]
        others += [self.embedding.weight, self.recurrent.weight, self.out.weight]
        return [[self.join.weight, *flag], *([each] for each in others)]

    def embed(self, x: Tensor) -> Tensor:
        """W_1 e + b_1 of images (..., B, 784): (..., B, H)."""
        images = x.reshape(*x.shape[:-1], 1, self.side, self.side)
        if self.filters1.dim() == 4:
            maps = self._maps(images, self.filters1, self.bias1, self.filters2, self.bias2)
        else:
            stacks = (images, self.filters1, self.bias1, self.filters2, self.bias2)
            maps = torch.stack([self._maps(*one) for one in zip(*stacks, strict=True)])
        embedded = torch.relu(self.embedding(maps))
        projected: Tensor = self.join(embedded)
        return projected

    @staticmethod
    def _maps(x: Tensor, f1: Tensor, b1: Tensor, f2: Tensor, b2: Tensor) -> Tensor:
        """The two convolutions of one network, (B, 1, 28, 28) to (B, 320)."""
        x = torch.relu(functional.max_pool2d(functional.conv2d(x, f1, b1), 2))
        x = torch.relu(functional.max_pool2d(functional.conv2d(x, f2, b2), 2))
        return x.flatten(1)

    def step(self, drive: Tensor, state: State, first: bool) -> State:
        """One step of h (..., B, H)."""
        joined = drive + self.recurrent(state[0])
        if first and self.flag is not None:
            joined = joined + self.flag.unsqueeze(-2)
        return (self.out(torch.relu(joined)),)
