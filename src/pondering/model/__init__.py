"""What thinks: cells, halting mechanisms, the network that joins them, stacking, numerical paths.

Knows torch alone: no parameters, no files, no tasks."""
