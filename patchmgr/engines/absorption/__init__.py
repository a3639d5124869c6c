"""Find what upstream already has of a series.

effect: what a state of upstream has of each line of the series (`weave`, `effect`, `series`).
landing: the upstream step that brought it, for all patches at once (`landing`).
fate: what became of it up to the target (`fate`).
proof: what must hold before a hunk is dropped (`proof`).
proposal: what a person is asked (`likeness`, `proposal`).
"""
