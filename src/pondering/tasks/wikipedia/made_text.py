"""Text like a wiki's, made here, with the kind of every byte known; and the kinds of real text.

Claim G10 of Graves 2016 says where a network ponders while it reads: at the boundaries of words,
clauses, sentences and tags, and not within random numbers. The made text has all of them, and
says for each byte which it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from pondering.tasks.base import Array, random_stream

# letter of a word · space between words · comma · full stop · opening bracket of a tag · rest of
# the tag · digit of an ID · line break and indentation · anything else
KINDS = ("letter", "space", "comma", "stop", "bracket", "tag", "id", "layout", "other")

# How many words of each class the lexicon has, and of how many syllables: determiners, nouns,
# adjectives, verbs, prepositions, conjunctions.
CLASSES = {"D": (6, 1), "N": (500, 3), "A": (250, 2), "V": (200, 2), "P": (12, 1), "C": (4, 1)}
CLAUSES = ("DNV", "DANV", "DNVDN", "DNVPDN", "DANVDN", "DNVPDAN")
ONSETS = (
    "b",
    "br",
    "c",
    "d",
    "dr",
    "f",
    "g",
    "h",
    "k",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "st",
    "t",
    "v",
)
VOWELS = ("a", "e", "i", "o", "u", "ai", "ou")
CODAS = ("", "", "", "n", "r", "s", "l", "t")
ID_DIGITS = (7, 8)  # of a page and of its revision, each digit uniform over 0 .. 9


@dataclass
class _Writer:
    """Pieces of text and the kind of each."""

    pieces: list[bytes] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    size: int = 0

    def add(self, kind: str, text: bytes) -> None:
        """Append `text`, all of one kind."""
        self.pieces.append(text)
        self.kinds.append(KINDS.index(kind))
        self.size += len(text)

    def tag(self, name: bytes) -> None:
        """Append the tag <name>."""
        self.add("bracket", b"<")
        self.add("tag", name + b">")

    def line(self, indent: int) -> None:
        """Begin a new line."""
        self.add("layout", b"\n" + b" " * indent)

    def arrays(self, size: int) -> tuple[Array, Array]:
        """The first `size` bytes and their kinds, uint8."""
        text = np.frombuffer(b"".join(self.pieces), dtype=np.uint8)
        kinds = np.repeat(np.array(self.kinds, dtype=np.uint8), [len(p) for p in self.pieces])
        return text[:size].copy(), kinds[:size].copy()


def generate(size: int) -> tuple[Array, Array]:
    """A text of pages with titles, ID numbers and sentences of made-up words.

    Words follow a lexicon in which the r-th word of a class is 1/r as frequent as the first, and
    a small grammar; each page has a topic noun that keeps coming back. Every call gives the same
    text; a longer one begins with the shorter.

    Args:
        size: bytes wanted.

    Returns:
        the bytes and, for each, its index in `KINDS`; both (size,) uint8.
    """
    rng = random_stream("wikipedia", "text")
    spelled: set[bytes] = set()
    words = {name: _stream(name, _lexicon(name, spelled)) for name in CLASSES}
    out = _Writer()
    while out.size < size:
        _page(out, words, rng)
    return out.arrays(size)


def _lexicon(name: str, spelled: set[bytes]) -> list[bytes]:
    """The words of one class, none of which is in `spelled`; adds them there."""
    count, syllables = CLASSES[name]
    rng = random_stream("wikipedia", "lexicon", name)
    words: list[bytes] = []
    while len(words) < count:
        parts = [
            str(rng.choice(ONSETS)) + str(rng.choice(VOWELS)) + str(rng.choice(CODAS))
            for _ in range(int(rng.integers(1, syllables + 1)))
        ]
        word = "".join(parts).encode()
        if word not in spelled:
            spelled.add(word)
            words.append(word)
    return words


def _stream(name: str, words: list[bytes]) -> Iterator[bytes]:
    """Words without end, the r-th 1/r as often as the first."""
    rng = random_stream("wikipedia", "words", name)
    chance = 1 / np.arange(1, len(words) + 1)
    while True:
        for index in rng.choice(len(words), 4096, p=chance / chance.sum()):
            yield words[index]


def _page(out: _Writer, words: dict[str, Iterator[bytes]], rng: np.random.Generator) -> None:
    """Append one page: its title, the ID numbers of page and revision, 3 to 12 sentences."""
    topic = next(words["N"])
    out.line(2)
    out.tag(b"page")
    out.line(4)
    out.tag(b"title")
    out.add("letter", topic.capitalize())
    out.tag(b"/title")
    out.line(4)
    _number(out, ID_DIGITS[0], rng)
    out.line(4)
    out.tag(b"revision")
    out.line(6)
    _number(out, ID_DIGITS[1], rng)
    out.line(6)
    out.tag(b"text")
    for index in range(int(rng.integers(3, 13))):
        if index:
            out.add("space", b" ")
        _sentence(out, words, topic, rng)
    out.tag(b"/text")
    out.line(4)
    out.tag(b"/revision")
    out.line(2)
    out.tag(b"/page")


def _number(out: _Writer, digits: int, rng: np.random.Generator) -> None:
    """Append an ID number in its tags."""
    out.tag(b"id")
    out.add("id", (rng.integers(0, 10, digits, dtype=np.uint8) + ord("0")).tobytes())
    out.tag(b"/id")


def _sentence(
    out: _Writer, words: dict[str, Iterator[bytes]], topic: bytes, rng: np.random.Generator
) -> None:
    """Append one to three clauses parted by commas, and a full stop."""
    clauses = rng.choice([1, 2, 3], p=[0.5, 0.35, 0.15])
    for index, shape in enumerate(rng.integers(0, len(CLAUSES), clauses)):
        if index:
            out.add("comma", b",")
        classes = ("C" if index else "") + CLAUSES[shape]
        for place, name in enumerate(classes):
            word = topic if name == "N" and rng.random() < 0.3 else next(words[name])
            if index or place:
                out.add("space", b" ")
            out.add("letter", word if index or place else word.capitalize())
    out.add("stop", b".")


def text_kinds(text: Array) -> Array:
    """The kinds of a real wiki text, told from its bytes alone.

    A comma or full stop counts where white space, a tag or the end follows, so that those within
    numbers and links are `other`.

    Args:
        text: (n,) uint8.

    Returns:
        (n,) uint8, indices in `KINDS`.
    """
    code = {kind: index for index, kind in enumerate(KINDS)}
    table = np.full(256, code["other"], dtype=np.uint8)
    table[[*range(ord("a"), ord("z") + 1), *range(ord("A"), ord("Z") + 1)]] = code["letter"]
    table[128:] = code["letter"]
    table[ord(" ")] = code["space"]
    kinds = table[text]
    ends = np.append(np.isin(text[1:], np.frombuffer(b" \n<", dtype=np.uint8)), True)
    kinds[(text == ord(",")) & ends] = code["comma"]
    kinds[(text == ord(".")) & ends] = code["stop"]
    raw = text.tobytes()
    for line in re.finditer(rb"\n *", raw):
        kinds[line.start() : line.end()] = code["layout"]
    for tag in re.finditer(rb"</?[A-Za-z][^<>]*>", raw):
        kinds[tag.start()] = code["bracket"]
        kinds[tag.start() + 1 : tag.end()] = code["tag"]
    for number in re.finditer(rb"<id>([0-9]+)</id>", raw):
        kinds[number.start(1) : number.end(1)] = code["id"]
    return kinds
