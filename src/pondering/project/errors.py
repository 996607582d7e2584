"""The one exception a user's mistake ends in, and what an exhausted memory ends in."""

from __future__ import annotations

# as torch and, of a library, the system's loader say it
MEMORY = ("out of memory", "not enough memory", "t allocate memory", "bad_alloc", "failed to map")
FORBIDDEN = ("not permitted", "denied")  # the loader's other reasons


class UserError(Exception):
    """A mistake of the user's: one line naming file, key, value and what is allowed.

    Command lines print it after ``error:`` and exit with status 2, never with a traceback.
    """


def printable(line: str) -> str:
    """One line that a terminal shows as it is, whatever a user's file put into it."""
    whole = " ".join(line.split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in whole)


class Interrupted(Exception):
    """Work that was told to stop and has saved itself; says where the same command goes on."""


def out_of_memory(error: BaseException) -> bool:
    """Whether an exception, or one that it came from, says that there is no memory left."""
    if isinstance(error, MemoryError):
        return True
    said = str(error)
    if any(words in said for words in MEMORY) and not any(words in said for words in FORBIDDEN):
        return True
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return before is not None and out_of_memory(before)
