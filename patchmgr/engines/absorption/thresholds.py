"""The thresholds for absorption, with their units and meanings."""

from __future__ import annotations

MOST = 0.5  # share that is most: of what a step adds, of a patch at its own landing, of what went
FEWEST_CAME = 0.2  # share of a patch's lines that a step brings, to be looked at
FEWEST_LINES = 3  # lines of a patch that a landing must have, where it has not all of them
MOST_OPEN = 0.08  # share of a patch's lines that a landing may leave out and still be whole
FEWEST_REVERSED = 0.8  # share of a landing's lines that a step undoes, to be its reversal
ALIKE = 0.6  # likeness of two lines of which one is the other, rewritten
MOST_LEFT = 0.3  # share of the lines that a run deletes which may be left, rewritten
# Of the public cases this proposes 27 patches that landed and 7 that did not. With 0.5 that is 27
# and 9, with 0.6 it is 24 and 6.
LIKE_IN_CONFLICT = 0.55  # share of what a hunk in conflict says that upstream says
LIKE_IN_CLEAN = 0.7  # the same of one that merges: 12 and none; with 0.6 it is 12 and 1
FEWEST_TELLING = 1.35  # what a hunk must say: a name that the file did not have says 1
NEAR = 6  # lines: git shows what is as near as that in one hunk

# What bounds the work, and decides nothing of code that people write.
LONGEST_LINE = 500  # bytes; what is longer is generated, or no code
