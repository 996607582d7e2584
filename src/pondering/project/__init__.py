"""What every room stands on: where files lie, atomic writes, errors, provenance, progress.

Knows the standard library and little else, and no other room."""
