"""Pondering of whole replicas as loops that Numba compiles: the path `compiled`.

torch reads and writes all rows once for every elementary function, and with few rows left a call
takes longer than its work. These loops take a block, a few rows of one replica, through a whole
step while it is in the processor's cache. A replica's numbers come from that replica alone. They
depend on no neighbour, no number of threads and no shard.

- `cells.py`: one step of a cell, forwards and backwards;
- `forward.py`, `backward.py` and `tape.py`: ACT and fixed repeat, a whole sequence.

The mechanisms' rules and the cells' steps are written here a second time, as arithmetic on numbers.
The tests compare them with the readable path. `operations.py` joins the loops to torch.
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
zero: Any = np.int64(0)  # a literal 0 would trigger a second specialisation by Numba

# LLVM may add in any order, to use the CPU's vectors. NaN and infinity keep their meaning.
LIBERTIES = {"reassoc", "contract", "arcp", "nsz"}
# Numba keeps compiled code on disk and compiles again if the function's file has changed. It does
# not check the files of inlined functions, so each name carries a hash of all files.
_SOURCES = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
DIGEST = hashlib.sha256(_SOURCES).hexdigest()[:8]


def loop(function: F) -> F:
    """Compile a function at its first call, to run without Python's lock; keep the code on disk.

    Its callees are inlined. Otherwise it would call the copy that the process loaded first, and a
    process that compiles would round differently from one that reads from disk.
    """
    function.__qualname__ += f"_{DIGEST}"
    compiler = njit(
        nogil=True, cache=True, forceinline=True, fastmath=LIBERTIES, error_model="numpy"
    )
    return cast(F, compiler(function))
