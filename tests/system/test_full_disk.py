"""A disk that is full or read-only: one line with the remedy, status 1, and no file changed."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial, wraps
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from support import faults, stages, tiny

from pondering.report.figures import save

QUICK = ("--profile", "quick")
STAGES = {
    "download": QUICK,
    "datasets": stages.QUICK,
    "train": (*stages.QUICK, "--mechanism", "act"),
    "evaluate": stages.QUICK,
    "report": QUICK,
}
# What may be new though the stage failed later: whole files, each right by itself.
DONE_FIRST = {
    "download": {"data/raw/quick/words/all.txt"},
    "datasets": {"data/tasks/quick/tiny.npz"},
    "report": {f"data/results/quick/{n}" for n in ("claims.json", "index.html", "report.md")},
}
WORDS = b"a b c d e\n"


def mounted(*command: str) -> None:
    """Mount something; `may_mount` has seen that it is allowed."""
    subprocess.run(["mount", *command], check=True, capture_output=True)


@cache
def may_mount() -> bool:
    """Whether this process may."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["mount", "-t", "tmpfs", "pondering-test", folder]
        allowed = subprocess.run(command, capture_output=True).returncode == 0
        if allowed:
            subprocess.run(["umount", "--lazy", folder], check=True)
    return allowed


@cache
def in_a_namespace(test: str) -> subprocess.CompletedProcess[str] | None:
    """A test of this file with all its cases where mounting is allowed; None without such."""
    with suppress(FileNotFoundError):
        trial = ["unshare", "-rm", "mount", "-t", "tmpfs", "pondering-test", tempfile.gettempdir()]
        if subprocess.run(trial, capture_output=True).returncode == 0:
            pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
            command = ["unshare", "-rm", *pytest_, f"{Path(__file__)}::{test}"]
            return subprocess.run(command, capture_output=True, text=True, cwd=stages.ROOT)
    return None


def mounts(test: Callable[..., None]) -> Callable[..., None]:
    """A test that mounts: here where this process may, else with all its cases in a namespace."""

    @wraps(test)
    def somewhere(**fixtures: Any) -> None:
        if may_mount():
            test(**fixtures)
            return
        done = in_a_namespace(test.__name__)
        if done is None:
            said = (
                "a full disk is a small tmpfs: neither `mount` nor `unshare -rm` is permitted here"
            )
            (pytest.fail if os.environ.get("CI") else pytest.skip)(said)
        assert done.returncode == 0, done.stdout

    return somewhere


def changed() -> dict[str, Any]:
    """Parameters under which every stage writes other files than before."""
    values = tiny.document(training={"updates": 40}, evaluation={"examples": 11})
    values["compute"]["checkpoint_seconds"] = 1000
    file = values["download"]["sets"]["words"]["files"]["words/all.txt"]
    file |= {"bytes": len(WORDS), "sha256": hashlib.sha256(WORDS).hexdigest()}
    values["download"] |= {"mirror": "mirror", "needs": {"quick": ["words"]}}
    return values


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """For each stage the project before it: its own old results, all that it reads anew."""
    folder = tmp_path_factory.mktemp("before")
    shutil.copytree(stages.finished_project(), folder / "download")
    project = folder / "download"
    shutil.copy(stages.ROOT / "claims.yaml", project)
    assert stages.run(project, "report", *QUICK).status == 0
    (project / "mirror/words").mkdir(parents=True)
    (project / "mirror/words/all.txt").write_bytes(WORDS)
    tiny.write(project, changed())
    for name, following in pairwise(STAGES):
        shutil.copytree(folder / name, folder / following)
        runs = [STAGES[name]]
        if name == "train":
            runs = [(*stages.QUICK, "--mechanism", each) for each in stages.MECHANISMS]
        for arguments in runs:
            assert stages.run(folder / following, name, *arguments).status == 0
    return {name: folder / name for name in STAGES}


def results(project: Path, name: str = "") -> dict[str, bytes]:
    """What stages wrote, without downloads under way, finished replicas, what a stage does first.

    A replica's file is whole: what a stage that fails has trained stays trained.
    """
    found = stages.contents(project)
    apart = DONE_FIRST.get(name, set())
    return {
        path: data
        for path, data in found.items()
        if path not in apart and not path.startswith(("data/raw/.partial", "data/replicas"))
    }


def check_refusal(done: stages.Done, words: str) -> None:
    """One line with the remedy, and status 1."""
    assert done.status == 1, done.err
    *said, line = done.err.splitlines()
    assert all(each.startswith("words/all.txt: ") for each in said)  # the download's progress
    assert line.startswith("error: ") and "error: a file: " not in line
    assert words in line


@contextmanager
def disk(folder: Path) -> Iterator[Path]:
    """A file system of its own, of four megabytes."""
    folder.mkdir()
    mounted("-t", "tmpfs", "-o", "size=4m", "pondering-test", str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.parametrize("name", STAGES)
@mounts
def test_a_full_disk(tmp_path: Path, before: dict[str, Path], name: str) -> None:
    """With ever more room left, until it suffices; then all is as on an empty disk."""
    roomy = tmp_path / "roomy"
    shutil.copytree(before[name], roomy)
    assert stages.run(roomy, name, *STAGES[name]).status == 0
    new = results(roomy)
    assert new != results(before[name])
    with disk(tmp_path / "disk") as small:
        again = filled(small, before[name], name)
    assert set(again) == set(new)
    origin = "data/results/quick/provenance"  # differs in its wall time
    for path in new:
        assert path.startswith(origin) or again[path] == new[path], path


def filled(disk: Path, before: Path, name: str) -> dict[str, bytes]:
    """What a stage has written on a small disk when it has room at last; until then nothing."""
    project = disk / "project"
    shutil.copytree(before, project)
    old, ballast, left, failures = results(project, name), disk / "ballast", 0, 0
    while True:
        ballast.unlink(missing_ok=True)
        shutil.rmtree(project / "data/raw/.partial", ignore_errors=True)
        free = shutil.disk_usage(disk).free
        ballast.write_bytes(bytes(max(0, free - left * os.sysconf("SC_PAGE_SIZE"))))
        done = stages.run(project, name, *STAGES[name])
        if done.status == 0:
            break
        check_refusal(done, "no space left on device")
        assert "no space left" in done.err
        assert results(project, name) == old, f"{left} pages left"
        failures, left = failures + 1, left + 1 + left // 3
    assert failures
    return results(project)


@pytest.mark.parametrize("name", ["evaluate", "report"])
@mounts
def test_read_only_reports(before: dict[str, Path], tmp_path: Path, name: str) -> None:
    project = tmp_path / "project"
    shutil.copytree(before[name], project)
    old, folder = results(project, name), str(project / "reports")
    mounted("--bind", folder, folder)
    try:
        mounted("-o", "remount,ro,bind", folder)
        done = stages.run(project, name, *STAGES[name])
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
    check_refusal(done, "read-only file system")
    assert "error: reports/" in done.err
    assert results(project, name) == old
    assert stages.run(project, name, *STAGES[name]).status == 0


@pytest.mark.parametrize("name", STAGES)
def test_a_file_system_that_takes_no_more(
    before: dict[str, Path], tmp_path: Path, name: str
) -> None:
    """After some of a stage's files."""
    project = tmp_path / "project"
    shutil.copytree(before[name], project)
    old, files = results(project, name), 0
    while True:
        shutil.rmtree(project / ".checkpoints", ignore_errors=True)
        fault = partial(faults.refuse_writes, errno.EDQUOT, files)
        done = stages.run(project, name, *STAGES[name], before=fault)
        if done.status == 0:
            break
        check_refusal(done, os.strerror(errno.EDQUOT).lower())
        assert results(project, name) == old, files
        assert not [path for path in project.rglob("*.partial") if path.is_file()]
        files = 2 * files + 1
    assert files


def test_files_that_may_not_be_longer(before: dict[str, Path], tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(before["train"], project)
    old = results(project)
    done = stages.run(project, "train", *STAGES["train"], before=partial(faults.small_files, 1000))
    check_refusal(done, "checkpoint.safetensors: file too large")
    assert results(project) == old


def test_a_figure_is_drawn_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for size in (3, 4):
        figure = Figure(figsize=(size, 2))
        figure.subplots().plot([0, size])
        if size == 4:
            monkeypatch.setattr(os, "fsync", os.fsync)  # put back after the test
            faults.refuse_writes(errno.ENOSPC, 1)
            with pytest.raises(OSError, match="No space left") as caught:
                save(figure, tmp_path / "figure")
            assert caught.value.filename == str(tmp_path / "figure.png")
        else:
            save(figure, tmp_path / "figure")
            svg, png = ((tmp_path / f"figure.{kind}").read_bytes() for kind in ("svg", "png"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure.png", "figure.svg"]
    assert (tmp_path / "figure.png").read_bytes() == png
    assert (tmp_path / "figure.svg").read_bytes() != svg
