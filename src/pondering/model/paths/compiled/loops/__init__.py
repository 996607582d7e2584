"""Pondering of whole replicas as loops that Numba compiles: `compute.path: compiled`.

torch reads and writes all rows once for every elementary function, and where few rows are left a
call takes longer than its work. These loops take a few rows of one replica, a block, through a
whole step while they are in the processor's cache. A replica's numbers come from that replica
alone, so they depend on no neighbour, no number of threads and no shard.

- `cells.py`: one step of a cell, forwards and backwards;
- `forward.py`, `backward.py` and `tape.py`: ACT and fixed repeat, a whole sequence.

The mechanisms' rules and the cells' steps stand here a second time, as arithmetic on numbers; the
tests hold them to the readable path. `operations.py` joins the loops to torch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

Array = Any  # numpy.ndarray; Numba makes its own types of what a function is called with
Float = Any  # numpy.float32
F = TypeVar("F", bound=Callable[..., Any])
f4 = np.float32  # of constants too: 1 - x would be double
zero: Any = np.int64(0)  # what a plain 0 is handed to is compiled for that 0 apart

# LLVM may add in any order, to use the CPU's vectors. NaN and infinity keep their meaning.
LIBERTIES = {"reassoc", "contract", "arcp", "nsz"}
# Numba keeps compiled code on disk and compiles anew where the function's own file has changed. It
# does not look at the files of what is compiled into it, so each name carries a hash of them all.
_SOURCES = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
DIGEST = hashlib.sha256(_SOURCES).hexdigest()[:8]


def loop(function: F) -> F:
    """Compile a function at its first call, without Python's lock, and keep the code on disk.

    What it calls is compiled into it. Otherwise it would call whichever copy the process has loaded
    first, and a process that compiles would round in another way than one that reads from disk.
    """
    function.__qualname__ += f"_{DIGEST}"
    compiler = njit(
        nogil=True, cache=True, forceinline=True, fastmath=LIBERTIES, error_model="numpy"
    )
    return cast(F, compiler(function))
