"""`check`: the gates on every patch of a series and on its head."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from patchmgr.commands.audit import audit_in_place
from patchmgr.commands.carrying import Wishes
from patchmgr.commands.check_runs import How as How
from patchmgr.commands.check_runs import run_commands
from patchmgr.commands.checked import keep_checked
from patchmgr.commands.prepared import InPlace, in_place, prepare
from patchmgr.commands.session import Session
from patchmgr.commands.settings import read_settings
from patchmgr.engines.claims import broken_claims
from patchmgr.engines.fold import Overlay
from patchmgr.engines.gates_python import PythonGates, stated_versions
from patchmgr.engines.gates_text import (
    cited_commits,
    header_problems,
    link_problems,
    marker_problems,
    sign_off_problems,
    whitespace_problems,
)
from patchmgr.engines.modules import Modules, judged_versions
from patchmgr.errors import PatchmgrError
from patchmgr.model.check import Checked, Gate, Problem, gate_of, skipped
from patchmgr.model.outcome import Verdict
from patchmgr.model.patch import Patch
from patchmgr.model.ports import Tree
from patchmgr.model.settings import SeriesSettings
from patchmgr.model.snapshot import FILE_MODES
from patchmgr.plumbing.diffs import importing_files

_NOT_ASKED = "series.toml does not ask for it"
_METADATA = ("pyproject.toml", "setup.cfg", "setup.py")
TEXT_GATES: tuple[tuple[str, Callable[[Patch], Iterable[Problem]]], ...] = (
    ("whitespace", whitespace_problems),
    ("markers", marker_problems),
    ("sign-off", sign_off_problems),
    ("header", header_problems),
    ("links", link_problems),
)


def check(session: Session, name: str, how: How, *, wishes: Wishes) -> Checked:
    """Run the built-in gates on a series, and its own commands if asked for; keep the result."""
    settings = read_settings(session.workspace, name)
    with in_place(session, prepare(session, name), wishes) as placed:
        run = _Run(session, placed, settings)
        gates = [*text_gates(placed.patches, settings), *run.gates()]
        commits = () if placed.is_broken else placed.commits()[len(placed.below) :]
        gates += run_commands(session, placed, commits, settings.commands, how)
    head = None if placed.is_broken else (commits[-1] if commits else placed.base)
    checked = Checked(name, head, tuple(p.name for p in placed.patches), tuple(gates))
    if not how.is_dry_run:
        keep_checked(session, placed.ready.record, checked, selected=wishes.selected)
    return checked


def text_gates(patches: Sequence[Patch], settings: SeriesSettings) -> list[Gate]:
    """Return the gates that need the patch files alone."""
    gates = []
    for name, gate in TEXT_GATES:
        if name in settings.left_out or (name == "sign-off" and not settings.needs_sign_off):
            gates.append(skipped(name, _NOT_ASKED if name == "sign-off" else _LEFT_OUT))
            continue
        problems = tuple(problem for patch in patches for problem in gate(patch))
        gates.append(gate_of(name, len(patches), problems))
    return gates


_LEFT_OUT = "series.toml leaves it out"


class _Run(Struct, frozen=True):
    """A carried series at the gates."""

    session: Session
    placed: InPlace
    settings: SeriesSettings

    def gates(self) -> list[Gate]:
        """Return the gates on the states of the branch."""
        found = [self._links(), self._ensures(), *self._python(), self._audit(), self._claims()]
        wanted = [gate for gate in found if gate is not None]
        return [
            skipped(gate.name, _LEFT_OUT) if gate.name in self.settings.left_out else gate
            for gate in wanted
        ]

    def _links(self) -> Gate | None:
        """Look up the commits that headers cite; None where they cite none."""
        cited = [
            (patch.name, commit) for patch in self.placed.patches for commit in cited_commits(patch)
        ]
        if not cited or not self.placed.ready.side.has_history:
            return None
        problems = tuple(
            Problem("citations", f"the store has no commit {commit}", patch)
            for patch, commit in cited
            if self.placed.ready.side.reader.commit(commit) is None
        )
        return gate_of("citations", len(cited), problems)

    def _ensures(self) -> Gate:
        problems = tuple(
            Problem("ensures", str(outcome.reason), outcome.name)
            for outcome in self.placed.carried.outcomes
            if outcome.verdict is Verdict.CONFLICT
        )
        asked = [p for p in self.placed.patches if any(f.lower() == "ensures" for f in p.fields)]
        return gate_of("ensures", len(asked), problems)

    def _python(self) -> list[Gate]:
        """Return the gates `python` and `imports`."""
        versions = self.settings.python or stated_versions(self._metadata())
        modules = Modules(self._read, versions)
        gates = PythonGates(self.placed.tree, modules)
        is_blind = False

        def importers(modules: Sequence[str], names: Sequence[str]) -> Sequence[str]:
            nonlocal is_blind
            commit = self.placed.ready.base.commit
            found = importing_files(self.placed.ready.side.store, commit, modules, names)
            is_blind = is_blind or found is None
            return found or ()

        carried = [(o.name, o.changes or {}) for o in self.placed.carried.outcomes if o.is_carried]
        problems = tuple(gates.problems(carried, importers))
        texts = tuple(problem for problem in problems if problem.gate == "python")
        names = tuple(dict.fromkeys(problem for problem in problems if problem.gate == "imports"))
        note = "the store lacks files: only those of the series were looked at" if is_blind else ""
        spoken = ", ".join(f"3.{minor}" for _, minor in judged_versions(versions))
        return [
            gate_of("python", gates.compiled, texts, note=f"for Python {spoken}"),
            gate_of("imports", gates.looked_up, names, note=note),
        ]

    def _audit(self) -> Gate:
        """Look for what the series certainly breaks on its pin."""
        audited = audit_in_place(self.session, self.placed)
        problems = tuple(
            Problem("audit", f.text, patch, f.path or None, f.line or None)
            for patch, f in audited
            if f.is_certain and f.accepted is None
        )
        return gate_of("audit", len(self.placed.carried.changes), problems)

    def _metadata(self) -> list[bytes]:
        found = (self.content(self.placed.tree, path) for path in _METADATA)
        return [content for content in found if content is not None]

    def _claims(self) -> Gate:
        claims = self.settings.claims
        head = Overlay(self.placed.tree)
        for path, entry in self.placed.carried.changes.items():
            head.set(path, entry)
        problems = broken_claims(
            claims, lambda p: self.content(self.placed.tree, p), lambda p: self.content(head, p)
        )
        return gate_of("claims", len(claims), tuple(problems))

    def _read(self, blob: str) -> bytes:
        """Return a content; one that the store lacks is fetched, as it is a partial clone."""
        try:
            return self.placed.bench.read(blob)
        except PatchmgrError:
            self.placed.ready.side.try_fetch_objects({blob}, self.placed.bench.reader)
            return self.placed.bench.read(blob)

    def content(self, tree: Tree, path: str) -> bytes | None:
        """Return a file's content, None where there is no such file."""
        entry = tree.entry(path)
        if entry is None or entry.mode not in FILE_MODES:
            return None
        self.placed.ready.side.try_fetch_objects([entry.blob], self.placed.bench.reader)
        return self.placed.bench.read(entry.blob)
