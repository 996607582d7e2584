"""What the verdicts come to: on the first screen, and in a sentence at the end of a section."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pondering.claims.claims import Claim
from pondering.claims.measures.quantities import quantity_text
from pondering.claims.verdicts import VERDICTS, Judgement, Verdict
from pondering.results.statistics import SOLVED_ERROR

PREDICATES: dict[Verdict, tuple[str, str]] = {
    "reproduced": ("is reproduced", "are reproduced"),
    "partly": ("is reproduced in part", "are reproduced in part"),
    "not reproduced": ("is not reproduced", "are not reproduced"),
    "not learned here": ("was not learned here", "were not learned here"),
    "cannot be judged at this scale": ("cannot be judged at this scale",) * 2,
    "not run": ("was not run", "were not run"),
}
"""What is said of one claim with a verdict, and of several."""

UNDECIDED: tuple[Verdict, ...] = ("cannot be judged at this scale", "not run")
"""Verdicts that say nothing about a claim: pages name its number alone."""


@dataclass(frozen=True)
class Lesson:
    """The claims with one verdict, and what is said of them; `so_far` of the first open one."""

    claims: tuple[Claim, ...]
    predicate: str
    decided: bool
    so_far: str


def lessons(judgements: Sequence[Judgement]) -> tuple[Lesson, ...]:
    """The claims by verdict, in the order of verdicts; those without claims are left out."""
    found = []
    for verdict in VERDICTS:
        same = [each for each in judgements if each.verdict == verdict]
        if same:
            claims = tuple(each.claim for each in same)
            predicate, decided = PREDICATES[verdict][len(claims) > 1], verdict not in UNDECIDED
            found.append(Lesson(claims, predicate, decided, "" if decided else _so_far(same)))
    return tuple(found)


def _so_far(judgements: Sequence[Judgement]) -> str:
    """What was measured of the first of these claims of which anything was."""
    for each in judgements:
        core = {criterion.quantity for criterion in each.claim.criteria if criterion.core}
        measured = [
            one for one in each.quantities if one.name in core and not math.isnan(one.value)
        ]
        if measured:
            told = "; ".join(f"{one.label} {quantity_text(one)}" for one in measured)
            return f"so far, for {each.claim.id}: {told}"
    return ""


def experiments_of(claim: Claim) -> set[str]:
    """The experiments that a claim is judged by; other words of its arguments are harmless."""
    return {value for value in claim.arguments.values() if isinstance(value, str)}


def solved_errors(claims: Sequence[Claim]) -> dict[str, float]:
    """Experiment -> the error below which a network has solved it, where a claim says so."""
    named = (claim.arguments for claim in claims if "solved_below" in claim.arguments)
    return {str(each["experiment"]): float(each["solved_below"]) for each in named}


def solved_in_words(errors: Mapping[str, float], title_of: Callable[[str], str]) -> str:
    """The one meaning of "solved"."""
    others = [
        f", in {title_of(name)} below {100 * error:g}%"
        for name, error in errors.items()
        if error != SOLVED_ERROR
    ]
    usual = f"{100 * SOLVED_ERROR:g}%"
    return f"a network has solved a task if its test error is below {usual}{''.join(others)}."
