"""Contents go out to a checkout and come back as git itself converts them."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.model.snapshot import REGULAR, Entry, blob_id
from patchmgr.plumbing.applied import Content
from patchmgr.plumbing.clones import open_clone
from patchmgr.plumbing.conversion import Conversion
from patchmgr.plumbing.work_tree import WorkTree
from tests.conftest import Make, Repository

ATTRIBUTES = {
    "crlf": "text eol=crlf", "lf": "text eol=lf", "text": "text", "auto": "text=auto",
    "autocrlf": "text=auto eol=crlf", "binary": "binary", "raw": "-text", "ident": "ident",
    "utf16": "text working-tree-encoding=UTF-16LE", "both": "ident eol=crlf",
    "latin": "working-tree-encoding=ISO-8859-1 eol=crlf", "old": "crlf", "oldinput": "crlf=input",
    "macro": "dos", "none": "!text", "nested": "-text",
}  # fmt: skip
CONTENTS = {
    "lf": b"a\nb\nc\n", "crlf": b"a\r\nb\r\nc\r\n", "mixed": b"a\r\nb\nc\r\n", "cr": b"a\rb\n",
    "end": b"a\nb", "empty": b"", "id": b"x\n$Id$\ny\n", "stale": b"$Id: abc $\n",
    "umlaut": "ä\nö\n".encode(), "nul": b"a\0b\n\r\n", "b.x": b"x\ny\n", " a": b"spaced\n",
}  # fmt: skip
Checkout = tuple[Repository, dict[str, Content]]
CONFIGURATIONS: Mapping[str, Mapping[str, str]] = {
    "nothing": {},
    "autocrlf": {"core.autocrlf": "true"},
    "input": {"core.autocrlf": "input"},
    "eol": {"core.eol": "crlf"},
    "auto off": {"core.autocrlf": "false", "core.eol": "lf"},
}
EDITS: Mapping[str, Callable[[bytes], bytes]] = {
    "a line": lambda raw: raw + b"new\n",
    "a line of Windows": lambda raw: raw + b"new\r\n",
    "line ends": lambda raw: raw.replace(b"\r\n", b"\n"),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Content]]:
    """Return a repository with each content below each attributes, and what git has of it."""
    root = tmp_path_factory.mktemp("built")
    repository = Repository(root)
    files = {f"{a}/{c}": raw for a in ATTRIBUTES for c, raw in CONTENTS.items() if fits(a, c)}
    repository.commit(files, "as they are")
    rules = {".gitattributes": "[attr]dos text eol=crlf\n", "nested/.gitattributes": "* eol=crlf\n"}
    rules[".gitattributes"] += "".join(f"{name}/* {text}\n" for name, text in ATTRIBUTES.items())
    for path, text in rules.items():
        (root / path).write_text(text)
    repository.git("add", *rules)
    repository.git("commit", "--quiet", "-m", "attributes")
    state = {p: Content(Entry(REGULAR, blob_id(raw)), raw) for p, raw in files.items()}
    return root, state


def fits(attributes: str, content: str) -> bool:
    """Say whether a content can be written in the encoding (git warns where it cannot)."""
    return not (attributes in ("utf16", "latin") and content == "nul")


@pytest.fixture
def checked_out(built: tuple[Path, dict[str, Content]], request: pytest.FixtureRequest) -> Checkout:
    """Return the repository checked out by git with a configuration."""
    root, state = built
    repository = Repository(root, is_there=True)
    for name in ("core.autocrlf", "core.eol"):
        repository.git("config", "--unset-all", name, good=(0, 5))
    for name, value in CONFIGURATIONS[request.param].items():
        repository.git("config", name, value)
    repository.git("rm", "-rq", "--cached", ".")
    repository.git("reset", "--quiet", "--hard")
    return repository, state


def conversion_of(repository: Repository) -> Conversion:
    return open_clone(repository.root).conversion


@pytest.mark.parametrize("checked_out", CONFIGURATIONS, indirect=True)
def test_contents_go_out_as_git_checks_them_out(checked_out: Checkout) -> None:
    repository, state = checked_out
    written = conversion_of(repository).to_work_tree(state)
    for path, content in written.items():
        assert content is not None
        assert content.entry == state[path].entry
        assert content.content == (repository.root / path).read_bytes(), path


@pytest.mark.parametrize("checked_out", CONFIGURATIONS, indirect=True)
def test_files_that_nobody_edited_come_back_as_they_went_out(checked_out: Checkout) -> None:
    repository, state = checked_out
    tree = WorkTree(repository.root)
    found = {path: tree.read(path) for path in state}
    assert conversion_of(repository).as_git(found, lambda: state) == state


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("checked_out", ["nothing", "autocrlf"], indirect=True)
def test_edited_files_come_back_as_git_adds_them(checked_out: Checkout, edit: str) -> None:
    repository, state = checked_out
    tree, edited = WorkTree(repository.root), []
    for path in state:
        place = repository.root / path
        before = place.read_bytes()
        if path.startswith("utf16"):
            after = EDITS[edit](before.decode("utf-16-le").encode()).decode().encode("utf-16-le")
        else:
            after = EDITS[edit](before)
        if after != before:
            place.write_bytes(after)
            edited.append(path)
    found = {path: tree.read(path) for path in edited}
    got = conversion_of(repository).as_git(found, lambda: state)
    repository.git("add", "--all")
    rows = repository.git("ls-files", "--stage", "-z").split("\0")
    blobs = {row.partition("\t")[2]: row.split(" ")[1] for row in rows if row}
    for path, content in got.items():
        assert content is not None
        assert content.entry.blob == blob_id(content.content) == blobs[path], path


def test_attributes_are_those_of_the_state_then_of_the_disk_then_of_head(
    make_repository: Make,
) -> None:
    repository = make_repository("r")
    repository.commit({".gitattributes": "*.a eol=crlf\n", "sub/x": "x\n"})
    text = {path: Content(Entry(REGULAR, "0" * 40), b"x\n") for path in ("f.a", "f.b", "sub/f.b")}

    def ends(**state: Content | None) -> dict[str, bool]:
        clone = open_clone(repository.root)
        named = {path.replace("_", "/"): content for path, content in state.items()}
        found = clone.conversion.to_work_tree(text, around=named)
        return {path: b"\r" in c.content for path, c in found.items() if c is not None}

    (repository.root / ".gitattributes").unlink()
    assert ends() == {"f.a": True, "f.b": False, "sub/f.b": False}
    (repository.root / ".gitattributes").write_text("*.b eol=crlf\n")
    assert ends() == {"f.a": False, "f.b": True, "sub/f.b": True}
    rules = Content(Entry(REGULAR, ""), b"*.b eol=lf\n")
    assert ends(**{"sub/.gitattributes": rules}) == {"f.a": False, "f.b": True, "sub/f.b": False}
    assert not any(ends(**{".gitattributes": None}).values())
    (repository.root / ".git/info").mkdir(exist_ok=True)
    (repository.root / ".git/info/attributes").write_text("*.a eol=crlf\n")
    assert ends() == {"f.a": True, "f.b": True, "sub/f.b": True}


@pytest.mark.parametrize("value", ["false", "False", "OFF", "no", "0", "", "true", "On", None])
def test_a_setting_is_on_where_git_says_so(make_repository: Make, value: str | None) -> None:
    repository = make_repository("r")
    (repository.root / ".git/config").write_text(
        "".join(
            f"[core]\n\t{key}{'' if value is None else f' = {value}'}\n"
            for key in ("filemode", "autocrlf")
        )
    )
    is_on = repository.git("config", "--type=bool", "core.filemode") == "true"
    settings = open_clone(repository.root).conversion.settings
    assert (settings.has_modes, settings.is_plain) == (is_on, not is_on)


def test_own_attributes_count(make_repository: Make, hermetic: Path) -> None:
    repository = make_repository("r")
    repository.commit({"x": "x\n"})
    text = {"x": Content(Entry(REGULAR, "0" * 40), b"x\n")}
    assert open_clone(repository.root).conversion.settings.is_plain
    assert open_clone(repository.root).conversion.to_work_tree(text) == text
    folder = hermetic / "config/git"
    folder.mkdir(parents=True)
    (folder / "attributes").write_text("* eol=crlf\n")
    (content,) = open_clone(repository.root).conversion.to_work_tree(text).values()
    assert content is not None
    assert content.content == b"x\r\n"


def test_no_filter_runs_and_who_needs_one_is_named(make_repository: Make, tmp_path: Path) -> None:
    repository = make_repository("r")
    repository.commit({".gitattributes": "*.bin filter=lfs\nplain.bin -filter\n", "a.bin": "x\n"})
    for name in ("clean", "smudge", "process"):
        repository.git("config", f"filter.lfs.{name}", f"touch {tmp_path}/ran; cat")
    clone, content = open_clone(repository.root), Content(Entry(REGULAR, "0" * 40), b"y\n")
    with pytest.raises(PatchmgrError, match=r"^a\.bin needs the filter lfs") as refused:
        clone.conversion.to_work_tree({"a.txt": content, "a.bin": content})
    assert "a.bin -filter" in refused.value.hints[0]
    file = WorkTree(repository.root).read("a.bin")
    assert file is not None
    with pytest.raises(PatchmgrError, match=r"^a\.bin needs the filter lfs"):
        clone.conversion.to_git({"a.bin": file})
    assert clone.conversion.to_work_tree({"plain.bin": content}) == {"plain.bin": content}
    (repository.root / "a.bin").write_text("edited\n")
    assert clone.changed_paths() == ("a.bin",)
    assert clone.conversion.filtered(["a.bin", "plain.bin"]) == {"a.bin"}
    assert not (tmp_path / "ran").exists()
