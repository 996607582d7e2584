"""What every room stands on: where files lie, atomic writes, errors, provenance, durations.

Knows the standard library and little else, and no other room."""
