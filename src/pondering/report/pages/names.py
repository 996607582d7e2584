"""What profiles, mechanisms, cells and verdicts are called on the pages."""

from __future__ import annotations

from collections.abc import Iterable

from pondering.claims.claims import Outcome, Verdict
from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import read_variant

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

TERMS = (
    "A plain network takes one step over an input. Tau (τ) is what a step costs ACT in training. "
    "PonderNet is pulled towards a prior that halts with probability lambda_p (λp) at each step. "
    "Parity asks whether the number of +1s is odd; its nonzero elements come first (leading) or "
    "anywhere (scattered). A network solves a task with a test error below 5%, logic below 2%."
)
"""The words of the findings."""

TABLE_TERMS = (
    "A fixed repeat takes \N{GREEK SMALL LETTER RHO} steps. Beta is the weight of PonderNet's pull "
    "towards its prior; kl prior_p measures that pull in the other direction. Epsilon: training "
    "stops unrolling once less than this halting probability remains. Halt_bias is where the bias "
    "of the halting unit starts. Explore is the chance that an input may not stop before a random "
    "step. An exit rule stops a trained network by another measure than its halting unit. Tables "
    "show means over seeds at the setting with the lowest error, in brackets their 95% interval."
)
"""The further words of the tables."""

CELLS = {
    "tanh_rnn": "tanh recurrent network",
    "gru": "GRU",
    "lstm": "LSTM",
    "conv_mlp": "convolutional network (once an image) and MLP step",
}

SIGNS: dict[Verdict, str] = {
    "reproduced": "✓",
    "mostly reproduced": "◐",
    "not reproduced": "✗",
    "too small to tell": "○",
    "undecided": "?",
}
"""The sign before each verdict."""

COLOURS: dict[Verdict | Outcome, str] = {
    "reproduced": "good",
    "mostly reproduced": "good",
    "not reproduced": "bad",
    "too small to tell": "few",
    "undecided": "middling",
    "holds": "good",
    "nearly": "middling",
    "fails": "bad",
    "not measured": "soft",
}
"""The style sheet's class for a verdict and for the outcome of a criterion."""


def variants(found: Iterable[str]) -> list[str]:
    """The mechanisms of a table, in the order of entries, those without options first."""
    order, of = list(MECHANISMS), {name: read_variant(name)[0] for name in found}
    known = (name for name in of if of[name] in order)
    return sorted(known, key=lambda name: (order.index(of[name]), name))
