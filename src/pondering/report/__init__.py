"""Figures and pages, drawn from the tables alone.

Nothing here loads torch."""
