"""The files of an overlay, and those of the check at an interpreter's start."""

import json

from patchmgr.formats.overlays import is_of_overlay, module_name, overlay_files, start_check
from tests.tables import table


@table(
    ("path", "name"),
    [
        ("pkg/a.py", "pkg.a"),
        ("pkg/__init__.py", "pkg"),
        ("a.py", "a"),
        ("__init__.py", None),
        ("pkg/data/x.h", None),
        ("pkg/no-module.py", None),
        ("pkg-1.dist-info/x.py", None),
    ],
)
def test_a_module_has_the_name_of_its_file(path: str, name: str | None) -> None:
    assert module_name(path) == name


def test_all_files_of_an_overlay_are_python_and_the_same_each_time() -> None:
    patched: dict[str, tuple[str | None, bytes]] = {
        "pkg/b.py": (None, b"b"), "pkg/a.py": ("0" * 64, b"a"), "odd.txt": (None, b"x"),
    }  # fmt: skip
    files = overlay_files("s", "/site", patched)
    assert files == overlay_files("s", "/site", dict(reversed(list(patched.items()))))
    assert list(files)[-2:] == ["overlay.json", "sitecustomize.py"]
    table = json.loads(files["overlay.json"])
    assert files[f"{table['files']}/pkg/a.py"] == b"a"
    assert all(is_of_overlay(path.partition("/")[0]) for path in files)
    assert not is_of_overlay("mine.py")
    assert table["modules"]["pkg.a"] == {"path": "pkg/a.py", "before": "0" * 64}
    for name in ("patchmgr_overlay.py", "sitecustomize.py"):
        compile(files[name], name, "exec")


def test_a_start_check_is_one_line_and_a_module() -> None:
    files = start_check("two-words")
    assert files["_patchmgr_check_two_words.pth"] == b"import _patchmgr_check_two_words\n"
    source = files["_patchmgr_check_two_words.py"]
    compile(source, "check", "exec")
    assert b'"two-words"' in source
    assert b"{name}" not in source
