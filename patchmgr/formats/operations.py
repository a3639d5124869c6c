"""The entries of a workspace's log of operations: JSON, one file an operation."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from patchmgr.errors import PatchmgrError
from patchmgr.formats.json_text import parse_json
from patchmgr.formats.paths import check_path
from patchmgr.model.ids import is_full_id
from patchmgr.model.operation import (
    KeptFile,
    Operation,
    OperationKind,
    Turned,
    TurnedFile,
    TurnedRef,
    TurnedTarget,
)

FORMAT = 1
_SHA256 = re.compile(r"[0-9a-f]{64}")
_MODES = frozenset({"100644", "100755", "120000"})
_BRANCHES = "refs/heads/patchmgr/"
# Private files that a command may change; nothing else below `.patchmgr` is a file of people.
_WORK = ".patchmgr/rebase/"


def write_operation(operation: Operation) -> bytes:
    """Return an entry of the log."""
    document = {
        "format": FORMAT,
        "number": operation.number,
        "at": operation.at,
        "command": operation.command,
        "kind": operation.kind.value,
        "of": operation.of,
        "files": [[f.path, f.before, f.after] for f in operation.files],
        "targets": [_target_value(target) for target in operation.targets],
        "refs": [[r.store, r.name, r.before, r.after] for r in operation.refs],
    }
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


def _target_value(target: TurnedTarget) -> dict[str, Any]:
    files = [[f.path, _kept_value(f.before), _kept_value(f.after)] for f in target.files]
    return {"root": target.root, "files": files, "before": target.before, "after": target.after}


def _kept_value(kept: KeptFile | None) -> list[Any] | None:
    return None if kept is None else [kept.mode, kept.sha256, kept.permissions]


def read_operation(raw: bytes, *, name: str) -> Operation:
    """Read an entry; raise "broken-workspace" where it is not as it should be.

    The log may have come with a workspace of somebody else, so nothing in it is believed.
    """
    try:
        document = parse_json(raw)
        if document["format"] != FORMAT:
            raise ValueError("format")
        return Operation(
            int(document["number"]),
            int(document["at"]),
            str(document["command"]),
            OperationKind(document["kind"]),
            tuple(int(number) for number in document["of"]),
            tuple(_turned(*row) for row in document["files"]),
            tuple(_target(value) for value in document["targets"]),
            tuple(_ref(*row) for row in document["refs"]),
        )
    except (ValueError, KeyError, TypeError, PatchmgrError) as fault:
        hint = "delete .patchmgr/log to forget what was done before"
        raise PatchmgrError("broken-workspace", f"{name} cannot be read", (hint,)) from fault


def _turned(path: str, before: str | None, after: str | None) -> Turned:
    check_path(path.removeprefix(_WORK), what="the path")
    return Turned(path, _sha256(before), _sha256(after))


def _target(value: Mapping[str, Any]) -> TurnedTarget:
    files = tuple(
        TurnedFile(check_path(path, what="the path"), _kept(before), _kept(after))
        for path, before, after in value["files"]
    )
    return TurnedTarget(
        str(value["root"]), files, _sha256(value["before"]), _sha256(value["after"])
    )


def _kept(row: list[Any] | None) -> KeptFile | None:
    if row is None:
        return None
    mode, sha256, permissions = row
    found = _sha256(sha256)
    if mode not in _MODES or found is None:
        raise ValueError(mode)
    return KeptFile(mode, found, None if permissions is None else int(permissions) & 0o777)


def _ref(store: str, name: str, before: str | None, after: str | None) -> TurnedRef:
    if not name.startswith(_BRANCHES) or not all(
        v is None or is_full_id(v) for v in (before, after)
    ):
        raise ValueError(name)
    return TurnedRef(str(store), name, before, after)


def _sha256(text: str | None) -> str | None:
    if text is not None and _SHA256.fullmatch(text) is None:
        raise ValueError(text)
    return text
