"""Measures trained replicas: error and steps against difficulty, traces, published networks."""
