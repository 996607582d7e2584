"""Reads `params.yaml` into typed values and says what is wrong with it in one line.

The entries of the halting mechanisms stand here too: whatever sweeps, draws or judges a mechanism
knows it by its entry. A replica (mechanism, setting, seed, options) is made here and carried to
the tables. Nothing here loads torch."""
