"""Imports of names that upstream moved."""

import pytest

from patchmgr.engines.audit.follow import Move, follow_moved_names, moves_in, rewritten
from patchmgr.engines.audit.interfaces import INTERFACES
from patchmgr.engines.audit.states import run_checks
from patchmgr.model.outcome import Verdict
from tests.engines.audit.audited import audited
from tests.engines.ports import MemoryBlobs
from tests.engines.series import Files
from tests.tables import table

LOAD = b"def load(path):\n    with open(path) as file:\n        return file.read()\n"
OTHER = b"def save(path):\n    return path\n"


def followed(upstream: Files) -> tuple[Verdict, bytes, list[str]]:
    """Return what becomes of a new file that imports `load` from pkg.io, and what is said."""
    blobs = MemoryBlobs()
    base: Files = {"pkg/__init__.py": b"", "pkg/io.py": LOAD + OTHER, "pkg/fs.py": b"A = 1\n"}
    ours = {**base, "new.py": b"from pkg.io import load, save\n\nload(save(1))\n"}
    judged, states = audited(base, ours, {**base, **upstream}, blobs=blobs)
    merged = dict(states.merged.tree.changes())
    patches, changes = follow_moved_names(judged, merged, states, blobs, moves_in(states))
    entry = changes["new.py"]
    assert entry is not None
    assert patches[0].outcome.changes == {"new.py": entry}
    outcome = patches[0].outcome
    return outcome.verdict, blobs.read(entry.blob), [f.proposal or "" for f in outcome.findings]


def test_a_name_that_moved_is_imported_from_its_new_module() -> None:
    verdict, text, said = followed({"pkg/io.py": OTHER, "pkg/fs.py": b"A = 1\n" + LOAD})
    assert text == b"from pkg.io import save\nfrom pkg.fs import load\n\nload(save(1))\n"
    assert (verdict, said) == (Verdict.MODIFIED, ["pkg.fs"])


def test_a_name_that_takes_other_arguments_now_is_followed_and_its_call_is_told() -> None:
    blobs = MemoryBlobs()
    base: Files = {"pkg/__init__.py": b"", "pkg/io.py": LOAD, "pkg/fs.py": b"A = 1\n"}
    ours = {**base, "new.py": b"from pkg.io import load\n\nload(1)\n"}
    load = LOAD.replace(b"(path)", b"(path, mode)", 1)
    upstream = {**base, "pkg/io.py": OTHER, "pkg/fs.py": load}
    judged, states = audited(base, ours, upstream, blobs=blobs)
    merged = dict(states.merged.tree.changes())
    _, changes = follow_moved_names(judged, merged, states, blobs, moves_in(states))
    for path, entry in changes.items():
        states.merged.tree.set(path, entry)
    assert states.merged.read("new.py") == b"from pkg.fs import load\n\nload(1)\n"
    told = [finding.text for _, finding in run_checks(states, INTERFACES)]
    assert told == ["`load` is called without `mode`, which it needs."]


@pytest.mark.parametrize("lead", ["pkg", ""])
@pytest.mark.parametrize("root", ["", "lib/", "src/", "deep/er/"])
def test_a_module_is_named_without_the_folders_above_its_package(root: str, lead: str) -> None:
    blobs = MemoryBlobs()
    base: Files = {f"{root}pkg/__init__.py": b"", f"{root}pkg/io.py": LOAD, f"{root}pkg/fs.py": b""}
    new = f"{root}pkg/new.py"
    ours = {**base, new: f"from {lead}.io import load\n\nload(1)\n".encode()}
    upstream: Files = {**base, f"{root}pkg/io.py": OTHER, f"{root}pkg/fs.py": LOAD}
    judged, states = audited(base, ours, upstream, blobs=blobs)
    merged = dict(states.merged.tree.changes())
    patches, changes = follow_moved_names(judged, merged, states, blobs, moves_in(states))
    entry = changes[new]
    assert entry is not None
    assert blobs.read(entry.blob).decode() == f"from {lead}.fs import load\n\nload(1)\n"
    assert [f.proposal for f in patches[0].outcome.findings] == [f"{lead}.fs"]


@table(
    "upstream",
    {
        "gone": {"pkg/io.py": OTHER},
        "nothing-moved": {"pkg/fs.py": b"A = 2\n"},
        "two-homes": {"pkg/io.py": OTHER, "pkg/fs.py": b"A = 1\n" + LOAD, "pkg/gs.py": LOAD},
        "beside-the-package": {"pkg/io.py": OTHER, "third/fs.py": LOAD},
    },
)
def test_what_is_not_clear_is_left_alone(upstream: Files) -> None:
    verdict, text, said = followed(upstream)
    assert text.startswith(b"from pkg.io import load, save\n")
    assert (verdict, said) == (Verdict.UNCHANGED, [])


@table(
    ("text", "expected"),
    {
        "alone": (b"from a import x\n", b"from b import x\n"),
        "with-a-remark": (b"from a import x  # why\n", b"from b import x  # why\n"),
        "one-of-two": (b"if y:\n    from a import x as z, w\n",
            b"if y:\n    from a import w\n    from b import x as z\n"),
        "listed": (b"from a import (\n    v,\n    w,\n    x,\n)\n",
            b"from a import (\n    v,\n    w,\n)\nfrom b import x\n"),
        "a-remark-on-several": (b"from a import w, x  # why\n", None),
        "from-elsewhere": (b"from c import x\n", None),
        "not-alone-on-its-line": (b"from a import x; y = 1\n", None),
    },
)  # fmt: skip
def test_statements_are_written_anew(text: bytes, expected: bytes | None) -> None:
    assert rewritten(text, None, [Move("a", "x", "b", None)]) == expected
    assert rewritten(text, text, [Move("a", "x", "b", None)]) is None


WALK = b"import os\n\n\ndef walk(a):\n    for b in a:\n        yield b\n\n\nEND = os.sep\n"
PRINTS = b"\n\ndef size(a):\n    from .units import human\n\n    return human(a)\n"
UNITS = b"def human(a):\n    return a\n"


@table(
    ("moved", "module"),
    {
        "left-behind": ({}, b"from ..units import human"),
        "moved-along": ({"lib/fs/units.py": UNITS}, b"from .units import human"),
        "gone": (
            {"lib/units.py": b"", "lib/fs/units.py": b"def other():\n    pass\n"},
            b"from .units import human",
        ),
    },
)  # fmt: skip
def test_a_relative_import_in_a_moved_file_names_its_module(moved: Files, module: bytes) -> None:
    blobs = MemoryBlobs()
    base: Files = {"lib/walk.py": WALK, "lib/units.py": UNITS}
    ours = {**base, "lib/walk.py": WALK + PRINTS}
    upstream = {"lib/fs/walk.py": WALK, "lib/units.py": UNITS, **moved}
    renames = {"lib/walk.py": "lib/fs/walk.py"}
    judged, states = audited(base, ours, upstream, blobs=blobs, renames=renames)
    merged = dict(states.merged.tree.changes())
    patches, changes = follow_moved_names(judged, merged, states, blobs, moves_in(states))
    entry = changes["lib/fs/walk.py"]
    assert entry is not None
    assert module in blobs.read(entry.blob)
    assert bool(patches[0].outcome.findings) == (module == b"from ..units import human")
