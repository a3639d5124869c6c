"""Frozen values; standard library only."""
