"""What an output says, learned from a task's score of it alone.

A mechanism knows no targets. Of a cross entropy the score still tells whether an answer is right,
and whether the output is one softmax at all.
"""

from __future__ import annotations

import torch
from torch import Tensor

from pondering.model.halting.contract import Score

SHARP = 2.0**20  # logits this much larger leave a cross entropy of 0 for a right answer


def log_probabilities(outputs: Tensor) -> Tensor:
    """Log probabilities of the classes, (..., C); of one sigmoid's two classes, (..., 2)."""
    if outputs.shape[-1] == 1:
        outputs = torch.cat([torch.zeros_like(outputs), outputs], dim=-1)
    return outputs.log_softmax(-1)


def outputs_of(log_probabilities: Tensor, like: Tensor) -> Tensor:
    """Outputs (..., C) with these log probabilities; `like` has the C of the network."""
    if like.shape[-1] > 1:
        return log_probabilities
    return (log_probabilities[..., 1:] - log_probabilities[..., :1]).expand(like.shape)


class LossRefusedError(ValueError):
    """A mechanism cannot be trained with this loss."""


@torch.no_grad()
def refuse_no_classes(mechanism: str, score: Score, outputs: Tensor) -> None:
    """Refuse a score that is not the cross entropy of one softmax, or of one sigmoid.

    Args:
        mechanism: who asks, for the message.
        score: the task's; zero where nothing is scored.
        outputs: (..., C).

    Raises:
        LossRefusedError: somewhere the score is neither zero nor that of any class.
    """
    given = score(outputs).unsqueeze(-1)
    of_class = -log_probabilities(outputs)
    same = torch.isclose(given, of_class, rtol=1e-4, atol=1e-5).any(-1)
    strange = ~same & (given[..., 0] != 0) & given[..., 0].isfinite()
    if bool(strange.any()):
        raise LossRefusedError(
            f"{mechanism}: this loss is not allowed; the cross entropy of one softmax, or of one "
            "sigmoid, is, since the mechanism reads probabilities of classes"
        )


@torch.no_grad()
def rightness(score: Score, outputs: Tensor) -> tuple[Tensor, Tensor]:
    """Whether each answer is wholly right, and whether it is scored at all; both shaped as scores.

    As logits grow, the cross entropy of a right answer goes to zero and that of a wrong one to
    infinity; of several softmaxes it is the sum, so that all have to be right. What is not scored
    is zero whatever the answer is.

    Args:
        score: cross entropies, added up over the parts of an output.
        outputs: (N, T, ..., B, C).
    """
    sharp = score(SHARP * outputs)
    scored = (sharp > 0) | (score(-SHARP * outputs) > 0)
    return sharp < 0.5, scored
