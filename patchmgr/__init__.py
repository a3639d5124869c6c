"""Fork-and-patch manager for upstream source trees."""

from __future__ import annotations

__version__ = "0.2.0"
