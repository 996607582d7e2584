"""`pondering back`: from an edit back to the last commit, without a run."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.project.errors import UserError
from pondering.project.provenance import commit_of, git

RESTORED = ("params.yaml", "dvc.lock", "reports")


@click.command()
def back() -> None:
    """Go back to the values, results and trained networks of the last commit, without a run.

    `dvc checkout` alone deletes what it has no copy of in its cache, and the data of other
    profiles. Here nothing changes unless all copies are there, and other profiles stay.
    """
    from pondering.cli import pipeline  # DVC takes a second to import

    if commit_of(Path()) is None:
        raise UserError("there is no commit here to go back to; run it in a checkout")
    with pipeline.opened(Path()) as repo:
        for _ in repo.brancher(revs=["HEAD"], workspace=False):
            outs = repo.index.outs
            missing = [out for out in outs if out.use_cache and out.changed_cache()]
        if missing:
            raise UserError(
                f"DVC has no copy of {len(missing)} of the files and folders that the last commit "
                "names: made on another machine, or deleted by `dvc gc`; nothing has been changed. "
                "`git checkout params.yaml && make repro` goes back by a run"
            )
        words = ("checkout", "HEAD", "--", *RESTORED)
        if git(Path(), *words) is None:
            raise UserError(f"git refuses; `git {' '.join(words)}` says why")
        repo.checkout(["dvc.yaml"])  # by their names DVC would read its files again for each stage
        click.echo(f"back: {', '.join(RESTORED)} and data are those of the last commit")
