"""What mechanisms, profiles and cells are called on the pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pondering.params import mechanisms
from pondering.params.replica import options_listed, read_variant, split_setting
from pondering.report.figures import style

TITLES = {name: each.title for name, each in mechanisms.MECHANISMS.items()}


PROFILES = {
    "paper": "the papers' own settings, to the letter",
    "reduced": "the papers' tasks, most of them smaller, and real data; fewer settings and updates",
    "quick": "small versions of every task, for minutes on a laptop; stand-ins for real data",
}
"""Profile -> what it is, the largest first."""

PAPERS = {
    "Graves 2016": "https://arxiv.org/abs/1603.08983",
    "Banino et al. 2021": "https://arxiv.org/abs/2107.05407",
}
"""Paper -> where anyone can read it."""

TERMS = {
    "Ponder": "a network ponders when it takes several steps over one input and decides by itself "
    "after which of them it answers.",
    "Tau, τ": "what every step costs ACT in training: the larger tau is, the sooner ACT stops.",
    "Lambda_p, λp": "the chance of stopping at each step that training pulls PonderNet towards: "
    "the smaller lambda_p is, the longer PonderNet thinks.",
}
"""What a reader must know before the first number."""

CELLS = {
    "tanh_rnn": "tanh recurrent network",
    "gru": "GRU",
    "lstm": "LSTM",
    "conv_mlp": "convolutional network (once an image) and MLP step",
}


def variants(found: Iterable[str]) -> list[str]:
    """The names that a table has for mechanisms, in the order of entries, without options first."""
    order, of = list(TITLES), {name: read_variant(name)[0] for name in found}
    known = (name for name in of if of[name] in TITLES)
    return sorted(known, key=lambda name: (order.index(of[name]), name))


def listed(texts: Iterable[str]) -> str:
    """A, b and c."""
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last


def settings_listed(mechanism: str, settings: Iterable[float | Mapping[str, Any]]) -> list[str]:
    """A list of settings as params.yaml has it: 0.01, 1e-3 with halt_bias -3."""
    entry = mechanisms.MECHANISMS[mechanism]
    pairs = (split_setting(entry, each) for each in settings)
    texts = ((style.number(number), ", ".join(options_listed(more))) for number, more in pairs)
    return [" with ".join(filter(None, each)) for each in texts]


def setting_sign(mechanism: str, value: float) -> str:
    """A setting as the tables print it: τ = 1e-3, ρ = 1 (plain)."""  # noqa: RUF002
    text = style.setting_symbol(mechanism, value)
    return f"{text} (plain)" if mechanisms.is_plain(mechanism, value) else text
