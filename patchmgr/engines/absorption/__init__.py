"""Find which parts of a series upstream already has.

effect: which lines of the series a version of a file has (`weave`, `effect`, `series`).
landing: the upstream commit that brought each patch, for all patches at once (`landing`).
fate: what upstream later did with the lines that landed (`fate`).
proof: what must hold before a hunk is dropped (`proof`).
proposal: the hunks that only a person can decide about (`likeness`, `proposal`).
"""
