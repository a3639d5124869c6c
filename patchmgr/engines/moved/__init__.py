"""Find the symbols and lines that upstream moved, and apply a patch where they are now."""
