"""A repository of git's, for the tests of what is compared with a commit."""

from __future__ import annotations

import subprocess
from pathlib import Path


def commit(folder: Path) -> None:
    """Commit all that is in a folder; it becomes a repository where it is none."""
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "--all"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], check=True)
