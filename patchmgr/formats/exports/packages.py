"""The folder `patches/` of patch-package, which patches installed packages of npm."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from patchmgr.errors import PatchmgrError
from patchmgr.formats.exports.form import DiffShape, Form, Item, Parcel, Pinned
from patchmgr.formats.mailbox import canonical_header
from patchmgr.formats.patch_package import PackagePatch, names_folder, read_name, written_name
from patchmgr.formats.reader import split_lines
from patchmgr.formats.shown import shown

_RELEASE = re.compile(r"v?(\d+\.\d+\.\d+\S*)")
# What patch-package reads as a part of a diff, wherever it stands (its parse.ts).
_DIFF_WORDS = (
    b"@@", b"diff --git ", b"old mode ", b"new mode ", b"deleted file mode ", b"new file mode ",
    b"rename from ", b"rename to ", b"index ", b"--- ", b"+++ ",
)  # fmt: skip


class PatchPackage(Form, frozen=True):
    """One file a patch, named by package, version and place in the row."""

    def shape(self, pinned: Pinned) -> DiffShape:
        """Ask for paths in `node_modules`."""
        package = _package(pinned)
        folder = package.folder if package is not None else "node_modules"
        return DiffShape(finds_renames=False, folder=folder)

    def check(self, items: Sequence[Item], pinned: Pinned) -> None:
        """Refuse binary files, links and other bytes than UTF-8, and a package without a name."""
        package = _package(pinned)
        for item in items:
            _check_utf8(item)
            for file in item.patch.files:
                what = "binary file" if file.binary is not None else None
                if not {file.old_mode, file.new_mode} <= {None, "100644", "100755"}:
                    what = "link"
                if what is not None:
                    where = f"{what} {shown(file.path)}, and patch-package has none"
                    message = f"Patch {shown(item.patch.name)} changes the {where}"
                    raise PatchmgrError("not-exportable", message)
        if package is None and not all(self.kept(items, pinned)):
            message = "patch-package wants to know the package and its version"
            hint = "name them: --npm NAME@VERSION, or --npm NAME where the pin is a release"
            raise PatchmgrError("usage", message, (hint,))

    def kept(self, items: Sequence[Item], pinned: Pinned) -> tuple[bool, ...]:
        """Keep all where all came from patch-package for the package that is asked for."""
        names = [_came_as(item) for item in items]
        wanted = _package(pinned)
        packages = {(name.packages, name.version) for name in names if name is not None}
        if wanted is not None:
            packages.add((wanted.packages, wanted.version))
        is_same = None not in names and len(packages) == 1
        return (is_same,) * len(items)

    def rewritten(self, item: Item, diff: bytes) -> bytes:
        """Return a canonical patch whose header has nothing that looks like a diff."""
        header = canonical_header(item.patch, author=item.author)
        lines = split_lines(header)
        return b"".join(b" " + x if x.startswith(_DIFF_WORDS) else x for x in lines) + diff

    def files(self, parcels: Sequence[Parcel], pinned: Pinned) -> Mapping[str, bytes]:
        """Return a file a patch; one that is alone has no number."""
        if all(parcel.is_kept for parcel in parcels):
            return {parcel.item.patch.name: parcel.content for parcel in parcels}
        package = _package(pinned)
        assert package is not None
        files: dict[str, bytes] = {}
        for at, parcel in enumerate(parcels, 1):
            number = 0 if len(parcels) == 1 else at
            name = PackagePatch(package.packages, package.version, number, _title(parcel.item))
            files[written_name(name)] = parcel.content
        return files


def _check_utf8(item: Item) -> None:
    """Refuse bytes that patch-package, which reads text, would replace by others."""
    try:
        item.patch.diff.decode()
    except UnicodeDecodeError as fault:
        message = f"Patch {shown(item.patch.name)} has lines that are no UTF-8"
        raise PatchmgrError("not-exportable", f"{message}: patch-package spoils them") from fault


def _package(pinned: Pinned) -> PackagePatch | None:
    """Return the package that a person named; raise "usage" where it has no version."""
    if pinned.package is None:
        return None
    name, at, version = pinned.package[1:].partition("@")
    name = pinned.package[:1] + name
    if not at:
        release = _RELEASE.fullmatch(pinned.ref)
        if release is None:
            hint = f"name it: --npm {shown(name)}@1.2.3"
            message = f"{shown(pinned.ref)} is no version of a package"
            raise PatchmgrError("usage", message, (hint,))
        version = release[1]
    package = PackagePatch((name,), version)
    if read_name(written_name(package)) != package:
        message = f"{shown(pinned.package)} is no package of npm with a version"
        raise PatchmgrError("usage", message, ("write it as: --npm NAME@1.2.3",))
    return package


def _came_as(item: Item) -> PackagePatch | None:
    """Return what a patch-package's file name says, if the diff says so, too."""
    name = read_name(item.patch.name)
    if name is None or item.line.is_reversed:
        return None
    return name if names_folder(item.patch.diff, name.folder) else None


def _title(item: Item) -> str:
    """Return the part of the name that is for people."""
    known = read_name(item.patch.name)
    stem = known.title if known is not None else item.patch.name.rpartition("/")[2]
    return re.sub(r"[^\w.-]+", "-", re.sub(r"\.(?:patch|diff)$", "", stem))
