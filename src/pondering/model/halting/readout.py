"""Classes and right answers, read from the task's score of outputs alone.

A mechanism knows no targets. The score of a cross entropy still tells whether an answer is right,
and whether the output is one softmax.
"""

from __future__ import annotations

import torch
from torch import Tensor

from pondering.model.halting.contract import Score

SHARP = 2.0**20  # logits this much larger leave a cross entropy of 0 for a right answer


def log_probabilities(outputs: Tensor) -> Tensor:
    """Log probabilities of the classes, (..., C); (..., 2) for one sigmoid."""
    if outputs.shape[-1] == 1:
        outputs = torch.cat([torch.zeros_like(outputs), outputs], dim=-1)
    return outputs.log_softmax(-1)


def to_outputs(log_probabilities: Tensor, like: Tensor) -> Tensor:
    """Outputs (..., C) with these log probabilities; `like` has the C of the network."""
    if like.shape[-1] > 1:
        return log_probabilities
    return (log_probabilities[..., 1:] - log_probabilities[..., :1]).expand(like.shape)


class LossRefusedError(ValueError):
    """A mechanism cannot be trained with this loss."""


@torch.no_grad()
def check_class_loss(mechanism: str, score: Score, outputs: Tensor) -> None:
    """Refuse a score that is not the cross entropy of one softmax, or of one sigmoid.

    Args:
        mechanism: its name, for the message.
        score: the task's; zero where nothing is scored.
        outputs: (..., C).

    Raises:
        LossRefusedError: some score is neither zero nor that of any class.
    """
    loss = score(outputs).unsqueeze(-1)
    class_losses = -log_probabilities(outputs)
    known = torch.isclose(loss, class_losses, rtol=1e-4, atol=1e-5).any(-1)
    unknown = ~known & (loss[..., 0] != 0) & loss[..., 0].isfinite()
    if bool(unknown.any()):
        raise LossRefusedError(
            f"{mechanism}: this loss is not allowed; the cross entropy of one softmax, or of one "
            "sigmoid, is, since the mechanism reads probabilities of classes"
        )


@torch.no_grad()
def rightness(score: Score, outputs: Tensor) -> tuple[Tensor, Tensor]:
    """Whether each answer is wholly right, and whether it is scored; both in the shape of scores.

    As logits grow, the cross entropy of a right answer goes to zero and that of a wrong one to
    infinity. Several softmaxes add up, so all of them have to be right. A place that is not scored
    has loss zero for every answer.

    Args:
        score: cross entropies, summed over the parts of an output.
        outputs: (N, T, ..., B, C).
    """
    sharp = score(SHARP * outputs)
    scored = (sharp > 0) | (score(-SHARP * outputs) > 0)
    return sharp < 0.5, scored
