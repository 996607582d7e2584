"""Writing several files together or none."""

from __future__ import annotations

import errno
import fnmatch
import os
from pathlib import Path

import pytest

from pondering.project.atomic import json_text, write_together

ROOT = Path(__file__).parents[2]


@pytest.fixture
def old(tmp_path: Path) -> dict[Path, bytes]:
    """Existing files in two folders."""
    found = {tmp_path / "a.csv": b"old a", tmp_path / "b" / "b.json": b"old b"}
    for path, content in found.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    return found


def everything(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_are_written_together(tmp_path: Path, old: dict[Path, bytes]) -> None:
    new: dict[Path, bytes | str] = {path: "new ü" for path in old}
    new[tmp_path / "c/d/e.bin"] = bytes(range(256)) * 1000
    write_together(new)
    expected = {path: v.encode() if isinstance(v, str) else v for path, v in new.items()}
    assert everything(tmp_path) == expected


@pytest.mark.parametrize(
    ("call", "good"),
    [("fsync", 0), ("fsync", 2), ("replace", 0), ("mkdir", 0)],
)
def test_no_file_is_written_if_one_fails(
    tmp_path: Path, old: dict[Path, bytes], monkeypatch: pytest.MonkeyPatch, call: str, good: int
) -> None:
    """The folders of the first two files exist, so only the third needs `mkdir`."""
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


def test_git_and_dvc_ignore_partial_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting: list[Path] = []
    monkeypatch.setattr(os, "replace", lambda source, _: waiting.append(source))
    write_together({tmp_path / "parity-act.csv": "half", tmp_path / "parity.json": "half"})
    for name in (".gitignore", ".dvcignore"):
        patterns = (ROOT / name).read_text(encoding="utf-8").split("\n")
        for path in waiting:
            assert any(fnmatch.fnmatch(path.name, p) for p in patterns if p), (name, path)
    assert len(waiting) == 2


def test_json() -> None:
    assert json_text({"a": [1.5]}) == '{\n "a": [\n  1.5\n ]\n}\n'
    with pytest.raises(ValueError, match="JSON"):
        json_text(float("nan"))
