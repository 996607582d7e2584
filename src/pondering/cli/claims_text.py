"""What `pondering claims` prints of the claims: a line each, or all about one."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import click

from pondering.claims.claims import Change, Register, Verdict
from pondering.claims.verdicts import Judgement
from pondering.claims.words import VERDICTS

COLOURS: dict[Verdict, str] = {
    "reproduced": "green",
    "mostly reproduced": "green",
    "not reproduced": "red",
    "too small to tell": "cyan",
    "undecided": "yellow",
}
FIRST = max(map(len, VERDICTS)) + 2


def overview(judgements: Sequence[Judgement], profile: str, width: int) -> str:
    """How many claims have which verdict, and a line for each claim and what is judged apart.

    Args:
        judgements: of all claims.
        profile: whose results they were judged by.
        width: of the terminal, in characters.
    """
    counts = {each: sum(one.verdict == each for one in judgements) for each in VERDICTS}
    counted = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    summary = f"Profile {profile}, {len(judgements)} claims: {counted}."
    rows = []
    for each in judgements:
        rows += beside(each.claim.id, each.verdict, each.claim.title, width)
        for part, (verdict, _) in each.apart.items():
            rows += beside("", verdict, f"the same, judged apart: {part}", width)
    one = f"pondering claims {judgements[0].claim.id} --profile {profile}"
    hint = textwrap.wrap(f"`{one}` says what was measured and why.", width)
    return "\n".join([*textwrap.wrap(summary, width), "", *rows, "", *hint])


def by_table(
    judgements: Sequence[Judgement],
    register: Register,
    experiments: Sequence[str],
    profile: str,
    width: int,
) -> str:
    """All about each claim that the tables of some experiments can judge, a line on each other.

    Args:
        judgements: of all claims.
        register: which has them.
        experiments: whose tables there are.
        profile: whose size they are taken for.
        width: of the terminal, in characters.
    """
    judged = [each for each in judgements if each.evidence.runs]
    others = [each for each in judgements if not each.evidence.runs]
    summary = (
        f"{len(judged)} of {len(judgements)} claims can be judged from {', '.join(experiments)}, "
        f"taken for runs of the size of {profile}."
    )
    parts = ["\n".join(textwrap.wrap(summary, width))]
    parts += [full(each, width, register.changes_of(each.claim.id)) for each in judged]
    if others:
        missing = (f"{each.claim.id:4}{each.reason}" for each in others)
        parts.append("\n".join(["Not judged, for what is missing:", *missing]))
    return "\n\n".join(parts)


def detail(entry: Judgement, width: int) -> str:
    """One claim in brief: the paper's number, ours, and what would change the verdict.

    Args:
        entry: its verdict.
        width: of the terminal, in characters.
    """
    rows = [_paper(entry), ("here", entry.remark.why), *_apart(entry)]
    return _block(entry, [*rows, ("would change", entry.remark.change)], width)


def full(entry: Judgement, width: int, changes: Sequence[Change] = ()) -> str:
    """All about one claim: every criterion with its interval, the cause, the changes.

    Args:
        entry: its verdict.
        width: of the terminal, in characters.
        changes: of it, since the registration.
    """
    evidence, remark = entry.evidence, entry.remark
    rows = [("claim", entry.claim.statement), _paper(entry)]
    rows += [
        ("here", f"{each.label} {each.measured}; asked for: {each.needed}: {each.outcome}")
        for each in entry.findings
        if each.core and not each.apart and each.needed
    ]
    if evidence.seeds:
        seeds = evidence.fewest_seeds
        rows.append(("runs", f"{evidence.replicas} networks, at least {seeds} seeds a setting"))
    rows += [("why", remark.why), ("would change", remark.change), *_apart(entry)]
    rows += [("but", each) for each in entry.flips]
    rows += [("cause", remark.cause)] if remark.cause else []
    if evidence.unfinished:
        rows.append(("runs", f"unfinished: {', '.join(evidence.unfinished)}"))
    return _block(entry, [*rows, *((str(each.on), each.what) for each in changes)], width)


def _block(entry: Judgement, rows: Sequence[tuple[str, str]], width: int) -> str:
    """A claim's verdict and title, and named texts below them."""
    claim = entry.claim
    source = ", ".join(filter(None, (claim.paper, claim.figure)))
    lines = beside(claim.id, entry.verdict, f"{claim.title} ({source})", width)
    for name, text in rows:
        lines += wrapped(f"    {name:13}", text, width)
    return "\n".join(lines)


def _paper(entry: Judgement) -> tuple[str, str]:
    """What the paper has, or for a claim of ours what others found."""
    return "others" if entry.claim.ours else "paper", entry.claim.paper_value


def _apart(entry: Judgement) -> list[tuple[str, str]]:
    """The verdicts on the parts that are judged apart."""
    return [("apart", f"{name}: {verdict}. {why}") for name, (verdict, why) in entry.apart.items()]


def beside(id: str, verdict: Verdict, text: str, width: int) -> list[str]:
    """An id and a verdict in its colour, with a text beside them."""
    room = FIRST + 4
    first, *rest = wrapped(" " * room, text, width)
    return [f"{id:4}{click.style(verdict.ljust(FIRST), fg=COLOURS[verdict])}{first[room:]}", *rest]


def wrapped(head: str, text: str, width: int) -> list[str]:
    """A text behind a head, its further lines below its first; no line is too narrow to read."""
    room = max(width - len(head), 30)
    first, *rest = textwrap.wrap(text, room) or [""]
    return [head + first, *(" " * len(head) + line for line in rest)]
