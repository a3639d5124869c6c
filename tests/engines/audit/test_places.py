"""Where lines of the result were written."""

from msgspec.structs import replace

from patchmgr.engines.audit.places import source_path
from patchmgr.model.snapshot import Entry
from tests.engines.audit.audited import audited
from tests.engines.ports import MemoryBlobs
from tests.tables import table

OLD = b"a = 1\nb = 2\nc = 3\n"


@table(
    ("path", "content", "source"),
    {
        "moved-hunk": ("deep/other.py", b"x = 1\nnew = 4\n", "first.py"),
        "no-line-of-it": ("deep/other.py", b"x = 1\ny = 2\n", "deep/other.py"),
        "its-own-file": ("first.py", OLD + b"new = 4\n", "first.py"),
    },
)
def test_lines_are_read_where_they_were_written(path: str, content: bytes, source: str) -> None:
    blobs = MemoryBlobs()
    base = {"first.py": OLD, "deep/other.py": b"x = 1\n"}
    ours = {**base, "first.py": OLD + b"new = 4\n"}
    _, states = audited(base, ours, base, blobs=blobs)
    states.merged.tree.set(path, Entry("100644", blobs.add(content)))
    assert source_path(replace(states, carriers={path: "p"}), path) == source
