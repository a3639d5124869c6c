"""Read the facts that earlier rebases saved: which patches were applied, resolved and dropped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import convert

from patchmgr.model.notes import Arrival, Carried, Dropped, Solved
from patchmgr.model.outcome import Reliability

Row = Mapping[str, Any]

_PLAIN = frozenset({None, "identical", "text"})
_WORDS = {
    "structural": "merged by structure, both changes are in",
    "format": "merged below upstream's formatting",
    "moved": "re-homed to where upstream moved the code",
    "recorded": "solved as a person did before",
}


def carried_of(rows: Sequence[Row]) -> tuple[Carried, ...]:
    """Return each patch once, with its verdict and all ways in which rebases carried it."""
    found: dict[str, Carried] = {}
    for patch in _patches(rows):
        known = found.get(patch["name"])
        if known is None or known.verdict in ("unchanged", "modified", "partial", "skipped"):
            found[patch["name"]] = _carried(patch, known)
    return tuple(found.values())


def _carried(patch: Row, known: Carried | None) -> Carried:
    how = {str(hunk["how"]) for hunk in patch["hunks"] if hunk["how"] is not None}
    verdict = str(patch["verdict"])
    if known is not None:
        how |= set(known.how)
        if verdict == "unchanged" and known.verdict in ("modified", "partial"):
            verdict = known.verdict
    return Carried(
        str(patch["name"]),
        str(patch["subject"]),
        verdict,
        tuple(sorted(how)),
        patch["reason"],
        patch.get("drop_when"),
    )


def dropped_of(rows: Sequence[Row]) -> Iterator[Dropped]:
    """Yield the patches that upstream has in whole or in part, with the commits that show it."""
    for patch in _patches(rows):
        if patch["verdict"] in ("absorbed", "partial"):
            how = {str(h["how"]) for h in patch["hunks"] if h["verdict"] == "absorbed"}
            yield Dropped(
                str(patch["name"]),
                str(patch["subject"]),
                patch["verdict"] == "absorbed",
                tuple(sorted(how)),
                _arrivals(patch["evidence"]),
                reliabilities(patch["evidence"]),
            )


def reliabilities(found: Sequence[Row]) -> tuple[Reliability, ...]:
    """Return the measured reliability of each kind of evidence or proposal, without repetition.

    Facts saved by an older version have no reliability.
    """
    rows = (one.get("reliability") for one in found)
    return tuple(dict.fromkeys(convert(row, Reliability) for row in rows if row is not None))


def _arrivals(found: Iterable[Row]) -> tuple[Arrival, ...]:
    return tuple(convert(one, Arrival) for one in found)


def _patches(rows: Sequence[Row]) -> list[Row]:
    return [patch for row in rows for patch in row["outcome"]["patches"]]


def solved_of(rows: Sequence[Row]) -> Iterator[Solved]:
    """Yield each file that git's text merge alone could not merge, even if still in conflict."""
    for row in rows:
        solutions = list(row.get("solutions", {}).values())
        for patch in row["outcome"]["patches"]:
            yield from _open(patch)
            files: dict[tuple[str, str], list[Row]] = {}
            for hunk in patch["hunks"]:
                if hunk["how"] not in _PLAIN and hunk["verdict"] != "absorbed":
                    files.setdefault((hunk["path"], hunk["new_path"]), []).append(hunk)
            for (path, new_path), hunks in files.items():
                seen = f"{row['outcome']['name']}/{patch['name']}"
                yield Solved(
                    str(patch["name"]),
                    path,
                    new_path,
                    _symbols(hunks),
                    _solution(hunks, seen, solutions, (path, new_path)),
                    is_open=False,
                    collided=_collided(patch, path, new_path),
                )


def _open(patch: Row) -> Iterator[Solved]:
    for conflict in patch["conflicts"] if patch["verdict"] == "conflict" else ():
        path, new_path = str(conflict["path"]), str(conflict["new_path"])
        words = f"open: {conflict['reason']}"
        if conflict["proposal"]:
            words += f"; proposed: {conflict['proposal']}"
        hunks = [h for h in patch["hunks"] if h["path"] == path and h["verdict"] == "conflict"]
        collided = _collided(patch, path, new_path)
        known = reliabilities(patch.get("likely", ())) if conflict["proposal"] else ()
        yield Solved(
            str(patch["name"]), path, new_path, _symbols(hunks), words, True, collided,
            next(iter(known), None),
        )  # fmt: skip


def _symbols(hunks: Sequence[Row]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(hunk["symbol"]) for hunk in hunks if hunk["symbol"]))


def _collided(patch: Row, path: str, new_path: str) -> tuple[Arrival, ...]:
    return _arrivals(c for c in patch["cause"] if {path, new_path} & set(c["paths"]))


def _solution(
    hunks: Sequence[Row], seen: str, solutions: Sequence[Row], paths: tuple[str, str]
) -> str:
    hows = dict.fromkeys(str(hunk["how"]) for hunk in hunks)
    words = [_WORDS.get(how, how) for how in hows]
    if "recorded" in hows:
        told = [
            str(one["solution"])
            for one in solutions
            if one["path"] in paths or one["seen"].startswith(seen)
        ]
        if told:
            by_hand = ", ".join(dict.fromkeys(told))
            words = [by_hand if word == _WORDS["recorded"] else word for word in words]
    return "; ".join(dict.fromkeys(words))


def touched_by(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the old and new paths of all files that the patches touch."""
    paths = {
        str(path)
        for patch in _patches(rows)
        for hunk in patch["hunks"]
        for path in (hunk["path"], hunk["new_path"])
    }
    return tuple(sorted(paths))


def files_by_change(rows: Sequence[Row]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return two tuples of paths: files that rebases left byte for byte the same, and the others.

    The bytes stay the same if upstream did not touch the file and every patch on it is unchanged.
    """
    hows: dict[str, set[str]] = {}
    gone: set[str] = set()
    for row in rows:
        gone |= {h["path"] for p in row["outcome"]["patches"] for h in p["hunks"]} - {
            h["new_path"] for p in row["outcome"]["patches"] for h in p["hunks"]
        }
        for patch in row["outcome"]["patches"]:
            for hunk in patch["hunks"]:
                is_same = hunk["how"] == "identical" and patch["verdict"] != "skipped"
                hows.setdefault(hunk["new_path"], set()).add("same" if is_same else "other")
    same = tuple(sorted(path for path, found in hows.items() if found == {"same"}))
    other = tuple(sorted(path for path, found in hows.items() if "other" in found))
    return same, tuple(path for path in other if path not in gone)


def warnings_of(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the warnings, one sentence each, that rebases gave about the patches."""
    return tuple(
        f"{patch['name']}: {warning}" for patch in _patches(rows) for warning in patch["warnings"]
    )
