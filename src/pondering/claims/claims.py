"""What claims.yaml holds: the papers' claims and our own, each with the bounds that judge it."""

from __future__ import annotations

import inspect
import math
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pondering.claims.measures import MEASURES
from pondering.claims.measures.evidence import Evidence
from pondering.claims.measures.quantities import Quantity, quantities_of
from pondering.project.documents import read_yaml
from pondering.project.errors import UserError
from pondering.results.units import Unit, number_text

Profile = Annotated[str, Field(pattern="^(quick|reduced|paper)$")]
Text = Annotated[str, Field(min_length=1)]
Verdict = Literal[
    "reproduced", "mostly reproduced", "not reproduced", "too small to tell", "undecided"
]
Outcome = Literal["holds", "nearly", "undecided", "fails", "not measured"]
Limits = tuple[float, float]


class Entry(BaseModel):
    """A part of claims.yaml: keys that it does not know are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Bound(Entry):
    """What a quantity must be: one of at_least, at_most, between.

    `apart` is the part of the claim that is judged for itself; "" is the claim's own verdict.
    """

    quantity: str
    at_least: float | None = None
    at_most: float | None = None
    between: Limits | None = None
    apart: str = ""

    @model_validator(mode="after")
    def _one_bound(self) -> Self:
        given = [self.at_least, self.at_most, self.between]
        if sum(bound is not None for bound in given) != 1:
            raise ValueError("give exactly one of at_least, at_most, between")
        return self

    def met(self, value: float) -> bool:
        """Whether a value lies on the right side."""
        low, high = self.limits()
        return low <= value <= high

    def limits(self) -> Limits:
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


class Criterion(Bound):
    """A bound that must hold, and how much hangs on it.

    Args:
        by: whether the estimate must meet it, or the whole 95% interval.
        partly: a weaker bound.
        core: the claim stands or falls by it.
    """

    by: Literal["estimate", "interval"] = "estimate"
    partly: float | Limits | None = None
    core: bool = False

    @model_validator(mode="after")
    def _partly_is_weaker(self) -> Self:
        if self.partly is None:
            return self
        if isinstance(self.partly, tuple) != (self.between is not None):
            raise ValueError("partly must have the form of its bound: one number, or two")
        strict, weak = self.limits(), self._weaker()
        if weak[0] > strict[0] or weak[1] < strict[1]:
            raise ValueError("partly must allow whatever its bound allows")
        return self

    def outcome(self, quantity: Quantity) -> Outcome:
        """How a measured quantity fares.

        Returns:
            By estimate: holds or fails. By interval: it holds where the whole interval meets the
            bound, and fails where the whole interval misses it. Between these it is nearly met
            where the estimate meets the bound and the whole interval the weaker bound; else it is
            undecided.
        """
        if math.isnan(quantity.value):
            return "not measured"
        if self.by == "estimate":
            return "holds" if self.met(quantity.value) else "fails"
        if quantity.low is None or quantity.high is None:
            return "undecided"
        low, high = self.limits()
        if low <= quantity.low and quantity.high <= high:
            return "holds"
        if quantity.high < low or quantity.low > high:
            return "fails"
        least, most = self._weaker()
        weaker = least <= quantity.low and quantity.high <= most
        return "nearly" if weaker and self.met(quantity.value) else "undecided"

    def _weaker(self) -> Limits:
        if self.partly is None:
            return self.limits()
        if isinstance(self.partly, tuple):
            return self.partly
        return (-math.inf, self.partly) if self.at_least is None else (self.partly, math.inf)


class Precondition(Bound):
    """What must be so before the criteria are asked; `because` says to the reader what is not.

    `learned: true`: the networks must have learned the task; at the paper's own size the claim is
    not reproduced where they have not. Any other asks that the task be hard enough and lapses at
    the paper's own size, where an easy task is a finding, not an excuse.
    """

    because: Text
    learned: bool = False


class PaperSize(Entry):
    """How large an experiment is in the paper.

    Args:
        difficulty: the hardest it evaluates; None: none is compared.
        updates: those it trains for; None: it does not say.
        data: what its data card would name as their source; None: data that are no stand-in.
        apart: as of a bound.
    """

    difficulty: float | None = None
    updates: int | None = None
    data: str | None = None
    apart: str = ""


class Remark(Entry):
    """What is said of a verdict where it is `verdict`: why, and what would change it.

    Each is a sentence. `{name}` in it stands for a quantity with its interval, `{name:value}` for
    the value alone, and `{name:count}` for how many of how many networks.

    Args:
        cause: what made the result so, as far as was found.
    """

    verdict: Verdict
    why: Text
    change: Text
    cause: str = ""


class Claim(Entry):
    """One claim and how it is judged.

    Args:
        paper, figure, paper_value: where it was published, and with what numbers.
        measure, arguments: the function of `MEASURES` that gives its quantities.
        measured: how it does, in words.
        quantities: unit and label of each, by name; see `quantities_of`.
        judged_at: the profiles at which it can be judged, from the smallest; `scale_reason` says
            why.
        minimum_seeds: fewest of a setting.
        fresh_from: the first seed that counts, where smaller ones suggested the claim.
        repeated_from: where a setting has seeds from here on, these alone count.
        real_data: it is not judged on a stand-in.
        paper_size: by experiment, where it must be as large as the paper's for the claim to count
            as tried at the paper's own size; none of a claim of our own.
        undecided_at: by profile, why its runs cannot decide the claim, whatever they show.
        remarks: by profile, what its verdict means.
    """

    id: str = Field(pattern=r"^[A-Z][0-9]+$")
    title: Text
    paper: Text
    figure: str = ""
    figures: tuple[str, ...] = ()
    statement: Text
    paper_value: Text
    measured: Text
    measure: str
    arguments: dict[str, str | int | float | tuple[str | int | float, ...]]
    quantities: dict[str, tuple[Unit, Text]]
    criteria: tuple[Criterion, ...] = Field(min_length=1)
    preconditions: tuple[Precondition, ...] = ()
    judged_at: tuple[Profile, ...] = ("reduced", "paper")
    minimum_seeds: int = Field(default=5, ge=1)
    fresh_from: int = 0
    repeated_from: int | None = None
    real_data: bool = False
    scale_reason: Text
    paper_size: dict[str, PaperSize] = Field(default_factory=dict)
    undecided_at: dict[Profile, str] = Field(default_factory=dict)
    remarks: dict[Profile, Remark] = Field(default_factory=dict)

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
        for part in self.parts:
            if not any(each.core for each in self.criteria if each.apart == part):
                raise ValueError("at least one criterion must be core")
        for name in self.paper_size:
            if name not in self.experiments:
                raise ValueError(f"paper_size: {name!r} is no experiment of the arguments")
        return self

    def measured_in(self, evidence: Evidence) -> tuple[Quantity, ...]:
        """Its quantities in the results of a profile.

        Raises:
            NotRunError, InsufficientError: they cannot be measured.
        """
        found = MEASURES[self.measure](evidence, **self.arguments)
        return quantities_of(found, self.quantities, self.arguments)

    @property
    def own(self) -> bool:
        """Whether it is a claim of our own, of no paper's size."""
        return not self.paper_size

    @property
    def parts(self) -> tuple[str, ...]:
        """What is judged apart, in order; "" is the claim itself."""
        return tuple(dict.fromkeys(["", *(each.apart for each in self.criteria)]))

    @property
    def experiments(self) -> tuple[str, ...]:
        """The experiments that it is about."""
        named = ("experiment", "experiments", "beside", "scattered", "first", "second")
        found = [self.arguments[name] for name in named if name in self.arguments]
        lists = (each if isinstance(each, tuple) else (each,) for each in found)
        return tuple(str(name) for each in lists for name in each)


class Change(Entry):
    """A change since the registration, `of` claims by id; of none: of all."""

    on: date
    of: tuple[str, ...]
    what: Text


class Registration(Entry):
    """The day and the commit in which the claims were registered."""

    on: date
    commit: str


class Register(Entry):
    """The whole of claims.yaml; `changes` are those since the registration."""

    registered: Registration
    changes: tuple[Change, ...]
    claims: tuple[Claim, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        ids = [claim.id for claim in self.claims]
        if twice := [name for name in ids if ids.count(name) > 1]:
            raise ValueError(f"id {twice[0]!r} is given twice")
        return self

    def changes_of(self, id: str) -> list[Change]:
        """The changes of a claim since the registration."""
        return [change for change in self.changes if id in change.of]


def load_register(path: Path = Path("claims.yaml")) -> Register:
    """Read and check claims.yaml.

    Args:
        path: the file.

    Raises:
        UserError: one line naming file, claim, key and what is allowed.
    """
    document = read_yaml(path)
    try:
        return Register.model_validate(document)
    except ValidationError as problem:
        raise UserError(f"{path}: {_first_error(problem, document)}") from None


def _first_error(problem: ValidationError, document: dict[str, Any]) -> str:
    """The first finding with the id of its claim in place of its position."""
    first = problem.errors()[0]
    where = [str(part) for part in first["loc"]]
    if len(where) > 1 and where[0] == "claims":
        entry = document["claims"][int(where[1])]
        where[1] = str(entry.get("id", where[1])) if isinstance(entry, dict) else where[1]
    key = ".".join(where) or "claims"
    if first["type"] == "extra_forbidden":
        return f"{key}: unknown key"
    if first["type"] == "missing":
        return f"{key}: missing"
    message = " ".join(first["msg"].removeprefix("Value error, ").split())
    if isinstance(first["input"], dict):
        return f"{key}: {message}"
    return f"{key}: {' '.join(repr(first['input']).split())[:80]} is not allowed: {message}"
