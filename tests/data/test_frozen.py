"""Frozen data: equal arrays give equal bytes, and a damaged file is one error line."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import tiny

from pondering.data.frozen import freeze, pack, unpack, write_arrays
from pondering.project.errors import UserError
from pondering.tasks import make_task
from pondering.tasks.base import read_arrays

TASKS: dict[str, dict[str, Any]] = {
    "parity": tiny.BLOCK["common"]["task"] | tiny.BLOCK["quick"]["task"],
    "addition": {"name": "addition", "digits": 2, "length": [1, 3], "test_length": 2},
    "sort": {"name": "sort", "length": [2, 4]},
}


@pytest.mark.parametrize("name", TASKS)
def test_evaluation_sets_are_read_back_unchanged(tmp_path: Path, name: str) -> None:
    task = make_task(TASKS[name], "here")
    path = tmp_path / "frozen.npz"
    freeze(task, tmp_path, path, 12)
    wanted, found = task.evaluation_sets(12), unpack(read_arrays(path))
    assert list(wanted) == list(found)
    for split, batch in wanted.items():
        for field, want in batch._asdict().items():
            got = getattr(found[split], field)
            assert got.dtype == np.asarray(want).dtype, field
            np.testing.assert_array_equal(got, want)


def test_equal_arrays_give_equal_bytes_at_any_time(tmp_path: Path) -> None:
    arrays = {"eval/test/inputs": np.arange(6.0).reshape(2, 3), "words": np.array(["a", "bc"])}
    write_arrays(tmp_path / "a", arrays)
    write_arrays(tmp_path / "b", {name: array.copy() for name, array in arrays.items()})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with zipfile.ZipFile(tmp_path / "a") as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_only_small_whole_numbers_are_packed_in_a_byte() -> None:
    task = make_task(TASKS["parity"], "here")
    batch = task.evaluation_sets(3)["test"]
    assert pack({"test": batch})["eval/test/inputs"].dtype == np.int8
    for inputs in (batch.inputs + 0.5, batch.inputs * 1000):
        packed = pack({"test": batch._replace(inputs=inputs)})
        assert packed["eval/test/inputs"].dtype == np.float32


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "frozen.npz"
    write_arrays(path, {"eval/test/inputs": np.random.default_rng(0).normal(size=(3, 40))})
    return path


@pytest.mark.parametrize("left", [0, 30, -1])
def test_a_truncated_or_missing_file_is_one_error_line(archive: Path, left: int) -> None:
    archive.write_bytes(archive.read_bytes()[:left])
    with pytest.raises(UserError, match=r"frozen.npz: truncated or damaged [^\n]*$"):
        read_arrays(archive)
    archive.unlink()
    with pytest.raises(UserError, match=r"frozen.npz: no such file; run `dvc repro` first"):
        read_arrays(archive)
