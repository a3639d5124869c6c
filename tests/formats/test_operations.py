"""Entries of the log of operations: a round trip, and what is refused."""

import json

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.model.operation import (
    KeptFile,
    Operation,
    OperationKind,
    RefChange,
    TargetChange,
    TargetFileChange,
    WorkspaceFileChange,
)
from patchmgr.plumbing.operation_log import read_operation, write_operation
from tests.tables import table

SHA, COMMIT = "a" * 64, "b" * 40
FILE = TargetFileChange("f", KeptFile("100644", SHA, 0o644), None)
OPERATION = Operation(
    3, 1700000000, "pop", next(iter(OperationKind)), (1, 2),
    (WorkspaceFileChange("series/s/series", None, SHA),),
    (TargetChange(
        "/checkout", (FILE, TargetFileChange("g", None, KeptFile("120000", SHA))), SHA, None),),
    (RefChange("store", "refs/heads/patchmgr/s", None, COMMIT),),
)  # fmt: skip
RAW = write_operation(OPERATION)


def test_an_entry_is_read_as_it_was_written() -> None:
    assert read_operation(RAW, name="3.json") == OPERATION


@table(
    ("old", "new"),
    {
        "format": ('"format":1', '"format":2'),
        "mode": ('"100644"', '"160000"'),
        "no content": (f'"100644","{SHA}"', '"100644",null'),
        "no digest": (f'"{SHA}"', '"a"'),
        "path": ('"f"', '"../f"'),
        "branch": ("refs/heads/patchmgr/s", "refs/heads/main"),
        "two refs": ("refs/heads/patchmgr/s", rf"refs/heads/patchmgr/s {COMMIT}\nupdate refs/x"),
        "no commit": (COMMIT, "main"),
        "no number": ('"number":3', '"other":3'),
        "no JSON": ("{", "[" * 9),
    },
)
def test_a_broken_entry_is_refused(old: str, new: str) -> None:
    text = json.dumps(json.loads(RAW), separators=(",", ":"))
    assert old in text
    broken = text.replace(old, new)
    with pytest.raises(PatchmgrError, match=r"3\.json cannot be read"):
        read_operation(broken.encode(), name="3.json")
