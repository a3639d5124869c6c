"""`check`: run the gates and commands of a series; check the workspace and checkouts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from patchmgr.commands.audit import audit_at_pin
from patchmgr.engines.audit.interfaces import imported_blobs
from patchmgr.engines.audit.states import Files
from patchmgr.engines.gates import (
    PythonGates,
    cited_commits,
    header_problems,
    link_problems,
    marker_problems,
    sign_off_problems,
    stated_versions,
    whitespace_problems,
)
from patchmgr.engines.languages.file_types import PYTHON
from patchmgr.engines.languages.python_modules import Modules, judged_versions
from patchmgr.engines.ledger.balance import balance
from patchmgr.engines.ledger.claims import Claimed
from patchmgr.engines.series.claims import broken_claims
from patchmgr.engines.series.fold import Overlay
from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.patch_files import parse_listed
from patchmgr.formats.predicates import read_conditions
from patchmgr.model.check import Checked, GateResult, Problem, Standing, gate_of, skipped
from patchmgr.model.outcome import Verdict
from patchmgr.model.patch import Patch
from patchmgr.model.settings import CheckCommand, SeriesSettings
from patchmgr.plumbing.applied import Content
from patchmgr.plumbing.clones import Clone, open_clone
from patchmgr.plumbing.diffs import importing_files
from patchmgr.plumbing.durable import writes
from patchmgr.plumbing.objects import ObjectReader, StoredTree
from patchmgr.plumbing.outputs import make_folder
from patchmgr.plumbing.plain_files import refuse_links
from patchmgr.plumbing.programs import TIMED_OUT, TemporaryCheckout, whole_tree
from patchmgr.plumbing.work_tree import WorkFile, WorkTree
from patchmgr.services.checkouts import series_digest
from patchmgr.services.load import SeriesAtPin, series_at_pin
from patchmgr.services.published import FOLDER, keep_checked
from patchmgr.services.series import touched_paths
from patchmgr.services.session import Fetching, Session


def run_commands(
    session: Session,
    at_pin: SeriesAtPin,
    commits: Sequence[str],
    commands: Sequence[CheckCommand],
    names: Sequence[str] | None,
) -> list[GateResult]:
    """Run a series' check commands in a temporary checkout, and return the result of each.

    `names` lists the commands to run: all if it is empty, none if it is None.
    """
    unknown = set(names or ()) - {command.name for command in commands}
    if unknown:
        known = ", ".join(command.name for command in commands) or "none"
        raise UsageError(
            f"series.toml has no command {min(unknown)}", f"commands in series.toml: {known}"
        )
    gates: dict[str, GateResult] = {}
    runs = []
    for command in commands:
        why = _why_not(command, names, at_pin.is_broken)
        if why is None and session.is_dry_run:
            why = f"would run: {' '.join(command.run)}"
        if why is None:
            runs.append(command)
        else:
            gates[command.name] = skipped(command.name, why)
    if runs:
        gates |= {gate.name: gate for gate in _run_all(session, at_pin, commits, runs)}
    return [gates[command.name] for command in commands]


def _why_not(command: CheckCommand, names: Sequence[str] | None, is_broken: bool) -> str | None:
    """Return why a command is not run, or None if it will be run."""
    line = " ".join(command.run)
    missing = [name for name in command.needs if shutil.which(name) is None]
    if names and command.name not in names:
        return "not one of the named commands"
    if names is None:
        return f"run only with --run: {line}"
    if missing:
        return f"this machine has no {', '.join(missing)}"
    if is_broken:
        return "the branch of the series cannot be built"
    return None


def _run_all(
    session: Session, at_pin: SeriesAtPin, commits: Sequence[str], commands: Sequence[CheckCommand]
) -> list[GateResult]:
    loaded = at_pin.loaded
    states = (loaded.base.commit, *commits)
    loaded.upstream.try_fetch_objects(whole_tree(loaded.upstream.store, loaded.base.commit))
    carried = [o.name for o in at_pin.carried.outcomes if o.is_carried]
    with TemporaryCheckout(at_pin.scratch.git_dir) as place:
        runner = Runner(session, loaded.record.name, place, states, carried)
        return [runner.gate(command) for command in commands]


class Runner(Struct, frozen=True):
    """Runs commands on the states of a branch: on the pin, and after each patch."""

    session: Session
    series: str
    place: TemporaryCheckout
    states: Sequence[str]  # commits; the first one is the pin
    patches: Sequence[str]  # their names

    def gate(self, command: CheckCommand) -> GateResult:
        """Run a command on the head, and return its result, which names the first bad patch."""
        told_log, root = f"{FOLDER}/{self.series}-{command.name}.log", self.session.workspace.root
        refuse_links(root, told_log)
        make_folder(root / FOLDER)
        log = root / told_log
        with writes(told_log):
            log.write_bytes(b"")
        last = len(self.states) - 1
        code, seconds = self._run(command, last, log)
        if code == 0:
            return GateResult(command.name, Standing.PASSED, 1, (), "", told_log, seconds)
        how = f"took more than {command.timeout} s" if code == TIMED_OUT else f"exit {code}"
        first = self._first_bad(command, log)
        if first == 0:
            problem = Problem(command.name, f"{how}; the command also fails without the series")
        else:
            problem = Problem(command.name, how, self.patches[first - 1])
        return GateResult(command.name, Standing.FAILED, 1, (problem,), "", told_log, seconds)

    def _first_bad(self, command: CheckCommand, log: Path) -> int:
        """Return the index of the first state on which a command fails; 0 is the pin."""

        def fails(number: int) -> bool:
            return self._run(command, number, log)[0] != 0

        last = len(self.states) - 1
        return 0 if last == 0 or fails(0) else first_bad(fails, last)

    def _run(self, command: CheckCommand, number: int, log: Path) -> tuple[int, float]:
        commit = self.states[number]
        where = self.patches[number - 1] if number else "the pin"
        self.session.say(f"Running {command.name} on {where}")
        with log.open("ab") as out:
            out.write(f"== {where} {commit}\n".encode(errors="replace"))
        self.place.check_out(commit)
        told = {
            "PATCHMGR_SERIES": self.series,
            "PATCHMGR_BASE": self.states[0],
            "PATCHMGR_HEAD": commit,
        }
        return self.place.run(command.run, timeout=command.timeout, log=log, told=told)


def first_bad(is_bad: Callable[[int], bool], last: int) -> int:
    """Find the first bad state by bisection; state 0 is good, and state `last` is bad."""
    good, bad = 0, last
    while bad - good > 1:
        middle = (good + bad) // 2
        if is_bad(middle):
            bad = middle
        else:
            good = middle
    return bad


_NOT_REQUIRED = "series.toml does not require it"
_METADATA = ("pyproject.toml", "setup.cfg", "setup.py")
TEXT_GATES: tuple[tuple[str, Callable[[Patch], Iterable[Problem]]], ...] = (
    ("whitespace", whitespace_problems),
    ("markers", marker_problems),
    ("sign-off", sign_off_problems),
    ("header", header_problems),
    ("links", link_problems),
)


def check(session: Session, name: str, commands: Sequence[str] | None) -> Checked:
    """Run the built-in gates on a series, and its check commands if requested; save the result.

    `commands` lists the commands to run: all if it is empty, none if it is None.
    """
    workspace, settings = session.workspace, session.workspace.settings(name)
    # First: a command may run for hours, while somebody changes the series.
    digest = series_digest(session, workspace.series_record(name), session.selected)
    with series_at_pin(session, name, must_apply=False) as at_pin:
        run = _Run(session, at_pin, settings)
        gates = [*text_gates(at_pin.patches, settings), *run.gates()]
        commits = () if at_pin.is_broken else at_pin.commits()[len(at_pin.below) :]
        gates += run_commands(session, at_pin, commits, settings.commands, commands)
    head = None if at_pin.is_broken else (commits[-1] if commits else at_pin.base)
    checked = Checked(name, head, tuple(p.name for p in at_pin.patches), tuple(gates))
    if not session.is_dry_run:
        keep_checked(workspace, checked, digest)
    return checked


def text_gates(patches: Sequence[Patch], settings: SeriesSettings) -> list[GateResult]:
    """Return the results of the gates that need only the patch files."""
    gates = []
    for name, gate in TEXT_GATES:
        if name in settings.left_out or (name == "sign-off" and not settings.needs_sign_off):
            gates.append(skipped(name, _NOT_REQUIRED if name == "sign-off" else _LEFT_OUT))
            continue
        problems = tuple(problem for patch in patches for problem in gate(patch))
        gates.append(gate_of(name, len(patches), problems))
    return gates


_LEFT_OUT = "series.toml turns it off"


class _Run(Struct, frozen=True):
    """The gates that need a series applied to its pin."""

    session: Session
    at_pin: SeriesAtPin
    settings: SeriesSettings

    def gates(self) -> list[GateResult]:
        found = [self._links(), self._ensures(), *self._python(), self._audit(), self._claims()]
        wanted = [gate for gate in found if gate is not None]
        return [
            skipped(gate.name, _LEFT_OUT) if gate.name in self.settings.left_out else gate
            for gate in wanted
        ]

    def _links(self) -> GateResult | None:
        """Return the result of checking the commits cited in headers, or None if none are cited."""
        cited = [
            (patch.name, commit) for patch in self.at_pin.patches for commit in cited_commits(patch)
        ]
        if not cited or not self.at_pin.loaded.upstream.has_history:
            return None
        problems = tuple(
            Problem("citations", f"the store has no commit {commit}", patch)
            for patch, commit in cited
            if self.at_pin.loaded.upstream.reader.commit(commit) is None
        )
        return gate_of("citations", len(cited), problems)

    def _ensures(self) -> GateResult:
        problems = tuple(
            Problem("ensures", str(outcome.reason), outcome.name)
            for outcome in self.at_pin.carried.outcomes
            if outcome.verdict is Verdict.CONFLICT
        )
        asked = [p for p in self.at_pin.patches if any(f.lower() == "ensures" for f in p.fields)]
        return gate_of("ensures", len(asked), problems)

    def _python(self) -> list[GateResult]:
        found = (self.files.file(self.at_pin.tree, path) for path in _METADATA)
        versions = self.settings.python or stated_versions([c for c in found if c is not None])
        modules = Modules(self.files.read, versions)
        gates = PythonGates(self.at_pin.tree, modules)
        is_blind = False

        def importers(modules: Sequence[str], names: Sequence[str]) -> Sequence[str]:
            nonlocal is_blind
            commit = self.at_pin.loaded.base.commit
            found = importing_files(self.at_pin.loaded.upstream.store, commit, modules, names)
            is_blind = is_blind or found is None
            return found or ()

        carried = [(o.name, o.changes or {}) for o in self.at_pin.carried.outcomes if o.is_carried]
        problems = tuple(gates.problems(carried, importers))
        texts = tuple(problem for problem in problems if problem.gate == "python")
        names = tuple(dict.fromkeys(problem for problem in problems if problem.gate == "imports"))
        note = ""
        if is_blind:
            note = "the store lacks files, so only the files of the series were checked"
        spoken = ", ".join(f"3.{minor}" for _, minor in judged_versions(versions))
        return [
            gate_of("python", gates.compiled, texts, note=f"for Python {spoken}"),
            gate_of("imports", gates.looked_up, names, note=note),
        ]

    def _audit(self) -> GateResult:
        """Return the result of the gate "audit": every certain finding must have been accepted."""
        audited = audit_at_pin(self.session, self.at_pin)
        problems = tuple(
            Problem("audit", f.text, patch, f.path or None, f.line or None)
            for patch, f in audited
            if f.is_certain and f.accepted is None
        )
        return gate_of("audit", len(self.at_pin.carried.changes), problems)

    def _claims(self) -> GateResult:
        claims = self.settings.claims
        head, files = Overlay(self.at_pin.tree), self.files
        for path, entry in self.at_pin.carried.changes.items():
            head.set(path, entry)
        problems = broken_claims(
            claims, lambda p: files.file(self.at_pin.tree, p), lambda p: files.file(head, p)
        )
        return gate_of("claims", len(claims), tuple(problems))

    @property
    def files(self) -> Fetching:
        """Return a reader for the files of the branch and of the state that it is based on."""
        return Fetching(self.at_pin.loaded.upstream, self.at_pin.scratch.read, self._modules)

    def _modules(self) -> set[str]:
        """Return the blobs of all modules that the series' Python files import."""
        changes, read = self.at_pin.carried.changes, self.at_pin.scratch.read
        files = ((path, read(e.blob)) for path, e in changes.items() if e and path.endswith(PYTHON))
        return imported_blobs(files, self.at_pin.tree)


def check_files(session: Session, name: str) -> Checked:
    """Check the files of a series that people edit by hand."""
    problems: list[Problem] = []
    settings = SeriesSettings()
    names: tuple[str, ...] = ()
    try:
        settings = session.workspace.settings(name)
        names = session.workspace.series_file(name).names()
    except PatchmgrError as fault:
        problems.append(Problem("workspace", fault.message))
    patches = [p for p in (_read(session, name, n, problems) for n in names) if p is not None]
    problems += _strays(session.workspace.root / "series" / name, set(names))
    for group in settings.groups:
        for member in settings.strays(group, names):
            sentence = f"the group {group} names {member}, which is not a patch"
            problems.append(Problem("workspace", sentence))
    gate = gate_of("workspace", len(names), tuple(problems))
    read = tuple(patch.name for patch in patches)
    return Checked(name, None, read, (gate, *text_gates(patches, settings)))


def _read(session: Session, series: str, name: str, problems: list[Problem]) -> Patch | None:
    try:
        raw = session.workspace.read(f"series/{series}/{name}")
        patch = parse_listed(raw, session.workspace.series_file(series).line(name))
        read_conditions(patch)
    except PatchmgrError as fault:
        problems.append(Problem("workspace", fault.message, name))
        return None
    return patch


def _strays(folder: Path, known: set[str]) -> list[Problem]:
    """Return a problem for each patch file that the series file does not mention at all."""
    if not folder.is_dir():
        return []
    found = sorted(path for path in folder.rglob("*.patch") if path.is_file())
    names = [path.relative_to(folder).as_posix() for path in found]
    file = folder / "series"
    said = file.read_text(errors="replace").split() if file.exists() else []
    return [
        Problem("workspace", "the series file does not list it", name)
        for name in names
        if name not in known and name not in said
    ]


def check_ledger(session: Session, name: str, target: Path, *, branch: str | None) -> Checked:
    """Check, line by line, that a checkout, or a branch of its repository, contains a series."""
    clone = open_clone(target)
    with series_at_pin(session, name, must_apply=False) as at_pin:
        patches, pin = at_pin.patches, Files(Overlay(at_pin.tree), at_pin.scratch.read)
        claimed = [Claimed(p.name, p.diff, is_reversed=p.is_reversed) for p in patches]
        with _files(clone, branch, touched_paths(patches), at_pin) as (head, files):
            ledger = balance(claimed, pin, pin, files, cited=lambda commit, path: ())
    problems = tuple(
        Problem("ledger", fault.text, patch, fault.path, fault.line or None)
        for patch, fault in ledger.faults
    )
    lines = ledger.added.total + ledger.removed.total
    gate = gate_of("ledger", lines, problems)
    return Checked(name, head, tuple(patch.name for patch in patches), (gate,))


@contextmanager
def _files(
    clone: Clone, branch: str | None, paths: Collection[str], at_pin: SeriesAtPin
) -> Iterator[tuple[str | None, Files]]:
    """Yield (commit, files) of a branch or, without a branch, (None, files) of the work tree."""
    if branch is None and not clone.is_bare:
        yield None, Files(_work_files(clone, paths, at_pin), at_pin.scratch.read)
        return
    with closing(ObjectReader(clone.git_dir)) as reader:
        commit = reader.commit(f"refs/heads/{branch}" if branch else "HEAD")
        if commit is None:
            what = f"branch {branch}" if branch else "commit at HEAD"
            raise UsageError(f"{clone.root} has no {what}")
        tree = StoredTree(reader, reader.tree_of(commit))
        yield commit, Files(Overlay(tree), reader.blob)


def _work_files(clone: Clone, paths: Collection[str], at_pin: SeriesAtPin) -> Overlay:
    """Return the files at the pin, overlaid with those of a work tree as git would store them."""
    below, scratch, tree = at_pin.tree, at_pin.scratch, WorkTree(clone.root)
    found = dict[str, WorkFile | None].fromkeys(paths)
    for path in paths:
        with suppress(PatchmgrError):  # a folder, or a path below a file
            found[path] = tree.read(path)

    def state() -> dict[str, Content | None]:
        entries = ((path, below.entry(path)) for path in paths)
        return {path: Content(e, scratch.read(e.blob)) for path, e in entries if e is not None}

    files = Overlay(below)
    for path, content in clone.conversion.as_git(found, state).items():
        if content is not None:
            scratch.add(content.content)
        files.set(path, None if content is None else content.entry)
    return files
