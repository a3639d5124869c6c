"""Merges, rebases and absorption of texts from any bytes, all in memory."""

from collections.abc import Sequence

from patchmgr.engines.conflicts.memory import Replayed, learn, replay
from patchmgr.engines.merge.resolve import resolve
from patchmgr.engines.rebase.ladder import ABSORBED_SUPERSET, Merged, Sides, merge_file
from patchmgr.engines.series.placement import Applied, apply_hunks
from patchmgr.engines.structure.guards import suspect
from patchmgr.engines.structure.sides import Texts
from patchmgr.model.merge import Clean
from patchmgr.model.outcome import Verdict
from patchmgr.model.patch import Patch
from tests.engines.ports import MemoryBlobs, PlainMerge
from tests.engines.series import Files, Run, difference, entry_of, hunks_between, replayed
from tests.engines.tales import Tale
from tests.fuzz.choices import Choices, edited

PLAIN = (b"a\n", b"b\n", b"c\n", b"\n", b"}\n", b"    d,\n", b"    e,\n", b"x = [\n", b"]\n")
PYTHON = (
    "import os\n", "from a import b\n", "from a import (\n    b,\n    c,\n)\n", "\n", "x = 1\n",
    "x = [1, 2]\n", "def f(a, b=1):\n    return g(a, b)\n", "class A(B):\n    y = 2\n",
    "if x:\n    pass\nelse:\n    x()\n", "# why\n", "    z = f(1,\n", "@d\n", "try:\n",
    "'''\n", "\f", "\t",
    "D = {\n    'a': 1,\n}\n", "f(1, k=2)\n", "assert x\n", "async def h(): ...\n", "\\\n",
)  # fmt: skip
CXX = (
    "#include <a>\n", "#define X 1\n", "int f(int a) { return a; }\n", "struct S {\n  int x;\n};\n",
    "namespace n {\n", "}\n", "template <class T>\n", "// why\n", "/*\n", "*/\n", "f(1, 2);\n",
    "\n", "enum E { A, B };\n", "#if X\n", "#endif\n", "__global__ void k() {}\n", "R\"(\n", "\\\n",
)  # fmt: skip
DATA = ("a: 1\n", "  - b\n", "[t]\n", "k = 'v'\n", '{"a": 1,\n', "}\n", "- c\n", "# why\n", "\n")
KINDS: tuple[tuple[str, Sequence[str]], ...] = (
    ("f.py", PYTHON), ("f.cu", CXX), ("f.yaml", DATA), ("f.toml", DATA), ("f.json", DATA),
    ("f.txt", DATA), ("CMakeLists.txt", CXX),
)  # fmt: skip


def three_texts(choices: Choices) -> tuple[bytes, bytes, bytes]:
    """Choose base, ours and theirs."""
    base = [choices.one_of(PLAIN) for _ in range(choices.number(24))]
    ours, theirs = (edited(choices, base, PLAIN, 4) for _ in "12")
    ending = choices.number(8)
    found = [b"".join(lines) for lines in (base, ours, theirs)]
    if ending & 1:
        found = [text.replace(b"\n", b"\r\n") for text in found]
    if ending & 2:
        found = [text.rstrip(b"\n") for text in found]
    return found[0], found[1], found[2]


def ladder(raw: bytes) -> None:
    """One file climbs the ladder: what is clean as text keeps the text merge's bytes."""
    base, ours, theirs = three_texts(Choices(raw))
    check_ladder(base, ours, theirs)


def check_ladder(base: bytes, ours: bytes, theirs: bytes) -> None:
    """Assert what holds of every merge of three texts."""
    blobs = MemoryBlobs()
    hunks = hunks_between(base, theirs)
    applied = apply_hunks(base, hunks)
    assert isinstance(applied, Applied)
    entries = [entry_of(blobs, side) for side in (base, ours, theirs)]
    sides = Sides(entries[0], entries[1], entries[2], hunks, applied.positions)
    found = merge_file(sides, blobs=blobs, text=PlainMerge())
    merge = PlainMerge().merge(base, ours, theirs)
    assert len(found.answers) == max(1, len(hunks))
    if not isinstance(found, Merged):
        is_sure = isinstance(merge, Clean) and ABSORBED_SUPERSET not in found.answers
        assert not is_sure, "what is clean as text, and not there already, is no conflict"
        return
    assert found.entry is not None
    verdicts = {verdict for verdict, _ in found.answers}
    assert Verdict.CONFLICT not in verdicts
    if verdicts == {Verdict.ABSORBED}:
        assert found.entry.blob == entries[1].blob, "an absorbed patch changes nothing"
    if ABSORBED_SUPERSET not in found.answers:
        assert isinstance(merge, Clean)
        assert blobs.read(found.entry.blob) == merge.content


def structure(raw: bytes) -> None:
    """A structural merge answers or does not; it never fails, whatever stands in the texts."""
    choices = Choices(raw)
    path, words = choices.one_of(KINDS)
    base = [choices.one_of(words) for _ in range(choices.number(16))]
    ours, theirs = (edited(choices, base, words, 4) for _ in "12")
    texts = Texts("".join(base), "".join(ours), "".join(theirs))
    merge = PlainMerge().merge(*(side.encode() for side in texts.sides()))
    if isinstance(merge, Clean):
        assert isinstance(suspect(texts, merge.content.decode(), path), tuple)
    elif merge.marked is not None:
        found = resolve(texts, path, merge.marked)
        assert found is None or (found.reliability if found.text is not None else found.suggestions)


def memory(raw: bytes) -> None:
    """What was solved is learned, and replayed it gives the solved text again."""
    base, ours, theirs = three_texts(Choices(raw))
    merge = PlainMerge().merge(base, ours, theirs)
    if isinstance(merge, Clean) or merge.marked is None:
        return
    solved = replay(merge.marked, lambda base, ours, theirs: ours + theirs)
    assert isinstance(solved, Replayed)
    if not solved.is_clean:
        return
    known = {lesson.id: lesson.resolution for lesson in learn(merge.marked, solved.marked)}
    assert all(isinstance(text, bytes) for text in known.values())


def _files(choices: Choices) -> dict[str, bytes]:
    lines = {path: [choices.one_of(PLAIN) for _ in range(8 + choices.number(16))] for path in "ab"}
    return {path: b"".join(text) for path, text in lines.items()}


def _edited_files(choices: Choices, files: Files) -> dict[str, bytes]:
    found = {path: file for path, file in files.items() if isinstance(file, bytes)}
    path = choices.one_of(("a", "b", "c"))
    if choices.number(12) == 1:
        found.pop(path, None)
        return found
    lines = found.get(path, b"").splitlines(keepends=True)
    found[path] = b"".join(edited(choices, lines, PLAIN, 4))
    return found


def rebase(raw: bytes) -> None:
    """A series is carried, and what its commits change is what the whole changes."""
    choices = Choices(raw)
    base = _files(choices)
    onto: dict[str, bytes] = dict(base)
    for _ in range(choices.number(4)):
        onto = _edited_files(choices, onto)
    patches: list[Patch] = []
    state: dict[str, bytes] = dict(base)
    for number in range(1 + choices.number(3)):
        after = _edited_files(choices, state)
        patches.append(difference(f"p{number}", state, after))
        state = after
    result = Run(base, onto).rebase(*patches)
    assert len(result.outcomes) == len(patches)
    if "conflict" not in result.verdicts:
        made = replayed(result)
        assert {p: e for p, e in made.items() if p in result.changes} == dict(result.changes)
    if onto == base and all(patch.files for patch in patches):
        assert set(result.verdicts) == {"unchanged"}
        assert result.files == state


def absorption(raw: bytes) -> None:
    """The search for what upstream has ends with an answer for any tale."""
    choices = Choices(raw)
    base = _files(choices)
    ours: list[Patch] = []
    state = dict(base)
    for _ in range(1 + choices.number(3)):
        after = _edited_files(choices, state)
        ours.append(difference(f"p{len(ours)}", state, after))
        state = after
    states = [base]
    steps: list[tuple[str, dict[str, bytes | None]]] = []
    for number in range(1 + choices.number(4)):
        after = state if choices.number(4) == 0 else _edited_files(choices, states[-1])
        gone: dict[str, bytes | None] = dict.fromkeys(states[-1].keys() - after.keys())
        new = {path: file for path, file in after.items() if states[-1].get(path) != file}
        steps.append((f"Step {number} (#{number})", {**gone, **new}))
        states.append(after)
    found = Tale(base, ours, steps).absorbed()
    assert found.keys() <= set(range(len(ours)))
    known = {patch.name: found[number] for number, patch in enumerate(ours) if number in found}
    result = Run(base, states[-1]).rebase(*ours, known=known)
    paths = [path for patch in ours for path in patch.paths()]
    is_at_end = states[-1] == state and (len(paths) == len(set(paths)) or found)
    if is_at_end and "conflict" not in result.verdicts:
        assert result.files == state, "upstream is at the series' own end"
