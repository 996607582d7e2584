"""`pondering next`: where to look after a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from ruamel.yaml import YAML

from pondering.params.read import load_params
from pondering.project.paths import Layout
from pondering.project.provenance import git


@click.command("next")
def whats_next() -> None:
    """Say where to look after a run."""
    profile = load_params().profile
    page = Layout(Path(), profile).report / "index.html"
    click.echo(f"The report: open {page} (as text: {page.with_name('report.md')})")
    click.echo(f"The runs: make ui. The verdicts: pondering claims --profile {profile}")
    click.echo("Change a line of params.yaml, make repro again, then: pondering compare")
    for line in _elsewhere(Path()):
        click.echo(line)


def _elsewhere(root: Path) -> Iterator[str]:
    """What to do where the last commit has another machine's numbers; nothing where it has not."""
    then, lock = git(root, "show", "HEAD:dvc.lock"), root / "dvc.lock"
    if not then or not lock.is_file():
        return
    before, now = (_stages(text) for text in (then, lock.read_text(encoding="utf-8")))
    if not any(_rounded(before[name], now[name]) for name in before.keys() & now.keys()):
        return
    changed = git(root, "diff", "--name-only", "HEAD", "--", "params.yaml", "dvc.lock", "reports")
    files = (changed or "").splitlines()
    yield (
        f"These numbers are this machine's: {len(files)} files differ from the committed ones, by "
        "rounding that training amplifies."
    )
    if "params.yaml" in files:
        yield (
            "To see what the edit of params.yaml alone changes, run without it first (`git stash "
            "pop` brings it back):"
        )
        yield "  git stash push params.yaml && make repro"
    else:
        yield "To see later what an edit alone changes, commit them first, on a branch of your own:"
        yield "  git switch -c mine && git commit -am 'Numbers of this machine'"


def _stages(lock: str) -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe").load(lock)["stages"]
    return found


def _rounded(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether a stage made other data by the same program of the same values and data.

    Among its outputs in git are records with times and devices, which are never the same.
    """
    same = all(before.get(name) == now.get(name) for name in ("cmd", "deps", "params"))
    return same and _data(before) != _data(now)


def _data(run: dict[str, Any]) -> list[dict[str, Any]]:
    return [out for out in run.get("outs", ()) if out["path"].startswith("data/")]
