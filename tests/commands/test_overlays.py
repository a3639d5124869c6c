"""`overlay`: patched modules outside of an environment that nobody can write to."""

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.commands.conftest import Answer, invoke
from tests.commands.faults import Killed, killing
from tests.commands.scenes import picture, unchanged
from tests.commands.test_installs import house as house
from tests.commands.wheels import DEMO, House, install
from tests.long import LONG

PRISTINE = {**DEMO, "demo/a.py": "VALUE = 'old'\n\n\ndef where():\n    return __file__\n"}
_ASK = "import demo.a as a, inspect; print(a.VALUE, a.where(), inspect.getsource(a.where))"


@pytest.fixture
def built(house: House) -> House:
    """Return an environment whose package has code that says what it is."""
    house.shop.offer("3.0", PRISTINE)
    house.shop.run("series", "new", "o", "--upstream", "demo", "--base", "v3.0")
    install(house.site, "3.0", PRISTINE)
    patch = (
        "--- a/demo/a.py\n+++ b/demo/a.py\n@@ -1,5 +1,6 @@\n-VALUE = 'old'\n+import demo.new.deep\n"
        "+VALUE = demo.new.deep.VALUE\n \n \n def where():\n     return __file__\n"
        "--- /dev/null\n+++ b/demo/new/deep.py\n@@ -0,0 +1 @@\n+VALUE = 'new'\n"
        "--- a/demo/b.py\n+++ b/demo/b.py\n@@ -1,3 +1,2 @@\n-line 0\n line 1\n line 2\n"
    )
    diff = house.shop.folder / "o.diff"
    diff.write_text(patch)
    house.shop.run("import", diff, "--series", "o")
    return house


def make(house: House, out: Path, *arguments: str, code: int = 0) -> Answer:
    line = ("overlay", "o", "--python", house.python, "--out", out)
    return house.shop.run(*line, *arguments, code=code)


def ask(
    house: House, out: Path, code: str = _ASK, *, more: str = ""
) -> subprocess.CompletedProcess[str]:
    """Ask a Python that has the overlay, and `more` behind it, on its path."""
    environment = {**os.environ, "PYTHONPATH": f"{out}{more}", "PYTHONDONTWRITEBYTECODE": "1"}
    line = [str(house.python), "-c", code]
    return subprocess.run(line, capture_output=True, check=True, env=environment, text=True)


def test_patched_modules_are_found_first_and_keep_their_file(built: House) -> None:
    out = built.shop.folder / "overlay"
    with unchanged(built.site, without=()):
        answer = make(built, out)
        assert f"PYTHONPATH={out}" in answer.out
    found = ask(built, out)
    assert found.stderr == ""
    value, place, source = found.stdout.split(maxsplit=2)
    assert (value, place) == ("new", str(built.site / "demo/a.py"))
    assert source.startswith("def where()")
    untouched = ask(built, built.shop.folder, "import demo.a; print(demo.a.VALUE)")
    assert untouched.stdout == "old\n"


def test_an_existing_sitecustomize_still_runs(built: House) -> None:
    out = built.shop.folder / "overlay"
    make(built, out)
    mine = built.shop.folder / "mine"  # Debian's Python has one that is found before site-packages
    mine.mkdir()
    (mine / "sitecustomize.py").write_text("print('mine', __name__)\n")
    found = ask(built, out, "import demo.a; print(demo.a.VALUE)", more=f"{os.pathsep}{mine}")
    assert found.stdout == "mine sitecustomize\nnew\n"


def test_an_upgraded_package_is_used_as_it_is_with_a_warning(built: House) -> None:
    out = built.shop.folder / "overlay"
    make(built, out)
    install(built.site, "3.1", {**PRISTINE, "demo/b.py": "other\n"})
    found = ask(built, out, "import demo.a; print(demo.a.VALUE)")
    assert found.stdout == "old\n"
    assert "is not the file that the overlay" in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_an_overlay_is_made_again_and_nothing_else_is_replaced(built: House) -> None:
    out = built.shop.folder / "overlay"
    make(built, out, "--dry-run")
    assert not out.exists()
    make(built, out)
    with unchanged(out):
        make(built, out, "--json")
    mine = built.shop.folder / "mine"
    mine.mkdir()
    (mine / "file").write_text("x")
    make(built, mine, code=2)
    assert sorted(path.name for path in mine.iterdir()) == ["file"]
    built.shop.run("overlay", "o", "--python", built.python, code=2)


def test_what_no_import_finds_is_left_out(house: House) -> None:
    out = house.shop.folder / "overlay"
    answer = house.run("overlay", "--out", out)
    assert "not possible in an overlay: demo/data/include/demo/x.h" in answer.out
    assert "not possible in an overlay: demo/gone.py" in answer.out
    house.series({"include/demo/x.h": "new\n"})
    assert "patchmgr wheel s" in house.run("overlay", "--out", out, code=1).err
    house.run("apply")
    assert "remove it first" in house.run("overlay", "--out", out, code=2).err


def test_a_killed_overlay_is_old_or_new(built: House) -> None:
    out = built.shop.folder / "overlay"
    value = "import demo.a; print(demo.a.VALUE)"
    make(built, out)
    patch = built.shop.root / "series/o/o.diff"
    patch.write_bytes(patch.read_bytes().replace(b"'new'", b"'newer'"))
    seen = set()
    for at in range(1, 200, 1 if LONG else 8):
        with killing(at) as killer, suppress(Killed):
            invoke("-C", built.shop.root, "overlay", "o", "--python", built.python, "--out", out)
        if killer.count < at:
            break
        if at % 3 == 0 or any(path.name.endswith("new") for path in out.rglob("*")):
            found = ask(built, out, value)
            assert found.stderr == ""
            seen.add(found.stdout)
    make(built, out)
    assert ask(built, out, value).stdout == "newer\n"
    assert seen <= {"new\n", "newer\n"} and "new\n" in seen
    names = {path.partition("/")[0] for path in picture(out)}
    assert len(names) == 4
