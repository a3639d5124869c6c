"""Where upstream moved symbols and lines, and how a patch follows them there."""
