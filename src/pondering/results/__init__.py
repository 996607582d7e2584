"""Reads the tidy tables and reckons means and intervals; all views of results stand on it.

Nothing here loads torch."""
