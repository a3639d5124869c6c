"""The thresholds for absorption, with their units and meanings."""

from __future__ import annotations

MOST = 0.5  # the share that counts as most: of a commit's additions, of a patch
FEWEST_CAME = 0.2  # share of a patch's lines that a commit must add to be considered
FEWEST_LINES = 3  # lines of a patch that a landing must have if it lacks some
MOST_OPEN = 0.08  # share of a patch's lines that may be missing from a complete landing
FEWEST_REVERSED = 0.8  # share of a landing's lines that a commit must undo to count as its reversal
ALIKE = 0.6  # likeness of two lines from which one counts as a rewrite of the other
MOST_LEFT = 0.3  # share of the lines that a run deletes that may remain in a rewritten form
# On the public cases, this proposes 27 patches that landed and 7 that did not. The value 0.5
# proposes 27 and 9, and 0.6 proposes 24 and 6.
LIKE_IN_CONFLICT = 0.55  # share of the words of a hunk in conflict that upstream must have
LIKE_IN_CLEAN = 0.7  # the same for a hunk that merges (12 and 0; with 0.6, 12 and 1)
FEWEST_WEIGHT = 1.35  # weight of the words that a hunk must add; a name new to the file weighs 1
NEAR = 6  # lines; git shows changes this close together in one hunk
LONGEST_LINE = 500  # bytes; a longer line is generated, or is not code
