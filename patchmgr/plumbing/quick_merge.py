"""A quick merge that the merge driver tries before it loads the rest of the program."""

from __future__ import annotations

from patchmgr.engines.text.separate_changes import Text, changes_between, merge_apart


def is_merged(base: str, ours: str, theirs: str) -> bool:
    """Merge changes that are far apart into the file `ours`; return whether this was possible."""
    texts = []
    try:
        for path in (base, ours, theirs):
            with open(path, "rb") as file:
                texts.append(Text(file.read()))
    except OSError:
        return False
    old, left, right = texts
    changes = changes_between(old, left), changes_between(old, right)
    merged = merge_apart(old, left, right, *changes)
    if merged is not None:
        with open(ours, "wb") as file:
            file.write(merged)
    return merged is not None
