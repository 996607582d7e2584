"""What mechanisms, profiles and cells are called on the pages."""

from __future__ import annotations

from pondering.params import mechanisms
from pondering.report.figures import style

TITLES = {name: each.title for name, each in mechanisms.MECHANISMS.items()}

SYMBOLS = {name: each.symbol for name, each in mechanisms.MECHANISMS.items()}

PROFILES = {
    "paper": "the papers' own settings, to the letter",
    "reduced": "the papers' tasks and real data, with fewer settings, seeds and updates",
    "quick": "small versions of every task, for minutes on a laptop; stand-ins for real data",
}
"""Profile -> what it is, the largest first."""

CELLS = {
    "tanh_rnn": "tanh recurrent network",
    "gru": "GRU",
    "lstm": "LSTM",
    "conv_mlp": "convolutional network (once an image) and MLP step",
}


def setting_sign(mechanism: str, value: float) -> str:
    """A setting as the tables print it: τ = 1e-3, ρ = 1 (plain)."""  # noqa: RUF002
    text = style.setting_symbol(mechanism, value)
    return f"{text} (plain)" if mechanisms.is_plain(mechanism, value) else text
