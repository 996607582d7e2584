"""Writing files: several together or none of them, and nothing that a killed writer leaves."""

from __future__ import annotations

import errno
import fnmatch
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pondering.project.atomic import atomic_write, json_text, write_json, write_together

ROOT = Path(__file__).parents[2]


@pytest.fixture
def old(tmp_path: Path) -> dict[Path, bytes]:
    """Files in three folders, of which the last is not there yet."""
    found = {tmp_path / "a.csv": b"old a", tmp_path / "b" / "b.json": b"old b"}
    for path, content in found.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    return found


def everything(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_together(tmp_path: Path, old: dict[Path, bytes]) -> None:
    new: dict[Path, bytes | str] = {path: "new ü" for path in old}
    new[tmp_path / "c/d/e.bin"] = bytes(range(256)) * 1000
    write_together(new)
    expected = {path: v.encode() if isinstance(v, str) else v for path, v in new.items()}
    assert everything(tmp_path) == expected
    assert all(path.stat().st_mode & 0o777 == 0o644 for path in new)


@pytest.mark.parametrize(
    ("call", "good"), [(call, n) for call in ("fsync", "chmod") for n in range(3)] + [("mkdir", 0)]
)
def test_none_of_them_where_one_cannot_be_written(
    tmp_path: Path, old: dict[Path, bytes], monkeypatch: pytest.MonkeyPatch, call: str, good: int
) -> None:
    """The folders of the first two are there already: no `mkdir` is needed for them."""
    real, left = getattr(os, call), good

    def failing(*arguments: object) -> object:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*arguments)

    paths = [*old, tmp_path / "c" / "e.bin"]
    monkeypatch.setattr(os, call, failing)
    with pytest.raises(OSError, match="No space left") as caught:
        write_together(dict.fromkeys(paths, "new"))
    monkeypatch.undo()
    assert caught.value.filename == str(paths[2 if call == "mkdir" else good])
    assert everything(tmp_path) == old


def test_what_a_killed_writer_left_goes_and_what_a_living_one_writes_stays(tmp_path: Path) -> None:
    target = tmp_path / "x[1].csv"
    code = (
        "import os, sys, time; from pathlib import Path; from pondering.project import atomic\n"
        "atomic.os.fsync = lambda handle: (print(flush=True), time.sleep(60))\n"
        "atomic.atomic_write(sys.argv[1], 'a writer')\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
        for path in (target, target, tmp_path / "y.csv")
    ]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.read(1)
    waiting = {path.name for path in tmp_path.iterdir()}
    assert len(waiting) == 3 and all(fnmatch.fnmatch(name, ".*.partial") for name in waiting)
    for writer in (writers[0], writers[2]):
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    atomic_write(target, "whole")
    assert target.read_text() == "whole"
    names = sorted(path.name for path in tmp_path.iterdir() if path != target)
    writers[1].kill()
    for writer in writers:
        writer.communicate()
    assert [name.rpartition(".csv.")[0] for name in names] == [".x[1]", ".y"]
    atomic_write(target, "again")
    atomic_write(tmp_path / "y.csv", "y")
    assert {path.name for path in tmp_path.iterdir()} == {"x[1].csv", "y.csv"}


def test_git_and_dvc_do_not_see_what_is_half_written() -> None:
    for name in (".gitignore", ".dvcignore"):
        patterns = (ROOT / name).read_text(encoding="utf-8").split("\n")
        assert any(fnmatch.fnmatch(".parity-act.csv.abcd.partial", p) for p in patterns if p), name


def test_json(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", {"a": [1.5]})
    assert (
        (tmp_path / "x.json").read_text() == json_text({"a": [1.5]}) == '{\n "a": [\n  1.5\n ]\n}\n'
    )
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "x.json", float("nan"))
    assert everything(tmp_path) == {tmp_path / "x.json": b'{\n "a": [\n  1.5\n ]\n}\n'}
