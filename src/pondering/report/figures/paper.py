"""What is drawn of the papers' values as hollow markers beside ours, and of what size they are.

They are read off a figure of the paper where no table of it has them. What the papers claim stands
in claims.yaml, beside the verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass

SIZES = {
    "parity": "64 bits, RNN of 128, 16,000,000 updates",
    "logic": "up to 10 gates, sequences of 1 to 10, LSTM of 128, 16,000,000 updates",
    "addition": "up to 5 digits, sequences of 1 to 5, LSTM of 512, 16,000,000 updates",
    "sort": "2 to 15 numbers, LSTM of 512, 16,000,000 updates",
    "parity_interpolation": "64 elements, RNN of 128",
    "parity_sixteen": "64 elements, RNN of 128",
    "parity_extrapolation": "96 elements, trained on 1 to 48 of them nonzero, RNN of 128",
}
"""Experiment -> the size at which its paper ran it, where figures have the paper's values."""


@dataclass(frozen=True)
class Errors:
    """Mean error in a figure of bars; None where the paper tells none.

    Args:
        plain: without ACT.
        small: for every time penalty above 0 up to `most`.
        most: the highest such penalty.
        is_bound: whether `small` is a bound from above.
        best: at the best penalty, which the paper's text does not name.
    """

    plain: float | None = None
    small: float | None = None
    most: float = float("inf")
    is_bound: bool = False
    best: float | None = None


ERRORS = {
    "parity": Errors(plain=0.4, small=0.05, most=0.03, is_bound=True),
    "logic": Errors(plain=0.2, small=0.0, most=0.01),
    "addition": Errors(small=0.05, is_bound=True),  # "solved", which is below 5%
    "sort": Errors(plain=0.12, best=0.06),
}
"""Graves 2016, Figs. 4, 8, 12 and 17: experiment -> errors."""


@dataclass(frozen=True)
class Point:
    """Accuracy and steps of one method, and the spread of its steps where the paper tells it."""

    accuracy: float
    steps: float
    spread: tuple[float, float] | None = None


ACCURACY_AND_STEPS = {
    "test": {"act": Point(0.957, 3.1), "pondernet": Point(0.974, 2.7)},
    "extrapolation": {"act": Point(0.52, 2.1), "pondernet": Point(0.93, 5.0, (3.0, 7.0))},
}
"""Banino 2021, Figs. 1a and 1b: split -> mechanism -> point."""

MEDIANS = {
    "act": {
        0.0: 0.69, 2e-4: 0.51, 3e-4: 0.52, 4e-4: 0.74, 5e-4: 0.89, 6e-4: 0.89, 7e-4: 0.90,
        8e-4: 0.89, 9e-4: 0.90, 1e-3: 0.75, 2e-3: 0.70, 4e-3: 0.5, 5e-3: 0.5, 6e-3: 0.5,
        7e-3: 0.5, 8e-3: 0.5, 9e-3: 0.5, 1e-2: 0.5, 2e-2: 0.5,
    },
    "pondernet": {
        0.1: 0.91, 0.2: 0.94, 0.3: 0.90, 0.4: 0.97, 0.5: 0.98, 0.6: 0.78, 0.7: 0.67, 0.8: 0.98,
        0.9: 0.51,
    },
}  # fmt: skip
"""Banino 2021, Figs. 2a and 2b: mechanism -> setting -> median accuracy over ten seeds."""

LONG_PRIOR = (3.0, 3.5, 4.7)
"""Banino 2021, Fig. 2c: lower quartile, median and upper quartile of the steps of 30 seeds."""

SOLVED_AT = {
    "parity_fojo": {
        ("repeat", 1.0): None, ("repeat", 2.0): 22_000, ("repeat", 3.0): 49_000,
        ("repeat", 5.0): 27_000, ("repeat", 8.0): 26_000, ("act", 1e-3): 55_000,
        ("act", 5e-3): 356_000, ("act", 1e-2): 53_000, ("act", 1e-1): None,
    },
    "addition": {
        ("repeat", 1.0): None, ("repeat", 2.0): None, ("repeat", 3.0): 997_000,
        ("repeat", 5.0): 514_000, ("repeat", 8.0): 576_000, ("act", 1e-3): None,
        ("act", 5e-3): 988_000, ("act", 1e-2): 899_000, ("act", 1e-1): None,
    },
}  # fmt: skip
"""Fojo et al. 2018, their table: experiment -> mechanism and setting -> the update at which 98%
were right; None where they never were."""
