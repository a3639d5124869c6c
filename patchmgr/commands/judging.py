"""Judge the changed sites of a series, each file once: what is judged stays on the shelf."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from patchmgr.engines import gating
from patchmgr.engines.gating import Texts
from patchmgr.engines.kept_sites import sites_of_value, sites_value
from patchmgr.engines.review import Judge
from patchmgr.model.gating import ChangedSite
from patchmgr.plumbing.in_parallel import in_parallel
from patchmgr.plumbing.shelf import Shelf, key_of, program_key

Sites = tuple[ChangedSite, ...]


@contextmanager
def judging(
    judge: Judge, texts: Sequence[Texts], shelf: Shelf
) -> Iterator[Callable[[], list[Sites]]]:
    """Start to judge what is not on the shelf; what is given returns the sites of every file."""
    engine = program_key(Path(gating.__file__).parent, "**/*.py")
    own = [(kind, pattern.pattern) for kind, pattern in judge.kinds.own]
    rules = key_of((engine, own, sorted(judge.defaults.items(), key=repr)))
    keys = [key_of((rules, t.path, t.old, t.new, t.hunks)) for t in texts]
    known = [sites_of_value(t.path, shelf.get(key)) for t, key in zip(texts, keys, strict=True)]
    open_ = [t for t, sites in zip(texts, known, strict=True) if sites is None]
    with in_parallel(judge, open_) as judged:

        def answer() -> list[Sites]:
            found = iter(judged())
            results = [next(found) if sites is None else sites for sites in known]
            for key, sites in zip(keys, results, strict=True):
                shelf.keep(key, sites_value(sites))
            return results

        yield answer
