"""What `pondering claims` prints of the claims: a line each, or all about one."""

from __future__ import annotations

from collections.abc import Sequence

import click

from pondering.claims.claims import Change, Verdict
from pondering.claims.verdicts import Judgement
from pondering.claims.words import VERDICTS
from pondering.cli.options import wrapped

COLOURS: dict[Verdict, str] = {
    "reproduced": "green",
    "mostly reproduced": "green",
    "not reproduced": "red",
    "too small to tell": "cyan",
    "undecided": "yellow",
}
FIRST = max(map(len, VERDICTS)) + 2


def overview(judgements: Sequence[Judgement], profile: str) -> str:
    """How many claims have which verdict, and a line for each claim and what is judged apart.

    Args:
        judgements: of all claims.
        profile: whose results they were judged by.
    """
    counts = {each: sum(one.verdict == each for one in judgements) for each in VERDICTS}
    counted = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    summary = f"Profile {profile}, {len(judgements)} claims: {counted}."
    rows = []
    for each in judgements:
        rows.append(_line(each.claim.id, each.verdict, each.claim.title))
        for part, (verdict, _) in each.apart.items():
            rows.append(_line("", verdict, f"the same, judged apart: {part}"))
    one = f"pondering claims {judgements[0].claim.id} --profile {profile}"
    hint = wrapped(f"`{one}` says what was measured and why.")
    return "\n".join([wrapped(summary), "", *rows, "", hint])


def detail(entry: Judgement) -> str:
    """One claim in brief: the paper's number, ours, and what would change the verdict."""
    rows = [_paper(entry), ("here", entry.remark.why), *_apart(entry)]
    return _block(entry, [*rows, ("would change", entry.remark.change)])


def full(entry: Judgement, changes: Sequence[Change] = ()) -> str:
    """All about one claim: every criterion with its interval, the cause, the changes.

    Args:
        entry: its verdict.
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
    return _block(entry, [*rows, *((str(each.on), each.what) for each in changes)])


def _block(entry: Judgement, rows: Sequence[tuple[str, str]]) -> str:
    """A claim's verdict and title, and named texts below them."""
    claim = entry.claim
    source = ", ".join(filter(None, (claim.paper, claim.figure)))
    first = _line(claim.id, entry.verdict, f"{claim.title} ({source})")
    return "\n".join([first, *(wrapped(text, f"    {name:13}") for name, text in rows)])


def _paper(entry: Judgement) -> tuple[str, str]:
    """What the paper has, or for a claim of ours what others found."""
    return "others" if entry.claim.ours else "paper", entry.claim.paper_value


def _apart(entry: Judgement) -> list[tuple[str, str]]:
    """The verdicts on the parts that are judged apart."""
    return [("apart", f"{name}: {verdict}. {why}") for name, (verdict, why) in entry.apart.items()]


def _line(id: str, verdict: Verdict, text: str) -> str:
    """An id and a verdict in its colour, with a text beside them."""
    return wrapped(text, f"{id:4}{click.style(verdict.ljust(FIRST), fg=COLOURS[verdict])}")
