"""Kernels that Triton compiles for a GPU: whole updates of a training, see `update.py`.

They compute what the other paths compute, for networks that answer every input by one sigmoid.
Around a tanh RNN that reads one vector: ACT, fixed repeat and PonderNet. Around an LSTM that reads
a sequence: ACT and fixed repeat. A training on a GPU alone uses them. This file needs no Triton,
the others do.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch

from pondering.model.cells import LSTM, TanhRNN
from pondering.model.halting import ACT, FixedRepeat, PonderNet

KNOWN = {TanhRNN: (ACT, FixedRepeat, PonderNet), LSTM: (ACT, FixedRepeat)}
HIDDEN = (16, 32, 64, 128)  # a program has whole states of its rows; tiles are powers of two
OLDEST_GPU = (8, 0)  # compute capability: copies to shared memory that need no registers
TRITON = ("3.6", "3.7")  # what torch's CUDA builds bring
SLOTS = 64  # updates of a graph


def missing(
    kind: type, halting: Any, hidden: int, has_flag: bool, device: torch.device
) -> str | None:
    """Why a network has no kernels on this machine; None: it has.

    Args:
        kind: the cell's class.
        halting: the mechanism; a subclass of one that has kernels has none.
        hidden: H.
        has_flag: whether step 1 is told by a further input.
        device: where it trains.
    """
    if type(halting) not in KNOWN.get(kind, ()):
        return f"no kernels for {type(halting).__name__} around {kind.__name__}"
    if kind is LSTM and halting.carry != "mean_field":
        return f"no kernels for carry: {halting.carry} around LSTM"
    if hidden not in HIDDEN:
        allowed = ", ".join(map(str, HIDDEN))
        return f"no kernels for {hidden} hidden units; there are for {allowed}"
    if not has_flag:
        return "no kernels for a cell without first_step_flag"
    try:
        found = version("triton")
    except PackageNotFoundError:
        return "Triton is not installed: pip install 'pondering[kernels]'"
    if ".".join(found.split(".")[:2]) not in TRITON:
        return f"kernels are written for Triton {' and '.join(TRITON)}, not for {found}"
    capability = torch.cuda.get_device_capability(device)
    if capability < OLDEST_GPU:
        said, oldest = (".".join(map(str, each)) for each in (capability, OLDEST_GPU))
        return f"kernels need a GPU of compute capability {oldest}; this one has {said}"
    return None
