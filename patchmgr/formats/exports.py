"""Export formats: which patches each keeps as they are, how it writes the rest, and its files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from patchmgr.errors import PatchmgrError
from patchmgr.formats.header_edits import with_fields
from patchmgr.formats.mail_text import written_date, written_person
from patchmgr.formats.mailbox import canonical_header
from patchmgr.formats.mboxes import joinable
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.patch_package import PackagePatch, names_folder, read_name, written_name
from patchmgr.formats.paths import encode_path
from patchmgr.formats.reader import split_lines
from patchmgr.formats.series_files import without_strip, write_series
from patchmgr.formats.shown import shown
from patchmgr.formats.stances import MAINLINE, STATUS, stance_problems, suse_fields, yocto_status
from patchmgr.model.patch import Author, FilePatch, Patch
from patchmgr.model.series import SeriesFile, SeriesLine


class DiffShape(Struct, frozen=True):
    """The form in which git writes the diffs of patches that must be rewritten.

    `folder` stands before each path, after `a/` and `b/`.
    """

    finds_renames: bool = True
    folder: str = ""


class Pinned(Struct, frozen=True):
    """The input of an export besides patches: the pin, the npm package, the lines of the series.

    `repository` is upstream's. For each upstream commit that a header names, `landed` has the first
    release that contains it, or None if no release does.
    """

    commit: str
    ref: str
    lines: tuple[SeriesLine, ...]
    package: str | None = None
    repository: str = ""
    landed: Mapping[str, str | None] = field(default_factory=dict)


class Item(Struct, frozen=True):
    """A patch to export: the patch, its line in the series, and its author."""

    patch: Patch
    line: SeriesLine
    author: Author


class Parcel(Struct, frozen=True):
    """An exported patch."""

    item: Item
    content: bytes

    @property
    def is_kept(self) -> bool:
        """Return whether the patch is exported byte for byte."""
        return self.content == self.item.patch.raw


class Form(Struct, frozen=True):
    """A format for exports; by default mails in a folder, with a series file.

    `is_file` means that there is one file, under the empty path; `takes_all`, that guards and
    conditions keep no patch out; `is_whole`, that all patches become one diff; `names_releases`,
    that the format reads `Pinned.landed`.
    """

    is_file: bool = False
    takes_all: bool = False
    is_whole: bool = False
    names_releases: bool = False

    def shape(self, pinned: Pinned) -> DiffShape:
        """Return the form of the diffs."""
        return DiffShape()

    def check(self, items: Sequence[Item], pinned: Pinned) -> None:
        """Raise PatchmgrError if the format cannot hold the series."""

    def kept(self, items: Sequence[Item], pinned: Pinned) -> tuple[bool, ...]:
        """Return for each patch whether git am takes it as it is, so that its bytes can stay."""
        return tuple(is_mail(item) for item in items)

    def rewritten(self, item: Item, diff: bytes, pinned: Pinned) -> bytes:
        """Return a patch rewritten for the format, with a diff that git wrote."""
        return canonical_header(item.patch, author=item.author) + diff

    def files(self, parcels: Sequence[Parcel], pinned: Pinned) -> Mapping[str, bytes]:
        """Return all files by path: the patches under their names, and the series file.

        Comments in the series file stay where they are; a rewritten patch no longer needs -pN or
        -R.
        """
        files = {p.item.patch.name: p.content for p in parcels}
        lines = tuple(x for x in pinned.lines if x.name is None or x.name in files)
        rewritten = {p.item.patch.name for p in parcels if not p.is_kept}
        return {**files, "series": write_series(without_strip(SeriesFile(lines), rewritten))}

    def losses(self, parcel: Parcel) -> tuple[str, ...]:
        """Return which parts of a patch readers of the format ignore, each as a clause."""
        return ()


def is_mail(item: Item) -> bool:
    """Return whether git am takes the patch as it is."""
    return item.patch.is_mailbox and item.line.is_usual


def moves_files(file: FilePatch) -> bool:
    """Return whether a change is more than edited lines: moved files or binary contents."""
    return file.is_rename or file.is_copy or file.binary is not None


class Quilt(Form, frozen=True):
    """`QUILT_PATCHES=DIR quilt push -a`."""

    takes_all: bool = True

    def kept(self, items: Sequence[Item], pinned: Pinned) -> tuple[bool, ...]:
        """Keep everything."""
        return (True,) * len(items)

    def losses(self, parcel: Parcel) -> tuple[str, ...]:
        """Return what quilt ignores."""
        patch, found = parcel.item.patch, []
        if parcel.item.line.guards:
            found.append("has guards, which quilt takes for comments: it will apply it")
        if any(file.binary is not None for file in patch.files):
            found.append("has a binary file, which quilt does not apply")
        return tuple(found)


_NUMBER = re.compile(r"^\d{4,}-")
_SUFFIX = re.compile(r"\.(?:patch|diff)$")


class Mailbox(Form, frozen=True):
    """`git am FILE`."""

    is_file: bool = True

    def kept(self, items: Sequence[Item], pinned: Pinned) -> tuple[bool, ...]:
        """Keep the mails that can be split from the mailbox again."""
        return joinable([item.patch.raw if is_mail(item) else None for item in items])

    def files(self, parcels: Sequence[Parcel], pinned: Pinned) -> Mapping[str, bytes]:
        """Return the mailbox."""
        return {"": b"".join(parcel.content for parcel in parcels)}


class NumberedMails(Form, frozen=True):
    """`git am DIR/*`."""

    def files(self, parcels: Sequence[Parcel], pinned: Pinned) -> Mapping[str, bytes]:
        """Return one file per mail; their names sort in order."""
        width = max(4, len(str(len(parcels))))
        return {
            f"{number:0{width}}-{_stem(parcel.item.patch.name)}.patch": parcel.content
            for number, parcel in enumerate(parcels, 1)
        }


def _stem(name: str) -> str:
    return _SUFFIX.sub("", _NUMBER.sub("", name.rpartition("/")[2])) or "patch"


class Gbp(Form, frozen=True):
    """As `gbp pq export` would: -p1, no renames, a header with author and subject."""

    def shape(self, pinned: Pinned) -> DiffShape:
        """Write moved files whole: dpkg-source reads no renames."""
        return DiffShape(finds_renames=False)

    def check(self, items: Sequence[Item], pinned: Pinned) -> None:
        """Refuse binary files, which dpkg-source does not take."""
        for item in items:
            for file in item.patch.files:
                if file.binary is not None:
                    path, name = shown(file.path), shown(item.patch.name)
                    raise PatchmgrError(
                        "not-exportable",
                        f"Patch {name} changes the binary file {path}, and debian/patches has none",
                        ("put such files into a separate patch with a guard",),
                    )

    def kept(self, items: Sequence[Item], pinned: Pinned) -> tuple[bool, ...]:
        """Keep patches that dpkg-source can read and that name an author."""
        return tuple(
            item.line.is_usual
            and item.patch.author is not None
            and not any(moves_files(file) for file in item.patch.files)
            for item in items
        )

    def losses(self, parcel: Parcel) -> tuple[str, ...]:
        """Return the changes without lines: dpkg-source reads only lines."""
        files = parcel.item.patch.files
        bare = [f for f in files if not f.hunks and not moves_files(f)]
        modes = ((f, f.old_mode, f.new_mode) for f in files if f.hunks)
        bits = [f for f, old, new in modes if old and new and old != new]
        return tuple(
            f"changes {shown(file.path)} by more than lines, which dpkg-source does not do"
            for file in [*bare, *bits]
        )


_BASE = re.compile(rb"^# This series applies on GIT commit [0-9a-f]{40}$", re.MULTILINE)


class StGit(Form, frozen=True):
    """Subject, author and text above each diff, and the base commit of all patches."""

    def kept(self, items: Sequence[Item], pinned: Pinned) -> tuple[bool, ...]:
        """Keep patches that are not mails: StGit would read a mail's header as text."""
        return tuple(
            not i.patch.is_mailbox and i.line.strip in (0, 1) and not i.line.is_reversed
            for i in items
        )

    def rewritten(self, item: Item, diff: bytes, pinned: Pinned) -> bytes:
        """Return a patch as `stg export` writes it, with its date."""
        subject, _, body = item.patch.message.partition(b"\n")
        who = encode_path(written_person(item.author.name, item.author.email))
        when = encode_path(written_date(item.author.date))
        text = body.strip(b"\n")
        parts = [subject, b"\n\nFrom: ", who, b"\nDate: ", when, b"\n\n", text]
        return b"".join([*parts, b"\n\n" if text else b"", b"---\n\n", diff])

    def files(self, parcels: Sequence[Parcel], pinned: Pinned) -> Mapping[str, bytes]:
        """Return the patches under their names, and the series file with its base."""
        files = Form.files(self, parcels, pinned)
        line = b"# This series applies on GIT commit " + pinned.commit.encode()
        series, number = _BASE.subn(line, files["series"])
        return {**files, "series": series if number else line + b"\n" + series}


_RELEASE = re.compile(r"v?(\d+\.\d+\.\d+\S*)")
# What patch-package reads as a part of a diff, wherever it stands (its parse.ts).
_DIFF_WORDS = (
    b"@@", b"diff --git ", b"old mode ", b"new mode ", b"deleted file mode ", b"new file mode ",
    b"rename from ", b"rename to ", b"index ", b"--- ", b"+++ ",
)  # fmt: skip


class PatchPackage(Form, frozen=True):
    """One file per patch, named by package, version and position."""

    def shape(self, pinned: Pinned) -> DiffShape:
        """Ask for paths in `node_modules`."""
        package = _package(pinned)
        folder = package.folder if package is not None else "node_modules"
        return DiffShape(finds_renames=False, folder=folder)

    def check(self, items: Sequence[Item], pinned: Pinned) -> None:
        """Refuse binary files, links, bytes that are not UTF-8, and a package without a name."""
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
            message = "patch-package needs the package and its version"
            hint = "name them: --npm NAME@VERSION, or --npm NAME where the pin is a release"
            raise PatchmgrError("usage", message, (hint,))

    def kept(self, items: Sequence[Item], pinned: Pinned) -> tuple[bool, ...]:
        """Keep all patches if all came from patch-package for the requested package."""
        names = [_came_as(item) for item in items]
        wanted = _package(pinned)
        packages = {(name.packages, name.version) for name in names if name is not None}
        if wanted is not None:
            packages.add((wanted.packages, wanted.version))
        is_same = None not in names and len(packages) == 1
        return (is_same,) * len(items)

    def rewritten(self, item: Item, diff: bytes, pinned: Pinned) -> bytes:
        """Return a canonical patch whose header has nothing that looks like a diff."""
        header = canonical_header(item.patch, author=item.author)
        lines = split_lines(header)
        return b"".join(b" " + x if x.startswith(_DIFF_WORDS) else x for x in lines) + diff

    def files(self, parcels: Sequence[Parcel], pinned: Pinned) -> Mapping[str, bytes]:
        """Return one file per patch; a single one has no number."""
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
        message = f"Patch {shown(item.patch.name)} has lines that are not UTF-8"
        message += ": patch-package would corrupt them"
        raise PatchmgrError("not-exportable", message) from fault


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
            message = f"{shown(pinned.ref)} is not a version of a package"
            raise PatchmgrError("usage", message, (hint,))
        version = release[1]
    package = PackagePatch((name,), version)
    if read_name(written_name(package)) != package:
        message = f"{shown(pinned.package)} is not a package of npm with a version"
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


class OneDiff(Form, frozen=True):
    """`git apply FILE`."""

    is_file: bool = True
    is_whole: bool = True

    def kept(self, items: Sequence[Item], pinned: Pinned) -> tuple[bool, ...]:
        """Keep a single patch without a header: it already is such a diff."""
        only = items[0] if len(items) == 1 else None
        is_it = only is not None and only.line.is_usual and not only.patch.header.strip()
        return (is_it,) * len(items)

    def rewritten(self, item: Item, diff: bytes, pinned: Pinned) -> bytes:
        """Return one diff of all patches."""
        return diff

    def files(self, parcels: Sequence[Parcel], pinned: Pinned) -> Mapping[str, bytes]:
        """Return the diff."""
        return {"": parcels[0].content if parcels else b""}


class Yocto(Form, frozen=True):
    """Mails whose `Upstream-Status` field gives their status upstream."""

    field: str = STATUS

    def fields(self, item: Item, pinned: Pinned) -> Mapping[str, str]:
        """Return the fields that the format requires in a header; an empty one is to be removed."""
        return {STATUS: yocto_status(item.patch)}

    def kept(self, items: Sequence[Item], pinned: Pinned) -> tuple[bool, ...]:
        """Keep the mails whose header has the required fields already."""
        return tuple(
            is_mail(i)
            and all((i.patch.says(k) or "") == v for k, v in self.fields(i, pinned).items())
            for i in items
        )

    def rewritten(self, item: Item, diff: bytes, pinned: Pinned) -> bytes:
        """Return a canonical patch with the fields in its text."""
        mail = canonical_header(item.patch, author=item.author) + diff
        return with_fields(mail, self.fields(item, pinned))

    def losses(self, parcel: Parcel) -> tuple[str, ...]:
        """Return what a reader of the field will not see."""
        patch = parse_patch(parcel.content, name=parcel.item.patch.name)
        return tuple(f"will be asked: {problem}" for problem in stance_problems(patch, self.field))


class Suse(Yocto, frozen=True):
    """Mails with their upstream status in `Patch-mainline`, `Git-commit` and `Git-repo`."""

    names_releases: bool = True
    field: str = MAINLINE

    def fields(self, item: Item, pinned: Pinned) -> Mapping[str, str]:
        """Return SUSE's fields; Git-commit and Git-repo only if upstream has the patch."""
        return suse_fields(item.patch, pinned.repository, pinned.landed)


FORMS: Mapping[str, Form] = {
    "quilt": Quilt(),
    "mbox": Mailbox(),
    "git": NumberedMails(),
    "gbp": Gbp(),
    "stgit": StGit(),
    "patch-package": PatchPackage(),
    "diff": OneDiff(),
    "yocto": Yocto(),
    "suse": Suse(),
}
