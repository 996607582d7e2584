"""From the registered questions and the tidy results of a profile to answers.

A question names the bounds that decide it, and what it means where each is met. Whether one is met
is computed here, for every part that the question asks about: a task, a mechanism. Bounds `by:
estimate` are conditions: where one is not met there is nothing to compare, and the question stays
open. It stays open too where runs, settings or seeds are missing that it asks for, or where nothing
that decides it holds and something could not be measured; an answer says what could not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import pandas as pd

from pondering.claims.claims import Decision, Question
from pondering.claims.measures.evidence import NOT_RUN, Evidence, InsufficientError, NotRunError
from pondering.claims.measures.quantities import Quantity, quantity_text
from pondering.claims.questions import QUESTIONS, experiments_of
from pondering.claims.questions.networks import Parts
from pondering.claims.record import plain_estimate
from pondering.claims.verdicts import sentence
from pondering.results.results import Results

Met = Literal["holds", "undecided", "fails", "not measured"]
State = Literal["answered", "open"]

ANSWERED_BY = "reduced"
"""The profile of the sizes and settings that the questions name; others show what is measured."""
FIRST_FRESH = 10
"""Seeds 0 to 9 were in the published tables on the day of the registration."""


@dataclass(frozen=True)
class Finding:
    """One bound of a question against what was measured of one part.

    Args:
        meaning: what it means where the bound is met.
        part: a task or mechanism, "" where the question has one alone.
        label, measured, needed: the quantity, its value with interval, the bound.
        outcome: whether the bound is met; undecided where the interval lies on both sides.
    """

    meaning: str
    part: str
    label: str
    measured: str
    needed: str
    outcome: Met


@dataclass(frozen=True)
class Answer:
    """A question with its answer and all it rests on.

    Args:
        question: what was asked.
        state: answered, or open.
        reason: which meanings hold, or why it is open.
        evidence: whether the profile is the one that answers; others illustrate.
        parts: everything that was measured, by part.
        findings: the bounds, one by one, each for every part.
        seeds: fewest seeds behind a setting that was looked at; 0 where nothing was.
        replicas: how many networks were looked at.
        runs: the train stages behind it, as "experiment-mechanism".
        to_run: the commands that compute what is missing, and draw its figure.
    """

    question: Question
    state: State
    reason: str
    evidence: bool
    parts: Parts
    findings: tuple[Finding, ...]
    seeds: int
    replicas: int
    runs: tuple[str, ...]
    to_run: tuple[str, ...]

    @property
    def meanings(self) -> dict[str, list[Finding]]:
        """The findings by what they mean, in the order of the question."""
        found: dict[str, list[Finding]] = {each.meaning: [] for each in self.question.decides}
        for finding in self.findings:
            found[finding.meaning].append(finding)
        return found

    @property
    def holds(self) -> bool:
        """Whether anything that would decide it holds."""
        decisive = (e for e in self.findings if e.meaning not in self.question.conditions)
        return any(each.outcome == "holds" for each in decisive)

    @property
    def measured(self) -> dict[str, str]:
        """Of each quantity that a bound is asked of, its value with interval, in words."""
        found = ((f"{each.part}: {each.label}", each.measured) for each in self.findings)
        return {label.removeprefix(": "): value for label, value in found}

    @property
    def beside(self) -> list[str]:
        """What was measured besides, in words."""
        deciding = {each.quantity for each in self.question.decides}
        return [
            f"{part}: {each.label} {quantity_text(each)}".removeprefix(": ")
            for part, quantities in self.parts.items()
            for each in quantities
            if each.name not in deciding
        ]


def answer_all(questions: Sequence[Question], results: Results) -> tuple[Answer, ...]:
    """Answer every question by the results of one profile, in the order given."""
    return tuple(answer(question, results) for question in questions)


def answer(question: Question, results: Results) -> Answer:
    """Answer one question.

    Args:
        question: a question of `QUESTIONS`.
        results: the tables, curves and audits of one profile; of `reduced` fresh seeds alone count.

    Returns:
        The answer. What can be measured is reported even where the question stays open.
    """
    answers = results.profile == ANSWERED_BY
    evidence = Evidence(fresh(results) if answers else results)
    parts: Parts = {}
    reason = ""
    try:
        parts = QUESTIONS[question.id](evidence)
    except NotRunError:
        reason = _missing(evidence)
    except InsufficientError as problem:
        reason = sentence(str(problem))
    findings = [
        _finding(decision, part, quantity)
        for decision in question.decides
        for part, quantities in parts.items()
        for quantity in quantities
        if quantity.name == decision.quantity
    ]
    reason = reason or _open(question, evidence, findings)
    if not answers:
        needed = f"Profile {results.profile} shows what is measured and is no evidence"
        reason = f"{needed}: {ANSWERED_BY} answers it." + (f" {reason}" if not parts else "")
    return Answer(
        question,
        "open" if reason else "answered",
        reason or _meanings(question, findings),
        answers,
        parts,
        tuple(findings),
        min(evidence.seeds, default=0),
        sum(evidence.replicas.values()),
        tuple(evidence.runs),
        (
            *(
                f"dvc repro exits@{results.profile}-{name}"
                for name in experiments_of(question.id)
                if not parts or name not in evidence.results.readouts
            ),
            f"dvc repro report@{results.profile}",
        ),
    )


def fresh(results: Results) -> Results:
    """The same without the seeds that suggested the questions."""

    def of_seeds(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
        return {name: rows[rows["seed"] >= FIRST_FRESH] for name, rows in tables.items()}

    def kept(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
        return {name: rows for name, rows in of_seeds(tables).items() if len(rows)}

    return replace(
        results,
        tables=of_seeds(results.tables),
        curves=kept(results.curves),
        exits=kept(results.exits),
        readouts=kept(results.readouts),
    )


def met(decision: Decision, quantity: Quantity) -> Met:
    """Whether a quantity meets a bound: by its estimate, or with its whole interval."""
    if math.isnan(quantity.value):
        return "not measured"
    if decision.by == "estimate":
        return "holds" if decision.met(quantity.value) else "fails"
    if decision.met_by_interval(quantity):
        return "holds"
    if quantity.low is None or quantity.high is None:
        return "undecided"
    low, high = decision.limits()
    return "fails" if quantity.high < low or quantity.low > high else "undecided"


def answers_json(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """The answers as plain data for claims.json; equal results give equal data."""
    return [
        {
            "id": each.question.id,
            "question": each.question.question,
            "state": each.state,
            "reason": each.reason,
            "evidence": each.evidence,
            "seeds": each.seeds,
            "replicas": each.replicas,
            "runs": list(each.runs),
            "estimates": [
                {"part": part} | plain_estimate(quantity)
                for part, quantities in each.parts.items()
                for quantity in quantities
            ],
            "decides": [asdict(finding) for finding in each.findings],
        }
        for each in answers
    ]


def _finding(decision: Decision, part: str, quantity: Quantity) -> Finding:
    text, needed = quantity_text(quantity), decision.words(quantity.unit)
    return Finding(decision.meaning, part, quantity.label, text, needed, met(decision, quantity))


def _open(question: Question, evidence: Evidence, findings: Sequence[Finding]) -> str:
    """Why a question that was measured stays open; "" where it does not."""
    seeds = min(evidence.seeds, default=0)
    if evidence.missing:
        return _missing(evidence)
    if seeds < question.seeds:
        return f"Fresh seeds of a setting: {seeds}; {question.seeds} are needed."
    if evidence.unfinished:
        return f"Unfinished: {', '.join(sorted(evidence.unfinished))}."
    conditions = question.conditions
    for finding in findings:
        if finding.meaning in conditions and finding.outcome != "holds":
            return f"Not learned: {finding.label} {finding.measured}, {finding.needed} needed."
    decisive = [each for each in findings if each.meaning not in conditions]
    if not decisive:
        return "Not learned: no network has learned what could decide it."
    left = _unmeasured(decisive)
    if left and not any(each.outcome == "holds" for each in decisive):
        return sentence(left)
    return ""


def _missing(evidence: Evidence) -> str:
    whole = [each.removesuffix(NOT_RUN) for each in evidence.missing if each.endswith(NOT_RUN)]
    parts = [each for each in evidence.missing if not each.endswith(NOT_RUN)]
    told = {"Not run": ", ".join(dict.fromkeys(whole)), "Missing": "; ".join(dict.fromkeys(parts))}
    return " ".join(f"{what}: {names}." for what, names in told.items() if names)


def _unmeasured(findings: Sequence[Finding]) -> str:
    """What of these could not be measured, each said once; "" where all could."""
    left = [each for each in findings if each.outcome == "not measured"]
    names = dict.fromkeys(", ".join(filter(None, (each.part, each.label))) for each in left)
    return f"could not be measured: {'; '.join(names)}" if names else ""


_TOLD: tuple[tuple[Met, str, str], ...] = (
    ("holds", "", ""),
    ("undecided", "undecided is ", "whether "),
    ("fails", "it does not hold ", "that "),
)
"""How a sentence begins of the meanings of an outcome, and each of them."""


def _meanings(question: Question, findings: Sequence[Finding]) -> str:
    """What holds, what is undecided and what is not so, each with its parts; then what is left.

    Conditions are none of these. Of a part of which one meaning of a quantity holds its others are
    not told: it says enough.
    """
    quantity = {each.meaning: each.quantity for each in question.decides if each.by == "interval"}
    decisive = [each for each in findings if each.meaning in quantity]
    held = {(quantity[each.meaning], each.part) for each in decisive if each.outcome == "holds"}
    said = [] if held else ["none of what would decide it holds"]
    for outcome, words, each_words in _TOLD:
        told: dict[str, list[str]] = {}
        for each in decisive:
            known = outcome != "holds" and (quantity[each.meaning], each.part) in held
            if each.outcome == outcome and not known:
                told.setdefault(each.meaning, []).append(each.part)
        if told:
            each_told = map(_with_parts, told, told.values())
            said.append(words + "; ".join(each_words + text for text in each_told))
    asked = {each.meaning for each in decisive}
    if lacking := [meaning for meaning in quantity if meaning not in asked]:
        said.append(f"nothing could decide: {'; '.join(lacking)}")
    left = _unmeasured(decisive)
    return " ".join(map(sentence, [*said, left] if left else said))


def _with_parts(meaning: str, parts: Sequence[str]) -> str:
    named = "; ".join(filter(None, parts))
    return meaning + (f" ({named})" if named else "")
