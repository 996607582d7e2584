"""Trains one experiment with one mechanism: the loop, its optimiser, checkpoints, shards, Ray.

`plan` makes a value from the parameters, `stage` runs it; `search` tries learning rates. A training
knows its task and its network by their interfaces alone; nothing here evaluates or draws.
"""
