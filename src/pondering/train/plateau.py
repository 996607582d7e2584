"""Plateau schedule and early stopping on validation accuracy, for each replica alone.

Source: the public MNIST notebook of PonderNet (torch's ReduceLROnPlateau and early stopping).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from pondering.tasks.base import Batch


@dataclass
class Plateau:
    """Lower a replica's learning rate when its validation accuracy stalls, later stop it.

    Args:
        batch: the validation set, tensors (1, B, ...), without replica axis.
        every: updates between two validations.
        factor: of the learning rate.
        patience: validations without a better accuracy before the rate is lowered.
        stop_patience: validations without a better accuracy before the replica stops.
        replicas: K.
    """

    batch: Batch
    every: int
    factor: float
    patience: int
    stop_patience: int
    replicas: int

    def __post_init__(self) -> None:
        device = self.batch.targets.device
        self.best = torch.full((self.replicas,), -1.0, device=device)
        self.waited = torch.zeros(self.replicas, dtype=torch.int64, device=device)
        self.stalled = torch.zeros(self.replicas, dtype=torch.int64, device=device)

    def note(self, error: Tensor, rates: Tensor) -> Tensor:
        """Lower rates and stop replicas after a validation.

        Args:
            error: (K,), on the validation set.
            rates: (K,), the learning rates, changed in place.

        Returns:
            (K,) bool, the replicas that stop.
        """
        accuracy = 1 - error
        better = accuracy > self.best
        self.best = torch.where(better, accuracy, self.best)
        self.stalled = torch.where(better, 0, self.stalled + 1)
        self.waited = torch.where(better, 0, self.waited + 1)
        lower = self.waited > self.patience
        rates.copy_(torch.where(lower, rates * self.factor, rates))
        self.waited = torch.where(lower, 0, self.waited)
        stopped: Tensor = self.stalled >= self.stop_patience
        return stopped

    def state(self) -> dict[str, Tensor]:
        """The state for a checkpoint."""
        return {"best": self.best, "waited": self.waited, "stalled": self.stalled}

    def restore(self, state: dict[str, Tensor]) -> None:
        """Load the state of a checkpoint."""
        device = self.best.device
        self.best, self.waited, self.stalled = (
            state[name].to(device) for name in ("best", "waited", "stalled")
        )
