"""Maintain a fork of an upstream project as a series of patches."""

from __future__ import annotations

__version__ = "0.2.0"
