"""What becomes of the shipped series on every later release, for docs/releases.md.

    python -m benchmarks.releases [--write] [--to SERIES=VERSION ...] [SERIES ...]

Every series is carried from its pin to each release in one jump (`rebase --dry-run`), and once
more step by step: a copy of the workspace is rebased from release to release, and a patch that is
left in conflict is skipped from there on. Archives come from the package index, through the cache
of patchmgr (XDG_CACHE_HOME).
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any

from patchmgr.formats.toml_text import loads

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "releases.md"
LOCK = "upstream.lock"
_LEFT = ("conflict", "blocked")
_EVENTS = {"gone": "no longer in the file", "evolved": "changed again"}
_CARRIED = {"unchanged", "modified"}
_STATE = re.compile(r" in \S+ v[\w.]+(?= |$)")  # the target that a reason names; rows name it

Cell = tuple[str, str]
"""A verdict, and what it rests on."""
Answers = Mapping[str, Mapping[str, Cell]]
"""By release, then by patch."""


def main() -> None:
    """Measure, print, and write the page where that is asked for."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("series", nargs="*", help="all, unless named")
    parser.add_argument(
        "--to", action="append", default=[], metavar="SERIES=VERSION", help="the last release"
    )
    parser.add_argument("--write", action="store_true", help="write docs/releases.md")
    options = parser.parse_args()
    records = loads((ROOT / LOCK).read_text())["series"]
    last = dict(word.split("=", 1) for word in options.to)
    parts = [_head(options.to)]
    for name in options.series or sorted(records):
        parts.append(_section(name, records[name]["pin"]["ref"], last.get(name, "")))
    page = "\n\n".join(parts) + "\n"
    print(page)
    if options.write:
        PAGE.write_text(page)


def _head(limits: Sequence[str]) -> str:
    command = " ".join(("python -m benchmarks.releases --write", *(f"--to {x}" for x in limits)))
    return f"""\
# The shipped series on every later release

Written by `{command}`.

*In one jump* is a rebase from the pin straight to that release; the releases between are read as
history. *Step by step* is a rebase from each release to the next. There, an absorbed patch is
dropped, and a patch that stays in conflict is skipped from then on. That column says `the same`
unless the verdict differs. Consecutive releases with the same result share a row. The
[glossary](glossary.md#verdicts) explains the verdicts and how they are reached."""


def _section(name: str, pin: str, last: str) -> str:
    with tempfile.TemporaryDirectory(prefix="patchmgr-releases-") as folder:
        workspace = Path(folder)
        fill(workspace)
        _tell(f"{name}: in one jump")
        jumps = _jumps(workspace, name, last)
        _tell(f"{name}: step by step")
        steps = _steps(workspace, name, list(jumps))
    head = f"## {name}, pin {pin}"
    if not jumps:
        return f"{head}\n\nThere is no later release."
    rows = ["| patch | onto | in one jump | by | step by step |", "|---|---|---|---|---|"]
    for patch in next(iter(jumps.values())):
        rows += _rows(patch, jumps, steps)
    return "\n".join([head, "", *rows])


def fill(workspace: Path) -> None:
    """Put the shipped series into a folder."""
    workspace.mkdir(parents=True, exist_ok=True)
    shutil.copy2(ROOT / LOCK, workspace)
    for part in ("series", "conflicts"):
        shutil.copytree(ROOT / part, workspace / part)


def _rows(patch: str, jumps: Answers, steps: Answers) -> Iterator[str]:
    """Yield the rows of a patch, one for consecutive releases of which the same is said."""
    cells = [
        (ref, (jumps[ref][patch], _step(jumps[ref][patch], steps[ref][patch]))) for ref in jumps
    ]
    for (jump, step), group in groupby(cells, key=lambda cell: cell[1]):
        refs = [ref.removeprefix("v") for ref, _ in group]
        span = refs[0] if len(refs) == 1 else f"{refs[0]} to {refs[-1]}"
        yield f"| {patch.removesuffix('.patch')} | {span} | {jump[0]} | {jump[1]} | {step} |"


def _step(jump: Cell, step: Cell) -> str:
    """Return what comes of the single steps where that is another fate."""
    is_same = step[0].startswith(jump[0]) or {step[0], jump[0]} <= _CARRIED
    return "the same" if is_same else ": ".join(word for word in step if word)


def _jumps(workspace: Path, name: str, last: str) -> dict[str, dict[str, Cell]]:
    end = f"v{last}" if last else "upstream/main"
    words = ("rebase", name, "--onto", f"..{end}", "--every", "release", "--dry-run")
    document = patchmgr(workspace, *words)
    if "error" in document:
        if document["error"]["kind"] == "usage":
            return {}
        raise SystemExit(f"{name}: {document['error']['message']}")
    known = {one["onto"]["commit"]: t["onto"] for t in document["targets"] for one in t["series"]}
    return {target["onto"]: _cells(target["series"], known) for target in document["targets"]}


def _steps(workspace: Path, name: str, refs: Sequence[str]) -> dict[str, dict[str, Cell]]:
    """Rebase release by release; what is dropped or skipped says so from there on."""
    found: dict[str, dict[str, Cell]] = {}
    gone: dict[str, Cell] = {}
    for ref in refs:
        document = patchmgr(workspace, "rebase", name, "--onto", ref)
        if "error" in document:
            raise SystemExit(f"{name} onto {ref}: {document['error']['message']}")
        cells = _cells(document["series"])
        found[ref] = {**gone, **cells}
        while any(cell[0] in _LEFT for cell in _cells(document["series"]).values()):
            document = patchmgr(workspace, "rebase", "--skip")
            if "error" in document:
                raise SystemExit(f"{name} onto {ref}: {document['error']['message']}")
        rest = _cells(document["series"])
        release = ref.removeprefix("v")
        for patch, (verdict, _) in cells.items():
            if verdict == "absorbed":
                gone.setdefault(patch, (f"absorbed at {release}", ""))
            elif rest[patch][0] == "skipped" and verdict in _LEFT:
                gone.setdefault(patch, (f"{verdict} since {release}", ""))
    return found


def patchmgr(workspace: Path, *arguments: str) -> Any:
    """Run the patchmgr of this checkout and return what it answers."""
    command = [sys.executable, "-m", "patchmgr", "-C", str(workspace), *arguments, "--json"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False)
    if not done.stdout:
        raise SystemExit(f"patchmgr failed with {done.returncode}: {' '.join(arguments)}")
    return json.loads(done.stdout)


def _cells(
    series: Sequence[Any], known: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Cell]:
    return {p["name"]: (p["verdict"], _proof(p, known)) for one in series for p in one["patches"]}


def _proof(patch: Any, known: Mapping[str, str]) -> str:
    """Return what a verdict rests on: ways and homes, evidence, cause, or the reason.

    `known` names commits.
    """
    words = [_ways(patch["hunks"])]
    if patch["reason"]:
        words.append(_STATE.sub("", patch["reason"]))
    words += [f"in {_named(each)}" for each in patch["evidence"]]
    for each in patch["history"]:
        commit = each["commit"]
        event = _EVENTS.get(each["event"], each["event"])
        if each["event"] == "evolved" and patch["now_in"]:
            event = f"moved to `{patch['now_in']}`"
        words.append(f"{event} in {known.get(commit, commit[:12])}")
    words += [f"since {_named(each)}" for each in patch["cause"]]
    words += [f"likely {_named(each)} ({each['confidence']:.2f})" for each in patch["likely"]]
    words += [f"proposed: {c['proposal']}" for c in patch["conflicts"] if c["proposal"]]
    words += [f"warning: {warning}" for warning in patch.get("warnings", ())]
    return "; ".join(word for word in words if word).replace("|", "\\|")


def _ways(hunks: Sequence[Any]) -> str:
    """Return how the hunks came through, and where to."""
    ways = dict.fromkeys(hunk["how"] for hunk in hunks if hunk["how"])
    homes = dict.fromkeys(h["new_path"] for h in hunks if h["new_path"] != h["path"])
    moved = f", now in {' and '.join(f'`{home}`' for home in homes)}" if homes else ""
    return f"{', '.join(ways)}{moved}" if ways else moved.removeprefix(", ")


def _named(one: Any) -> str:
    pull = f" (#{one['pull']})" if one["pull"] else ""
    return f"{one['subject']}{pull}"


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
