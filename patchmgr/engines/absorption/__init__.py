"""Find what upstream already has of a series.

effect: which lines of the series a state of upstream has (`weave`, `effect`, `series`).
landing: the upstream commit that brought each patch, for all patches at once (`landing`).
fate: what happened to the landed lines up to the target (`fate`).
proof: what must hold before a hunk is dropped (`proof`).
proposal: which hunks a person is asked about (`likeness`, `proposal`).
"""
