"""Measures trained replicas: error and steps against difficulty, traces, published networks.

Reads what `train` left and writes the tables, which are the truth for everything above. Nothing
here trains, judges or draws.
"""
