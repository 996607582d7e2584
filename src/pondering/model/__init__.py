"""Cells, halting mechanisms, the network that joins them, stacked replicas, numerical paths.

It imports torch alone: no parameters, no files, no tasks."""
