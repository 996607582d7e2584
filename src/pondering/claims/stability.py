"""Settings about as good as the best: a verdict should not hang on which of them is chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from pondering.claims.claims import Claim
from pondering.claims.frames import best, by, near_best
from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import read_variant
from pondering.results.results import Results
from pondering.results.tables import headline


class Choice(NamedTuple):
    """Another setting for one mechanism, as tables write it."""

    experiment: str
    mechanism: str
    setting: float

    def words(self) -> str:
        """The beginning of a sentence."""
        title = MECHANISMS[read_variant(self.mechanism)[0]].title
        return f"With {title} at {self.setting:g}, as good within one standard error"


def choices(claim: Claim, results: Results) -> Iterator[Choice]:
    """Settings, one at a time, whose mean error is within one standard error of the lowest.

    Args:
        claim: any; one that chooses no setting has no choice.
        results: of one profile, in which the claim could be measured.
    """
    for experiment, mechanism in product(claim.paper_size, claim.chooses):
        rows = headline(results.tables[experiment])
        rows = rows[rows["mechanism"] == mechanism]
        errors = by(rows[rows["setting"] > 1] if mechanism == "repeat" else rows, "error")
        for setting in near_best(errors):
            if setting != best(errors):
                yield Choice(experiment, mechanism, setting)


def at_setting(results: Results, choice: Choice) -> Results:
    """The results without the other settings of this mechanism; traces stay."""

    def kept(name: str, frames: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
        if name not in frames:
            return frames
        rows = frames[name]
        own = (rows["mechanism"] == choice.mechanism) & ~np.isclose(rows["setting"], choice.setting)
        plain = (choice.mechanism == "repeat") & (rows["setting"] == 1)  # it is no choice
        return frames | {name: rows[~own | plain]}

    tables, curves = (kept(choice.experiment, each) for each in (results.tables, results.curves))
    return replace(results, tables=tables, curves=curves)
