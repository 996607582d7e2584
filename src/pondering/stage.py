"""What every stage script does around its work: one line for a user's mistake, no traceback."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from pondering.errors import Interrupted, UserError

REMEDIES = {
    errno.ENOSPC: "the disk is full: free some space and run the same command again",
    errno.EDQUOT: "the disk quota is used up: free some space and run the same command again",
    errno.EFBIG: "larger than a file may be: raise the limit (ulimit -f) and run the same again",
    errno.EROFS: "the folder is read-only: make it writable and run the same command again",
    errno.EACCES: "the folder is not writable: change its permissions and run the same again",
    errno.EPERM: "the folder is not writable: change its permissions and run the same again",
    errno.ENOTDIR: "a file stands where a folder should be: move it away and run the same again",
    errno.EEXIST: "a file stands where a folder should be: move it away and run the same again",
    errno.EISDIR: "a folder stands where a file should be: move it away and run the same again",
}
# as torch says it
MEMORY = ("out of memory", "not enough memory", "t allocate memory", "bad_alloc")


@contextmanager
def stage() -> Iterator[None]:
    """Turn the expected ends of a command into one line and an exit status.

    A user's mistake exits with 2, an interruption with 130; what the system refuses (a full disk,
    a read-only folder, exhausted memory) with 1.
    """
    try:
        yield
    except UserError as error:
        refused = isinstance(error.__cause__, OSError)  # by the system, told in better words
        _leave(f"error: {error}", 1 if refused else 2)
    except Interrupted as error:
        _leave(str(error), 130)
    except KeyboardInterrupt:
        _leave("stopped; the same command starts this stage again", 130)
    except OSError as error:
        if error.errno not in REMEDIES:
            raise
        _leave(f"error: {error.filename or 'a file'}: {REMEDIES[error.errno]}", 1)
    except (MemoryError, RuntimeError) as error:
        said = any(words in str(error) for words in MEMORY)
        if not said and not isinstance(error, MemoryError):
            raise
        _leave(
            "error: out of memory: lower training.batch, compute.replicas_at_once, or the number "
            "of seeds or settings of this experiment in params.yaml, and run the same command "
            "again",
            1,
        )


def _leave(line: str, status: int) -> None:
    click.echo(printable(line), err=True)
    sys.exit(status)


def printable(line: str) -> str:
    """One line that a terminal shows as it is, whatever a user's file put into it."""
    whole = " ".join(line.split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in whole)
