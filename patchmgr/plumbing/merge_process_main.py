"""The process that does structural merges; it answers requests until its input ends."""

from __future__ import annotations

import importlib
import os
import pickle
import resource
import sys
from collections.abc import Callable

from patchmgr.engines.merge.edits import edits_of_parts
from patchmgr.engines.merge.resolve import resolve
from patchmgr.engines.structure.guards import suspect
from patchmgr.plumbing.merge_process import MOST_MEMORY, NO_MEMORY


def answer_all(is_early: bool) -> None:
    """Answer the requests on standard input; if `is_early`, load what most requests need first."""
    if is_early:
        importlib.import_module("pyflakes.checker")  # most questions need it
    asked: dict[str, Callable[..., object]] = {
        "merge": resolve,
        "suspect": suspect,
        "edits": edits_of_parts,
    }
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while True:
        try:
            what, *question = pickle.load(source)
        except EOFError:
            return
        try:
            answer = pickle.dumps(asked[what](*question))
        except (MemoryError, RecursionError):
            os._exit(NO_MEMORY)
        sink.write(answer)
        sink.flush()
