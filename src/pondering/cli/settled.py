"""Imported last by the process that stages are forked from.

What is loaded there stays: no stage searches it for garbage, and the process ends at once.
"""

import gc
import importlib.util

if importlib.util.find_spec("numba"):  # its first call imports half a second's worth of modules
    import numba

    numba.njit(lambda: None)()
gc.freeze()
