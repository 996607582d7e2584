"""The papers' claims as claims.yaml writes them: what is measured and what it must be."""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from ruamel.yaml import YAML

from pondering.claims.measures import MEASURES
from pondering.claims.measures.quantities import Quantity, number_text
from pondering.project.errors import UserError

Profile = Literal["quick", "reduced", "paper"]
Outcome = Literal["holds", "partly", "fails", "not measured"]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Bound(_Model):
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

    def words(self, quantity: Quantity) -> str:
        """The bound in the quantity's unit, as "at least 30.0%"."""
        low, high = (number_text(limit, quantity.unit) for limit in self.limits())
        if self.between is not None:
            return f"between {low} and {high}"
        return f"at least {low}" if self.at_least is not None else f"at most {high}"


class Criterion(Bound):
    """A bound that must hold, a weaker one that holds partly, and how much hangs on it.

    `by: interval` asks that the whole 95% interval meets the bound and falls back to `partly` on
    the estimate; `by: estimate` compares the estimate alone.
    """

    partly: float | tuple[float, float] | None = None
    by: Literal["estimate", "interval"] = "estimate"
    core: bool

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
        """How a measured quantity fares."""
        if quantity is None or math.isnan(quantity.value):
            return "not measured"
        if self.met(quantity.value):
            if self.by == "estimate":
                return "holds"
            low, high = quantity.low, quantity.high
            whole = low is not None and high is not None and self.met(low) and self.met(high)
            return "holds" if whole else "partly"
        return "partly" if _inside(quantity.value, *self._weak()) else "fails"

    def _weak(self) -> tuple[float, float]:
        if self.partly is None:
            return self.limits()
        if isinstance(self.partly, tuple):
            return self.partly
        return (-math.inf, self.partly) if self.at_least is None else (self.partly, math.inf)


class Precondition(Bound):
    """What must be so before a claim can be judged at all; `because` says it to the reader.

    `below_difficulty` lets it lapse once the hardest difficulty evaluated reaches that number: at
    the paper's own size a task that is too easy is a finding, not an excuse.
    """

    because: str = Field(min_length=1)
    below_difficulty: float | None = None


class Claim(_Model):
    """One claim of a paper and how it is judged."""

    id: str = Field(pattern=r"^[A-Z][0-9]+$")
    paper: str
    figure: str
    figures: tuple[str, ...]
    title: str
    statement: str
    paper_value: str
    measured: str
    measure: str
    arguments: dict[str, str | int | float]
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    preconditions: tuple[Precondition, ...]
    judged_at: tuple[Profile, ...] = Field(min_length=1)
    minimum_seeds: int = Field(ge=1)
    real_data: bool
    scale_reason: str

    @model_validator(mode="after")
    def _measure_is_known(self) -> Self:
        if self.measure not in MEASURES:
            raise ValueError(f"measure {self.measure!r} is unknown; allowed: {', '.join(MEASURES)}")
        parameters = inspect.signature(MEASURES[self.measure]).parameters
        wanted = [name for name in parameters if name != "evidence"]
        if sorted(wanted) != sorted(self.arguments):
            raise ValueError(
                f"arguments of {self.measure} must be exactly {', '.join(wanted)}, "
                f"not {', '.join(self.arguments) or 'none'}"
            )
        if not any(criterion.core for criterion in self.criteria):
            raise ValueError("at least one criterion must be core")
        return self


class _Document(_Model):
    claims: tuple[Claim, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        ids = [claim.id for claim in self.claims]
        twice = [name for name in ids if ids.count(name) > 1]
        if twice:
            raise ValueError(f"id {twice[0]!r} is given twice")
        return self


def load_claims(path: Path = Path("claims.yaml")) -> tuple[Claim, ...]:
    """Read and check the claims.

    Args:
        path: the file.

    Returns:
        The claims in the order of the file.

    Raises:
        UserError: one line naming file, key, value and what is allowed.
    """
    try:
        # YAML 1.2: 1e-3 is a number
        document = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run from the project's root") from None
    except Exception as problem:  # a tag on a wrong value ends in whatever its constructor raises
        reason = " ".join(str(problem).split()) or type(problem).__name__
        raise UserError(f"{path}: not valid YAML: {reason}") from None
    if not isinstance(document, dict):
        raise UserError(f"{path}: must be a mapping with the key claims")
    try:
        return _Document.model_validate(document).claims
    except ValidationError as problem:
        raise UserError(f"{path}: {_first_error(problem, document)}") from None


def _inside(value: float, low: float, high: float) -> bool:
    return low <= value <= high


def _first_error(problem: ValidationError, document: dict[str, Any]) -> str:
    """The first finding with the claim's id in place of its position."""
    first = problem.errors()[0]
    where = [str(part) for part in first["loc"]]
    if len(where) > 1 and where[0] == "claims":
        entry = document["claims"][int(where[1])]
        where[1] = str(entry.get("id", where[1])) if isinstance(entry, dict) else where[1]
    key = ".".join(where) or "claims"
    if first["type"] == "extra_forbidden":
        return f"{key}: unknown key; allowed: {', '.join(_fields(where))}"
    if first["type"] == "missing":
        return f"{key}: missing"
    message = " ".join(first["msg"].removeprefix("Value error, ").split())
    if isinstance(first["input"], dict):
        return f"{key}: {message}"
    return f"{key}: {' '.join(repr(first['input']).split())[:80]} is not allowed: {message}"


def _fields(where: list[str]) -> list[str]:
    """The keys allowed at a place of the document."""
    inner: dict[str, type[BaseModel]] = {"criteria": Criterion, "preconditions": Precondition}
    model = next((inner[part] for part in where if part in inner), None)
    if model is None:
        model = Claim if where[0] == "claims" else _Document
    return list(model.model_fields)
