"""Generated examples without a time limit: the machines of tests are shared and slow."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
