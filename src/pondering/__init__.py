"""Pondering: how neural networks decide how long to think.

Halting mechanisms around recurrent cells, after Graves 2016 and Banino et al. 2021.

`Network` joins a cell and a mechanism, `Sweep` trains many networks as one, `from_pretrained` loads
a published one. `pondering.model.cells.base` says what a cell of your own needs,
`pondering.model.halting.contract` what a mechanism needs and what a network's record holds. Stacks:
`pondering.model.stacking`, `pondering.train.stacked`; the published networks' cards:
`pondering.evaluate.networks`; the tasks: `pondering.tasks.base`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pondering.evaluate.networks import from_pretrained
    from pondering.model.cells import GRU, LSTM, Adapted, ConvMLP, TanhRNN
    from pondering.model.halting import (
        ACT,
        DACT,
        Certainty,
        Correctness,
        FixedRepeat,
        Halting,
        HaltingState,
        PonderNet,
        RandomDepth,
    )
    from pondering.model.initial import glorot
    from pondering.model.network import Network
    from pondering.train.stacked import Sweep

_HOME = {
    **dict.fromkeys(("TanhRNN", "GRU", "LSTM", "ConvMLP", "Adapted"), "model.cells"),
    **dict.fromkeys(("ACT", "PonderNet", "FixedRepeat", "Halting"), "model.halting"),
    **dict.fromkeys(("Correctness", "Certainty", "DACT", "RandomDepth"), "model.halting"),
    "HaltingState": "model.halting",
    "Network": "model.network",
    "glorot": "model.initial",
    "Sweep": "train.stacked",
    "from_pretrained": "evaluate.networks",
}

__all__ = [
    "ACT",
    "DACT",
    "GRU",
    "LSTM",
    "Adapted",
    "Certainty",
    "ConvMLP",
    "Correctness",
    "FixedRepeat",
    "Halting",
    "HaltingState",
    "Network",
    "PonderNet",
    "RandomDepth",
    "Sweep",
    "TanhRNN",
    "from_pretrained",
    "glorot",
]


def __getattr__(name: str) -> Any:
    """Import a public name where it is first used: the command line must not wait for torch."""
    if name not in _HOME:
        raise AttributeError(f"module 'pondering' has no attribute {name!r}")
    return getattr(importlib.import_module(f"pondering.{_HOME[name]}"), name)
