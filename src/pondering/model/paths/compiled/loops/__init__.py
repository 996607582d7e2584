"""Pondering of whole replicas as compiled loops: `compute.path: compiled`.

Calls of torch walk all rows once for every elementary function, and where few rows are left of a
step a call takes longer than its work. Numba compiles these loops instead: each replica's rows are
walked a few at a time, which stay in the processor's cache. Replicas know nothing of one another,
so nothing that the loops compute depends on neighbours, threads or shards.

`cells.py` has the steps of the cells, `act.py` and `steps.py` walk them. The mechanisms' rules
and the cells' steps stand here once more, as arithmetic on numbers; the tests pin them to the
readable path. `compiled.py` is the side of torch.
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

# Sums in any order, so that they fit the CPU's vectors; NaN and infinity stay what they are.
LIBERTIES = {"reassoc", "contract", "arcp", "nsz"}
# Numba looks at a function's own file alone when it asks whether the code that it keeps on disk is
# still the function's, not at those of the loops that are compiled into it: the name tells.
_SOURCES = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
DIGEST = hashlib.sha256(_SOURCES).hexdigest()[:8]


def loop(function: F) -> F:
    """Compile where first called, and keep the code on disk; other Python threads go on.

    What a loop calls is compiled into it. Otherwise it might call another loop's copy of that, the
    one that the process loaded first, and a process that compiles the loops would round in another
    way than one that reads their code from disk.
    """
    function.__qualname__ += f"_{DIGEST}"
    compiler = njit(
        nogil=True, cache=True, forceinline=True, fastmath=LIBERTIES, error_model="numpy"
    )
    return cast(F, compiler(function))
