"""An overlay's folder: patched copies of modules, and the code that makes Python import them.

Python imports the overlay's `sitecustomize`, which installs a finder and then runs the
`sitecustomize` that it hides, if there is one. If an installed file differs from the one that the
overlay was made for, a warning is written, and the overlay is not used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

_MODULE = '''\
"""Warn if patched files of {name} have changed. `patchmgr unapply` removes this module."""


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
                "patchmgr: %d of %d files of {name} have changed since the series %s was applied;"
                " to apply it again: patchmgr apply %s --python %s\\n"
                % (wrong, len(found), record["series"], record["series"], sys.executable)
            )
    except Exception:
        pass


_check()
'''


def start_check(name: str) -> dict[str, bytes]:
    """Return files for site-packages that make Python warn if a patched file has changed."""
    module = f"_patchmgr_check_{name.replace('-', '_')}"
    return {
        f"{module}.pth": f"import {module}\n".encode(),
        f"{module}.py": _MODULE.replace("{name}", name).encode(),
    }


FINDER = "patchmgr_overlay.py"
TABLE = "overlay.json"
START = "sitecustomize.py"
_FILES = "files-"

_FINDER = '''\
"""Make Python import patched copies of modules. Made by patchmgr overlay; do not edit."""

import hashlib
import json
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location

HERE = os.path.dirname(os.path.abspath(__file__))


class Loader(SourceFileLoader):
    """Compiles a module from its patched copy; all else comes from the installed file."""

    copy = ""

    def get_code(self, fullname):
        with open(self.copy, "rb") as file:
            return self.source_to_code(file.read(), self.copy)

    def get_source(self, fullname):
        import importlib.util

        with open(self.copy, "rb") as file:
            return importlib.util.decode_source(file.read())


class Finder:
    """Finds the patched modules, unless the installed package has changed."""

    def __init__(self, table):
        self.table = table
        self.modules = table["modules"]
        self.state = None
        names = [name.split(".") for name in self.modules]
        self.above = {".".join(n[:end]) for n in names for end in range(1, len(n))}

    def find_spec(self, fullname, path=None, target=None):
        row = self.modules.get(fullname)
        if row is None and fullname in self.above:
            return self.find_folder(fullname, path)
        if row is None or not self.is_current():
            return None
        place = os.path.join(self.table["site"], row["path"])
        folders = [os.path.dirname(place)] if row["path"].endswith("__init__.py") else None
        found = PathFinder.find_spec(fullname, path)
        if found is not None and not _is_same(found.origin, place):
            return None
        loader = Loader(fullname, place)
        loader.copy = os.path.join(HERE, self.table["files"], row["path"])
        spec = spec_from_file_location(
            fullname, place, loader=loader, submodule_search_locations=folders
        )
        if spec is not None:
            spec.cached = None
        return spec

    def find_folder(self, fullname, path):
        """Return a spec for a folder that only the patches create."""
        if PathFinder.find_spec(fullname, path) is not None or not self.is_current():
            return None
        spec = ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = [os.path.join(self.table["site"], *fullname.split("."))]
        return spec

    def is_current(self):
        if self.state is None:
            self.state = True
            wrong = [row["path"] for row in self.modules.values() if not self.is_as_before(row)]
            if wrong:
                self.state = False
                sys.stderr.write(
                    "patchmgr: %s in %s is not the file that the overlay %s was made for, so the"
                    " overlay is not used. To make it again: patchmgr overlay %s --out %s\\n"
                    % (wrong[0], self.table["site"], HERE, self.table["series"], HERE)
                )
        return self.state

    def is_as_before(self, row):
        try:
            with open(os.path.join(self.table["site"], row["path"]), "rb") as file:
                return hashlib.sha256(file.read()).hexdigest() == row["before"]
        except OSError:
            return row["before"] is None


def _is_same(one, other):
    return one is not None and os.path.realpath(one) == os.path.realpath(other)


def install():
    """Put the finder first in sys.meta_path, unless it is already there."""
    if any(isinstance(finder, Finder) for finder in sys.meta_path):
        return
    with open(os.path.join(HERE, "overlay.json"), encoding="utf-8") as file:
        table = json.load(file)
    sys.meta_path.insert(0, Finder(table))
'''

_START = '''\
"""Start the overlay, then the sitecustomize that this file hides. Made by patchmgr."""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _start():
    sys.path.insert(0, _HERE)
    try:
        import patchmgr_overlay
    finally:
        sys.path.remove(_HERE)
    patchmgr_overlay.install()


def _go_on():
    import importlib.machinery
    import importlib.util

    folders = [path for path in sys.path if os.path.abspath(path or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", folders)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


try:
    _start()
finally:
    _go_on()
'''


def module_name(path: str) -> str | None:
    """Return the dotted module name of the file at a path, or None if it is not a module."""
    if not path.endswith(".py"):
        return None
    parts = path.removesuffix(".py").split("/")
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(parts) if parts and all(part.isidentifier() for part in parts) else None


def overlay_files(
    series: str, site: str, patched: Mapping[str, tuple[str | None, bytes]]
) -> dict[str, bytes]:
    """Return the content of each file of an overlay by path, in the order of writing.

    `patched` maps an installed path to the sha256 of the installed file (None if there is none) and
    the content of the patched copy.
    """
    rows = sorted(patched.items())
    whole = hashlib.sha256()
    for path, (_, content) in rows:
        whole.update(path.encode("utf-8", "surrogateescape") + b"\0")
        whole.update(hashlib.sha256(content).digest())
    folder = f"{_FILES}{whole.hexdigest()[:12]}"
    modules = {
        module_name(path) or path: {"path": path, "before": before} for path, (before, _) in rows
    }
    table = {"format": 1, "series": series, "site": site, "files": folder, "modules": modules}
    files = {f"{folder}/{path}": content for path, (_, content) in rows}
    files[FINDER] = _FINDER.encode()
    # Writing the table, which names the folder, replaces an older overlay in one step.
    files[TABLE] = (json.dumps(table, indent=1, sort_keys=True) + "\n").encode()
    files[START] = _START.encode()
    return files


def is_of_overlay(name: str) -> bool:
    """Return whether a file or folder with this name is part of an overlay."""
    return name in (FINDER, TABLE, START, "__pycache__") or name.startswith(_FILES)
