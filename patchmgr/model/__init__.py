"""Frozen values that all other packages use."""
