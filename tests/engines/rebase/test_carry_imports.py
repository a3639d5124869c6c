"""Imports that a patch's lines rely on come along where upstream's file has them no more."""

from __future__ import annotations

from collections.abc import Mapping

from tests.engines.series import Run, difference
from tests.tables import table

HEAD = b"from works.model import (\n    Field,\n    Model,\n    validator,\n)\n\n\n"
SHORT = b"from works.model import (\n    Field,\n    Model,\n)\n\n\n"
LEAN = b"from works.model import Field\n\n\n"
PLANT = b"class Plant:\n    level = Field(int)\n    floor = Field(int)\n    scale = Field(int)\n"
DRY = PLANT.replace(b"floor = Field(int)", b"floor = Field(str)")
REST = b"\n\ndef use(plant):\n    plant.open()\n    plant.close()\n    return plant\n"
CHECK = b"\n    @validator\n    def check(self):\n        return self.level\n"
BASE, PATCHED = HEAD + PLANT + REST, HEAD + PLANT + CHECK + REST
TYPES = (
    b"from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from works.model import %s\n\n\n"
)


def _rebased(
    base: bytes, patched: bytes, ours: bytes, renames: Mapping[str, str], path: str
) -> tuple[object, list[str]]:
    run = Run({"m.py": base}, {path: ours})
    result = run.rebase(difference("p", {"m.py": base}, {"m.py": patched}), renames=renames)
    return result.files[path], result.answers()


@table(
    ("base", "patched", "ours", "expected"),
    {
        "in-the-list": (BASE, PATCHED, SHORT + PLANT + REST, HEAD + PLANT + CHECK + REST),
        "in-the-line": (BASE, PATCHED, LEAN + PLANT + REST,
            b"from works.model import Field, validator\n\n\n" + PLANT + CHECK + REST),
        "beside-another-edit": (BASE, PATCHED, LEAN + DRY + REST,
            b"from works.model import Field, validator\n\n\n" + DRY + CHECK + REST),
        "for-types": (TYPES % b"Field, Mode" + PLANT + REST,
            TYPES % b"Field, Mode" + PLANT + b"    mode: Mode\n" + REST,
            TYPES % b"Field" + PLANT + REST,
            TYPES % b"Field\n    from works.model import Mode" + PLANT + b"    mode: Mode\n" + REST,
        ),
    },
)  # fmt: skip
@table(("path", "answer"), [("m.py", "modified structural"), ("new/m.py", "modified moved")])
def test_an_import_comes_along(
    base: bytes, patched: bytes, ours: bytes, expected: bytes, path: str, answer: str
) -> None:
    renames = {} if path == "m.py" else {"m.py": path}
    assert _rebased(base, patched, ours, renames, path) == (expected, [answer])


@table(
    ("base", "patched", "ours", "expected"),
    {
        "it-is-there": (BASE, PATCHED, HEAD + REST.lstrip() + b"\n\n" + PLANT, None),
        "the-patch-needs-another": (BASE,
            HEAD + PLANT + CHECK.replace(b"@validator", b"@other") + REST, LEAN + PLANT + REST,
            LEAN + PLANT + CHECK.replace(b"@validator", b"@other") + REST),
        "bound-otherwise": (BASE, PATCHED, LEAN + b"validator = print\n" + PLANT + REST,
            LEAN + b"validator = print\n" + PLANT + CHECK + REST),
        "star": (BASE, PATCHED, LEAN + b"from works.checks import *\n" + PLANT + REST,
            LEAN + b"from works.checks import *\n" + PLANT + CHECK + REST),
        "no-import-there": (b"validator = print\n" + LEAN + PLANT + REST,
            b"validator = print\n" + LEAN + PLANT + CHECK + REST, LEAN + PLANT + REST,
            LEAN + PLANT + CHECK + REST),
        "in-a-string": (BASE, HEAD + PLANT + b"    check = 'validator'\n" + REST,
            LEAN + PLANT + REST, LEAN + PLANT + b"    check = 'validator'\n" + REST),
    },
)  # fmt: skip
def test_a_name_that_is_bound_or_not_imported_brings_nothing(
    base: bytes, patched: bytes, ours: bytes, expected: bytes | None
) -> None:
    files, _ = _rebased(base, patched, ours, {}, "m.py")
    assert expected is None or files == expected
    assert isinstance(files, bytes)
    assert files.count(b"import") == ours.count(b"import")
