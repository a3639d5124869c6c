"""File formats: bytes to values and back, without file access."""
