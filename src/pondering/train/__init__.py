"""Trains one experiment with one mechanism: the loop, its optimiser, checkpoints, shards, Ray."""
