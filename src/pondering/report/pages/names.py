"""What the experiments and mechanisms are called on the pages."""

from __future__ import annotations

from pondering.params import mechanisms

EXPERIMENTS: dict[str, tuple[str, str]] = {
    "parity": ("Parity", "Graves's parity: is the number of +1s in one vector odd?"),
    "parity_scattered": (
        "Parity, scattered",
        "The same parity with the nonzero elements at random positions instead of leading.",
    ),
    "parity_interpolation": (
        "Parity, interpolation",
        "Banino's parity, tested on as many nonzero elements as it is trained on.",
    ),
    "parity_extrapolation": (
        "Parity, extrapolation",
        "Banino's parity, tested on more nonzero elements than it is trained on.",
    ),
    "logic": ("Logic", "Applying a chain of binary gates to two bits, along a sequence."),
    "addition": ("Addition", "The running sum of a sequence of decimal numbers."),
    "sort": ("Sort", "Putting a sequence of numbers in ascending order."),
    "wikipedia": ("Wikipedia", "Predicting the next byte of a text."),
    "mnist": ("MNIST", "Classifying handwritten digits."),
    "mnist_rotated": ("MNIST, rotated", "Classifying digits turned farther than in training."),
}
"""Experiment -> title and what it asks, in the order of the report."""

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


SPLITS = {"train": "training text", "heldout": "held-out text"}
"""Split -> what was tested on, where its own name does not say it."""


def title(experiment: str) -> str:
    """The heading of an experiment; its own name where there is none."""
    return EXPERIMENTS.get(experiment, (experiment, ""))[0]


def ordered(experiments: list[str]) -> list[str]:
    """Known experiments in the order of the report, then any others by name."""
    known = list(EXPERIMENTS)
    return sorted(
        experiments, key=lambda name: (known.index(name) if name in known else len(known), name)
    )


def setting_text(mechanism: str, value: float) -> str:
    """A setting as the tables print it: τ = 0.001, ρ = 1 (plain)."""  # noqa: RUF002
    text = f"{SYMBOLS.get(mechanism, 'setting')} = {value:g}"
    return f"{text} (plain)" if mechanism == "repeat" and value == 1 else text
