"""Which structural merge, and which checks of a clean merge, a file gets: by its name."""

from __future__ import annotations

from patchmgr.engines.audit.names import name_warnings
from patchmgr.engines.structure.cxx import merge_cxx
from patchmgr.engines.structure.guards import suspicions
from patchmgr.engines.structure.guards_lines import growths
from patchmgr.engines.structure.guards_words import is_worth_a_look
from patchmgr.engines.structure.python import merge_python
from patchmgr.engines.structure.reliability import CXX_SUFFIXES, PYTHON_SUFFIXES
from patchmgr.engines.structure.sides import Solution, Texts

LARGEST = 2 << 20
"""Characters of a text, beyond which nothing is merged or checked by structure.

What is merged so is decided by its size and never by the time that it takes: a Python file of a
sixth of this takes six seconds, and more on a busy machine.
"""


def merge_structure(texts: Texts, path: str, marked: bytes) -> Solution | None:
    """Merge a file by rules, given git's marked text; None where there are none or they refuse."""
    if max(map(len, texts.sides())) > LARGEST:
        return None
    shown = marked.decode("utf-8", "surrogateescape")
    if path.endswith(PYTHON_SUFFIXES):
        return merge_python(texts, path, marked=shown)
    if path.endswith(CXX_SUFFIXES):
        return merge_cxx(texts, path, marked=shown)
    return None


def suspect(texts: Texts, merged: str, path: str, names: bool = True) -> tuple[str, ...]:
    """Return what a person should look at in a merge that is clean as text, as sentences.

    Without `names` nothing is said of names that nothing binds.
    """
    if not path.endswith(PYTHON_SUFFIXES) or len(merged) > LARGEST:
        return ()
    found = name_warnings(merged, texts.upstream, texts.fork) if names else ()
    if not is_worth_a_look(texts, growths(texts, merged)):
        return found
    more = suspicions(texts.base, texts.upstream, texts.fork, merged, path)
    return tuple(dict.fromkeys((*found, *more)))
