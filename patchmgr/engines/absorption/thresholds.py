"""Every number that decides what landed, with its unit and meaning."""

from __future__ import annotations

MOST = 0.5  # share that is most: of what a step adds, of a patch at its own landing, of what went
FEWEST_CAME = 0.2  # share of a patch's lines that a step brings, to be looked at
FEWEST_ELSEWHERE = 0.9  # share of a patch's lines that a step has which brings mostly other things
FEWEST_LINES = 3  # lines of a patch that a landing must have, where it has not all of them
MOST_OPEN = 0.08  # share of a patch's lines that its own landing left out
FEWEST_REVERSED = 0.8  # share of a landing's lines that a step undoes, to be its reversal
