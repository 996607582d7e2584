"""Training at a random depth, so that a network may be read at any."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Generator, Tensor

from pondering.model.halting.contract import (
    HaltingState,
    MeanField,
    Pondered,
    Score,
    Setting,
    refuse_no_count,
    refuse_unless,
    stopped,
    where_present,
)


@dataclass(frozen=True)
class RandomDepth(MeanField):
    """Every row takes the same number of steps, which training draws anew for each update.

    With probability alpha an update is of random depth, else of all N steps. Where progressive, the
    depth is n + k with n from U{0..N-1} and k from U{1..N-n}, and no gradient flows back beyond the
    last k steps, on sequences none to earlier inputs either where n > 0; else it is from U{1..N}
    with the gradient of all. The loss is that of the last
    step's output. There is no halting unit: an exit rule stops the evaluation, or all N steps are
    taken.

    Args:
        alpha: share of updates at random depth, in [0, 1], a number or (K,).
        max_steps: N.
        progressive: whether the gradient is cut.
        depth, cut: of the present update; see `at_update`. None, 0: all N steps.

    Raises:
        ValueError: alpha outside [0, 1], max_steps < 1.

    Source: progressive, Bansal et al., arXiv 2202.05826, Sec. 4 and its code; they add both losses,
    (1 - alpha) CE_N + alpha CE_(n+k), at each update, here an update has either, with the same
    gradient on average (which Adam and clipping do not keep). Random depth also in
    Huginn, arXiv 2502.05171, which draws it from a log-normal Poisson and keeps the gradient of the
    last eight steps. Cells here read the input again at each step, which Bansal et al. call recall.
    """

    alpha: Setting = 1.0
    max_steps: int = 20
    progressive: bool = True
    depth: Setting | None = None
    cut: Setting = 0
    scores_every_step: ClassVar[bool] = True  # an exit rule, or an audit, reads every y_n
    learns: ClassVar[bool] = False
    exits: ClassVar[tuple[str, ...]] = (
        "patience", "state", "divergence", "certainty", "fixed", "oracle",
    )  # fmt: skip

    def __post_init__(self) -> None:
        alpha = torch.as_tensor(self.alpha)
        refuse_unless((alpha >= 0) & (alpha <= 1), "alpha", self.alpha, "a number in [0, 1]")
        refuse_no_count("max_steps", self.max_steps)

    def at_update(self, update: int) -> RandomDepth:
        """With this update's depth; replicas of one alpha have one depth."""
        most = self.max_steps
        coin, first, second = torch.rand(3, generator=Generator().manual_seed(update)).tolist()
        cut = int(first * most) if self.progressive else 0  # n
        depth = cut + 1 + int(second * (most - cut))  # n + k
        drawn = coin < torch.as_tensor(self.alpha)
        return replace(self, depth=torch.where(drawn, depth, most), cut=torch.where(drawn, cut, 0))

    def step(self, n: int, halt_logit: Tensor, state: HaltingState) -> tuple[Tensor, HaltingState]:
        """All weight falls on the last step."""
        running = state.running
        depth = self.max_steps if self.depth is None else self.depth
        ends = _of_rows(torch.as_tensor(depth, device=running.device) <= n)
        stops = running & ends
        return stopped(n, stops, halt_logit, state)

    def cuts(self, n: int) -> bool | Tensor:
        """Before the first step that has a gradient, n + 1."""
        cut = torch.as_tensor(self.cut)
        return _of_rows(cut == n - 1) if n > 1 and bool(cut.any()) else False

    def objective(self, score: Score, pondered: Pondered) -> Tensor:
        """CE of the last step's output."""
        return where_present(score(pondered.mixture), pondered)

    def at_inference(self, generator: Generator | None = None) -> RandomDepth:
        """All N steps."""
        return replace(self, depth=None, cut=0)


def _of_rows(each: Tensor) -> Tensor:
    """(K,) as (K, 1), so that it broadcasts over rows (K, B); one value stays one."""
    return each.unsqueeze(-1) if each.dim() else each
