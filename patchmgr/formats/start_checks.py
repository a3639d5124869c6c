"""The two small files that let an interpreter warn at its start of patches that are gone.

A `.pth` file imports a module; that compares the files with the record, and never fails.
"""

from __future__ import annotations

_MODULE = '''\
"""Warn where files of {name} are not as patchmgr left them. `patchmgr unapply` removes this."""


def _check():
    import os
    import sys

    here = os.path.dirname(os.path.abspath(__file__))
    try:
        import hashlib
        import json

        with open(os.path.join(here, ".patchmgr", "{name}", "applied.json"), "rb") as file:
            record = json.load(file)
        found = []
        for row in record["files"]:
            if row["path"].startswith("_patchmgr_check_"):
                continue
            try:
                with open(os.path.join(here, row["path"]), "rb") as file:
                    is_there = hashlib.sha256(file.read()).hexdigest()
            except FileNotFoundError:
                is_there = None
            found.append((is_there, row["after"] and row["after"]["sha256"]))
        wrong = sum(now != wanted for now, wanted in found)
        if wrong and any(now for now, _ in found):
            sys.stderr.write(
                "patchmgr: %d of %d files of {name} are not as the series %s left them;"
                " patchmgr apply %s --python %s\\n"
                % (wrong, len(found), record["series"], record["series"], sys.executable)
            )
    except Exception:
        pass


_check()
'''


def start_check(name: str) -> dict[str, bytes]:
    """Return the files that warn for a distribution, by their path beside it."""
    module = f"_patchmgr_check_{name.replace('-', '_')}"
    return {
        f"{module}.pth": f"import {module}\n".encode(),
        f"{module}.py": _MODULE.replace("{name}", name).encode(),
    }
