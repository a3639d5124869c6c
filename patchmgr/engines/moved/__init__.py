"""Where upstream put symbols and lines, and how a patch follows them there."""
