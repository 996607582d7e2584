"""Recurrent cells, one file each: one ponder step s^n = S(s^{n-1}, x^n).

Nothing here imports halting mechanisms or tasks.
"""

from __future__ import annotations

from pondering.model.cells.adapted import Adapted
from pondering.model.cells.base import Cell, Linear, State, affine
from pondering.model.cells.conv_mlp import ConvMLP
from pondering.model.cells.gru import GRU
from pondering.model.cells.lstm import LSTM
from pondering.model.cells.tanh_rnn import TanhRNN

__all__ = [
    "CELLS", "GRU", "LSTM", "Adapted", "Cell", "ConvMLP", "Linear", "State", "TanhRNN", "affine",
]  # fmt: skip

CELLS = {"tanh_rnn": TanhRNN, "gru": GRU, "lstm": LSTM, "conv_mlp": ConvMLP}
"""Name in `params.yaml` -> class."""
