"""Builds the constructed cases: a file of twenty functions, a patch on it, and upstream's way.

Every case is told once and played in three forms: prose, Python and C++.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import Struct, field
from msgspec.structs import replace

from tests.long import LONG

if TYPE_CHECKING:
    from tests.commands.conftest import Scene

_VERBS = ["weigh", "rinse", "drain", "count", "press", "align", "heat", "seal", "trace", "vent"]
_NOUNS = ["basin", "valve", "gauge", "rotor", "flask", "sieve", "spool", "hinge", "crate",
          "wedge", "tower", "ladle"]  # fmt: skip


class Say(Struct, frozen=True):
    """One statement, in no form yet."""

    noun: str
    verb: str
    other: str
    count: int


class Form(Struct, frozen=True):
    """How a file of functions is written; `statements` are used in turn."""

    name: str
    suffix: str
    head: str
    foot: str
    statements: tuple[str, ...]
    comment: str
    wrapping: tuple[str, str, str] = ("", "", "")

    def line(self, say: Say) -> str:
        """Return a statement as a line."""
        template = self.statements[say.count // 20 % len(self.statements)]
        return template.format(noun=say.noun, verb=say.verb, other=say.other, count=say.count)


TEXT = Form(
    "text", ".txt", "{title}\n---------------\n", "",
    (
        "The {noun} must {verb} the {other} for {count} seconds.\n",
        "Where the {noun} fails to {verb}, the {other} takes over at {count}.\n",
    ),
    "> ",
)  # fmt: skip
PYTHON = Form(
    "python", ".py", "def {name}(plant, floor=0):\n", "\n",
    (
        "    {noun} = {verb}(plant, {other}, {count})\n",
        "    if plant.{verb}({noun}) > {count}: plant.stop({other})\n",
    ),
    "    # ",
    ("class Works:\n", "    ", ""),
)  # fmt: skip
CXX = Form(
    "cxx", ".cc", "int {name}(Plant& plant, int floor) {{\n", "}\n",
    (
        "  int {noun} = {verb}(plant, {other}, {count});\n",
        "  if (plant.{verb}({noun}) > {count}) plant.stop({other});\n",
    ),
    "  // ",
    ("struct Works {\n", "  ", "};\n"),
)  # fmt: skip
FORMS = (TEXT, PYTHON, CXX)


def forms(cases: Iterable[Any]) -> list[Any]:
    """Return each case with one of the forms, or with all where there is time or it matters."""
    found = []
    for case in cases:
        at = zlib.crc32(case.name.encode()) % len(FORMS)
        for form in FORMS if LONG or case.in_each_form else FORMS[at : at + 1]:
            found.append(pytest.param(case, form, id=f"{case.name} ({form.name})"))
    return found


Unit = int | str
"""A function: one of the twenty by its number, or a new one by its name."""


def name_of(unit: Unit) -> str:
    """Return the name of a function."""
    if isinstance(unit, str):
        return unit
    return f"{_VERBS[unit % 10]}_{_NOUNS[(unit * 5) % 12]}_{'low' if unit < 10 else 'high'}"


def say(unit: int, at: int, variant: int = 0) -> Say:
    """Return the statement of a function's line; each variant is another one, all distinct."""
    start = unit * 7 + at * 3 + variant * 5
    noun, other = _NOUNS[(unit + at) % 12], _NOUNS[(start + 1) % 12]
    if noun == other:
        other = "funnel"
    return Say(noun, _VERBS[(start + unit) % 10], other, unit * 1000 + at * 20 + variant)


def body(unit: int) -> tuple[Say, ...]:
    """Return the 5 to 10 statements of a function; the tenth function has 10."""
    return tuple(say(unit, at) for at in range(5 + (unit * 7 + 1) % 6 if unit != 10 else 10))


class Document(Struct, frozen=True):
    """A file: its functions in order, each with its heading and lines."""

    form: Form
    units: Mapping[Unit, tuple[str, ...]]
    heads: Mapping[Unit, str] = field(default_factory=dict)
    preamble: str = ""
    is_wrapped: bool = False

    def text(self) -> str:
        """Return the file."""
        blocks = [self._block(unit, lines) for unit, lines in self.units.items()]
        before, indent, after = self.form.wrapping if self.is_wrapped else ("", "", "")
        whole = "\n".join(_indented(block, indent) for block in blocks) + after
        return self.preamble + before + whole.rstrip("\n") + "\n"

    def _block(self, unit: Unit, lines: tuple[str, ...]) -> str:
        name = self.heads.get(unit, name_of(unit))
        title = name.replace("_", " ").capitalize()
        return self.form.head.format(name=name, title=title) + "".join(lines) + self.form.foot


def _indented(block: str, indent: str) -> str:
    return re.sub(r"(?m)^(?=.)", indent, block)


def twenty(form: Form, *, offset: int = 0) -> Document:
    """Return the file of twenty functions; an offset gives one with other functions."""
    units = range(1 + offset, 21 + offset)
    return Document(form, {unit: tuple(map(form.line, body(unit))) for unit in units})


Edit = Callable[[Document], Document]


def put(unit: Unit, at: int, *new: Say, over: int = 1) -> Edit:
    """Replace `over` lines of a function, from `at` on, by statements."""

    def edit(document: Document) -> Document:
        lines = list(document.units[unit])
        lines[at : at + over] = map(document.form.line, new)
        return replace(document, units={**document.units, unit: tuple(lines)})

    return edit


def mention(unit: Unit, at: int, *new: Say) -> Edit:
    """Put statements into a function as comments only."""

    def edit(document: Document) -> Document:
        lines = list(document.units[unit])
        said = map(document.form.line, new)
        lines[at:at] = [document.form.comment + line.lstrip() for line in said]
        return replace(document, units={**document.units, unit: tuple(lines)})

    return edit


def respace(unit: Unit, at: int) -> Edit:
    """Give a line of a function, and the one before, other white space."""

    def edit(document: Document) -> Document:
        lines = list(document.units[unit])
        lines[at - 1 : at + 1] = [
            re.sub(r"(?<=\S) ", "  ", line) for line in lines[at - 1 : at + 1]
        ]
        return replace(document, units={**document.units, unit: tuple(lines)})

    return edit


def delete(unit: Unit) -> Edit:
    """Delete a function."""
    return lambda document: replace(
        document, units={u: lines for u, lines in document.units.items() if u != unit}
    )


def add(unit: Unit, lines: tuple[Say, ...], *, before: Unit) -> Edit:
    """Add a function."""

    def edit(document: Document) -> Document:
        units: dict[Unit, tuple[str, ...]] = {}
        for known, content in document.units.items():
            if known == before:
                units[unit] = tuple(map(document.form.line, lines))
            units[known] = content
        return replace(document, units=units)

    return edit


def call(unit: Unit, name: str) -> Edit:
    """Give a function another name."""
    return lambda document: replace(document, heads={**document.heads, unit: name})


def both(*edits: Edit) -> Edit:
    """Do one edit after the other."""

    def edit(document: Document) -> Document:
        for one in edits:
            document = one(document)
        return document

    return edit


def same(document: Document) -> Document:
    """Change nothing."""
    return document


Files = Mapping[str, Document]
Change = Callable[[Files], Files]


def rename(old: str, new: str, edit: Edit = same) -> Change:
    """Move a file, and edit it."""

    def change(files: Files) -> Files:
        return {p: d for p, d in files.items() if p != old} | {new: edit(files[old])}

    return change


def move(unit: Unit, old: str, new: str, *, before: Unit) -> Change:
    """Move a function from one file to another, or within one."""

    def change(files: Files) -> Files:
        lines = files[old].units[unit]
        files = {**files, old: delete(unit)(files[old])}
        placed = add(unit, (), before=before)(files[new])
        return {**files, new: replace(placed, units={**placed.units, unit: lines})}

    return change


class Told(Struct, frozen=True):
    """What the rebase answered; commits go by their pull request numbers."""

    series: Any
    pulls: Mapping[str, int]

    @property
    def tree(self) -> str:
        """Return the tree of all that was carried."""
        tree = self.series["tree"]
        assert isinstance(tree, str)
        return tree

    def verdicts(self) -> list[str]:
        """Return the verdict of each patch."""
        return [patch["verdict"] for patch in self.series["patches"]]

    def hunks(self, patch: int = 0) -> list[str]:
        """Return each hunk as `verdict how #evidence`, what is not there left out."""
        return [" ".join(self._hunk(hunk)) for hunk in self.series["patches"][patch]["hunks"]]

    def _hunk(self, hunk: Any) -> Iterator[str]:
        yield hunk["verdict"]
        if hunk["how"] is not None:
            yield hunk["how"]
        if hunk["evidence"] is not None:
            yield f"#{self.pulls[hunk['evidence']]}"

    def evidence(self, patch: int = 0) -> list[int]:
        """Return the pull requests that landed a patch."""
        return self._sighted(self.series["patches"][patch]["evidence"])

    def cause(self, patch: int = 0) -> list[int]:
        """Return the pull requests because of which a patch does not apply as it did."""
        return self._sighted(self.series["patches"][patch]["cause"])

    def _sighted(self, found: Any) -> list[int]:
        assert all(self.pulls[s["commit"]] == s["pull"] for s in found)
        return [one["pull"] for one in found]

    def history(self, patch: int = 0) -> list[str]:
        """Return what happened to a patch upstream, as `event #pull`."""
        events = self.series["patches"][patch]["history"]
        return [f"{event['event']} #{self.pulls[event['commit']]}" for event in events]

    def homes(self, patch: int = 0) -> list[str]:
        """Return the new path of each hunk."""
        return [hunk["new_path"] for hunk in self.series["patches"][patch]["hunks"]]


class Story:
    """A base, patches on it, and what upstream did then, in one form.

    `files` is upstream's state so far, by path without the suffix; upstream makes unrelated
    commits on the way: in another file, and in functions 2 and 19.
    """

    def __init__(self, scene: Scene, form: Form) -> None:
        self.form = form
        self.files: dict[str, Document] = {"a": twenty(form), "n": twenty(form, offset=40)}
        self._scene = scene
        self._start = ""
        self._base: Files | None = None
        self._ours: list[Files] = []
        self._theirs: list[tuple[str, int, Files]] = []

    def start(self, edit: Edit, path: str = "a") -> None:
        """Change the base."""
        self.files[path] = edit(self.files[path])

    def patch(self, *edits: Edit, **files: Edit) -> None:
        """Add a patch of ours: edits of the first file, and of others by name."""
        if self._base is None:
            self._base = dict(self.files)
        self._ours.append(_edited(self._ours[-1] if self._ours else self._base, edits, files))

    def upstream(self, pull: int, *edits: Edit, subject: str = "Rework", **files: Edit) -> None:
        """Let upstream edit the first file, and others by name."""
        self.commit(pull, lambda before: _edited(before, edits, files), subject=subject)

    def commit(self, pull: int, change: Change, *, subject: str = "Rework") -> None:
        """Let upstream change its files, after an unrelated commit."""
        self._unrelated()
        self.files = dict(change(self.files))
        self._theirs.append((subject, pull, self.files))

    def _unrelated(self) -> None:
        number = len(self._theirs)
        line = say(45, 0, variant=number + 1)
        files = {path: _near_edges(number)(document) for path, document in self.files.items()}
        self.files = {**files, "n": put(45, 2, line, over=0)(files["n"])}
        self._theirs.append(("Unrelated", 900 + number, self.files))

    def rebase(self, *, code: int = 0) -> Told:
        """Play the story so far, and rebase our patches onto its end without writing."""
        self._unrelated()
        scene, is_first = self._scene, not self._start
        ids = self._play()
        if is_first:
            self.run("series", "new", "s", "--upstream", "up", "--base", ids[":1"])
            mails = scene.upstream.patches(f"{ids[':1']}..fork").split(b"From " + b"0" * 40)
            names = [f"ours-change-{number}.patch" for number in range(1, len(mails))]
            for name, mail in zip(names, mails[1:], strict=True):
                (scene.root / "series/s" / name).write_bytes(b"From " + b"0" * 40 + mail)
            (scene.root / "series/s/series").write_text("".join(f"{name}\n" for name in names))
        else:
            self.run("upstream", "fetch")
        answer = scene.rebase("s", "--onto", "upstream/main", "--dry-run", code=code)
        first = 2 + len(self._ours)
        pulls = {ids[f":{mark}"]: step[1] for mark, step in enumerate(self._theirs, first)}
        return Told(answer["series"][0], pulls)

    def run(self, *arguments: str) -> None:
        """Run a command in the workspace."""
        self._scene.call(*arguments)

    def _play(self) -> Mapping[str, str]:
        """Write all commits with one fast-import, and return their ids by mark."""
        assert self._base is not None
        git = self._scene.upstream.git
        self._start = self._start or self._scene.upstream.head()
        commits = [("main", "Base", self._base)]
        commits += [("fork", f"ours: change {n}", to) for n, to in enumerate(self._ours, 1)]
        commits += [("main", f"{subject} (#{pull})", to) for subject, pull, to in self._theirs]
        stream = b""
        seen: dict[str, str] = {}
        for mark, (branch, subject, files) in enumerate(commits, 1):
            parent = seen.get(branch, ":1" if seen else self._start)
            seen[branch] = f":{mark}"
            stream += self._commit(mark, branch, subject, files, parent)
        git("fast-import", "--quiet", "--export-marks=.git/marks", data=stream)
        marks = (self._scene.upstream.root / ".git/marks").read_text().split()
        return dict(zip(marks[::2], marks[1::2], strict=True))

    def _commit(self, mark: int, branch: str, subject: str, files: Files, parent: str) -> bytes:
        head = (
            f"commit refs/heads/{branch}\nmark :{mark}\n"
            f"committer C <c@example.org> {1700000000 + mark} +0000\n"
            f"data {len(subject)}\n{subject}\nfrom {parent}\ndeleteall\n"
        )
        stream = head.encode()
        for name, content in self._contents(files).items():
            stream += b"M 100644 inline %s\ndata %d\n%s\n" % (name, len(content), content)
        return stream

    def _contents(self, files: Files) -> dict[bytes, bytes]:
        contents = {(path + self.form.suffix).encode(): d.text() for path, d in files.items()}
        return {name: text.encode() for name, text in contents.items()}

    def tree(self, *edits: Edit, **files: Edit) -> str:
        """Return the id of upstream's tree with edits of the first file, and of others by name.

        Ask after the rebase, which lets upstream make its last commit.
        """
        contents = self._contents(_edited(self.files, edits, files))
        entries = [
            b"100644 %s\0" % name + _id(b"blob", contents[name]) for name in sorted(contents)
        ]
        return _id(b"tree", b"".join(entries)).hex()

    def path(self, name: str) -> str:
        """Return the path of a file."""
        return name + self.form.suffix


def _edited(before: Files, edits: tuple[Edit, ...], files: Mapping[str, Edit]) -> Files:
    after = dict(before)
    if edits:
        after["a"] = both(*edits)(after["a"])
    return after | {path: edit(after[path]) for path, edit in files.items()}


def _near_edges(number: int) -> Edit:
    """Shift what stands below function 2, and change function 19."""

    def edit(document: Document) -> Document:
        if 2 in document.units:
            document = put(2, 1, say(2, 1, variant=number + 1), over=0)(document)
        if 19 in document.units:
            document = put(19, 3, say(19, 3, variant=number + 1))(document)
        return document

    return edit


def _id(kind: bytes, content: bytes) -> bytes:
    return hashlib.sha1(b"%s %d\0" % (kind, len(content)) + content).digest()
