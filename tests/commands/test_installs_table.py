"""What other tools for patched packages are tested for, as a table: done, or refused.

The rows follow the scenarios of npm's patch-package and of pnpm's patch tests; what each comes to
here is described in docs/installs.md.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from tests.commands.scenes import picture, text, unchanged
from tests.commands.test_installs import house as house
from tests.commands.wheels import DEMO, House, environment, install
from tests.conftest import Repository
from tests.long import LONG

Files = dict[str, bytes | str | None]
OURS = text(l30="ours\n")
CRLF = "one\r\ntwo\r\nthree\r\n"


@dataclass(frozen=True)
class Row:
    """A series on 1.0 (with `base` beside demo's files), what is installed, and what comes of it.

    `files` are those to be found afterwards, `verdicts` the patches'.
    """

    name: str
    patches: list[Files]
    base: dict[str, str] = field(default_factory=dict)
    version: str = "1.0"
    installed: dict[str, str] = field(default_factory=dict)
    verdicts: tuple[str, ...] = ()
    files: dict[str, str | None] = field(default_factory=dict)
    code: int = 0


A = "demo/a.py"
SRC = {"src/far/__init__.py": "", "src/far/e.py": text(l1="e\n"), "src/far/gone.py": "gone\n"}
ROWS = [
    Row("edit", [{A: OURS}], verdicts=("unchanged",), files={A: OURS}),
    Row("append", [{A: text() + "more\n"}], verdicts=("unchanged",), files={A: text() + "more\n"}),
    Row("insert", [{A: text(l3="line 3\nmore\n")}], files={A: text(l3="line 3\nmore\n")}),
    Row("delete lines", [{A: text(l3=None)}], files={A: text(l3=None)}),
    Row("new file", [{"demo/n.py": "new\n"}], files={"demo/n.py": "new\n"}),
    Row("new folder", [{"demo/x/y/n.py": "new\n"}], files={"demo/x/y/n.py": "new\n"}),
    Row("new empty file", [{"demo/n.py": ""}], files={"demo/n.py": ""}),
    Row("delete file", [{"demo/gone.py": None}], files={"demo/gone.py": None}),
    Row(
        "rename file", [{"demo/b.py": None, "demo/c.py": text()}],
        files={"demo/b.py": None, "demo/c.py": text()},
    ),
    Row("several files", [{A: OURS, "demo/b.py": OURS}], files={A: OURS, "demo/b.py": OURS}),
    Row(
        "several patches of one file", [{A: OURS}, {A: text(l30="ours\n", l31="too\n")}],
        verdicts=("unchanged",) * 2, files={A: text(l30="ours\n", l31="too\n")},
    ),
    Row("the second takes back the first", [{A: OURS}, {A: text()}], files={A: text()}),
    Row(
        "no newline at the end", [{"demo/e.py": "one\ntwo"}], base={"demo/e.py": "one\n"},
        files={"demo/e.py": "one\ntwo"},
    ),
    Row(
        "carriage returns", [{"demo/e.py": CRLF.replace("two", "2")}], base={"demo/e.py": CRLF},
        files={"demo/e.py": CRLF.replace("two", "2")},
    ),
    Row(
        "a name with spaces", [{"demo/e e.py": "two\n"}], base={"demo/e e.py": "one\n"},
        files={"demo/e e.py": "two\n"},
    ),
    Row(
        "a name beyond ASCII", [{"demo/é.py": "two\n"}], base={"demo/é.py": "one\n"},
        files={"demo/é.py": "two\n"},
    ),
    Row(
        "a package below src/", [{"src/far/e.py": OURS, "src/far/n.py": "new\n"}], base=SRC,
        files={"far/e.py": OURS, "far/n.py": "new\n", "far/gone.py": "gone\n"},
    ),
    Row(
        "a package below src/: delete a file, rename a file",
        [{"src/far/gone.py": None}, {"src/far/e.py": None, "src/far/x/e.py": text(l1="e\n")}],
        base=SRC, files={"far/gone.py": None, "far/e.py": None, "far/x/e.py": text(l1="e\n")},
    ),
    Row(
        "a package below src/ gets updated", [{"src/far/e.py": text(l1="e\n", l30="ours\n")}],
        base=SRC, version="1.1", installed={"src/far/e.py": text(l1="e\n", l2="x\n\n")},
        verdicts=("unchanged",), files={"far/e.py": text(l1="e\n", l2="x\n\n", l30="ours\n")},
    ),
    Row(
        "a module below src/", [{"src/lone.py": OURS}], base={"src/lone.py": text()},
        files={"lone.py": OURS},
    ),
    Row(
        "a namespace package", [{"space/part/e.py": "two\n"}], base={"space/part/e.py": "one\n"},
        files={"space/part/e.py": "two\n"},
    ),
    Row("a local version", [{A: OURS}], version="1.0+cu129", files={A: OURS}),
    Row(
        "another release, carried", [{A: OURS}], version="1.1", installed={A: text(l2="x\n\n")},
        verdicts=("unchanged",), files={A: text(l2="x\n\n", l30="ours\n")},
    ),
    Row(
        "package gets updated, merged beside it", [{A: OURS}], version="1.1",
        installed={A: text(l28="x\n")}, verdicts=("modified",),
        files={A: text(l28="x\n", l30="ours\n")},
    ),
    Row(
        "the indentation differs", [{A: OURS}], version="1.1.1",
        installed={A: text(l30="  line 30\n")}, verdicts=("conflict",), code=3,
        files={A: text(l30="  line 30\n")},
    ),
    Row(
        "only the format differs", [{"demo/f.py": "x=f(a,b,1)\n"}],
        base={"demo/f.py": "x=f(a,b)\n"}, version="1.1.1",
        installed={"demo/f.py": "x = f(a, b)\n"}, verdicts=("modified",),
        files={"demo/f.py": "x = f(a, b, 1)\n"},
    ),
    Row(
        "an older release", [{A: OURS}], version="0.9", installed={A: text(l2="x\n")},
        files={A: text(l2="x\n", l30="ours\n")},
    ),
]  # fmt: skip


def series_of(house: House, patches: list[Files], base: dict[str, str]) -> None:
    """Make the series on a release 1.0 that has the files of `base`, too."""
    if base:
        shutil.rmtree(house.shop.folder / "index/demo")
        shutil.rmtree(house.shop.root)
        shutil.rmtree(house.shop.folder / "home/cache")
        house.shop.offer("1.0", {**DEMO, **base})
        house.shop.root.mkdir()
        house.shop.run("-C", house.shop.root.parent, "init", house.shop.root)
    fork = Repository(house.shop.folder / "row")
    fork.commit({**DEMO, **base}, "1.0")
    fork.git("tag", "base")
    for patch in patches:
        fork.commit(patch, "fix")
    if base:
        house.shop.run("upstream", "add", "demo", "--package", "demo")
        house.shop.run("series", "new", "s", "--upstream", "demo", "--base", "v1.0")
    house.import_(fork)


# The first sixteen are kinds of edits of one release.
PLAYED = ROWS if LONG else ROWS[:16:2] + ROWS[16:]


@pytest.mark.parametrize("row", PLAYED, ids=lambda row: row.name)
def test_a_row_is_done_or_refused(house: House, row: Row) -> None:
    series_of(house, row.patches, row.base)
    install(house.site, row.version, {**DEMO, **row.base, **row.installed})
    before = picture(house.site, without=())
    answer = house.run("apply", "--json", code=row.code)
    if row.verdicts:
        assert tuple(p["verdict"] for p in answer.json["patches"]) == row.verdicts
    for path, content in row.files.items():
        place = house.site / path
        found = place.read_bytes().decode() if place.exists() else None
        assert found == content, path
    if row.code:
        assert picture(house.site, without=()) == before
        return
    assert house.state() == "patched"
    house.run("unapply")
    assert picture(house.site, without=()) == before


def _appended(house: House) -> None:
    house.series({A: OURS})
    house.run("apply")
    house.series({A: OURS}, {A: text(l30="ours\n", l31="too\n")})
    assert house.verdicts() == ["unchanged"] * 2
    assert house.read(A) == text(l30="ours\n", l31="too\n")


def _inserted(house: House) -> None:
    house.series({A: OURS})
    house.run("apply")
    house.series({"demo/b.py": OURS}, {A: OURS})
    assert house.verdicts() == ["unchanged"] * 2
    assert house.read("demo/b.py") == OURS


def _removed(house: House) -> None:
    with unchanged(house.site, without=(".patchmgr",)):
        house.series({A: OURS}, {"demo/b.py": OURS})
        house.run("apply")
        house.series({A: OURS})
        house.run("apply")
        assert house.read("demo/b.py") == text()
        (house.shop.root / "series/s/series").write_text("")
        house.run("apply")


def _partly_by_hand(house: House) -> None:
    house.series({A: OURS}, {"demo/b.py": OURS})
    (house.site / A).write_text(OURS + "# more\n")
    assert "neither from demo 1.0" in house.refuses("apply")
    (house.site / A).write_text(OURS)
    assert house.verdicts() == ["unchanged"] * 2
    house.run("unapply")
    assert house.read(A) == text()


def _added_by_hand(house: House) -> None:
    with unchanged(house.site, without=()):
        house.series({"demo/n.py": "new\n"})
        (house.site / "demo/n.py").write_text("mine\n")
        assert "move the file out of the way" in house.run("apply", code=1).err
        (house.site / "demo/n.py").write_text("new\n")
        house.run("apply")
        (file,) = house.run("verify", "--json").json["files"]
        assert file["path"] == "demo/n.py"
        house.run("unapply")


def _folder_gone_upstream(house: House) -> None:
    base = {**SRC, "src/far/sub/e.py": text(), "tests/e.py": text()}
    series_of(house, [{"src/far/sub/e.py": OURS, "src/far/e.py": OURS, "tests/e.py": OURS}], base)
    house.shop.offer("1.1", {**DEMO, **SRC})
    install(house.site, "1.1", {**DEMO, **SRC})
    answer = house.run("apply", "--json", code=3).json
    (conflict,) = answer["patches"][0]["conflicts"]
    assert conflict["path"] == "src/far/sub/e.py"
    assert answer["out_of_reach"] == [{"patch": "fix.patch", "path": "tests/e.py"}]


def _taken_out_in_part(house: House) -> None:
    house.series({A: OURS}, {"demo/b.py": OURS})
    house.run("apply")
    (house.site / A).write_text(text())
    assert house.state() == "partly"
    assert house.verdicts() == ["unchanged"] * 2
    assert house.state() == "patched"


def forked(house: House) -> Repository:
    """Return a repository of demo 1.0, to make a series of what is committed next."""
    fork = Repository(house.shop.folder / "row")
    fork.commit(dict(DEMO), "1.0")
    fork.git("tag", "base")
    return fork


def _file_mode(house: House) -> None:
    fork = forked(house)
    os.chmod(fork.root / A, 0o755)
    fork.commit({}, "mode")
    house.import_(fork)
    house.run("apply")
    assert os.access(house.site / A, os.X_OK)
    house.run("unapply")
    assert not (house.site / A).stat().st_mode & 0o111


def _no_symbolic_links(house: House) -> None:
    fork = forked(house)
    (fork.root / "demo/link.py").symlink_to("a.py")
    fork.commit({}, "link")
    house.import_(fork)
    assert "demo/link.py is a symbolic link" in house.refuses("apply")


def _reinstalled(house: House) -> None:
    house.series({A: OURS})
    house.run("apply")
    install(house.site, "1.0", DEMO)
    assert house.state() == "replaced"
    house.run("apply")
    assert house.read(A) == OURS


def _two_environments(house: House) -> None:
    other = House(house.shop, environment(house.shop.folder / "other"))
    install(other.site, "1.2", {**DEMO, A: text(l2="theirs\n\n", l30="ours\n")})
    house.series({A: OURS})
    assert (house.verdicts(), other.verdicts()) == (["unchanged"], ["absorbed"])
    assert (house.state(), other.state()) == ("patched", "patched")


def _binary(house: House) -> None:
    fork = forked(house)
    fork.commit({"demo/table.bin": b"\0\1\2" * 99}, "binary")
    house.import_(fork)
    house.run("apply")
    assert (house.site / "demo/table.bin").read_bytes() == b"\0\1\2" * 99


def _without_a_store(house: House) -> None:
    first, second = {"src/far/e.py": OURS}, {"src/far/e.py": text(), "src/far/n.py": "new\n"}
    series_of(house, [{**first}, {**second}], SRC)
    install(house.site, "1.0", {**DEMO, **SRC})
    with unchanged(house.site, without=()):
        shutil.rmtree(house.shop.folder / "index")
        shutil.rmtree(house.shop.folder / "home/cache")
        assert house.state() == "pristine"
        assert house.verdicts() == ["unchanged"] * 2
        assert house.read("far/n.py") == "new\n"
        house.run("unapply")
    (house.site / "far/e.py").write_text("mine\n")
    assert house.state() == "edited"


def _on_a_build_that_no_index_has(house: House) -> None:
    """Its files stand where the repository has them: nothing is there twice, nothing is missed."""
    uses = {"src/far/use.py": "from far.e import helper\n\n\ndef use():\n    return helper(1)\n"}
    base = {**SRC, **uses, "src/far/e.py": "def helper(a):\n    return a\n\n\n" + text()}
    ours: Files = {"src/far/e.py": base["src/far/e.py"] + "ours\n"}
    series_of(house, [ours], base)
    built = {**base, "src/far/e.py": "# built\n" + base["src/far/e.py"], "src/far/made.py": "m\n"}
    install(house.site, "1.7", {**DEMO, **built})
    answer = house.run("apply", "--json").json
    assert answer["paths"] == ["far/e.py"]
    (patch,) = answer["patches"]
    assert (patch["verdict"], patch["warnings"]) == ("unchanged", [])
    assert house.read("far/e.py") == built["src/far/e.py"] + "ours\n"


@pytest.mark.parametrize(
    "act",
    [
        _without_a_store, _on_a_build_that_no_index_has, _appended, _inserted, _removed,
        _partly_by_hand, _added_by_hand, _folder_gone_upstream, _taken_out_in_part,
        _file_mode, _no_symbolic_links, _reinstalled, _two_environments, _binary,
    ],
    ids=lambda act: act.__name__.strip("_"),
)  # fmt: skip
def test_a_course_of_events(house: House, act: Callable[[House], None]) -> None:
    act(house)
