"""Probes: merges that are clean for git and yet broken, each beside a control that is not.

A probe is a TOML file of `cases`: `kind`, what it `says`, and four tables of path to content,
`base`, `patch`, `upstream` and `control`. `upstream` breaks what the patch relies on, `control` is
the most similar change of upstream that breaks nothing. A content is a whole text, a list of
[old, new] pairs to replace everywhere in the base's text, false for a file that is deleted, or
{from = PATH, edit = [...]} for one that is moved; a path that ends in a slash moves a folder.
A file without `upstream` is a control alone, one without `control` a probe alone, and
`control_patch` is the patch of the control where it is another one.

`run` is Python that passes with the patch on the base and with the merge of the control, and fails
with the merge of the probe; `compile` names C++ files of which the same holds.
`python -m benchmarks.probes --prove` checks that.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from patchmgr.engines.audit.checks import CHECKS
from patchmgr.engines.audit.states import run_checks
from patchmgr.engines.rebase.crosscheck import Question, check_merged
from patchmgr.engines.structure.guards import suspect
from patchmgr.formats.toml_text import loads
from patchmgr.model.outcome import Verdict
from tests.engines.audit.audited import audited

CASES = Path(__file__).parent / "cases"
TABLES = frozenset({"base", "patch", "upstream", "control", "control_patch"})
KEYS = TABLES | {"kind", "says", "run", "compile"}

Tree = Mapping[str, str]


@dataclass(frozen=True)
class Probe:
    """One upstream change under one patch; `is_broken` says that the clean merge of them is."""

    name: str
    kind: str
    base: Tree
    patch: Tree
    upstream: Tree
    is_broken: bool
    run: str | None = None
    compile: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return self.name if self.is_broken else f"{self.name} (control)"


@dataclass(frozen=True)
class Answer:
    """What a rebase said of a probe: `how` is conflict, told, followed or silent."""

    how: str
    said: tuple[str, ...] = ()

    @property
    def is_told(self) -> bool:
        return self.how != "silent"


def read_probes(folder: Path = CASES) -> list[Probe]:
    """Return the probes of a folder, each followed by its control."""
    return [probe for path in sorted(folder.glob("*.toml")) for probe in read_probe(path)]


def read_probe(path: Path) -> Iterator[Probe]:
    document = loads(path.read_text("utf-8"))
    assert document.keys() <= KEYS, f"{path.name}: {sorted(document.keys() - KEYS)}"
    base: Tree = document["base"]
    patch = changed(base, document["patch"], path.name)
    known = (document.get("run"), tuple(document.get("compile", ())))
    if "upstream" in document:
        upstream = changed(base, document["upstream"], path.name)
        yield Probe(path.stem, document["kind"], base, patch, upstream, True, *known)
    if "control" in document:
        if "control_patch" in document:
            patch = changed(base, document["control_patch"], path.name)
        upstream = changed(base, document["control"], path.name)
        yield Probe(path.stem, document["kind"], base, patch, upstream, False, *known)


def changed(base: Tree, changes: Mapping[str, Any], name: str) -> Tree:
    """Return the files after some changes."""
    files = dict(base)
    for path, change in changes.items():
        if change is False:
            del files[path]
        elif isinstance(change, str):
            files[path] = change
        elif isinstance(change, list):
            files[path] = _edited(files[path], change, f"{name}: {path}")
        elif path.endswith("/"):
            for old in [old for old in base if old.startswith(change["from"])]:
                files[path + old[len(change["from"]) :]] = files.pop(old)
        else:
            text = files.pop(change["from"])
            files[path] = _edited(text, change.get("edit", ()), f"{name}: {path}")
    return files


def _edited(text: str, pairs: Sequence[Sequence[str]], place: str) -> str:
    for old, new in pairs:
        assert old in text, f"{place}: no {old!r}"
        text = text.replace(old, new)
    return text


def ask_in_memory(probe: Probe) -> Answer:
    """Rebase the patch of a probe without git, and return what is said of it."""
    base, ours, upstream = (
        {path: text.encode() for path, text in tree.items()}
        for tree in (probe.base, probe.patch, probe.upstream)
    )
    judged, states = audited(base, ours, upstream, renames=_renames(probe.base, probe.upstream))
    outcome = judged[0].outcome
    told = list(run_checks(states, CHECKS))
    told += check_merged(states, suspect_all=_suspect_all)(told)
    said = [finding.sentence() for _, finding in told]
    said += outcome.warnings
    if outcome.verdict in (Verdict.CONFLICT, Verdict.BLOCKED):
        return Answer("conflict", (outcome.reason or "", *said))
    if said:
        return Answer("told", tuple(said))
    if outcome.verdict is Verdict.MODIFIED and probe.is_broken:
        paths = {*upstream, *states.merged.tree.changes()}
        contents = {path: states.merged.read(path) for path in sorted(paths)}
        files = {path: content.decode() for path, content in contents.items() if content}
        if passes(probe, files):
            return Answer("followed", (outcome.verdict.value,))
    return Answer("silent", (outcome.verdict.value,))


def _suspect_all(questions: Sequence[Question]) -> Any:
    return lambda: [suspect(*question) for question in questions]


def _renames(old: Tree, new: Tree) -> dict[str, str]:
    """Return the renames that git finds: more than half of the text is the same."""
    gone, come = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    likeness = {
        (a, b): SequenceMatcher(None, old[a].splitlines(), new[b].splitlines()).ratio()
        for a in gone
        for b in come
    }
    renames: dict[str, str] = {}
    for (a, b), ratio in sorted(likeness.items(), key=lambda item: (-item[1], item[0])):
        if ratio > 0.5 and a not in renames and b not in renames.values():
            renames[a] = b
    return renames


def passes(probe: Probe, files: Tree) -> bool:
    """Say whether some files do what the probe asks of them; without a proof, no."""
    with tempfile.TemporaryDirectory() as folder:
        write_tree(Path(folder), files)
        return fault_of(probe, Path(folder)) is None


def write_tree(folder: Path, files: Tree) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")


def fault_of(probe: Probe, folder: Path) -> str | None:
    """Return the last word of what proves a probe in a folder, None where it passes."""
    commands = [
        ["g++", "-std=c++20", "-fsyntax-only", "-I.", "-Iinclude", "-Isrc", path]
        for path in probe.compile
    ]
    if probe.run is not None:
        commands.append([sys.executable, "-B", "-c", probe.run])
    for command in commands:
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=60)
        if done.returncode:
            errors = [line for line in done.stderr.decode().splitlines() if "rror" in line]
            return (errors or ["it fails"])[-1].strip()
    return None if commands else "there is no proof"
