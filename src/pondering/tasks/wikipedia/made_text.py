"""A generated text in the style of a wiki, and the kind of each byte of a wiki text.

Claim G10 of Graves 2016 says where a network ponders while it reads: at the ends of words, clauses,
sentences and tags, and not within random numbers. The generated text has all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from pondering.tasks.base import Array, random_stream

# letter of a word · space between words · comma · full stop · opening bracket of a tag · rest of
# the tag · digit of an ID · line break and indentation · anything else
KINDS = ("letter", "space", "comma", "stop", "bracket", "tag", "id", "layout", "other")

# By class: number of words, and most syllables of a word. The classes are determiners, nouns,
# adjectives, verbs, prepositions, conjunctions.
CLASSES = {"D": (6, 1), "N": (500, 3), "A": (250, 2), "V": (200, 2), "P": (12, 1), "C": (4, 1)}
CLAUSES = ("DNV", "DANV", "DNVDN", "DNVPDN", "DANVDN", "DNVPDAN")
ONSETS = (
    "b", "br", "c", "d", "dr", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "st", "t", "v",
)  # fmt: skip
VOWELS = ("a", "e", "i", "o", "u", "ai", "ou")
CODAS = ("", "", "", "n", "r", "s", "l", "t")
PAGE = """
  <page>
    <title>{title}</title>
    <id>{page}</id>
    <revision>
      <id>{revision}</id>
      <text>{text}</text>
    </revision>
  </page>"""


def generate(size: int) -> Array:
    """The bytes of a text of pages with titles, ID numbers and sentences of invented words.

    In each class of words the r-th word is 1/r as frequent as the first. A small grammar makes the
    sentences, and each page repeats a topic noun. Every call gives the same text.

    Args:
        size: the least number of bytes; the last page is whole.

    Returns:
        (n,) uint8, n >= size.
    """
    rng = random_stream("wikipedia", "text")
    spelled: set[str] = set()
    words = {name: _word_stream(name, _lexicon(name, spelled)) for name in CLASSES}
    pages: list[str] = []
    while size > 0:
        pages.append(_page(words, rng))
        size -= len(pages[-1])
    return np.frombuffer("".join(pages).encode(), dtype=np.uint8)


def _lexicon(name: str, spelled: set[str]) -> list[str]:
    """The words of one class, none of which is in `spelled`; adds them there."""
    count, syllables = CLASSES[name]
    rng = random_stream("wikipedia", "lexicon", name)
    words: list[str] = []
    while len(words) < count:
        parts = [
            str(rng.choice(ONSETS)) + str(rng.choice(VOWELS)) + str(rng.choice(CODAS))
            for _ in range(int(rng.integers(1, syllables + 1)))
        ]
        word = "".join(parts)
        if word not in spelled:
            spelled.add(word)
            words.append(word)
    return words


def _word_stream(name: str, words: list[str]) -> Iterator[str]:
    """Words without end, the r-th 1/r as often as the first."""
    rng = random_stream("wikipedia", "words", name)
    chance = 1 / np.arange(1, len(words) + 1)
    while True:
        for index in rng.choice(len(words), 4096, p=chance / chance.sum()):
            yield words[index]


def _page(words: dict[str, Iterator[str]], rng: np.random.Generator) -> str:
    """One page: its title, the ID numbers of page and revision, 3 to 12 sentences."""
    topic = next(words["N"])
    page, revision = (
        "".join(map(str, rng.integers(0, 10, digits, dtype=np.uint8))) for digits in (7, 8)
    )
    sentences = [_sentence(words, topic, rng) for _ in range(int(rng.integers(3, 13)))]
    return PAGE.format(
        title=topic.capitalize(), page=page, revision=revision, text=" ".join(sentences)
    )


def _sentence(words: dict[str, Iterator[str]], topic: str, rng: np.random.Generator) -> str:
    """One to three clauses with commas between them, and a full stop."""
    clauses = []
    count = rng.choice([1, 2, 3], p=[0.5, 0.35, 0.15])
    for index, shape in enumerate(rng.integers(0, len(CLAUSES), count)):
        classes = ("C" if index else "") + CLAUSES[shape]
        clauses.append(
            " ".join(
                topic if name == "N" and rng.random() < 0.3 else next(words[name])
                for name in classes
            )
        )
    return f"{', '.join(clauses).capitalize()}."


def text_kinds(text: Array) -> Array:
    """The kinds of a wiki text, from its bytes alone.

    A comma or full stop counts if white space, a tag or the end follows. So those within numbers
    and links are `other`.

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
