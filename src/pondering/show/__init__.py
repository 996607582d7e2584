"""The terminal: a trained network thinks about one input, step by step.

Reads the same files as everybody; writes none.
"""
