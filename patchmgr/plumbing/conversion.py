"""Git's conversions between stored contents and files: line ends, encodings, `$Id$`.

Git itself converts, in a temporary repository with the attributes of the checkout and without the
configured filters.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from patchmgr.errors import PatchmgrError
from patchmgr.formats.paths import parents_of
from patchmgr.formats.shown import shown
from patchmgr.model.snapshot import FILE_MODES, Entry
from patchmgr.plumbing import git_process
from patchmgr.plumbing.applied import Content, Record, content_of, found_state
from patchmgr.plumbing.objects import ObjectReader
from patchmgr.plumbing.scratch_repository import Scratch
from patchmgr.plumbing.work_tree import WorkFile, WorkTree

_FILE = ".gitattributes"
_SYSTEM = Path("/etc/gitattributes")
_SETTINGS = r"^(core\.(filemode|autocrlf|eol|attributesfile)|filter\..*)$"
_CONVERTING = ("text", "crlf", "eol", "working-tree-encoding", "ident")
_WRITING = {"working-tree-encoding", "ident"}
_DRIVER = ("clean", "smudge", "process", "required")
_NO_FILTER = ("unspecified", "unset", "set")
_OFF = ("", "false", "no", "off", "0")
_NO_CONFIG = "[core]\n\trepositoryformatversion = 0\n"


class Settings(Struct, frozen=True):
    """The part of the user's git configuration that affects the files of a checkout."""

    options: tuple[str, ...]  # pass this configuration to git
    env: Mapping[str, str]  # for git, with the configured filters disabled
    is_plain: bool  # only .gitattributes files can ask for a conversion
    has_modes: bool  # git compares whether files are executable


def read_settings(git_dir: Path, private: Path) -> Settings:
    """Return the part of the user's git configuration that affects the files of a checkout."""
    found = dict(git_process.settings(_SETTINGS, git_dir=private))
    filters = dict.fromkeys(k.rpartition(".")[0] for k in found if k.startswith("filter."))
    core = {key: value for key, value in found.items() if not key.startswith("filter.")}
    has_modes = not _is_off(core.pop("core.filemode", None))
    known = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    core.setdefault("core.attributesfile", f"{known}/git/attributes")
    options = (f"{key}={value}" if value is not None else key for key, value in core.items())
    keys = [f"{name}.{key}" for name in filters for key in _DRIVER]
    off = {f"GIT_CONFIG_KEY_{n}": key for n, key in enumerate(keys)}
    off |= {f"GIT_CONFIG_VALUE_{n}": "" for n in range(len(keys))}
    everywhere = os.path.expanduser(core["core.attributesfile"] or "")
    places = (Path(everywhere), git_dir / "info" / "attributes", _SYSTEM)
    return Settings(
        tuple(word for option in options for word in ("-c", option)),
        git_process.clean_environment(
            {"GIT_ATTR_NOSYSTEM": "0", "GIT_CONFIG_COUNT": str(len(keys)), **off}
        ),
        is_plain=_is_off(core.get("core.autocrlf", ""))
        and not any(place.is_file() and place.stat().st_size > 0 for place in places),
        has_modes=has_modes,
    )


def _is_off(value: str | None) -> bool:
    return value is not None and value.lower() in _OFF  # without a value, a setting is on


def is_attributes(path: str) -> bool:
    """Return whether a path is that of a .gitattributes file."""
    return path.rpartition("/")[2] == _FILE


class Conversion:
    """Git's conversions in one checkout."""

    def __init__(self, root: Path, git_dir: Path, private: Path) -> None:
        self._tree = WorkTree(root)
        self._git_dir, self._private = git_dir, private
        self._committed: dict[str, bytes | None] = {}

    @cached_property
    def settings(self) -> Settings:
        """Return the part of the user's git configuration that affects conversions."""
        return read_settings(self._git_dir, self._private)

    def to_work_tree(
        self,
        state: Mapping[str, Content | None],
        *,
        around: Mapping[str, Content | None] | None = None,
    ) -> dict[str, Content | None]:
        """Return files as git would write them to the checkout, given their contents in git.

        `around` has other files of the same state, whose .gitattributes files also apply. Raises
        PatchmgrError "unsupported" if a file needs a filter.
        """
        files = {p: c.content for p, c in state.items() if c and c.entry.mode in FILE_MODES}
        attributes = self._attributes(files, {**(around or {}), **state})
        done = dict(state)
        with self._scratch(files, attributes) as scratch:
            paths = scratch.writing if scratch is not None else []
            if scratch is None or not paths:
                return done
            mark = secrets.token_hex(16).encode()
            asked = [f"{scratch.write_loose('blob', files[path])} {path}\0" for path in paths]
            line = ["cat-file", "--filters", "-z", f"--batch={mark.decode()}"]
            texts = scratch.run(line, git_process.raw("".join(asked))).split(mark + b"\n")[1:]
        for path, text in zip(paths, texts, strict=True):
            content = state[path]
            assert content is not None
            done[path] = Content(content.entry, text[:-1])
        return done

    def to_git(
        self, found: Mapping[str, WorkFile], state: Mapping[str, Content | None] | None = None
    ) -> dict[str, bytes]:
        """Return the contents that `git add` would store for files; `state` has those in the index.

        Raises PatchmgrError "unsupported" if a file needs a filter.
        """
        state = state or {}
        files = {p: file.content for p, file in found.items() if file.mode in FILE_MODES}
        done = {path: file.content for path, file in found.items()}
        with self._scratch(files, self._attributes(files, state, is_found=True)) as scratch:
            if scratch is None or not scratch.converting:
                return done
            known = {p: c for p in scratch.converting if (c := state.get(p)) is not None}
            rows = (
                f"{content.entry.mode} {scratch.write_loose('blob', content.content)}\t{path}\0"
                for path, content in known.items()
                if content.entry.mode in FILE_MODES
            )
            scratch.run(["update-index", "-z", "--index-info"], git_process.raw("".join(rows)))
            for path in scratch.converting:
                scratch.put(path, files[path])
            names = git_process.words(scratch.converting, "\0")
            scratch.run(["update-index", "--add", "-z", "--stdin"], names)
            for row in scratch.run(["ls-files", "--stage", "-z"]).split(b"\0")[:-1]:
                facts, _, name = row.partition(b"\t")
                done[git_process.text(name)] = scratch.reader.blob(facts.decode().split(" ")[1])
        return done

    def as_git(
        self,
        found: Mapping[str, WorkFile | None],
        state: Callable[[], Mapping[str, Content | None]],
        applied: Record | None = None,
    ) -> dict[str, Content | None]:
        """Return files of the checkout in the form in which git stores them.

        If a file is what git would write for its content in `state`, or has not changed since it
        was `applied`, the content in `state` is returned.
        """
        there = {path: file for path, file in found.items() if file is not None}
        done: dict[str, Content | None] = dict.fromkeys(found)
        for path, file in there.items():
            done[path] = content_of(file.mode, file.content)
        names = [path for path, file in there.items() if file.mode in FILE_MODES]
        if not self._attributes(names, {}, is_found=True) and self.settings.is_plain:
            return done
        whole = state()
        known = {p: c for p in names if (c := whole.get(p)) and c.entry.mode in FILE_MODES}
        out = self.to_work_tree(known, around=whole)
        written = {file.path: file.after for file in applied.files} if applied else {}
        rest = {}
        for path in names:
            content, mode, raw = out.get(path), there[path].mode, there[path].content
            if content and (
                content.content == raw or written.get(path) == found_state(there[path])
            ):
                done[path] = Content(Entry(mode, content.entry.blob), known[path].content)
            else:
                rest[path] = there[path]
        for path, raw in self.to_git(rest, whole).items():
            done[path] = content_of(there[path].mode, raw)
        return done

    def filtered(self, paths: Collection[str]) -> frozenset[str]:
        """Return the paths to which a git attribute assigns a filter."""
        attributes = self._attributes(paths, {}, is_found=True)
        with self._scratch(paths, attributes, refuses=False) as scratch:
            return frozenset() if scratch is None else frozenset(scratch.filtered)

    def _attributes(
        self, paths: Collection[str], state: Mapping[str, Content | None], *, is_found: bool = False
    ) -> dict[str, bytes]:
        """Return the .gitattributes files around the paths, from the state, the disk or HEAD.

        If `is_found`, files on disk take precedence over those of the state.
        """
        folders = dict.fromkeys(above for path in paths for above in ("", *parents_of(path)))
        places = [f"{folder}/{_FILE}".removeprefix("/") for folder in folders]
        found: dict[str, bytes] = {}
        missing: list[str] = []
        for place in places:
            content = state.get(place)
            on_disk = self._on_disk(place) if is_found or place not in state else None
            if on_disk is not None:
                found[place] = on_disk
            elif content is not None:
                found[place] = content.content
            elif place not in state:
                missing.append(place)
        return {**found, **self._at_head(missing)}

    def _on_disk(self, place: str) -> bytes | None:
        try:
            file = self._tree.read(place)
        except PatchmgrError:  # it is a folder, or below a link: git does not read it, either
            return None
        return file.content if file is not None and file.mode in FILE_MODES else None

    def _at_head(self, places: Collection[str]) -> dict[str, bytes]:
        """Return HEAD's .gitattributes files at the given paths."""
        unknown = [place for place in places if place not in self._committed]
        if unknown:
            with ObjectReader(self._private) as reader:
                for place in unknown:
                    found = reader.find(f"HEAD:{place}")
                    is_blob = found is not None and found.kind == "blob"
                    self._committed[place] = found.content if found and is_blob else None
        found_ = {place: self._committed[place] for place in places}
        return {place: content for place, content in found_.items() if content is not None}

    @contextmanager
    def _scratch(
        self, paths: Collection[str], attributes: Mapping[str, bytes], *, refuses: bool = True
    ) -> Iterator[_AttributesRepository | None]:
        """Yield a temporary repository with the attributes, or None if nothing can be converted.

        If `refuses`, raises PatchmgrError "unsupported" for a file that needs a filter.
        """
        if not paths or (not attributes and self.settings.is_plain):
            yield None
            return
        with (
            tempfile.TemporaryDirectory(prefix="patchmgr-") as folder,
            _AttributesRepository(Path(folder), self.settings.options) as scratch,
        ):
            scratch.take(self._git_dir / "info" / "attributes")
            for place, content in attributes.items():
                scratch.put(place, content)
            scratch.ask(paths)
            if refuses and scratch.filtered:
                path, name = next(iter(scratch.filtered.items()))
                message = f"{shown(path)} needs the filter {name}, but patchmgr runs no filters"
                line = f"echo '{path} -filter' >>.git/info/attributes"
                hint = f"if the file does not need this filter, turn the filter off: {line}"
                raise PatchmgrError("unsupported", message, hint, "or name only the other files")
            yield scratch


class _AttributesRepository(Scratch):
    """A temporary repository with attributes and a work tree, but without filters."""

    def __init__(self, folder: Path, options: tuple[str, ...]) -> None:
        super().__init__((), folder=folder)
        (self.git_dir / "config").write_text(_NO_CONFIG)
        self._top = folder / "files"
        self._top.mkdir()
        self._options = [*options, f"--work-tree={self._top}"]
        self.converting: list[str] = []  # paths that git may convert
        self.writing: list[str] = []  # those whose files may differ from git's content
        self.filtered: dict[str, str] = {}  # the name of the filter by path

    def run(self, arguments: list[str], data: bytes = b"") -> bytes:
        env = git_process.clean_environment({"GIT_ATTR_NOSYSTEM": "0"})
        line = [*self._options, *arguments]
        return git_process.output(line, git_dir=self.git_dir, cwd=self._top, data=data, env=env)

    def take(self, attributes: Path) -> None:
        """Copy the checkout's file info/attributes, which no commit contains."""
        if attributes.is_file():
            (self.git_dir / "info").mkdir()
            (self.git_dir / "info" / "attributes").write_bytes(attributes.read_bytes())

    def put(self, path: str, content: bytes) -> None:
        place = os.path.join(os.fsencode(self._top), git_process.raw(path))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(content)

    def ask(self, paths: Collection[str]) -> None:
        """Ask git for the attributes of paths, and record which paths git may convert."""
        names = ("filter", *_CONVERTING)
        line = ["check-attr", "-z", "--stdin", *names]
        words = git_process.text(self.run(line, git_process.words(paths, "\0"))).split("\0")
        rows = [words[at : at + 3] for at in range(0, len(words) - 1, 3)]
        by_path: dict[str, dict[str, str]] = {}
        for path, name, value in rows:
            by_path.setdefault(path, {})[name] = value
        has_autocrlf = any(option.startswith("core.autocrlf") for option in self._options)
        has_ends = has_autocrlf or any(option.startswith("core.eol") for option in self._options)
        for path, values in by_path.items():
            if values["filter"] not in _NO_FILTER:
                self.filtered[path] = values["filter"]
            asked = {name for name in _CONVERTING if values[name] not in ("unspecified", "unset")}
            is_unsaid = all(values[name] == "unspecified" for name in ("text", "crlf", "eol"))
            if asked or (is_unsaid and has_autocrlf):
                self.converting.append(path)
                if has_ends or values["eol"] == "crlf" or asked & _WRITING:
                    self.writing.append(path)
