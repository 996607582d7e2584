"""Loops over rows that Numba compiles, for CPUs."""
