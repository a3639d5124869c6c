"""Find the symbols and lines that upstream moved, and apply a patch at their new place."""
