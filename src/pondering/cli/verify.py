"""`pondering verify`: does a second run give the same? It runs the last commit in a clone."""

from __future__ import annotations

import filecmp
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import click

from pondering.params.read import load_params
from pondering.project.errors import UserError
from pondering.project.paths import PUBLISHED, Layout
from pondering.project.provenance import git, git_commit

KINDS = ("tables", "curves", "exits", "traces")
ERROR, STEPS = 0.15, 1.5
"""How far a mean over seeds and difficulties may lie from the committed one: on another kind of
machine training amplifies the last bit of a float, so single runs differ, sweeps do not."""


@click.command(short_help="Compare tables with the committed ones.")
def verify() -> None:
    """Run the active profile of the last commit in a temporary clone, and compare.

    With the results in this folder byte for byte, with the committed metrics within tolerances.
    """
    profile, root = load_params().profile, Path()
    if not (committed := git(root, "ls-files", f"{PUBLISHED}/{profile}/metrics")):
        raise UserError(f"{PUBLISHED}/{profile}/metrics: nothing is committed to compare with")
    if git_commit(root).endswith("+changes"):
        raise UserError("this folder differs from the last commit; commit the changes first")
    with tempfile.TemporaryDirectory() as folder:
        click.echo(f"verify: running {profile} anew in {folder}")
        rerun(root, Path(folder), profile)
        here, there = Layout(root, profile), Layout(Path(folder), profile)
        apart = [*files_apart(here.report, there.report)] if here.report.is_dir() else []
        for name in committed.splitlines():
            before, after = git(root, "show", f"HEAD:{name}"), Path(folder) / name
            apart += [f"{name}: {what}" for what in numbers_apart(before or "{}", after)]
    for each in apart:
        click.echo(each, err=True)
    if apart:
        raise UserError(f"a second run differs in {len(apart)} places")
    same = "same tables, curves and traces, byte for byte" if here.report.is_dir() else "same run"
    click.echo(f"verify: {same}; every metric agrees with the committed one")


def rerun(root: Path, folder: Path, profile: str) -> None:
    """Run `dvc repro` in a clone, where nothing counts as trained.

    Raises:
        UserError: a stage has failed, and said why.
    """
    subprocess.run(["git", "clone", "--quiet", str(root.absolute()), str(folder)], check=True)
    (folder / PUBLISHED / profile / "replicas.csv").unlink(missing_ok=True)
    environment = os.environ | {
        "PYTHONPATH": str(folder / "src"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PONDERING_TRACKING": "off",
    }
    if subprocess.run(["dvc", "repro"], cwd=folder, env=environment).returncode:
        raise UserError("the second run failed, as it says above")


def files_apart(here: Path, there: Path) -> Iterator[str]:
    """Which tables, curves and traces of two folders of results are not the same bytes."""
    names = {
        str(path.relative_to(folder))
        for folder in (here, there)
        for kind in KINDS
        for path in (folder / kind).rglob("*.*")
    }
    _, differ, alone = filecmp.cmpfiles(here, there, sorted(names), shallow=False)
    yield from (f"{name}: in one of the two runs alone" for name in alone)
    for name in differ:
        lines = (
            (folder / name).read_text(encoding="utf-8").splitlines() for folder in (here, there)
        )
        pairs = (pair for pair in zip_longest(*lines, fillvalue="") if pair[0] != pair[1])
        yield "{}: here {!r}, then {!r}".format(name, *(line[:120] for line in next(pairs)))


def numbers_apart(committed: str, path: Path) -> Iterator[str]:
    """Which metrics of a file have left the committed ones by more than is allowed."""
    after = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    before = json.loads(committed)
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name, math.nan), after.get(name, math.nan)
        allowed = STEPS if name.endswith("_steps") else ERROR
        if not abs(new - old) <= allowed:
            yield f"{name} was {old:.3g} and is {new:.3g}; {allowed} apart is allowed"
