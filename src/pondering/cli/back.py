"""`pondering back`: from an edit back to the last commit, without a run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import click

from pondering.project.command import stage
from pondering.project.errors import UserError
from pondering.project.provenance import git_commit

RESTORED = ("params.yaml", "dvc.lock", "reports")


@click.command()
def back() -> None:
    """Go back to the values, results and trained networks of the last commit, without a run.

    `dvc checkout` alone deletes what it has no copy of in its cache, and the data of other
    profiles. Here nothing changes unless all copies are there, and other profiles stay.
    """
    from pondering.cli import pipeline  # DVC takes a second to import

    if git_commit(Path()) == "unknown":
        raise UserError("there is no commit here to go back to; run it in a checkout")
    with stage(), pipeline.opened(Path()) as repo:
        for _ in repo.brancher(revs=["HEAD"], workspace=False):
            outs = repo.index.outs
            missing = [out for out in outs if out.use_cache and out.changed_cache()]
        if missing:
            raise UserError(
                f"the last commit names {len(missing)} files and folders of data that were never "
                "here, but made on another machine; nothing has been changed. "
                "`git checkout params.yaml && make repro` goes back by a run"
            )
        command = ["git", "checkout", "HEAD", "--", *RESTORED]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise UserError(f"git: {done.stderr}")
        repo.checkout(["dvc.yaml"])  # by their names DVC would read its files again for each stage
        click.echo(f"back: {', '.join(RESTORED)} and data are those of the last commit")
