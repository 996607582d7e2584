"""What a claim or a question asks of a quantity: a bound, and whether its interval counts."""

from __future__ import annotations

import math
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pondering.claims.measures.quantities import Quantity, Unit, number_text

Outcome = Literal["holds", "nearly", "undecided", "fails", "not measured"]


class Entry(BaseModel):
    """A part of claims.yaml: keys that it does not know are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Bound(Entry):
    """What a quantity must be: one of at_least, at_most, between."""

    quantity: str
    at_least: float | None = None
    at_most: float | None = None
    between: tuple[float, float] | None = None

    @model_validator(mode="after")
    def _one_bound(self) -> Self:
        given = [self.at_least, self.at_most, self.between]
        if sum(bound is not None for bound in given) != 1:
            raise ValueError("give exactly one of at_least, at_most, between")
        return self

    def met(self, value: float) -> bool:
        """Whether a value lies on the right side."""
        return _inside(value, *self.limits())

    def limits(self) -> tuple[float, float]:
        """The lowest and the highest value allowed."""
        if self.between is not None:
            return self.between
        low = -math.inf if self.at_least is None else self.at_least
        return low, math.inf if self.at_most is None else self.at_most

    def words(self, unit: Unit) -> str:
        """The bound in the quantity's unit, as "at least 30.0%"."""
        low, high = (number_text(limit, unit) for limit in self.limits())
        if self.between is not None:
            return f"between {low} and {high}"
        return f"at least {low}" if self.at_least is not None else f"at most {high}"


WHOLE = ", whole interval"


class Comparison(Bound):
    """A bound that the estimate alone must meet, or the whole 95% interval."""

    by: Literal["estimate", "interval"] = "estimate"

    def words(self, unit: Unit) -> str:
        """As of `Bound`, and whether the whole interval counts."""
        return super().words(unit) + (WHOLE if self.by == "interval" else "")

    def met_by_interval(self, quantity: Quantity) -> bool:
        """Whether the whole interval lies on the right side; not where there is none."""
        return _between(quantity, *self.limits())

    def missed_by_interval(self, quantity: Quantity) -> bool:
        """Whether the whole interval lies on the wrong side; not where there is none."""
        low, high = self.limits()
        if quantity.low is None or quantity.high is None:
            return False
        return quantity.high < low or quantity.low > high


class Criterion(Comparison):
    """A bound that must hold, a weaker one, and how much hangs on it.

    Args:
        partly: the weaker bound.
        core: the claim stands or falls by it.
        apart: the part of the claim that is judged for itself; "" is the claim's own verdict.
    """

    partly: float | tuple[float, float] | None = None
    core: bool
    apart: str = ""

    @model_validator(mode="after")
    def _partly_is_weaker(self) -> Self:
        if self.partly is None:
            return self
        if isinstance(self.partly, tuple) != (self.between is not None):
            raise ValueError("partly must have the form of its bound: one number, or two")
        strict, weak = self.limits(), self._weak()
        if weak[0] > strict[0] or weak[1] < strict[1]:
            raise ValueError("partly must allow whatever its bound allows")
        return self

    def outcome(self, quantity: Quantity | None) -> Outcome:
        """How a measured quantity fares.

        Returns:
            By estimate: holds or fails. By interval: it holds where the whole interval meets the
            bound, and fails where the whole interval misses it. Between these it is nearly met
            where the estimate meets the bound and the whole interval the weaker bound; else it is
            undecided.
        """
        if quantity is None or math.isnan(quantity.value):
            return "not measured"
        if self.by == "estimate":
            return "holds" if self.met(quantity.value) else "fails"
        if self.met_by_interval(quantity):
            return "holds"
        if self.missed_by_interval(quantity):
            return "fails"
        weaker = self.partly is not None and _between(quantity, *self._weak())
        return "nearly" if weaker and self.met(quantity.value) else "undecided"

    def _weak(self) -> tuple[float, float]:
        if isinstance(self.partly, tuple):
            return self.partly
        assert self.partly is not None
        return (-math.inf, self.partly) if self.at_least is None else (self.partly, math.inf)


class Precondition(Bound):
    """What must be so before the criteria are asked; `because` says to the reader what is not.

    `learned: true`: the networks must have learned the task; at the paper's own size the claim is
    not reproduced where they have not. Any other asks that the task be hard enough and lapses at
    the paper's own size, where an easy task is a finding, not an excuse.
    """

    because: str = Field(min_length=1)
    learned: bool = False
    apart: str = ""


def _inside(value: float, low: float, high: float) -> bool:
    return low <= value <= high


def _between(quantity: Quantity, low: float, high: float) -> bool:
    ends = quantity.low, quantity.high
    return all(end is not None and _inside(end, low, high) for end in ends)
