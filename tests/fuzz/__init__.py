"""Inputs without end: what any bytes may do to parsers, merges and the absorption engine.

`tests/fuzz/test_fuzz.py` runs seeds and a few mutations with every test run; `python -m tests.fuzz`
is the long job (see docs/reliability.md).
"""
