"""Edits of an installed package become a patch, and the series takes them over as they are."""

from pathlib import Path

import pytest

from tests.commands.scenes import one_line, picture, text
from tests.commands.test_installs import FIXES, house, release
from tests.commands.wheels import DEMO, House, install
from tests.conftest import Repository

__all__ = ["house"]  # the fixture


def edit(house: House) -> None:
    house.series(FIXES[0])
    (house.site / "demo/b.py").write_text(text(l20="mine\n"))
    (house.site / "demo/data/include/demo/x.h").write_text(text(l9="mine\n"))
    (house.site / "demo/fresh.py").write_text("mine = 1\n")
    (house.site / "demo/gone.py").unlink()


def imported(house: House, *arguments: str | Path, code: int = 0) -> str:
    line = ("import", "--series", "s", "--site", house.site, *arguments)
    return house.shop.run(*line, code=code).err


PATHS = ["demo/b.py", "demo/fresh.py", "demo/gone.py", "include/demo/x.h"]


@pytest.mark.parametrize("is_applied", [False, True])
def test_edits_become_a_patch_that_apply_takes_over(house: House, is_applied: bool) -> None:
    (house.site / "demo/b.py").chmod(0o755)  # as many wheels have it
    pristine = picture(house.site, without=())
    house.series(FIXES[0])
    if is_applied:
        house.run("apply")
    edit(house)
    if is_applied:
        (house.site / "demo/a.py").write_text(text(l30="ours\n", l2="mine\n"))
    before = picture(house.site, without=(".patchmgr",))
    assert "patchmgr apply s --site" in imported(house)
    files = house.shop.run("files", "demo-edits.patch", "--series", "s").out.split()
    assert {*files[1::2]} == {*PATHS, *(["demo/a.py"] if is_applied else [])}
    house.run("apply")
    assert house.state() == "patched"
    after = picture(house.site, without=(".patchmgr",))
    if is_applied:
        assert after == before  # not a byte changed
    assert (house.site / "demo/fresh.py").read_text() == "mine = 1\n"
    house.run("unapply")
    assert picture(house.site, without=()) == pristine
    house.run("apply")
    assert picture(house.site, without=(".patchmgr",)) == after


def test_an_edit_takes_no_part_in_a_patch_that_is_left_out(house: House) -> None:
    when = 'Needed-When=no path "demo/a.py"'
    house.shop.run("edit", "fix-2.patch", "--series", "s", "--field", when)
    house.run("apply")
    (house.site / "demo/b.py").write_text(text(l20="mine\n"))
    imported(house)
    assert "ours" not in (house.shop.root / "series/s/demo-edits.patch").read_text()
    house.run("apply")
    assert house.state() == "patched"


def test_an_edit_that_no_patch_has_is_still_refused(house: House) -> None:
    edit(house)
    imported(house)
    (house.site / "demo/b.py").write_text(text(l20="mine\n", l25="more\n"))
    assert "patchmgr import --site" in house.run("apply", code=1).err
    assert (house.site / "demo/b.py").read_text() == text(l20="mine\n", l25="more\n")


def test_what_is_no_copy_of_the_source_is_left_out_and_named(house: House) -> None:
    install(house.site, "1.0", {**DEMO, "demo/built.py": "made by the build\n"})
    (house.site / "demo/built.py").write_text("edited\n")
    edit(house)
    assert "identifies the original of demo/built.py" in imported(house)


def test_links_and_git_folders_beside_the_edits_are_left_out_and_named(house: House) -> None:
    edit(house)
    for path in ("demo/.git/HEAD", "demo/sub/.git"):
        (house.site / path).parent.mkdir()
        (house.site / path).write_text("git's own\n")
    for path, to in (("demo/link.py", "b.py"), ("demo/folder", "data"), ("demo/gone", "nowhere")):
        (house.site / path).symlink_to(to)
    said = imported(house)
    assert "links or have unsafe names: demo/folder, demo/gone, demo/link.py\n" in said
    house.run("apply")
    assert house.state() == "patched"


def test_an_edit_is_named_where_record_has_no_hash_to_tell_it_by(house: House) -> None:
    record = house.site / "demo-1.0.dist-info/RECORD"
    rows = record.read_text().splitlines()
    record.write_text("".join(f"{row.split(',')[0]},,\n" for row in rows))
    (house.site / "demo/b.py").write_text(text(l20="mine\n"))
    assert "identifies the original of demo/b.py\n" in imported(house, code=2)


def test_nothing_is_imported_without_edits_or_from_another_release(house: House) -> None:
    answer = house.shop.run("import", "--series", "s", "--site", house.site, code=2)
    assert one_line(answer) == "no edited file of demo 1.0 was found"
    install(house.site, "1.1", {**DEMO, "demo/a.py": text(l2="theirs\n\n")})
    edit(house)
    assert "rebase s --onto v1.1" in imported(house, code=2)


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_an_edit_is_kept_when_its_series_has_changed_since(house: House, version: str) -> None:
    install(house.site, version, release(version))
    before = picture(house.site, without=())
    house.series(*FIXES[:2])
    house.run("apply")
    place = house.site / "demo/a.py"
    place.write_text(place.read_text().replace("line 20\n", "mine\n"))
    (house.site / "demo/new/deep.py").write_text("new\nmine\n")
    house.series({"demo/a.py": text(l40="other\n")})
    refused = imported(house, code=2)
    if version == "1.0":
        assert "was changed after it was applied" in refused
    command = f"patchmgr unapply s --site {house.site} --force"
    for verb in ("apply", "unapply"):
        assert command in house.run(verb, code=1).err
    told = house.run("unapply", "--force").err
    assert told.startswith(f"Your edits are in {house.shop.root}")  # before the files are restored
    assert picture(house.site, without=()) == before
    house.run("apply")
    file = told.strip().rpartition(" ")[2]
    assert f"git --git-dir=/dev/null -C {house.site} apply --reject {file}" in told
    kept = Path(file).read_text().splitlines()
    lines = [line for line in kept if line[:1] in ("+", "-") and line[:2] not in ("++", "--")]
    assert lines == ["-line 20", "+mine", "+mine"]
    Repository(house.site, is_there=True).git("apply", "--include=demo/a.py", file)
    assert "mine\n" in house.read("demo/a.py") and "other\n" in house.read("demo/a.py")


def test_the_printed_command_makes_edits_again_in_a_folder_of_another_repository(
    house: House,
) -> None:
    house.run("apply")
    edits = {"demo/a.py": b"\0binary", "demo/new/deep.py": b"mine\n"}
    for path, content in edits.items():
        (house.site / path).write_bytes(content)
    told = house.run("unapply", "--force").err
    house.run("apply")
    around = Repository(house.site.parent)
    around.git(*told.partition("To make your edits again: git ")[2].split())
    assert {path: (house.site / path).read_bytes() for path in edits} == edits


def test_edits_go_to_a_new_file_each_time(house: House) -> None:
    for edit in ("one\n", "two\n"):
        house.run("apply")
        (house.site / "demo/new/deep.py").write_text(edit)
        house.run("unapply", "--force")
    folder = house.shop.root / ".patchmgr"
    assert b"+one" in (folder / "s-edits.patch").read_bytes()
    assert b"+two" in (folder / "s-edits-1.patch").read_bytes()


def test_an_edited_file_of_another_version_is_left_as_it_is(house: House) -> None:
    house.run("apply")
    install(house.site, "1.1", release("1.1"))
    (house.site / "demo/a.py").write_text("mine\n")
    told = house.run("unapply", "--force", "--dry-run").err
    assert told.startswith("Not restored, because they belong to another build: demo/a.py\n")
    answer = house.run("unapply", "--force", "--json").json
    assert answer["edits"] is None and "demo/a.py" not in answer["paths"]
    assert house.read("demo/a.py") == "mine\n"


def test_an_edit_of_a_package_that_was_installed_again_does_not_reverse_the_series(
    house: House,
) -> None:
    house.run("apply")
    install(house.site, "1.0", DEMO)
    place = house.site / "demo/a.py"
    place.write_text(text() + "mine\n")
    said = imported(house, code=2)
    assert "demo was installed again after the series was applied" in said
    assert f"patchmgr apply s --site {house.site}" in said
    install(house.site, "1.0", DEMO)  # as the hint says
    house.run("apply")
    place.write_text(place.read_text() + "mine\n")
    imported(house)
    added = [line for line in patch(house).splitlines() if line.startswith(("+", "-"))]
    assert added[2:] == ["+mine"]
    house.run("apply")
    assert house.read("demo/a.py") == text(l30="ours\n") + "mine\n"


@pytest.mark.parametrize(
    ("path", "content", "refused", "taken"),
    [
        ("demo/gone.py", "ours\n", "gone\nmine\n", "other\n"),
        ("demo/b.py", None, text(l20="mine\n"), "mine\n"),
    ],
    ids=["of-the-only-patched-line", "of-a-file-that-the-series-deletes"],
)
def test_an_edit_is_refused_after_a_reinstall(
    house: House, path: str, content: str | None, refused: str, taken: str
) -> None:
    house.series({path: content})
    house.run("apply")
    (house.site / path).write_text(refused)
    assert "does not have the changes of s" in imported(house, code=2)
    (house.site / path).write_text(taken)
    imported(house)
    assert f"+{taken}" in patch(house)


def test_a_part_of_the_series_is_taken_back_by_an_edit(house: House) -> None:
    house.series({"demo/a.py": text(l30="ours\n", l2="ours\n")})
    house.run("apply")
    (house.site / "demo/a.py").write_text(text(l30="ours\n"))
    imported(house)
    house.run("apply")
    assert house.read("demo/a.py") == text(l30="ours\n")


def test_a_file_that_the_series_added_is_deleted_by_an_edit(house: House) -> None:
    house.run("apply")
    (house.site / "demo/new/deep.py").unlink()
    imported(house)
    assert "deleted file mode" in patch(house)
    house.run("apply")
    assert house.state() == "patched"
    assert not (house.site / "demo/new/deep.py").exists()


def test_a_file_that_an_installer_deleted_is_no_edit(house: House) -> None:
    house.run("apply")
    install(house.site, "1.0", DEMO)
    (house.site / "demo/new/deep.py").unlink()  # as `pip install --target --upgrade` does
    imported(house, code=2)
    house.run("apply")
    assert house.read("demo/new/deep.py") == "new\n"


def patch(house: House) -> str:
    return (house.shop.root / "series/s/demo-edits.patch").read_text()
