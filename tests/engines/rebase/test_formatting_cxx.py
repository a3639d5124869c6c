from __future__ import annotations

import pytest

from patchmgr.engines.merge.languages import cxx_tokens
from patchmgr.engines.rebase.formatting_cxx import brackets_close, directives_close, is_sound
from patchmgr.engines.structure.sides import Texts
from tests.tables import table

BASE = '#include "z.h"\nvoid z() {\n  one();\n}\n'
UPSTREAM = '#include "z.h"\n#include "u.h"\nvoid z() {\n  one();\n}\n\nvoid u() {\n  two();\n}\n'
FORK = '#include "z.h"\n#include "f.h"\nvoid z() {\n  one();\n}\n\nvoid f() {\n  three();\n}\n'
BOTH = FORK.replace("void z()", '#include "u.h"\nvoid z()') + "\nvoid u() {\n  two();\n}\n"
TEXTS = Texts(BASE, UPSTREAM, FORK)


def test_a_text_with_all_of_both_sides_is_sound() -> None:
    assert is_sound(BOTH, TEXTS)


@table(
    "merged",
    [
        pytest.param(UPSTREAM, id="the fork's is lost"),
        pytest.param(BOTH + "}\n", id="a brace too many"),
        pytest.param(BOTH + "#if A\n", id="an open branch"),
        pytest.param(BOTH.replace('#include "u.h"\n', ""), id="an include is lost"),
        pytest.param(
            BOTH.replace("one();\n}\n", "one();\n", 1) + "}\n", id="a function in another"
        ),
    ],
)
def test_a_text_that_lost_or_doubled_something_is_not(merged: str) -> None:
    assert not is_sound(merged, TEXTS)


def test_an_include_that_both_add_stands_once() -> None:
    texts = Texts("int a;\n", "#include <b>\nint a;\n", "#include <b>\nint a;\n")

    assert is_sound("#include <b>\nint a;\n", texts)
    assert not is_sound("#include <b>\nint a;\n#include <b>\n", texts)


def test_a_macro_that_both_add_stands_once() -> None:
    upstream, fork = "#define B 1\nint a;\n", "int a;\n#define B 1\n"
    texts = Texts("int a;\n", upstream, fork)

    assert not is_sound("#define B 1\nint a;\n#define B 1\n", texts)


def test_sides_that_are_not_clear_are_counted_by_token_only() -> None:
    texts = Texts("void z() {\n", "void z() {\nu();\n", "void z() {\nf();\n")

    assert is_sound("void z() {\nf();\nu();\n", texts)


@table(
    ("text", "expected"),
    [
        pytest.param("f({a[1]});", True, id="all close"),
        pytest.param("f(", False, id="open"),
        pytest.param("f(]", False, id="crossed"),
        pytest.param(")", False, id="closes nothing"),
        pytest.param("f(')', \")\");", True, id="in strings"),
    ],
)
def test_brackets_close(text: str, expected: bool) -> None:
    assert brackets_close(tuple(cxx_tokens(text))) is expected


@table(
    ("text", "expected"),
    [
        pytest.param("#if A\n#elif B\n#else\n#endif\n", True, id="all close"),
        pytest.param("#ifdef A\n", False, id="open"),
        pytest.param("#endif\n", False, id="closes nothing"),
        pytest.param("#else\n", False, id="no branch"),
    ],
)
def test_directives_close(text: str, expected: bool) -> None:
    assert directives_close(tuple(cxx_tokens(text))) is expected
