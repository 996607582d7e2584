"""Torch's calls on packed rows with the gradient by hand, for stacks and for GPUs."""
