"""Trains an experiment: the loop, its optimiser, checkpoints, shards on this machine or by Ray.

A training knows its task and its network by their interfaces alone; nothing here evaluates or
draws.
"""
