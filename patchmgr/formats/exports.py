"""Export formats: which patch files a format keeps unchanged, and how it rewrites the others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from patchmgr.errors import PatchmgrError, UsageError
from patchmgr.formats.header_edits import with_fields
from patchmgr.formats.mail_text import written_date, written_person
from patchmgr.formats.mailbox import canonical_header
from patchmgr.formats.mboxes import joinable, quoted
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.patch_package import PackagePatch, names_folder, read_name, written_name
from patchmgr.formats.paths import encode_path
from patchmgr.formats.reader import split_lines
from patchmgr.formats.series_files import without_strip, write_series
from patchmgr.formats.shown import shown
from patchmgr.formats.upstream_status import (
    MAINLINE,
    STATUS,
    stance_problems,
    suse_fields,
    yocto_status,
)
from patchmgr.model.patch import Author, FilePatch, Patch
from patchmgr.model.series import SeriesFile, SeriesLine


class DiffShape(Struct, frozen=True):
    """Options for the diff that git writes if a patch cannot be exported unchanged."""

    finds_renames: bool = True
    folder: str = ""  # inserted before each path, after `a/` and `b/`


class Pinned(Struct, frozen=True):
    """What an export needs besides the patches: the pin, the npm package and the series file."""

    commit: str
    ref: str
    lines: tuple[SeriesLine, ...]
    package: str | None = None
    repository: str = ""  # the URL of upstream
    # the first release that contains each commit that a header names (None: no release)
    landed: Mapping[str, str | None] = field(default_factory=dict)


class ExportItem(Struct, frozen=True):
    """A patch to export, its line in the series file, and its author."""

    patch: Patch
    line: SeriesLine
    author: Author


class ExportedFile(Struct, frozen=True):
    """An exported patch, and the content of the file to write for it."""

    item: ExportItem
    content: bytes

    @property
    def is_kept(self) -> bool:
        """Return whether the exported bytes equal the patch file."""
        return self.content == self.item.patch.raw


class Form(Struct, frozen=True):
    """An export format; this base class exports a folder of mails with a series file."""

    is_file: bool = False  # `files` returns one file, under the empty path
    takes_all: bool = False  # also exports patches that guards or conditions leave out
    is_whole: bool = False  # all patches become one diff
    names_releases: bool = False  # uses `Pinned.landed`

    def shape(self, pinned: Pinned) -> DiffShape:
        """Return how git should write the diffs of rewritten patches."""
        return DiffShape()

    def check(self, items: Sequence[ExportItem], pinned: Pinned) -> None:
        """Raise PatchmgrError if the format cannot represent the series."""

    def kept(self, items: Sequence[ExportItem], pinned: Pinned) -> tuple[bool, ...]:
        """Return for each patch whether its file can be exported unchanged."""
        return tuple(self.is_usable(item, pinned) for item in items)

    def is_usable(self, item: ExportItem, pinned: Pinned) -> bool:
        """Return whether tools that use this format can read the patch file unchanged."""
        return is_mail(item)

    def rewritten(self, item: ExportItem, diff: bytes, pinned: Pinned) -> bytes:
        """Return a new patch file for a patch that cannot be kept, with the `diff` from git."""
        return quoted(canonical_header(item.patch, author=item.author)) + diff

    def files(self, exported_files: Sequence[ExportedFile], pinned: Pinned) -> Mapping[str, bytes]:
        """Return the content of each exported file (the patches and the series file) by path."""
        files = {p.item.patch.name: p.content for p in exported_files}
        lines = tuple(x for x in pinned.lines if x.name is None or x.name in files)
        rewritten = {p.item.patch.name for p in exported_files if not p.is_kept}
        return {**files, "series": write_series(without_strip(SeriesFile(lines), rewritten))}

    def losses(self, exported: ExportedFile) -> tuple[str, ...]:
        """Return what tools for this format ignore or refuse in a patch, as ends of sentences.

        Each begins with a verb, such as "has a binary file, which quilt does not apply".
        """
        return ()


def is_mail(item: ExportItem) -> bool:
    """Return whether git am can apply the patch file unchanged."""
    header = item.patch.header
    return item.patch.is_mailbox and item.line.is_usual and quoted(header) == header


def moves_files(file: FilePatch) -> bool:
    """Return whether a change to a file renames or copies it, or changes binary content."""
    return file.is_rename or file.is_copy or file.binary is not None


class Quilt(Form, frozen=True):
    """Patches and a series file, for `QUILT_PATCHES=DIR quilt push -a`."""

    takes_all: bool = True

    def is_usable(self, item: ExportItem, pinned: Pinned) -> bool:
        """Return True, because quilt can read every patch file unchanged."""
        return True

    def losses(self, exported: ExportedFile) -> tuple[str, ...]:
        """Return what quilt ignores in a patch: guards and binary files."""
        patch, found = exported.item.patch, []
        if exported.item.line.guards:
            found.append("has guards, which are comments for quilt: it will apply the patch")
        if any(file.binary is not None for file in patch.files):
            found.append("has a binary file, which quilt does not apply")
        return tuple(found)


_NUMBER = re.compile(r"^\d{4,}-")
_SUFFIX = re.compile(r"\.(?:patch|diff)$")


class Mails(Form, frozen=True):
    """Mails for `git am`."""

    def losses(self, exported: ExportedFile) -> tuple[str, ...]:
        """Return warnings about a quoted line, and about an empty patch, which git refuses."""
        told = "has no changes, and `git am` stops at it without --empty=keep"
        return (*_quoting(exported), *(() if exported.item.patch.files else (told,)))


def _quoting(exported: ExportedFile) -> tuple[str, ...]:
    """Return a warning if a line was quoted because it would begin another mail."""
    header = exported.item.patch.header
    told = "has a line that would begin another mail, so > was put before it"
    return () if quoted(header) == header else (told,)


class Mailbox(Mails, frozen=True):
    """One mailbox with all patches, for `git am FILE`."""

    is_file: bool = True

    def kept(self, items: Sequence[ExportItem], pinned: Pinned) -> tuple[bool, ...]:
        """Return for each patch whether splitting the mailbox gives its file back unchanged."""
        return joinable([item.patch.raw if is_mail(item) else None for item in items])

    def files(self, exported_files: Sequence[ExportedFile], pinned: Pinned) -> Mapping[str, bytes]:
        """Return the mailbox as the only file."""
        return {"": b"".join(exported.content for exported in exported_files)}


class NumberedMails(Mails, frozen=True):
    """One numbered mail per patch, for `git am DIR/*`."""

    def files(self, exported_files: Sequence[ExportedFile], pinned: Pinned) -> Mapping[str, bytes]:
        """Return one file per mail, with names that sort in the order of the series."""
        width = max(4, len(str(len(exported_files))))
        return {
            f"{number:0{width}}-{_stem(exported.item.patch.name)}.patch": exported.content
            for number, exported in enumerate(exported_files, 1)
        }


def _stem(name: str) -> str:
    return _SUFFIX.sub("", _NUMBER.sub("", name.rpartition("/")[2])) or "patch"


class Gbp(Form, frozen=True):
    """Patches as `gbp pq export` writes them: -p1, no renames, author and subject on top."""

    def shape(self, pinned: Pinned) -> DiffShape:
        """Return a diff format without renames, which dpkg-source does not support."""
        return DiffShape(finds_renames=False)

    def check(self, items: Sequence[ExportItem], pinned: Pinned) -> None:
        """Raise PatchmgrError for a binary file, which dpkg-source refuses."""
        for item in items:
            for file in item.patch.files:
                if file.binary is not None:
                    path, name = shown(file.path), shown(item.patch.name)
                    raise PatchmgrError(
                        "not-exportable",
                        f"patch {name} changes the binary file {path}, which gbp cannot export",
                        "put such files into a separate patch with a guard",
                    )

    def is_usable(self, item: ExportItem, pinned: Pinned) -> bool:
        """Return whether the patch names an author and dpkg-source can apply its file."""
        has_author = item.line.is_usual and item.patch.author is not None
        return has_author and not any(map(moves_files, item.patch.files))

    def losses(self, exported: ExportedFile) -> tuple[str, ...]:
        """Return a warning for each mode change and empty file, which dpkg-source ignores."""
        files = exported.item.patch.files
        bare = [f for f in files if not f.hunks and not moves_files(f)]
        modes = ((f, f.old_mode, f.new_mode) for f in files if f.hunks)
        bits = [f for f, old, new in modes if old and new and old != new]
        return tuple(
            f"changes more than the lines of {shown(file.path)}; dpkg-source ignores the rest"
            for file in [*bare, *bits]
        )


_BASE = re.compile(rb"^# This series applies on GIT commit [0-9a-f]{40}$", re.MULTILINE)


class StGit(Form, frozen=True):
    """Patches as `stg export` writes them, and a series file that names their base commit."""

    def is_usable(self, item: ExportItem, pinned: Pinned) -> bool:
        """Return whether StGit can read the patch file."""
        line = item.line
        # StGit would read the header of a mail as part of the message.
        return not item.patch.is_mailbox and line.strip in (0, 1) and not line.is_reversed

    def rewritten(self, item: ExportItem, diff: bytes, pinned: Pinned) -> bytes:
        """Return a patch file as `stg export` writes it, with the author's date."""
        subject, _, body = item.patch.message.partition(b"\n")
        who = encode_path(written_person(item.author.name, item.author.email))
        when = encode_path(written_date(item.author.date))
        text = body.strip(b"\n")
        parts = [subject, b"\n\nFrom: ", who, b"\nDate: ", when, b"\n\n", text]
        return b"".join([*parts, b"\n\n" if text else b"", b"---\n\n", diff])

    def files(self, exported_files: Sequence[ExportedFile], pinned: Pinned) -> Mapping[str, bytes]:
        """Return the patches under their names, and the series file with the base commit."""
        files = Form.files(self, exported_files, pinned)
        line = b"# This series applies on GIT commit " + pinned.commit.encode()
        series, number = _BASE.subn(line, files["series"])
        return {**files, "series": series if number else line + b"\n" + series}


_RELEASE = re.compile(r"v?(\d+\.\d+\.\d+\S*)")
# The beginnings of lines that patch-package reads as a part of a diff, even in a header (parse.ts).
_DIFF_WORDS = (
    b"@@", b"diff --git ", b"old mode ", b"new mode ", b"deleted file mode ", b"new file mode ",
    b"rename from ", b"rename to ", b"index ", b"--- ", b"+++ ",
)  # fmt: skip


class PatchPackage(Form, frozen=True):
    """Patches for npm's patch-package, in files named after package, version and patch number."""

    def shape(self, pinned: Pinned) -> DiffShape:
        """Return a diff format whose paths begin with the package's folder in `node_modules`."""
        package = _package(pinned)
        folder = package.folder if package is not None else "node_modules"
        return DiffShape(finds_renames=False, folder=folder)

    def check(self, items: Sequence[ExportItem], pinned: Pinned) -> None:
        """Raise PatchmgrError for a binary file, a link, or lines that are not UTF-8.

        It is also an error if no package is named although a patch must be rewritten.
        """
        package = _package(pinned)
        for item in items:
            _check_utf8(item)
            for file in item.patch.files:
                what = "binary file" if file.binary is not None else None
                if not {file.old_mode, file.new_mode} <= {None, "100644", "100755"}:
                    what = "link"
                if what is not None:
                    where = f"{what} {shown(file.path)}, which patch-package cannot represent"
                    message = f"patch {shown(item.patch.name)} changes the {where}"
                    hint = "put such files into a separate patch with a guard"
                    raise PatchmgrError("not-exportable", message, hint)
        if package is None and not all(self.kept(items, pinned)):
            message = "patch-package needs the name and version of the package"
            hint = "name the package: --npm NAME@VERSION, or --npm NAME if the pin is a release"
            raise UsageError(message, hint)

    def kept(self, items: Sequence[ExportItem], pinned: Pinned) -> tuple[bool, ...]:
        """Return True for every patch if all are for the same version of the same package."""
        names = [_named_package(item) for item in items]
        wanted = _package(pinned)
        packages = {(name.packages, name.version) for name in names if name is not None}
        if wanted is not None:
            packages.add((wanted.packages, wanted.version))
        is_same = None not in names and len(packages) == 1
        return (is_same,) * len(items)

    def rewritten(self, item: ExportItem, diff: bytes, pinned: Pinned) -> bytes:
        """Return a canonical patch in which header lines that look like a diff are indented."""
        header = canonical_header(item.patch, author=item.author)
        lines = split_lines(header)
        return b"".join(b" " + x if x.startswith(_DIFF_WORDS) else x for x in lines) + diff

    def files(self, exported_files: Sequence[ExportedFile], pinned: Pinned) -> Mapping[str, bytes]:
        """Return one file per patch; the files are numbered if there are several."""
        if all(exported.is_kept for exported in exported_files):
            return {exported.item.patch.name: exported.content for exported in exported_files}
        package = _package(pinned)
        assert package is not None
        files: dict[str, bytes] = {}
        for at, exported in enumerate(exported_files, 1):
            number = 0 if len(exported_files) == 1 else at
            name = PackagePatch(package.packages, package.version, number, _title(exported.item))
            files[written_name(name)] = exported.content
        return files


def _check_utf8(item: ExportItem) -> None:
    """Raise PatchmgrError for lines that are not UTF-8, which patch-package would change."""
    try:
        item.patch.diff.decode()
    except UnicodeDecodeError as fault:
        message = f"patch {shown(item.patch.name)} has lines that are not UTF-8"
        message += ": patch-package would corrupt them"
        raise PatchmgrError("not-exportable", message) from fault


def _package(pinned: Pinned) -> PackagePatch | None:
    """Return the package that the user named, or None; without a version, the pin's is used.

    Raises PatchmgrError "usage" for a pin that is not a release, or for a name that is not a valid
    npm name.
    """
    if pinned.package is None:
        return None
    name, at, version = pinned.package[1:].partition("@")
    name = pinned.package[:1] + name
    if not at:
        release = _RELEASE.fullmatch(pinned.ref)
        if release is None:
            hint = f"name the version: --npm {shown(name)}@1.2.3"
            message = f"the pin {shown(pinned.ref)} is not a version of the npm package"
            raise UsageError(message, hint)
        version = release[1]
    package = PackagePatch((name,), version)
    if read_name(written_name(package)) != package:
        message = f"{shown(pinned.package)} is not an npm package name with a version"
        raise UsageError(message, "write it as: --npm NAME@1.2.3")
    return package


def _named_package(item: ExportItem) -> PackagePatch | None:
    """Return the package in a patch's file name; None if the patch also changes other folders."""
    name = read_name(item.patch.name)
    if name is None or item.line.is_reversed:
        return None
    return name if names_folder(item.patch.diff, name.folder) else None


def _title(item: ExportItem) -> str:
    known = read_name(item.patch.name)
    stem = known.title if known is not None else item.patch.name.rpartition("/")[2]
    return re.sub(r"[^\w.-]+", "-", re.sub(r"\.(?:patch|diff)$", "", stem))


class OneDiff(Form, frozen=True):
    """All patches combined into one diff, for `git apply FILE`."""

    is_file: bool = True
    is_whole: bool = True

    def kept(self, items: Sequence[ExportItem], pinned: Pinned) -> tuple[bool, ...]:
        """Return True only if there is a single patch and its file is a diff without a header."""
        only = items[0] if len(items) == 1 else None
        is_it = only is not None and only.line.is_usual and not only.patch.header.strip()
        return (is_it,) * len(items)

    def rewritten(self, item: ExportItem, diff: bytes, pinned: Pinned) -> bytes:
        """Return the diff, without a header."""
        return diff

    def files(self, exported_files: Sequence[ExportedFile], pinned: Pinned) -> Mapping[str, bytes]:
        """Return the diff as the only file."""
        return {"": exported_files[0].content if exported_files else b""}


class Yocto(Form, frozen=True):
    """Mails with Yocto's `Upstream-Status` field, which states a patch's status upstream."""

    field: str = STATUS

    def fields(self, item: ExportItem, pinned: Pinned) -> Mapping[str, str]:
        """Return the fields that the format requires, with their values; "" removes a field."""
        return {STATUS: yocto_status(item.patch)}

    def is_usable(self, item: ExportItem, pinned: Pinned) -> bool:
        """Return whether the patch is a mail that already has the required fields."""
        fields = self.fields(item, pinned).items()
        return is_mail(item) and all((item.patch.says(k) or "") == v for k, v in fields)

    def rewritten(self, item: ExportItem, diff: bytes, pinned: Pinned) -> bytes:
        """Return a canonical patch whose message has the required fields."""
        return with_fields(super().rewritten(item, diff, pinned), self.fields(item, pinned))

    def losses(self, exported: ExportedFile) -> tuple[str, ...]:
        """Return warnings that say why tools may reject the patch's status field."""
        patch = parse_patch(exported.content, name=exported.item.patch.name)
        problems = stance_problems(patch, self.field)
        return (*_quoting(exported), *(f"may be rejected: {problem}" for problem in problems))


class Suse(Yocto, frozen=True):
    """Mails with SUSE's status fields: `Patch-mainline`, `Git-commit` and `Git-repo`."""

    names_releases: bool = True
    field: str = MAINLINE

    def fields(self, item: ExportItem, pinned: Pinned) -> Mapping[str, str]:
        """Return new values for the SUSE fields that must change; "" removes a field."""
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
