"""The next byte of a text."""
