"""What a figure's words tell, taken apart: its sentences, and of a list of values the rows."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Told:
    """A sentence, or the rows of a small table with what leads to them.

    Args:
        lead: the sentence, or what stands before the rows; may be empty before rows.
        rows: (name, value); the name is empty where the value has none of its own.
    """

    lead: str
    rows: tuple[tuple[str, str], ...] = ()


def told(words: str) -> list[Told]:
    """Sentences apart; one of several values as "Lead: name: value; name: value." as rows.

    Args:
        words: as a figure's family writes them: values apart by semicolons, a name and its value by
            a colon, and the lead by a colon before the first.
    """
    return [_sentence(each) for each in re.split(r"(?<=\.) (?=[A-Z])", words) if each]


def _sentence(text: str) -> Told:
    first, *others = text.removesuffix(".").split("; ")
    if not others:
        return Told(text)
    lead = ""
    if first.count(": ") > max(each.count(": ") for each in others):
        lead, _, first = first.partition(": ")
    pairs = (each.rpartition(": ")[::2] for each in (first, *others))
    return Told(lead, tuple(pairs))
