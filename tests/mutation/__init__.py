"""Changed engines that a test must notice: `python -m tests.mutation` (docs/reliability.md)."""
