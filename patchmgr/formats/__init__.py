"""Bytes to model and back, no file access."""
