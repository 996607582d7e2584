"""What `pondering claims` prints of the claims: an overview, or all about one."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import click

from pondering.claims.claims import Amendment, Register
from pondering.claims.measures.quantities import quantity_text
from pondering.claims.verdicts import VERDICTS, Judgement, Verdict

COLOURS: dict[Verdict, str] = {
    "reproduced": "green",
    "partly": "yellow",
    "not reproduced": "red",
    "not learned here": "magenta",
    "cannot be judged at this scale": "cyan",
    "not run": "white",
}
SIGNS: dict[Verdict, str] = {
    "reproduced": "+",
    "partly": "~",
    "not reproduced": "x",
    "not learned here": "o",
    "cannot be judged at this scale": "?",
    "not run": "-",
}
SHORT: dict[Verdict, str] = {"cannot be judged at this scale": "cannot be judged"}
"""Verdicts too long for their column; the summary has them in full."""
FIRST = max(len(f"{SIGNS[verdict]} {SHORT.get(verdict, verdict)}") for verdict in VERDICTS) + 2


def overview(judgements: Sequence[Judgement], profile: str, width: int) -> str:
    """How many claims have which verdict, and a line for each claim.

    Args:
        judgements: of all claims.
        profile: whose results they were judged by.
        width: of the terminal, in characters.
    """
    counts = {each: sum(one.verdict == each for one in judgements) for each in VERDICTS}
    others = [f"{counts[each]} {each}" for each in VERDICTS[1:] if counts[each]]
    reproduced = f"{counts['reproduced']} of {len(judgements)} claims reproduced"
    summary = f"Profile {profile}: {', '.join([reproduced, *others])}."
    one = f"pondering claims {judgements[0].claim.id} --profile {profile}"
    hint = f"`{one}` says what was measured and why"
    rows = [line for each in judgements for line in _row(each, [each.claim.title], width)]
    parts = [*textwrap.wrap(summary, width), "", *rows, "", *textwrap.wrap(f"{hint}.", width)]
    return "\n".join(parts)


def given(
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
    judged = [each for each in judgements if each.verdict != "not run"]
    others = [each for each in judgements if each.verdict == "not run"]
    summary = (
        f"{len(judged)} of {len(judgements)} claims can be judged from {', '.join(experiments)}, "
        f"taken for runs of the size of {profile}."
    )
    parts = ["\n".join(textwrap.wrap(summary, width))]
    parts += [detail(each, width, register.changes_of(each.claim.id)) for each in judged]
    if others:
        missing = (f"{each.claim.id:4}{each.reason}" for each in others)
        parts.append("\n".join(["Not judged, for what is missing:", *missing]))
    return "\n\n".join(parts)


def detail(entry: Judgement, width: int, changes: Sequence[Amendment] = (), cause: str = "") -> str:
    """All about one claim, in lines of `width` characters.

    Args:
        entry: its verdict.
        width: of the terminal, in characters.
        changes: of it, since the registration.
        cause: why the verdict is so, as far as was found.
    """
    claim = entry.claim
    source = f"{claim.paper}, {claim.figure}" if claim.figure else claim.paper
    seeds = f"{entry.seeds} seeds a setting. " if entry.seeds else ""
    texts = [f"{claim.title} ({source})", f"paper: {claim.paper_value}"]
    texts += [f"here: {text}" for text in _measured(entry)]
    texts.append(f"{seeds}{entry.reason}")
    if cause:
        texts.append(f"why: {cause}")
    if entry.unfinished:
        texts.append(f"judged on unfinished runs: {', '.join(entry.unfinished)}")
    texts += [f"changed {change.on}: {change.what}" for change in changes]
    return "\n".join(_row(entry, texts, width))


def _row(judgement: Judgement, texts: Sequence[str], width: int) -> list[str]:
    verdict = judgement.verdict
    label = f"{SIGNS[verdict]} {SHORT.get(verdict, verdict)}".ljust(FIRST)
    return beside(judgement.claim.id, label, COLOURS[verdict], texts, width)


def beside(id: str, label: str, colour: str, texts: Sequence[str], width: int) -> list[str]:
    """An id and a label in a colour, with texts beside them."""
    left = 4 + len(label)  # 4 of the widest id
    first, *rest = wrapped(texts, width - left)
    return [f"{id:4}{click.style(label, fg=colour)}{first}", *(" " * left + each for each in rest)]


def wrapped(texts: Sequence[str], room: int) -> list[str]:
    """Lines of so many characters, if that is not too few; a text goes on indented."""
    wrapped = (textwrap.wrap(text, max(room, 30), subsequent_indent="  ") for text in texts)
    return [line for lines in wrapped for line in lines]


def _measured(judgement: Judgement) -> list[str]:
    """Every criterion with what was measured, or where none was held against it the core's."""
    names = [criterion.quantity for criterion in judgement.claim.criteria if criterion.core]
    return [
        f"{each.label} {each.measured}; {each.needed} needed: {each.outcome}"
        for each in judgement.findings
    ] or [
        f"{quantity.label} {quantity_text(quantity)}"
        for quantity in judgement.quantities
        if quantity.name in names
    ]
