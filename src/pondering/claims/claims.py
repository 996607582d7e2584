"""What claims.yaml registers: the papers' claims with their thresholds, and own questions."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from pondering.claims.bounds import Comparison, Criterion, Entry, Precondition
from pondering.claims.measures import MEASURES
from pondering.claims.measures.quantities import Unit
from pondering.project.documents import read_yaml
from pondering.project.errors import UserError

Profile = Annotated[str, Field(pattern="^(quick|reduced|paper)$")]
Verdict = Literal[
    "reproduced", "mostly reproduced", "not reproduced", "too small to tell", "undecided"
]


class PaperSize(Entry):
    """How large an experiment is in the paper.

    Args:
        difficulty: the hardest it evaluates; None: none is compared.
        updates: those it trains for; None: it does not say.
        data: what its data card would name as their source; None: data that are no stand-in.
        apart: the part of the claim that the experiment is about; "" is the claim itself.
    """

    difficulty: float | None
    updates: int | None
    data: str | None = None
    apart: str = ""


class Remark(Entry):
    """What is said of a verdict where it is `verdict`: why, and what would change it.

    Each is a sentence. `{name}` in it stands for a quantity with its interval, `{name:value}` for
    the value alone, and `{name:count}` for how many of how many networks.
    """

    verdict: Verdict
    why: str = Field(min_length=1)
    change: str = Field(min_length=1)


class Change(Entry):
    """A change since the registration, `of` claims and questions by id; of none: of all."""

    on: date
    of: tuple[str, ...]
    what: str = Field(min_length=1)


class Claim(Entry):
    """One claim of a paper and how it is judged.

    `paper_size` has an entry for every experiment that must be as large as the paper's for the
    claim to count as tried at the paper's own size. `undecided_at` says by profile why its runs
    cannot decide the claim, whatever they show. `remarks` says by profile what its verdict means.
    """

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
    paper_size: dict[str, PaperSize] = Field(min_length=1)
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
            if name not in self.arguments.values():
                raise ValueError(f"paper_size: {name!r} is no experiment of the arguments")
        return self

    @property
    def parts(self) -> tuple[str, ...]:
        """What is judged apart, in order; "" is the claim itself."""
        return tuple(dict.fromkeys(["", *(each.apart for each in self.criteria)]))


UNITS: Mapping[str, Unit] = {
    "solved_networks_of_each": "networks",
    "solved_networks_with_varying_n": "networks",
    "pondernet_correlation": "correlation",
    "act_correlation": "correlation",
    "correlation_without_prior": "correlation",
    "correlation_difference": "correlation",
    "error_difference": "points",
    "accuracy_difference": "points",
    "refitted_gain": "points",
    "solved_more_at_bias_3": "points",
    "solved_more_at_bias_minus_3": "points",
    "returned_from_one_step": "share",
    "accuracy_beyond_8_of_16": "share",
    "accuracy_beyond_12_of_24": "share",
    "steps_saved": "share",
    "steps_difference": "steps",
    "variance_ratio": "times",
}
"""What decides a question -> its unit, as its measure has it: a bound is printed before any run."""


class Decision(Comparison):
    """A bound that decides a question, and what it means where it is met."""

    by: Literal["estimate", "interval"]
    meaning: str = Field(min_length=1)

    def text(self) -> str:
        """The bound in words."""
        bound = self.words(UNITS[self.quantity])
        return f"{self.quantity.replace('_', ' ')} {bound}: {self.meaning}"


class Question(Entry):
    """A question beyond the papers, written down before any run that could answer it.

    Args:
        id, question: what is asked.
        where: experiments and settings, in words.
        measured: how each quantity of `decides` is computed, in words.
        decides: the bounds, one by one.
        seeds: fewest of a setting.
        fresh: seeds that suggested the question take no part in its answer.
        seen_before: what had been seen when it was written down.
    """

    id: str = Field(pattern=r"^Q[0-9]+$")
    question: str
    where: str
    measured: str
    decides: tuple[Decision, ...] = Field(min_length=1)
    seeds: int = Field(ge=1)
    fresh: Literal[True]
    seen_before: str | None = None

    @property
    def conditions(self) -> frozenset[str]:
        """Meanings that decide nothing by themselves: without them there is nothing to compare."""
        return frozenset(each.meaning for each in self.decides if each.by == "estimate")


class Literature(Entry):
    """What others found on a question.

    Args:
        paper: authors and year, or the name it goes by.
        arxiv: its number; None where it is not on arXiv.
        says: what it found, in a sentence or two, with its numbers.
    """

    paper: str
    arxiv: str | None
    says: str = Field(min_length=1)

    def text(self) -> str:
        """All of it in a line."""
        number = f"arXiv {self.arxiv}" if self.arxiv else ""
        if self.paper == self.arxiv:
            return f"{number}: {self.says}"
        return f"{self.paper}{f' ({number})' if number else ''}: {self.says}"


class Registration(Entry):
    """The day and the commit in which claims and questions were registered."""

    on: date
    commit: str


class Register(Entry):
    """The whole of claims.yaml; `changes` are those since the registration.

    `literature` is what others found on a question. `causes` says by profile why a claim or a
    question came out as it did; it is written after the runs.
    """

    registered: Registration
    changes: tuple[Change, ...]
    claims: tuple[Claim, ...] = Field(min_length=1)
    questions: tuple[Question, ...] = ()
    literature: dict[str, tuple[Literature, ...]] = Field(default_factory=dict)
    causes: dict[Profile, dict[str, str]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _ids_are_known(self) -> Self:
        ids = [claim.id for claim in self.claims] + [each.id for each in self.questions]
        if twice := [name for name in ids if ids.count(name) > 1]:
            raise ValueError(f"id {twice[0]!r} is given twice")
        named = [*self.literature, *(name for each in self.causes.values() for name in each)]
        if unknown := [name for name in named if name not in ids]:
            raise ValueError(f"{unknown[0]!r} is no claim or question")
        return self

    def cause(self, profile: str, id: str) -> str:
        """Why a verdict or an answer is as it is, as far as was found; "" where nothing is said."""
        return self.causes.get(profile, {}).get(id, "")

    def changes_of(self, id: str) -> list[Change]:
        """The changes of a claim or question since the registration."""
        return [change for change in self.changes if id in change.of]


def load_register(path: Path = Path("claims.yaml")) -> Register:
    """Read and check claims.yaml.

    Args:
        path: the file.

    Returns:
        Claims and questions with their registration.

    Raises:
        UserError: one line naming file, key, value and what is allowed.
    """
    document = read_yaml(path)
    try:
        return Register.model_validate(document)
    except ValidationError as problem:
        raise UserError(f"{path}: {_first_error(problem, document)}") from None


def _first_error(problem: ValidationError, document: dict[str, Any]) -> str:
    """The first finding with the id of its claim or question in place of its position."""
    first = problem.errors()[0]
    where = [str(part) for part in first["loc"]]
    if len(where) > 1 and where[0] in ("claims", "questions"):
        entry = document[where[0]][int(where[1])]
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
    models: dict[str, type[BaseModel]] = {
        "registered": Registration,
        "changes": Change,
        "claims": Claim,
        "questions": Question,
        "criteria": Criterion,
        "preconditions": Precondition,
        "paper_size": PaperSize,
        "remarks": Remark,
        "decides": Decision,
        "literature": Literature,
    }
    inside = [models[part] for part in where[:-1] if part in models]
    return list((inside[-1] if inside else Register).model_fields)
