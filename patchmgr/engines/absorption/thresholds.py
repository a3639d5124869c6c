"""Every number that decides what upstream has of a series, with its unit and meaning."""

from __future__ import annotations

FEWEST_CAME = 0.2  # share of a patch's lines that a step brings, to be looked at
MOST_CANDIDATES = 4  # steps that are looked at for one patch, those that bring most
FEWEST_OURS = 0.5  # share of what a step adds that is the series', to be its own landing
FEWEST_FOUND = 0.5  # share of a patch's lines that its own landing has
FEWEST_ELSEWHERE = 0.85  # the same for a step that brings mostly other things
MOST_OPEN = 0.15  # share of a patch's lines that its landing left out, with their place as it was
FEWEST_BACK = 0.5  # share of the landed lines that a reversal takes back
FEWEST_REVERSED = 0.8  # share of a landing's lines that a step undoes, to be its reversal
