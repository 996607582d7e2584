"""What `pondering claims` prints of the questions beyond the papers."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from pondering.claims.answers import Answer, Finding, Met, State
from pondering.claims.claims import Change, Literature
from pondering.cli import claims_text

COLOURS: dict[State, str] = {"answered": "green", "open": "cyan"}
STATES: dict[State, str] = {"answered": "! answered", "open": "? open"}
SIGNS: dict[Met, str] = {"holds": "+", "undecided": "~", "fails": "x", "not measured": "-"}
WORDS: dict[Met, str] = {
    "holds": "holds",
    "undecided": "undecided, the interval lies on both sides",
    "fails": "does not hold",
    "not measured": "not measured",
}


def overview(answers: Sequence[Answer], profile: str, width: int) -> str:
    """How many questions are answered, and each with its answer.

    Args:
        answers: of all questions.
        profile: by whose results.
        width: of the terminal, in characters.
    """
    count = sum(each.state == "answered" for each in answers)
    summary = f"Questions beyond the papers: {count} of {len(answers)} answered."
    if not any(each.evidence for each in answers):
        summary += f" Profile {profile} shows what is measured and is no evidence."
    rows = [line for each in answers for line in _head(each, _said(each), width)]
    one = f"pondering claims {answers[0].question.id} --profile {profile}"
    hint = textwrap.wrap(f"`{one}` says what was measured.", width)
    return "\n".join([*textwrap.wrap(summary, width), "", *rows, "", *hint])


def detail(
    answer: Answer,
    width: int,
    cause: str = "",
    literature: Sequence[Literature] = (),
    figure: Path | None = None,
    changes: Sequence[Change] = (),
) -> str:
    """All about one question, in lines of `width` characters.

    Args:
        answer: of the question.
        width: of the terminal, in characters.
        cause: why it is so, as far as was found.
        literature: what others found.
        figure: its picture; None says what to run for one.
        changes: of it, since the registration.
    """
    question = answer.question
    texts = [question.question, answer.reason]
    if answer.seeds:
        texts.append(f"{answer.seeds} seeds a setting, {answer.replicas} networks")
    texts += [f"changed {change.on}: {change.what}" for change in changes]
    lines = _head(answer, texts, width)
    for meaning, findings in answer.meanings.items():
        lines += _indented([meaning], width, 4)
        lines += _indented(_found(findings), width, 6)
    others = [each.text() for each in literature]
    why = [cause] if cause and answer.state == "answered" else []
    said = {"beside it": answer.beside, "why": why, "what others found": others}
    for heading, texts in said.items():
        if texts:
            lines += [*_indented([heading], width, 4), *_indented(texts, width, 6)]
    runs = ", ".join(f"`{each}`" for each in answer.to_run)
    told = f"figure: {figure}" if figure else f"no figure yet; for one run {runs}"
    return "\n".join([*lines, *_indented([told], width, 4)])


def _said(answer: Answer) -> list[str]:
    """The question; where the profile may answer it, the answer."""
    return [answer.question.question, *([answer.reason] if answer.evidence else [])]


def _found(findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        yield f"{SIGNS['not measured']} {WORDS['not measured']}"
    for each in findings:
        part = f"{each.part}: " if each.part else ""
        found = f"{SIGNS[each.outcome]} {part}{each.label} {each.measured}"
        yield f"{found}; {each.needed} is asked for: {WORDS[each.outcome]}"


def _head(answer: Answer, texts: Sequence[str], width: int) -> list[str]:
    return claims_text.beside(
        answer.question.id, STATES[answer.state], texts, width, COLOURS[answer.state]
    )


def _indented(texts: Iterator[str] | Sequence[str], width: int, room: int) -> list[str]:
    return [line for text in texts for line in claims_text.wrapped(" " * room, text, width)]
