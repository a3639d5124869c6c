"""Carry every shipped series release by release, and write docs/history and docs/history.md.

    python -m benchmarks.history [--resume]

The pins and patches are those of `series/`. docs/history/steps.toml has the releases of each
series, and what a maintainer edits or drops at one of them; what became of conflicts is in
docs/history/conflicts, as in any workspace. A conflict that is not there stops the run: resolve it
in build/history, `patchmgr rebase --continue`, then go on with `--resume`. Where an answer lies
outside of the lines in conflict, it cannot be recorded: what is edited in the file with markers is
in docs/history/resolved, as a diff.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.releases import LOCK, ROOT, patchmgr
from patchmgr.formats.toml_text import loads

HOME = ROOT / "docs" / "history"
PAGE = ROOT / "docs" / "history.md"
PATCHMGR = (sys.executable, "-m", "patchmgr", "-C")
WORK = ROOT / "build" / "history"
_HEAD = """\
# The shipped series, carried to today

Written by `python -m benchmarks.history` from the notes of each step. [docs/history](history) is a
workspace of its own. It has the patches on the newest release, the resolution of each conflict
(`conflicts/`), and what was edited or dropped by hand (`steps.toml`). `resolved/` has the
resolutions that cannot be recorded. At each step `patchmgr check` found no fault, and the ledger
accounts for every line. Verdicts and shares are as measured when this page was written; for today's
verdicts, see [releases](releases.md).

"""


def main() -> None:
    """Carry all series, then write the workspace and the page."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--resume", action="store_true", help="go on in build/history")
    options = parser.parse_args()
    if not options.resume:
        shutil.rmtree(WORK, ignore_errors=True)
        (WORK / "told").mkdir(parents=True)
        _copy(ROOT, WORK, LOCK, "series")
        _copy(HOME, WORK, "conflicts")
        for settings in HOME.glob("series/*/series.toml"):
            shutil.copy2(settings, WORK / settings.relative_to(HOME))
    way = loads((HOME / "steps.toml").read_text())
    for name, steps in way.items():
        for release in steps["releases"]:
            if not (WORK / "told" / f"{name}-{release}.json").exists():
                _step(name, release, steps.get(release, {}))
    _copy(WORK, HOME, LOCK, "series", "conflicts")
    PAGE.write_text(_HEAD + "\n".join(_section(name, steps) for name, steps in way.items()))


def _copy(source: Path, target: Path, *names: str) -> None:
    for name in names:
        if (source / name).is_dir():
            shutil.rmtree(target / name, ignore_errors=True)
            shutil.copytree(source / name, target / name)
        elif (source / name).exists():
            shutil.copy2(source / name, target)


def _step(name: str, release: str, by_hand: Mapping[str, Any]) -> None:
    """Carry a series to a release, check it, and keep what `rebase` and `notes` say."""
    print(f"{name} {release}", file=sys.stderr, flush=True)
    document = patchmgr(WORK, "rebase", name, "--onto", f"v{release}")
    edit = HOME / "resolved" / f"{name}-{release}.diff"
    if edit.exists():
        where = str((WORK / ".patchmgr" / "rebase").relative_to(ROOT))
        subprocess.run(("git", "apply", f"--directory={where}", edit), cwd=ROOT, check=True)
        document = patchmgr(WORK, "rebase", "--continue")
    if "error" in document:
        raise SystemExit(f"{name} {release}: {document['error']['message']}")
    (one,) = document["series"]
    left = [p["name"] for p in one["patches"] if p["verdict"] in ("conflict", "blocked")]
    if left or not one["ledger"]["balanced"]:
        raise SystemExit(f"{name} {release}: left in {WORK}: {' '.join(left)}")
    for patch, fields in by_hand.get("edit", {}).items():
        words = [word for key, value in fields.items() for word in ("--field", f"{key}={value}")]
        patchmgr(WORK, "edit", patch, "--series", name, *words)
    for patch in by_hand.get("drop", {}):
        patchmgr(WORK, "drop", patch, "--series", name)
    (checked,) = patchmgr(WORK, "check", name)["series"]
    failed = [gate for gate in checked["gates"] if gate["standing"] == "failed"]
    if failed:
        raise SystemExit(f"{name} {release}: {failed}")
    notes = subprocess.check_output((*PATCHMGR, str(WORK), "notes", name), text=True, cwd=ROOT)
    told = {"rebase": one, "notes": notes}
    (WORK / "told" / f"{name}-{release}.json").write_text(json.dumps(told))


def _section(name: str, steps: Mapping[str, Any]) -> str:
    """Return what is told of a series: its verdicts as a table, and the notes that say more."""
    told = {
        release: json.loads((WORK / "told" / f"{name}-{release}.json").read_text())
        for release in steps["releases"]
    }
    if not told:
        return f"## {name}\n\nIts pin is the newest release.\n"
    parts = [f"## {name}\n", *_table(told)]
    for release, each in told.items():
        by_hand = [
            f"- dropped by hand: `{patch}`: {reason}"
            for patch, reason in steps.get(release, {}).get("drop", {}).items()
        ] + [
            f"- edited by hand: the header of `{patch}` ({', '.join(fields)})"
            for patch, fields in steps.get(release, {}).get("edit", {}).items()
        ]
        if by_hand or "\n### Conflicts" in each["notes"] or "\n### Dropped" in each["notes"]:
            parts += [_demoted(name, release, each["notes"]), *by_hand]
    return "\n".join(parts) + "\n"


def _table(told: Mapping[str, Any]) -> Iterator[str]:
    """Yield a row for consecutive releases at which the same became of a patch."""
    yield "| patch | onto | verdict | by |"
    yield "|---|---|---|---|"
    names = dict.fromkeys(p["name"] for each in told.values() for p in each["rebase"]["patches"])
    for name in names:
        cells = [
            (release, _cell(patch))
            for release, each in told.items()
            for patch in each["rebase"]["patches"]
            if patch["name"] == name
        ]
        for cell, group in groupby(cells, key=lambda pair: pair[1]):
            refs = [release for release, _ in group]
            span = refs[0] if len(refs) == 1 else f"{refs[0]} to {refs[-1]}"
            yield f"| {name.removesuffix('.patch')} | {span} | {cell} |"
    yield ""


def _cell(patch: Any) -> str:
    if patch["verdict"] == "unchanged":  # whether positions shifted is of no interest here
        return "unchanged |"
    ways = dict.fromkeys(hunk["how"] for hunk in patch["hunks"] if hunk["how"])
    homes = dict.fromkeys(h["new_path"] for h in patch["hunks"] if h["new_path"] != h["path"])
    words = [", ".join(ways), *(f"now in `{home}`" for home in homes), patch["reason"] or ""]
    return f"{patch['verdict']} | {'; '.join(w for w in words if w)}".replace("\\|", "\\\\|")


def _demoted(name: str, release: str, notes: str) -> str:
    """Return a note below a heading of its own, without upstream's commits and the gates."""
    text = re.sub(r"(?ms)^### (Upstream commits|Gates).*?(?=^### |\Z)", "", notes)
    body = re.sub(r"(?m)^### ", "#### ", text.split("\n", 1)[1].strip())
    return f"### {name} {release}\n\n{body}\n"


if __name__ == "__main__":
    main()
