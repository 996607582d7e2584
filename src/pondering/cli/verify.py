"""`pondering verify`: does a rerun give the published numbers? Its tables against the committed."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

from pondering.params.read import load_params
from pondering.project.errors import UserError
from pondering.project.provenance import git

KEYS = ["mechanism", "setting", "split", "prediction"]
ELSEWHERE = {"error": 0.15, "ponder_time": 1.5}
"""How far a mean over seeds and difficulties may lie from the published one on another kind of
machine: training amplifies the last bit of a float, so single runs differ there, sweeps do not."""


@click.command()
def verify() -> None:
    """Compare the active profile's tables, as they are now, with the committed ones."""
    profile = load_params().profile
    exactly = same_machine(Path(), profile)
    found = list(differences(Path(), profile, exactly))
    for each in found:
        click.echo(f"{each.file}: {each.what}", err=True)
    how = "byte for byte" if exactly else "within the tolerances for another kind of machine"
    if found:
        raise UserError(f"files that do not agree {how} with the committed ones: {len(found)}")
    click.echo(f"verify: every table of {profile} agrees with the committed one, {how}")


class Difference(NamedTuple):
    """One published file that a rerun does not give."""

    file: str
    what: str


def committed(root: Path, path: Path, revision: str = "HEAD") -> str | None:
    """A file's text at a commit; None if it is not in it."""
    return git(root, "show", f"{revision}:{path.as_posix()}")


def same_machine(root: Path, profile: str) -> bool:
    """Whether this rerun ran on the kind of machine and the versions the published one did."""
    folder = Path("reports") / profile / "provenance"
    keys, unnamed = ("device", "versions", "threads", "path"), {"path": "fast"}
    for path in sorted((root / folder).glob("*.json")):
        then = committed(root, folder / path.name)
        if then is None:
            return False
        before, now = (json.loads(text) for text in (then, path.read_text()))
        # Records from before there was a choice of paths name none.
        found = [unnamed | each for each in (before, *before.get("earlier", ()), now)]
        if any(each.get(key) != found[-1].get(key) for each in found for key in keys):
            return False
    return True


def differences(root: Path, profile: str, exactly: bool) -> Iterator[Difference]:
    """Compare every table, curve and verdict of a profile with HEAD.

    Args:
        exactly: byte for byte; else means over seeds within `ELSEWHERE`.

    Raises:
        UserError: nothing is committed to compare with.
    """
    folder = Path("reports") / profile
    listing = git(root, "ls-files", folder.as_posix()) or ""
    files = [Path(name) for name in listing.splitlines()]
    if not files:
        raise UserError(f"{folder}: nothing is committed there to compare with")
    kinds = ("tables", "curves", "exits", "metrics", "traces") if exactly else ("tables",)
    for path in files:
        if path.parent.name not in kinds and not (exactly and path.name == "claims.json"):
            continue
        then = committed(root, path) or ""
        if not (root / path).is_file():
            yield Difference(str(path), "is missing now")
        elif (now := (root / path).read_text(encoding="utf-8")) != then:
            found = _rows_apart(then, now) if exactly else _means_apart(then, now)
            if found:
                yield Difference(str(path), found)
    for kind in kinds:
        for path in sorted((root / folder / kind).glob("*.*")):
            if path.relative_to(root) not in files:
                yield Difference(str(path.relative_to(root)), "is new: none is committed")


def _rows_apart(then: str, now: str) -> str:
    """How many lines differ, and the first of them."""
    before, after = then.splitlines(), now.splitlines()
    apart = [pair for pair in zip(before, after, strict=False) if pair[0] != pair[1]]
    count = len(apart) + abs(len(before) - len(after))
    first = f": was {apart[0][0][:120]!r}, is {apart[0][1][:120]!r}" if apart else ""
    return f"{count} of {max(len(before), len(after))} lines differ{first}"


def _means_apart(then: str, now: str) -> str:
    """The setting whose mean over seeds and difficulties moved beyond `ELSEWHERE`, if any."""
    import pandas as pd

    before, after = (pd.read_csv(io.StringIO(t)).groupby(KEYS) for t in (then, now))
    for column, allowed in ELSEWHERE.items():
        moved = (after[column].mean() - before[column].mean()).abs()
        if moved.isna().ne(before[column].mean().isna()).any():
            return f"{column}: other settings, or one that failed then and not now"
        if (moved > allowed).any():
            where = ", ".join(map(str, moved.idxmax()))
            return f"{column} of {where} moved by {moved.max():.3g}, allowed are {allowed}"
    return ""
