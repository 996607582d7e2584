"""Training at a random depth, so that the output of every step can be read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import torch
from torch import Generator, Tensor

from pondering.model.halting.contract import (
    Halting,
    HaltingState,
    Setting,
    check_number,
    halt_at,
    per_row,
)


@dataclass(frozen=True)
class RandomDepth(Halting):
    """Every row takes the same number of steps, which training draws at each update.

    With probability alpha an update has a random depth, else all N steps. The loss is that of the
    last step's output. There is no halting unit. In evaluation an exit rule stops the network, or
    all N steps are taken.

    A progressive depth is n + k with n from U{0..N-1} and k from U{1..N-n}. The gradient reaches
    the last k steps alone; where n > 0 it does not reach earlier inputs of a sequence. Without
    `progressive` the depth is from U{1..N}, with the gradient of all steps.

    Args:
        alpha: share of updates at random depth, in [0, 1], a number or (K,).
        max_steps: N.
        progressive: whether the gradient is cut.
        depth, cut: n + k and n of the present update, see `at_update`. None, 0: all N steps.

    Raises:
        ValueError: alpha outside [0, 1], max_steps < 1.

    Source: progressive, Bansal et al., arXiv 2202.05826, Sec. 4 and its code. They add both losses,
    (1 - alpha) CE_N + alpha CE_(n+k), at each update. Deviation: an update here has one of the two.
    The gradient is the same on average, but Adam and clipping act on each update. Cells here read
    the input at each step, which Bansal et al. call recall. Huginn, arXiv 2502.05171, draws the
    depth from a log-normal Poisson and keeps the gradient of the last eight steps.
    """

    alpha: Setting = 1.0
    max_steps: int = 20
    progressive: bool = True
    depth: Setting | None = None
    cut: Setting = 0
    scores_every_step: ClassVar[bool] = True  # an exit rule reads every y_n
    learns: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, "[0, 1]")
        check_number("max_steps", self.max_steps, "[1, inf)", whole=True)

    def at_update(self, update: int) -> Self:
        """With the depth of this update; replicas of one alpha have one depth."""
        most = self.max_steps
        coin, first, second = torch.rand(3, generator=Generator().manual_seed(update)).tolist()
        cut = int(first * most) if self.progressive else 0  # n
        depth = cut + 1 + int(second * (most - cut))  # n + k
        drawn = coin < torch.as_tensor(self.alpha)
        return replace(self, depth=torch.where(drawn, depth, most), cut=torch.where(drawn, cut, 0))

    def step(self, n: int, halt_logit: Tensor, state: HaltingState) -> tuple[Tensor, HaltingState]:
        """All weight is on the last step."""
        depth = self.max_steps if self.depth is None else self.depth
        last = per_row(depth, halt_logit) <= n
        return halt_at(n, state.running & last, halt_logit, state)

    def cuts(self, n: int) -> bool | Tensor:
        """Before step n + 1, the first that has a gradient."""
        cut = per_row(self.cut, torch.as_tensor(self.cut))
        return cut == n - 1 if n > 1 and bool(cut.any()) else False

    def at_inference(self, generator: Generator | None = None) -> RandomDepth:
        """All N steps."""
        return replace(self, depth=None, cut=0)
