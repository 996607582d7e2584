"""Imported once by the process that stages are forked from: Numba's first call imports much."""

import numba

numba.njit()(lambda: None)()
