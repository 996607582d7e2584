"""A repository of git's, for the tests of what is compared with a commit."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path


def commit(folder: Path) -> None:
    """Commit all that is in a folder; it becomes a repository where it is none."""
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "--all"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], check=True)


def path_with_git(folder: Path, status: str) -> str:
    """A PATH whose git first does something else where it is asked for the status of files.

    Args:
        folder: an empty one, for this git.
        status: what it does then, as a line of the shell.
    """
    script = folder / "git"
    git = shutil.which("git")
    script.write_text(f'#!/bin/sh\nif [ "$3" = status ]; then {status}; fi\nexec {git} "$@"\n')
    script.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"
