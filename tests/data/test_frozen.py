"""Frozen data: equal arrays give equal bytes, and damage is told in one line."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import tiny

from pondering.data.frozen import freeze, pack, read_arrays, unpack, write_arrays
from pondering.project.errors import UserError
from pondering.tasks import make_task

TASKS: dict[str, dict[str, Any]] = {
    "parity": tiny.BLOCK["common"]["task"] | tiny.BLOCK["quick"]["task"],
    "addition": {"name": "addition", "digits": 2, "length": [1, 3], "test_length": 2},
    "sort": {"name": "sort", "length": [2, 4]},
}


@pytest.mark.parametrize("name", TASKS)
def test_evaluation_sets_come_back_as_they_were(tmp_path: Path, name: str) -> None:
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


def test_only_small_whole_numbers_shrink() -> None:
    task = make_task(TASKS["parity"], "here")
    batch = task.evaluation_sets(3)["test"]
    assert pack({"test": batch})["eval/test/inputs"].dtype == np.int8
    for inputs in (batch.inputs + 0.5, batch.inputs * 1000):
        packed = pack({"test": batch._replace(inputs=inputs)})
        assert packed["eval/test/inputs"].dtype == np.float32


@pytest.fixture
def frozen(tmp_path: Path) -> Path:
    path = tmp_path / "frozen.npz"
    write_arrays(path, {"eval/test/inputs": np.random.default_rng(0).normal(size=(3, 40))})
    return path


def one_line(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        read_arrays(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert len(message.splitlines()) == 1
    return message


def test_missing_truncated_or_of_another_kind(frozen: Path) -> None:
    whole = frozen.read_bytes()
    for length in (0, 30, len(whole) - 1):
        frozen.write_bytes(whole[:length])
        assert "truncated or damaged" in one_line(frozen)
    with frozen.open("wb") as file:
        np.save(file, np.zeros(3))
    assert "truncated or damaged" in one_line(frozen)
    np.savez(frozen, a=np.array([{"an": "object"}], dtype=object))
    assert "truncated or damaged" in one_line(frozen)
    frozen.unlink()
    assert "no such file" in one_line(frozen)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(places=st.lists(st.tuples(st.floats(0, 0.999), st.integers(0, 255)), min_size=1, max_size=3))
def test_damaged_bytes_are_refused_or_mean_the_same(
    frozen: Path, places: list[tuple[float, int]]
) -> None:
    whole = bytearray(frozen.read_bytes())
    arrays = read_arrays(frozen)
    for where, value in places:
        whole[int(where * len(whole))] = value
    path = frozen.with_name("damaged")
    path.write_bytes(whole)
    try:
        found = read_arrays(path)
    except UserError as error:
        assert len(str(error).splitlines()) == 1
    else:  # a name or a date was hit, which the checksums do not cover
        for array, want in zip(found.values(), arrays.values(), strict=False):
            np.testing.assert_array_equal(array, want)


def test_a_file_without_whole_evaluation_sets() -> None:
    for arrays in ({}, {"train": np.zeros(3)}, {"eval/test/inputs": np.zeros(3)}):
        with pytest.raises(UserError, match="no whole evaluation set"):
            unpack(arrays)
