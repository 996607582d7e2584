"""What may go wrong below a stage: `run(..., before=partial(die_at, 3))` arranges it there."""

from __future__ import annotations

import os
import signal

STEPS = 4  # moments to die at while one file is written, see `die_at`


def die_at(moment: int) -> None:
    """SIGKILL at a moment of writing, counted over all files.

    Each file has `STEPS` of them: half of it is written, all of it is, it is safe on disk, it has
    taken its place.
    """
    left = moment
    fsync, replace = os.fsync, os.replace

    def come(handle: int | None = None) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            if handle is not None:
                os.ftruncate(handle, os.fstat(handle).st_size // 2)
            os.kill(os.getpid(), signal.SIGKILL)

    def dying_fsync(handle: int) -> None:
        come(handle)
        come()
        fsync(handle)

    def dying_replace(source: str, target: str) -> None:
        come()
        replace(source, target)
        come()

    os.fsync, os.replace = dying_fsync, dying_replace  # type: ignore[assignment]


def refuse_writes(number: int, files: int) -> None:
    """The file system takes some files, then it fails with an error number."""
    left = files
    fsync = os.fsync

    def failing_fsync(handle: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(number, os.strerror(number))
        fsync(handle)

    os.fsync = failing_fsync  # type: ignore[assignment]
