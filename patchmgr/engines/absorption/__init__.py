"""Find which parts of a series upstream already has.

`weave`, `series`: which lines of the series a version of a file has.
`landing`: the upstream commit that introduced each patch, and what became of its lines.
`proof`: what must hold before a hunk is dropped.
`proposal`: the hunks that only a person can decide about.
"""
