"""Measurements against the tools that people use today; see docs/benchmarks.md."""
