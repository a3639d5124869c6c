"""The entries of a workspace's log of operations: JSON, one file an operation."""

from __future__ import annotations

import json

import msgspec

from patchmgr.errors import PatchmgrError
from patchmgr.formats.json_text import parse_json
from patchmgr.formats.paths import check_path
from patchmgr.model.operation import Operation

FORMAT = 1
# Private files that a command may change; nothing else below `.patchmgr` is a file of people.
_WORK = ".patchmgr/rebase/"


def write_operation(operation: Operation) -> bytes:
    """Return an entry of the log."""
    document = {"format": FORMAT, **msgspec.to_builtins(operation)}
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


def read_operation(raw: bytes, *, name: str) -> Operation:
    """Read an entry; raise "broken-workspace" where it is not as it should be.

    The log may have come with a workspace of somebody else, so nothing in it is believed.
    """
    try:
        document = parse_json(raw)
        if document["format"] != FORMAT:
            raise ValueError("format")
        operation = msgspec.convert(document, Operation)
        paths = [file.path.removeprefix(_WORK) for file in operation.files]
        for path in (*paths, *(file.path for one in operation.targets for file in one.files)):
            check_path(path, what="the path")
    except (ValueError, KeyError, TypeError, PatchmgrError) as fault:
        hint = "delete .patchmgr/log to forget what was done before"
        raise PatchmgrError("broken-workspace", f"{name} cannot be read", (hint,)) from fault
    return operation
