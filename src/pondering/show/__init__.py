"""The terminal: a trained network thinks about one input, step by step. Writes no file."""
