"""Whether two texts differ in remarks alone."""

from __future__ import annotations

import pytest

from patchmgr.engines.remarks import has_same_code


@pytest.mark.parametrize(
    ("path", "one", "other", "is_same"),
    [
        pytest.param("a.py", "f()  # why\n", "f()\n", True, id="gone"),
        pytest.param("a.py", "# why\nf()\n", "f()  # because\n", True, id="elsewhere"),
        pytest.param("a.py", "f()\n# why\n", "f()\n", True, id="at-the-end"),
        pytest.param("a.py", "if a:\n    f()\n    # why\n", "if a:\n    f()\n", True, id="inside"),
        pytest.param(
            "a.py", 'S = """\n c: #fff\n"""\n', 'S = """\n c: #000\n"""\n', False, id="string"
        ),
        pytest.param("a.py", "f()  # a\nf()  # b\n", "f()\n", False, id="one-of-two"),
        pytest.param("a.py", "f()  # a\ng()\n", "g()\nf()\n", False, id="order"),
        pytest.param(
            "a.py", "if a:\n    f()\n    g()  # a\n", "if a:\n    f()\ng()\n", False, id="dedent"
        ),
        pytest.param("a.py", "f()\n", "f()  # type: ignore\n", False, id="type-ignore"),
        pytest.param("a.py", "f()  # pragma: no cover\n", "f()\n", False, id="pragma"),
        pytest.param("a.py", "f(\n", "f(  # why\n", False, id="no-python"),
        pytest.param("a.py", "# coding: utf-8\nf()\n", "f()\n", False, id="coding"),
        pytest.param("a.py", "# coding: no-such\n", "# coding: no-such\n", False, id="bad-coding"),
        pytest.param("a.py", "#coding:base64\nf()#a\n", "#coding:base64\nf()\n", False, id="codec"),
        pytest.param(
            "a.py", "#coding:punycode\nf()#a\n", "#coding:punycode\nf()\n", False, id="puny"
        ),
        pytest.param("a.py", 'u=f"{t["#a\'"]}\n', 'u=f"{t["#b\'"]}\n', False, id="a-newer-python"),
        pytest.param("a.py", "# ///\n# a\n# ///\n", "# ///\n# b\n# ///\n", False, id="metadata"),
        pytest.param("a.py", "# hi\rx = 1\n", "# hi\rx = 2\n", False, id="lone-end"),
        pytest.param("a.cc", "f(); // CHECK: a\n", "f();\n", False, id="filecheck"),
        pytest.param("a.cc", '"a\\\r\n//b"', '"a\\\r\n//c"', False, id="crlf"),
        pytest.param("a.cc", "//a\n" + "x\n" * 200_000, "x\n" * 200_000, False, id="large"),
        pytest.param("a.cc", "//a\n" + 'R"( ' * 20_000, 'R"( ' * 20_000, False, id="raw-strings"),
        pytest.param("a.cu", "f(); // why\n", "f();\n", True, id="cuda"),
        pytest.param("a.cc", "f(); /* why */ g();\n", "f(); g();\n", True, id="block"),
        pytest.param(
            "a.c", "/* http://one */ x = 1;\n", "/* http://two */ x = 2;\n", False, id="url"
        ),
        pytest.param("a.cc", 'R"(\n//one\n)"', 'R"(\n//two\n)"', False, id="raw-string"),
        pytest.param("a.cc", "f(); // why \\\ng();\n", "f(); // why\ng();\n", False, id="goes-on"),
        pytest.param("a.cc", "f();\n", "f(); // NOLINT\n", False, id="nolint"),
        pytest.param("a.cc", "#include <a//b>\n", "#include <a//c>\n", False, id="path"),
        pytest.param("a.yaml", "a: 1 # why\n", "a: 1\n", False, id="unknown"),
    ],
)
def test_texts_that_differ_in_remarks_alone(path: str, one: str, other: str, is_same: bool) -> None:
    assert has_same_code(path, one.encode(), other.encode()) is is_same
    assert has_same_code(path, other.encode(), one.encode()) is is_same
