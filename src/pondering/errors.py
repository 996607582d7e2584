"""The one exception a user's mistake ends in."""

from __future__ import annotations


class UserError(Exception):
    """A mistake of the user's: one line naming file, key, value and what is allowed.

    Command lines print it after ``error:`` and exit with status 2, never with a traceback.
    """


class Interrupted(Exception):
    """Work that was told to stop and has saved itself; says where the same command goes on."""
