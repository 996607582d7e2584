"""The one exception a user's mistake ends in, and what an exhausted memory ends in."""

from __future__ import annotations

# as torch says it
MEMORY = ("out of memory", "not enough memory", "can't allocate memory", "bad_alloc")


def printable(line: str) -> str:
    """One line that a terminal shows as it is, whatever a user's file put into it."""
    whole = " ".join(line.split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in whole)


class UserError(Exception):
    """A mistake of the user's: one printable line naming file, key, value and what is allowed.

    Command lines print it after ``error:`` and exit with status 2, never with a traceback.
    """

    def __init__(self, line: str) -> None:
        super().__init__(printable(line))


class Interrupted(Exception):
    """Work that was told to stop and has saved itself; says where the same command goes on."""


def out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that there is no memory left."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in MEMORY)
