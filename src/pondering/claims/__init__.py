"""Judges the papers' claims: from `claims.yaml` and the tables to verdicts.

Nothing here loads torch."""
