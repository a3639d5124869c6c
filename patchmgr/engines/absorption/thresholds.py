"""Every number that decides what upstream has of a series, with its unit and meaning."""

from __future__ import annotations

FEWEST_CAME = 0.2  # share of a patch's lines that a step brings, to be looked at
FEWEST_OURS = 0.5  # share of what a step adds that is the series', to be its own landing
FEWEST_FOUND = 0.5  # share of a patch's lines that its own landing has
FEWEST_ELSEWHERE = 0.9  # the same for a step that brings mostly other things
FEWEST_LINES = 3  # lines of a patch that a landing must have, where it has not all of them
MOST_OPEN = 0.08  # share of a patch's lines that its own landing left out
FEWEST_BACK = 0.5  # share of the landed lines that a reversal takes back
FEWEST_REVERSED = 0.8  # share of a landing's lines that a step undoes, to be its reversal
