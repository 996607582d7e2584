"""A checkpoint is loaded whole or refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import tiny

from pondering.project.errors import UserError
from pondering.tasks import make_task
from pondering.train import checkpoint
from pondering.train.plateau import Plateau
from pondering.train.replica import read_tensors
from pondering.train.trainer import Trainer

CONFIG = tiny.config()


def make(updates: int = 0) -> Trainer:
    batch = make_task(CONFIG.task, "tiny").training_block(9, 0, 4).torch()
    return tiny.train(tiny.sweep(CONFIG, plateau=Plateau(batch, 5, 0.5, 2, 9, 4)), updates)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "checkpoint.safetensors"
    trainer = make(7)
    trainer.seconds = 12.5
    checkpoint.save(trainer, path, "key")
    return path


def refusal(path: Path) -> str:
    """The error line for a file, which must not change."""
    before = path.read_bytes()
    with pytest.raises(UserError) as caught:
        checkpoint.load(make(), path)
    assert path.read_bytes() == before
    message = str(caught.value)
    assert message.startswith(f"{path}: ") and len(message.splitlines()) == 1
    return message


def test_a_loaded_checkpoint_saves_the_same_tensors(saved: Path) -> None:
    trainer, again = make(), saved.with_name("again")
    checkpoint.load(trainer, saved)
    checkpoint.save(trainer, again, "key")
    (_, first), (_, second) = (read_tensors(path, "pt") for path in (saved, again))
    assert first == second, "both hold a sha256 of all tensors"


def test_a_checkpoint_that_lacks_a_part_is_refused(saved: Path) -> None:
    """Another version may have written such a file."""
    checkpoint.save(tiny.sweep(CONFIG), saved, "key")
    assert "of another version ('best')" in refusal(saved)


def test_a_cut_off_or_changed_file_is_refused(saved: Path) -> None:
    whole = saved.read_bytes()
    header = 8 + int.from_bytes(whole[:8], "little")
    for length in (0, 7, header // 2, header, len(whole) - 1):
        saved.write_bytes(whole[:length])
        assert "truncated or damaged" in refusal(saved), length
    words = [whole.index(word) + len(word) - 2 for word in (b'"update":"7"', b'"seconds":"12.5"')]
    for place in (*words, header, len(whole) // 2, len(whole) - 1):
        saved.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert "sha256" in refusal(saved), place
