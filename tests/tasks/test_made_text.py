"""The made text in numbers, and the kinds of a real one at its edges."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pondering.tasks.wikipedia.made_text import CLASSES, KINDS, _lexicon, generate, text_kinds
from pondering.tasks.wikipedia.task import prepare

SIGNS = dict(zip(KINDS, "a_,.<t#|?", strict=True))


def bodies(size: int) -> list[tuple[str, list[str]]]:
    """Title and sentences of each whole page."""
    raw = generate(size).tobytes().decode("ascii")
    pages = re.findall(r"<title>(\w+)</title>.*?<text>([^<]*)\.</text>", raw, re.DOTALL)
    return [(title, body.split(". ")) for title, body in pages]


def test_pages_have_three_to_twelve_sentences_of_one_to_three_clauses() -> None:
    pages = bodies(600_000)
    lengths = {len(sentences) for _, sentences in pages}
    assert lengths == set(range(3, 13))
    clauses = [each.count(",") + 1 for _, sentences in pages for each in sentences]
    shares = np.bincount(clauses, minlength=4)[1:] / len(clauses)
    np.testing.assert_allclose(shares, [0.5, 0.35, 0.15], atol=0.03)


def test_the_topic_of_a_page_keeps_coming_back() -> None:
    """As three nouns in ten, of at least one in a clause, and some by chance."""
    pages = bodies(300_000)
    said = [re.findall(r"[a-z]+", ". ".join(sentences).lower()) for _, sentences in pages]
    shares = [
        words.count(title.lower()) / len(words)
        for (title, _), words in zip(pages, said, strict=True)
    ]
    others = [
        words.count(title.lower()) / len(words)
        for (title, _), words in zip(pages, said[1:] + said[:1], strict=True)
    ]
    assert np.mean(shares) > np.mean(others) + 0.05


def test_the_lexicon_has_its_words_once_and_of_few_syllables() -> None:
    spelled: set[str] = set()
    found = {name: _lexicon(name, spelled) for name in CLASSES}
    for name, (count, syllables) in CLASSES.items():
        assert len(found[name]) == count
        assert all(1 <= len(re.findall(r"[aeiou]+", w)) <= syllables for w in found[name])
    every = [word for words in found.values() for word in words]
    assert len(set(every)) == len(every) and spelled == set(every)


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        (b"aZz{@[`Y", "aaa????a"),
        (b"\x7f\x80\xff", "?aa"),
        (b"a,b a,X a, b,", "a?a_a?a_a,_a,"),
        (b"a.1 b.\n c.<x>.", "a??_a.||a.<tt."),
        (b"<Br><b1></P>< a><>", "<ttt<ttt<ttt?_a???"),
        (b"<id>12</id><id>x1</id>", "<ttt##<tttt<ttta?<tttt"),
    ],
)
def test_kinds_are_told_from_the_bytes(text: bytes, marks: str) -> None:
    kinds = text_kinds(np.frombuffer(text, dtype=np.uint8))
    assert kinds.dtype == np.uint8
    assert "".join(SIGNS[KINDS[kind]] for kind in kinds) == marks


def test_every_byte_of_the_generated_text_has_its_kind() -> None:
    text = generate(200_000)
    kinds = text_kinds(text)
    raw = text.tobytes().decode("ascii")
    by_kind = {
        kind: {raw[place] for place in np.flatnonzero(kinds == code)}
        for code, kind in enumerate(KINDS)
    }
    assert by_kind["space"] == {" "} and by_kind["comma"] == {","} and by_kind["stop"] == {"."}
    assert by_kind["bracket"] == {"<"} and by_kind["id"] == set("0123456789")
    assert by_kind["layout"] == {"\n", " "} and not by_kind["other"]
    assert all(letter.isalpha() for letter in by_kind["letter"])


def test_the_made_text_has_the_structure_of_a_wiki() -> None:
    raw = generate(300_000).tobytes().decode("ascii")
    pages = re.findall(
        r"\n  <page>\n    <title>([A-Z][a-z]+)</title>\n    <id>(\d{7})</id>\n    <revision>\n"
        r"      <id>(\d{8})</id>\n      <text>([^<]*)</text>\n    </revision>\n  </page>",
        raw,
    )
    assert len(pages) == raw.count("</page>") > 300
    digits = np.bincount([int(digit) for page in pages for digit in page[1] + page[2]])
    assert ((digits / digits.sum() - 0.1) ** 2 * digits.sum() / 0.1).sum() < 28  # 9 degrees
    sentence = re.compile(r"[A-Z][a-z]*( [a-z]+)+(, [a-z]+( [a-z]+)+){0,2}\.")
    for _, _, _, body in pages:
        assert body.endswith(".")
        assert all(sentence.fullmatch(each + ".") for each in body[:-1].split(". "))
    words = re.findall(r"[a-z]+", " ".join(page[3] for page in pages).lower())
    counts = sorted((words.count(word) for word in set(words)), reverse=True)
    assert counts[0] > 20 * counts[60] and len(counts) > 500
    assert counts[0] / counts[1] == pytest.approx(2, abs=0.25)  # the first two determiners


def test_the_made_text_is_always_the_same_and_grows_at_its_end() -> None:
    text = generate(9_000)
    assert len(text) >= 9_000
    arrays = prepare("generated", "no folder is read")
    assert len(arrays["text"]) == len(arrays["kinds"]) == 1_000_000
    np.testing.assert_array_equal(arrays["text"][: len(text)], text)
