"""Judge the changed sites of a series, each file once: what is judged stays on the shelf."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

from msgspec import ValidationError, convert, to_builtins

from patchmgr.engines.gating.sites import Texts
from patchmgr.engines.gating.words import Words
from patchmgr.engines.review import Judge
from patchmgr.model.gating import ChangedSite
from patchmgr.plumbing.answers import Answers
from patchmgr.plumbing.in_parallel import in_parallel

Sites = tuple[ChangedSite, ...]
_GENERAL = "general"


def words_of(upstream: str, own: Mapping[str, Sequence[str]]) -> Words:
    """Return what names tell of gates: those of every project, of an upstream, and of a series.

    For an upstream without a list of its own, those of all lists count.
    """
    pages = (page for page in files("patchmgr").joinpath("gates").iterdir())
    lists = {p.name.removesuffix(".toml"): p for p in pages if p.name.endswith(".toml")}
    names = [_GENERAL, upstream] if upstream in lists else sorted(lists)
    return Words.of((lists[name].read_bytes() for name in names), own)


@contextmanager
def judging(
    judge: Judge, texts: Sequence[Texts], answers: Answers
) -> Iterator[Callable[[], list[Sites]]]:
    """Start to judge what no run before did; what is given returns the sites of every file."""
    rules = repr((to_builtins(judge.words), sorted(judge.defaults.items(), key=repr)))
    questions = [("sites", rules, t.path, t.old, t.new, repr(t.hunks)) for t in texts]
    known = [_sites(answers.get(question)) for question in questions]
    open_ = [t for t, sites in zip(texts, known, strict=True) if sites is None]
    with in_parallel(judge, open_) as judged:

        def answer() -> list[Sites]:
            found = iter(judged())
            results = [next(found) if sites is None else sites for sites in known]
            for question, sites, was in zip(questions, results, known, strict=True):
                if was is None:
                    answers.put(question, to_builtins(sites))
            return results

        yield answer


def _sites(value: Any) -> Sites | None:
    """Return sites that were kept as plain values, None where the value is nothing of the kind."""
    try:
        return None if value is None else convert(value[0], Sites)
    except ValidationError:
        return None
