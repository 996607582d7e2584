"""Brings in real data and freezes each experiment's evaluation sets, with their data cards."""
