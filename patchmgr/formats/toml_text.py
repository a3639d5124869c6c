"""The reader of TOML: the standard library's, or the package it came from."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11):
    from tomllib import TOMLDecodeError, loads
else:  # pragma: no cover - Python 3.10 has no tomllib
    from tomli import TOMLDecodeError, loads

__all__ = ["TOMLDecodeError", "loads"]
