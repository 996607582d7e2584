"""What is refused, as a user sees it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable

from pondering.project.command import stage


def what_a_user_sees(work: Callable[[], object]) -> str | None:
    """The line a command ends with when its work is refused; None if it is accepted."""
    stderr = io.StringIO()
    try:
        with contextlib.redirect_stderr(stderr), stage():
            work()
    except SystemExit as end:
        assert end.code == 2
        return stderr.getvalue().removesuffix("\n").removeprefix("error: ")
    return None
