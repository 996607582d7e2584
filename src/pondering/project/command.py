"""What every command does around its work: one line for a user's mistake, no traceback."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from pondering.project.errors import Interrupted, UserError, out_of_memory, printable

# Threads of torch that wait for work look out for it so many times (a tenth of a millisecond) and
# then leave their core to others: to compiled loops, to another training. Read when torch is
# imported; its default is some thirty times that.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")


@contextmanager
def stage() -> Iterator[None]:
    """Turn the expected ends of a command into one line and an exit status.

    A user's mistake exits with 2, an interruption with 130. A full disk, a read-only folder and
    exhausted memory exit with 1. What a terminal cannot write is printed as a question mark.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        with contextlib.suppress(io.UnsupportedOperation):
            sys.stdout.reconfigure(errors="replace")
    try:
        yield
    except UserError as error:
        refused = isinstance(error.__cause__, OSError)  # by the system, told in better words
        _leave(f"error: {error}", 1 if refused else 2)
    except Interrupted as error:
        _leave(str(error), 130)
    except KeyboardInterrupt:
        _leave("stopped; the same command starts this stage again", 130)
    except BrokenPipeError:
        raise  # the reader of the output, such as `head`, has read enough: Click ends in silence
    except (MemoryError, RuntimeError, OSError) as error:
        if out_of_memory(error):
            remedy = "lower training.batch or compute.replicas_at_once in params.yaml"
            _leave(f"error: out of memory: {remedy}, and run the same command again", 1)
        if not isinstance(error, OSError) or not error.strerror:
            raise
        where, reason = error.filename or "a file", error.strerror.lower()
        _leave(f"error: {where}: {reason}; mend it and run the same command again", 1)


def _leave(line: str, status: int) -> None:
    click.echo(printable(line), err=True)
    if status == 130:
        gc.freeze()  # at once, without a search for garbage among all that torch has loaded
    sys.exit(status)
