"""What claims.yaml holds: the papers' claims and our own, each with the bounds that judge it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ImportString,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from pondering.claims.evidence import Evidence, InsufficientError, NotRunError
from pondering.claims.quantities import Measured, Quantity, parted, quantities_of
from pondering.project.documents import read_yaml
from pondering.project.errors import UserError
from pondering.results.units import Unit, number_text

Profile = Literal["quick", "reduced", "paper"]
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
    """What a quantity must be."""

    at_least: float = -math.inf
    at_most: float = math.inf

    def met(self, value: float) -> bool:
        """Whether a value lies on the right side."""
        return self.at_least <= value <= self.at_most

    def limits(self) -> Limits:
        """The lowest and the highest value allowed."""
        return self.at_least, self.at_most

    def words(self, unit: Unit) -> str:
        """The bound in the quantity's unit, as "at least 30.0%"."""
        low, high = (number_text(limit, unit) for limit in self.limits())
        if math.inf not in (-self.at_least, self.at_most):
            return f"between {low} and {high}"
        return f"at least {low}" if self.at_most == math.inf else f"at most {high}"


class Criterion(Bound):
    """A bound that must hold, and how much hangs on it."""

    by: Literal["estimate", "interval"] = "interval"  # what must meet it; of an interval the whole
    partly: float | Limits | None = None  # a weaker bound; two of a bound on both sides

    def weaker(self) -> Limits:
        """The limits of the weaker bound; its own without one."""
        if self.partly is None:
            return self.limits()
        if isinstance(self.partly, tuple):
            return self.partly
        return (self.partly, math.inf) if self.at_most == math.inf else (-math.inf, self.partly)


class PaperSize(Entry):
    """How large an experiment is in the paper."""

    difficulty: float | None = None  # the hardest it evaluates; None: none is compared
    updates: int | None = None  # those it trains for; None: it does not say
    data: str | None = None  # as their data card would name them; None: data that are no stand-in


class Remark(Entry):
    """What is said of the published verdict where it is `verdict`: why, and what would change it.

    `quantities.in_words` says what stands in braces.
    """

    verdict: Verdict
    why: Text
    change: Text
    cause: str = ""  # what made the result so, as far as was found; the brief view leaves it out


Measure = Annotated[
    ImportString[Callable[..., Measured]], BeforeValidator("pondering.claims.measures.{}".format)
]
"""A function of `pondering.claims.measures`, named as penalty.error_with_and_without."""


class Claim(Entry):
    """One claim and how it is judged.

    Args:
        paper, figure, paper_value: where it was published, and with what numbers.
        measure, arguments: the function of `pondering.claims.measures` that gives its quantities.
            With a list as `experiment` it is asked of each, and each is a part of its own.
        measured: how it does, where bounds and labels do not say it.
        chooses: the mechanisms that the measure compares at their setting of the lowest mean error.
        core: quantities by whose bounds the claim stands or falls: unit, label and bound of each,
            by name; see `quantities_of`.
        further: other quantities that have a bound.
        beside: quantities that decide nothing.
        learned: what quantities must be, or the networks have not learned the task. At the paper's
            own size the claim is then not reproduced, else it is too small to tell.
        hard: what they must be, or the task is too easy. This lapses at the paper's own size, where
            an easy task is a finding, not an excuse.
        judged_from: the smallest profile at which it can be judged; where that is quick, on data
            that stand in for the paper's too.
        apart: parts that have a verdict of their own, by the same bounds, and their experiments.
        minimum_seeds: fewest of a setting.
        fresh_from: the first seed that counts, where smaller ones suggested the claim.
        repeated_from: where a setting has seeds from here on, these alone count.
        paper_size: by experiment, where it must be as large as the paper's for the claim to count
            as tried at the paper's own size; none of a claim of our own.
        remark: what is said of its published verdict, from a file of its own.
    """

    id: str = ""
    title: Text
    paper: Text
    figure: str = ""
    figures: tuple[str, ...] = ()
    statement: Text
    paper_value: Text
    measured: str = ""
    measure: Measure
    arguments: dict[str, str | int | float | tuple[str | int | float, ...]]
    chooses: tuple[str, ...] = ()
    core: dict[str, tuple[Unit, Text, Criterion]] = Field(min_length=1)
    further: dict[str, tuple[Unit, Text, Criterion]] = Field(default_factory=dict)
    beside: dict[str, tuple[Unit, Text]] = Field(default_factory=dict)
    learned: dict[str, Bound] = Field(default_factory=dict)
    hard: dict[str, Bound] = Field(default_factory=dict)
    apart: dict[str, str] = Field(default_factory=dict)
    judged_from: Profile = "reduced"
    minimum_seeds: int = Field(default=5, ge=1)
    fresh_from: int = 0
    repeated_from: int | None = None
    paper_size: dict[str, PaperSize] = Field(default_factory=dict)
    remark: Remark | None = None

    @model_validator(mode="after")
    def _measure_takes_arguments(self) -> Self:
        try:
            inspect.signature(self.measure).bind(None, **self.arguments)
        except TypeError as problem:
            raise ValueError(f"arguments: {problem}") from None
        return self

    def measured_in(self, evidence: Evidence) -> tuple[Quantity, ...]:
        """Its quantities in the results of a profile.

        Raises:
            NotRunError, InsufficientError: they cannot be measured.
        """
        return quantities_of(self._found_in(evidence), self.core | self.further | self.beside)

    @property
    def criteria(self) -> dict[str, Criterion]:
        """Its criteria by quantity, the core ones first."""
        return {name: bound for name, (_, _, bound) in (self.core | self.further).items()}

    def _found_in(self, evidence: Evidence) -> Measured:
        """What its measure gives; where it is about several experiments, of each that was run."""
        experiments = self.arguments.get("experiment")
        if not isinstance(experiments, tuple):
            return self.measure(evidence, **self.arguments)
        found: Measured = {}
        for name in experiments:
            try:
                measured = self.measure(evidence, **self.arguments | {"experiment": name})
            except NotRunError:  # the evidence remembers it
                continue
            except InsufficientError as problem:
                evidence.not_run(f"{name}: {problem}")
                continue
            found |= parted(measured, evidence.results.title(str(name)))
        if not found:
            raise NotRunError("; ".join(dict.fromkeys(evidence.missing)))
        return found

    @property
    def ours(self) -> bool:
        """Whether it is a claim of our own, of no paper's size."""
        return not self.paper_size

    def judged_in(self, profile: str) -> bool:
        """Whether a profile is large enough to judge it."""
        profiles = get_args(Profile)
        return profiles.index(profile) >= profiles.index(self.judged_from)

    def apart_of(self, quantity: Quantity) -> str:
        """The part that a quantity is judged apart with; "" for the claim itself."""
        return quantity.part if quantity.part in self.apart else ""

    @property
    def experiments(self) -> tuple[str, ...]:
        """The experiments that it is about."""
        named = self.arguments.get("experiments", self.arguments.get("experiment"))
        return tuple(map(str, named if isinstance(named, tuple) else (named,)))


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
    """The whole of claims.yaml: `changes` are those since the registration, the rest claims.

    The remarks on them, by id, are those of another file.
    """

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, Claim]
    registered: Registration
    changes: tuple[Change, ...]
    remarks: dict[str, Remark] = Field(default_factory=dict)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims in order, each with its id and the remark on it."""
        return tuple(
            each.model_copy(update={"id": id, "remark": self.remarks.get(id)})
            for id, each in self.__pydantic_extra__.items()
        )

    def changes_of(self, id: str) -> list[Change]:
        """The changes of a claim since the registration."""
        return [change for change in self.changes if id in change.of]


def load_register(path: Path, remarks: Path | None = None) -> Register:
    """Read and check claims.yaml.

    Args:
        path: the file.
        remarks: that of the remarks, if there is one; None: without remarks.

    Raises:
        UserError: one line naming file, claim, key and what is allowed.
    """
    register: Register = _checked(Register, path)
    if remarks is None or not remarks.is_file():
        return register
    return register.model_copy(update={"remarks": _checked(dict[str, Remark], remarks)})


def _checked(kind: Any, path: Path) -> Any:
    try:
        return TypeAdapter(kind).validate_python(read_yaml(path))
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UserError(f"{path}: {where}: {first['msg']}") from None
