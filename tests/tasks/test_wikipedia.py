"""Wikipedia: windows of bytes, kinds of characters, the made text, bits per character."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from pondering.project.errors import UserError
from pondering.tasks.wikipedia import task as wikipedia
from pondering.tasks.wikipedia.made_text import KINDS, generate, text_kinds
from pondering.tasks.wikipedia.task import Wikipedia, prepare


def counting_file(folder: Path, size: int) -> str:
    """A file in which any three consecutive bytes tell their place."""
    place = np.arange(size)
    text = np.choose(place % 3, [place // 3 % 251, place // 753 % 251, np.full(size, 255)])
    arrays = {"text": text.astype(np.uint8), "kinds": (place % 7).astype(np.uint8)}
    path = folder / "wikipedia.npz"
    np.savez(path, **arrays)
    return str(path)


def place_of(window: list[int]) -> int:
    """The place of a window in a counting file, from its first six bytes."""
    marker = window.index(255)
    low, high = window[marker + 1], window[marker + 2]
    return 3 * (low + 251 * high) - marker - 1


@pytest.fixture
def task(tmp_path: Path) -> Wikipedia:
    return Wikipedia("generated", sequence=20, path=counting_file(tmp_path, 20_000))


def test_targets_are_the_next_bytes_and_windows_stay_in_their_part(task: Wikipedia) -> None:
    text = np.load(task.path)["text"]
    bounds = {"train": (0, 18_000), "validation": (18_000, 19_000), "heldout": (19_000, 20_000)}
    blocks = [("train", task.training_block(0, block, 64)) for block in range(4)]
    validation = task.evaluation_sets(400, "validation")
    assert list(validation) == ["heldout"]
    sets = [*task.evaluation_sets(400).items(), ("validation", validation["heldout"])]
    for part, batch in [*blocks, *sets]:
        first, last = bounds[part]
        starts = []
        assert batch.inputs.dtype == batch.targets.dtype == np.uint8
        for b in range(batch.inputs.shape[1]):
            window = [*batch.inputs[:, b].tolist(), int(batch.targets[-1, b])]
            start = place_of(window)
            assert window == text[start : start + 21].tolist()
            assert batch.targets[:, b].tolist() == window[1:]
            assert first <= start and start + 21 <= last
            starts.append(start)
        assert len(set(starts)) > 0.3 * len(starts)
        assert batch.mask.all() and batch.scored.all() and not batch.difficulty.any()
        assert batch.mask.shape == batch.inputs.shape == (20, len(starts))


def test_windows_reach_both_ends_of_their_part(tmp_path: Path) -> None:
    task = Wikipedia("generated", sequence=20, path=counting_file(tmp_path, 900))
    batch = task.evaluation_sets(4000)
    for part, (first, last) in {"train": (0, 810), "heldout": (855, 900)}.items():
        starts = {place_of(column.tolist()) for column in batch[part].inputs.T}
        assert min(starts) == first and max(starts) == last - 21


def test_kinds_are_those_of_the_traced_windows(task: Wikipedia) -> None:
    batch, kinds = task.traced(50)
    assert kinds.shape == (20, 50)
    first, last = task.bounds("heldout")
    for b in range(50):
        start = place_of(batch.inputs[:, b].tolist())
        assert first <= start <= last - 21
        assert kinds[:, b].tolist() == [KINDS[(start + t) % 7] for t in range(20)]


def test_every_other_traced_window_has_an_id_number() -> None:
    task = Wikipedia("generated", sequence=40)
    batch, kinds = task.traced(24)
    again, _ = task.traced(24)
    np.testing.assert_array_equal(batch.inputs, again.inputs)
    numbers = []
    for b in range(1, 24, 2):
        inside = kinds[:, b] == "id"
        begins = np.flatnonzero(inside[1:] & ~inside[:-1]) + 1
        (begin,) = begins[(begins >= 10) & (begins <= 20)][:1]  # a quarter to a half of 40
        numbers.append(bytes(batch.inputs[begin:, b]))
        assert numbers[-1][:1].isdigit()
    arrays = prepare("generated", "")
    text, known = arrays["text"], arrays["kinds"]
    first, last = task.bounds("heldout")
    inside = np.pad(known[first:last] == KINDS.index("id"), (1, 0))
    begins = np.flatnonzero(inside[1:] & ~inside[:-1]) + first
    for place, number in ((begins[0], numbers[0]), (begins[-1], numbers[-1])):
        assert bytes(text[place : place + len(number)]) == number
    assert len({bytes(batch.inputs[:, b]) for b in range(24)}) == 24


def test_a_text_without_id_numbers_is_traced(tmp_path: Path) -> None:
    path = tmp_path / "plain.npz"
    text = np.arange(1000, dtype=np.int64).astype(np.uint8)
    np.savez(path, text=text, kinds=np.zeros(1000, dtype=np.uint8))
    batch, kinds = Wikipedia("generated", sequence=10, path=str(path)).traced(7)
    assert batch.inputs.shape == kinds.shape == (10, 7)


def test_error_and_entropy_of_one_sequence_by_hand() -> None:
    task = Wikipedia("generated", sequence=2)
    batch = task.parse("abc").torch()
    outputs = torch.full((2, 1, 256), -math.inf)
    outputs[0, 0, [ord("b"), ord("x")]] = 0.0  # a half
    outputs[1, 0, [ord("c"), ord("x"), ord("y"), ord("z")]] = 0.0  # a quarter
    assert task.error(outputs, batch).tolist() == pytest.approx([1.5])
    entropy = task.entropy(outputs.clamp(min=-1e9))
    assert entropy[:, 0].tolist() == pytest.approx([math.log(2), math.log(4)])


def test_a_text_is_parsed_and_described() -> None:
    task = Wikipedia("generated", sequence=20)
    batch = task.parse("Añ,\n")
    assert batch.inputs[:, 0].tolist() == [65, 0xC3, 0xB1, 44]
    assert batch.targets[:, 0].tolist() == [0xC3, 0xB1, 44, 10]
    outputs = torch.zeros(4, 1, 256)
    outputs[..., ord("q")] = 1.0
    steps = task.describe(outputs, batch, 0)
    assert [step["input"] for step in steps] == ["A", "\ufffd", "\ufffd", ","]
    assert [step["target"] for step in steps] == ["\ufffd", "\ufffd", ",", "\n"]
    assert {step["prediction"] for step in steps} == {"q"}


def test_a_sequence_too_long_for_the_text_is_refused(task: Wikipedia) -> None:
    long = dataclasses.replace(task, sequence=1000)
    long.training_block(0, 0, 1)
    with pytest.raises(UserError, match=r"^task\.sequence: 1000 .* up to 999 are$"):
        long.evaluation_sets(1)


def test_missing_and_truncated_files_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere\.npz: no such file"):
        Wikipedia("generated", path=str(tmp_path / "nowhere.npz")).evaluation_sets(1)
    with pytest.raises(UserError, match="task\\.path: 'enwik8' needs the file"):
        Wikipedia("enwik8").training_block(0, 0, 1)
    with pytest.raises(UserError, match=r"enwik8-4000000: a file of 4000000 bytes is needed"):
        prepare("enwik8-4000000", tmp_path)
    (tmp_path / "enwik8").mkdir()
    (tmp_path / "enwik8" / "enwik8-4000000").write_bytes(b"short")
    with pytest.raises(UserError, match=r"enwik8-4000000: a file of 4000000 bytes is needed"):
        prepare("enwik8-4000000", tmp_path)


def test_a_real_text_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = b"<page>\n  <id>17</id> It is 1,234.5 m, [[so]] to say.\n</page>"
    monkeypatch.setitem(wikipedia.SOURCES, "enwik8-4000000", len(real))
    (tmp_path / "enwik8").mkdir()
    (tmp_path / "enwik8" / "enwik8-4000000").write_bytes(real)
    arrays = prepare("enwik8-4000000", tmp_path)
    assert arrays["text"].tobytes() == real
    np.testing.assert_array_equal(arrays["kinds"], text_kinds(arrays["text"]))


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
