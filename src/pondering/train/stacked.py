"""Many networks of one's own, trained as one stack on a task of one's own.

Needs torch alone: no parameters, no files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pondering.model.cells import CELLS
from pondering.model.cells.mapped import Mapped
from pondering.model.halting import PonderRecord
from pondering.model.halting.contract import ordered_sum
from pondering.model.network import Network
from pondering.model.stacking import select, stack, stack_halting
from pondering.train.adam import StackedAdam


class Member(NamedTuple):
    """One network of a sweep: what `make` was called with, and under which seed."""

    setting: Mapping[str, Any]
    seed: int


class Sweep:
    """K networks, one for each setting and seed, that train side by side in one process.

    Each starts and trains as it would alone, by Adam with its own gradient norm, and agrees with
    that to rounding; a loss that is NaN stops its network (`alive`) and no other. Cells of this
    library train by their fast paths, any other is mapped over the networks by torch
    (`cells.mapped.Mapped`), so it may hold layers of torch.

    The pipeline's `train.trainer.Trainer` has what takes hours in addition: batches drawn by seed,
    curves, decay and early stopping, checkpoints that go on bit by bit, shards.

    Args:
        make: makes one network from a setting, as `make(**setting)`; torch's generator has the seed
            then, so that its layers start from it. Settings may change numbers and words of the
            mechanism, but no `epsilon` or `carry` of ACT, no yes or no, and no shape.
        score: your loss of each output vector. Called with outputs (T, K, B, C) and the targets
            (T, K, B, ...) of `step`, it gives (T, K, B). PonderNet scores every step: outputs then
            are (N, T, K, B, C), and so is what it gives, without C.
        seeds: of the networks of each setting.
        settings: arguments of `make`; none: it is called without any.
        learning_rate: a number, or one for each setting.
        clip: the largest norm of each network's gradient; None: any.
        device: where the networks lie, and where inputs have to.

    Attributes:
        members: setting and seed of each network, all seeds of the first setting first.
        network: the stack, for inputs (T, K, B, D).
        alive: (K,) bool, False once a loss or gradient was not finite; such a network keeps its
            last numbers and trains no more.

    Raises:
        ValueError: no network at all; settings change what a stack cannot hold.
    """

    def __init__(
        self,
        make: Callable[..., Network],
        score: Callable[[Tensor, Tensor], Tensor],
        seeds: Iterable[int],
        settings: Sequence[Mapping[str, Any]] = ({},),
        learning_rate: float | Sequence[float] = 1e-3,
        clip: float | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        seeds = tuple(seeds)
        self.members = [Member(setting, seed) for setting in settings for seed in seeds]
        if not self.members:
            raise ValueError("seeds, settings: none is not allowed; at least one of each is")
        networks = [_made(make, each) for each in self.members]
        self._mechanisms = [each.halting for each in networks]
        self._is_mapped = type(networks[0].cell) not in CELLS.values()
        if self._is_mapped:
            for each in networks:
                each.cell = Mapped(each.cell)
        halting = stack_halting(self._mechanisms, networks[0].heads.weight.dtype, device)
        self.network = stack(networks, halting).to(device)
        each_rate = torch.as_tensor(learning_rate, dtype=torch.float64).expand(len(settings))
        rates = each_rate.repeat_interleave(len(seeds))
        self._score, self._clip = score, clip
        self._optimiser = StackedAdam(self.network.parameters(), rates)
        self.alive = torch.ones(len(self.members), dtype=torch.bool, device=device)

    @property
    def updates(self) -> int:
        """How many updates have been done."""
        return self._optimiser.updates

    def step(self, inputs: Tensor, targets: Tensor, mask: Tensor | None = None) -> Tensor:
        """One update of every network that is alive.

        Args:
            inputs: (T, B, D) floats or (T, B) integers, the same for all networks, or with an axis
                of networks: (T, K, B, D) or (T, K, B).
            targets: what `score` gets, (T, B, ...), or (T, K, B, ...) where inputs have that axis.
            mask: bool, (T, B) or (T, K, B) likewise; see `Network.forward`.

        Returns:
            each network's loss before the update, (K,): summed over time, with what its mechanism
            adds, mean over the batch.
        """
        inputs, targets, mask = self._spread(inputs, targets, mask)
        if not bool(self.alive.all()):  # a network that has failed has no inputs, so costs no steps
            there = self.alive.unsqueeze(-1)
            mask = there.expand(inputs.shape[:3]) if mask is None else mask & there
        self.network.zero_grad()
        self.network.train()
        halting = self.network.halting.at_update(self.updates)
        pondered = self.network(inputs, mask, halting=halting)
        loss = ordered_sum(halting.objective(lambda y: self._score(y, targets), pondered)).mean(-1)
        self.alive &= self._optimiser.descend(loss, self.alive, self._clip)
        return loss.detach()

    @torch.no_grad()
    def evaluate(self, inputs: Tensor, mask: Tensor | None = None) -> PonderRecord:
        """What every network makes of inputs, halting as its paper evaluates it.

        Args:
            inputs, mask: as in `step`.

        Returns:
            the record of the stack: `ponder_time` (T, K, B) are the steps, and
            `self.network.halting.predict(record)` (T, K, B, C) is the answer: the record's
            `mixture`, of all mechanisms but `Certainty` and `DACT`.
        """
        inputs, _, mask = self._spread(inputs, inputs, mask)
        pondered: PonderRecord = self.network.eval()(inputs, mask)
        return pondered

    def networks(self) -> list[Network]:
        """Copies of the K networks as `make` makes them, in the order of `members`."""
        found = [select(self.network, k, each) for k, each in enumerate(self._mechanisms)]
        for each in found if self._is_mapped else ():
            each.cell = each.cell.inner
        return found

    def _spread(
        self, inputs: Tensor, targets: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """The same with an axis of networks, as views where it is missing."""
        if inputs.dim() - inputs.is_floating_point() > 2:
            return inputs, targets, mask

        def spread(part: Tensor) -> Tensor:
            return part.unsqueeze(1).expand(len(part), len(self.members), *part.shape[1:])

        return spread(inputs), spread(targets), None if mask is None else spread(mask)


def _made(make: Callable[..., Network], member: Member) -> Network:
    """A network made under its seed; torch's generator goes on as if nothing had been drawn."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(member.seed)
        return make(**member.setting)
