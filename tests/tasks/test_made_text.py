"""The made text: its structure, its bytes, and kinds of characters."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from pondering.tasks.wikipedia.made_text import KINDS, generate, text_kinds
from pondering.tasks.wikipedia.task import prepare

SIGNS = dict(zip(KINDS, "a_,.<t#|?", strict=True))


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
def test_kinds_of_characters(text: bytes, marks: str) -> None:
    kinds = text_kinds(np.frombuffer(text, dtype=np.uint8))
    assert kinds.dtype == np.uint8
    assert "".join(SIGNS[KINDS[kind]] for kind in kinds) == marks


def test_the_made_text_is_fixed_and_a_longer_one_begins_with_it() -> None:
    text = generate(9_000)
    digest = hashlib.sha256(text.tobytes()).hexdigest()
    assert digest == "cb16a6e9a482bd9b97fa59f7ab46164bbe333e5769a3910fd14361dea8f6020a"
    arrays = prepare("generated", "no folder is read")
    assert len(arrays["text"]) == len(arrays["kinds"]) == 1_000_000
    np.testing.assert_array_equal(arrays["text"][: len(text)], text)
