"""`diff`: compare a series with an older state of itself, and record claims about files."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from patchmgr.engines.series.claims import claimed_bytes, digest_of
from patchmgr.engines.series.comparison import compare_states
from patchmgr.errors import UsageError
from patchmgr.formats.paths import check_path
from patchmgr.formats.series_settings import parse_settings
from patchmgr.formats.shown import shown
from patchmgr.formats.toml_text import loads
from patchmgr.model.comparison import ComparedSeries
from patchmgr.model.snapshot import file_content
from patchmgr.plumbing.objects import ObjectReader, StoredTree
from patchmgr.services.load import SeriesAtPin, series_at_pin
from patchmgr.services.published import NOW, NamedState, find_state, read_commits
from patchmgr.services.series import load_series
from patchmgr.services.session import Session
from patchmgr.workspace import Change


def diff(
    session: Session,
    name: str,
    start: str,
    end: str | None,
    *,
    repository: Path | None,
    holds: Sequence[str],
) -> ComparedSeries:
    """Compare the state of a series at one tag with its state at another tag, or now.

    The tags are looked up in `repository`, if it is given. For each `PATH` or `PATH::SYMBOL` in
    `holds`, a claim in series.toml records its bytes in the later state.
    """
    loaded = load_series(session, name)
    first = find_state(session, loaded, start, repository=repository)
    with ExitStack() as held:
        if end is None:
            last = _as_it_is(held.enter_context(series_at_pin(session, name, must_apply=False)))
        else:
            last = find_state(session, loaded, end, repository=repository)
        patches = compare_states(first.commits, last.commits)
        paths = sorted({path for patch in patches for path in patch.paths})
        claims = tuple((place, _digest(last, place)) for place in holds)
        same, other = _files(first, last, paths)
    if claims:
        _write_claims(session, name, claims)
    heads = (start, first.head), (end or NOW, last.head)
    return ComparedSeries(name, *heads, patches, same, other, claims)


def _as_it_is(at_pin: SeriesAtPin) -> NamedState:
    ids, pin, place = at_pin.commits(), at_pin.loaded.base.commit, at_pin.scratch.git_dir
    with ObjectReader(place) as reader:
        commits = read_commits(place, reader, ids)
    return NamedState(NOW, place, ids[-1] if ids else pin, commits)


def _files(
    first: NamedState, last: NamedState, paths: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    with ObjectReader(first.git_dir) as old, ObjectReader(last.git_dir) as new:
        trees = StoredTree(old, old.tree_of(first.head)), StoredTree(new, new.tree_of(last.head))
        both = {path: (trees[0].entry(path), trees[1].entry(path)) for path in paths}
    same = tuple(path for path, (a, b) in both.items() if a == b and a is not None)
    other = tuple(path for path, (a, b) in both.items() if a != b)
    return same, other


def _digest(state: NamedState, place: str) -> str:
    path, _, symbol = place.partition("::")
    check_path(path, what="The path of a claim")
    with ObjectReader(state.git_dir) as reader:
        tree = StoredTree(reader, reader.tree_of(state.head))
        content = file_content(tree.entry(path), reader.blob)
    found = claimed_bytes(path, symbol or None, content)
    if found is None:
        raise UsageError(f"there is no {shown(place)} in {state.name}")
    return f"sha256:{digest_of(found)}"


_HEAD = re.compile(r"\s*\[\s*claims\s*\]\s*(#|$)")


def _write_claims(session: Session, name: str, claims: Sequence[tuple[str, str]]) -> None:
    """Add claims to series.toml without changing other lines."""
    path = f"series/{name}/series.toml"
    with session.writing():
        session.workspace.settings(name)
        there = (session.workspace.root / path).exists()
        raw = session.workspace.read(path) if there else b""
        session.workspace.make(Change({path: with_claims(raw, claims, name)}))


def with_claims(raw: bytes, claims: Sequence[tuple[str, str]], series: str) -> bytes:
    """Return series.toml with new claims in place of those about the same files or symbols."""
    lines = raw.decode().splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    places = {place for place, _ in claims}
    head = next((i for i, line in enumerate(lines) if _HEAD.match(line)), None)
    if head is None:
        lines += ["\n"] * bool(lines) + ["[claims]\n"]
        head = len(lines) - 1
    end = next((i for i in range(head + 1, len(lines)) if lines[i].lstrip()[:1] == "["), len(lines))
    kept = [line for line in lines[head + 1 : end] if places.isdisjoint(_keys(line))]
    lines[head + 1 : end] = [f'"{place}" = "{digest}"\n' for place, digest in claims] + kept
    whole = "".join(lines).encode()
    parse_settings(whole, series=series)
    return whole


def _keys(line: str) -> Collection[str]:
    with suppress(ValueError):  # a part of a text that has several lines
        return loads(line).keys()
    return ()
