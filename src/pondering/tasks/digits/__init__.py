"""Images of digits, upright or rotated."""
