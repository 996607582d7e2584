"""What every stage script does around its work: one line for a user's mistake, no traceback."""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from pondering.project.errors import Interrupted, UserError, out_of_memory, printable

# Threads of torch that wait for work look out for it so many times (a tenth of a millisecond) and
# then leave their core to others: to compiled loops, to another training. Read when torch is
# imported; its default is some thirty times that.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

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
    except click.UsageError as error:
        _leave(f"error: {_usage(error)}", 2)
    except Interrupted as error:
        _leave(str(error), 130)
    except KeyboardInterrupt:
        _leave("stopped; the same command starts this stage again", 130)
    except (MemoryError, RuntimeError, ImportError, OSError) as error:
        if isinstance(error, OSError) and error.errno in REMEDIES:
            _leave(f"error: {error.filename or 'a file'}: {REMEDIES[error.errno]}", 1)
        if not out_of_memory(error):
            raise
        _leave(
            "error: out of memory: lower training.batch, compute.replicas_at_once, or the number "
            "of seeds or settings of this experiment in params.yaml, and run the same command "
            "again",
            1,
        )


def completed(names: Callable[[], Iterable[str]]) -> Callable[..., list[str]]:
    """A `shell_complete`: what of some names begins as typed; nothing where they cannot be read."""

    def complete(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[str]:
        try:
            return [name for name in names() if name.startswith(typed)]
        except Exception:  # whatever it is, the command itself says it when it is run
            return []

    return complete


class Command(click.Command):
    """A command whose wrong arguments end like any user's mistake, in one line."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the arguments."""
        with stage():
            return super().make_context(*args, **extra)


def _usage(error: click.UsageError) -> str:
    """Click's own words, and what is allowed where they leave it out."""
    said, ctx = error.format_message(), error.ctx
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option):
        return f"{said} {error.param.help or ''}"
    told = (click.BadParameter, click.BadOptionUsage, click.BadArgumentUsage)
    if ctx is None or isinstance(error, told):
        return said
    names = [
        each.opts[0] if isinstance(each, click.Option) else each.human_readable_name
        for each in ctx.command.get_params(ctx)
    ]
    return f"{said} Allowed: {', '.join(names)}."


def _leave(line: str, status: int) -> None:
    click.echo(printable(line), err=True)
    if status == 130:
        gc.freeze()  # at once, without a search for garbage among all that torch has loaded
    sys.exit(status)
