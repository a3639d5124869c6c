from pathlib import Path

import pytest

from patchmgr.engines.structure.guards import broken_rules
from patchmgr.engines.structure.python import merge_python
from patchmgr.engines.structure.sides import Texts
from tests.tables import table

CASES = sorted(Path(__file__).with_name("python_cases").glob("*.txt"), key=lambda path: path.name)


def sections(path: Path) -> dict[str, str]:
    parts = path.read_text(encoding="utf-8").split("======== ")[1:]
    return {name: text for name, _, text in (part.partition("\n") for part in parts)}


def marked(texts: Texts) -> str:
    return (
        f"<<<<<<< ours\n{texts.upstream}||||||| base\n{texts.base}"
        f"=======\n{texts.fork}>>>>>>> theirs\n"
    )


@table("path", CASES, ids=lambda path: path.stem)
def test_a_merge_gives_what_the_case_says(path: Path) -> None:
    case = sections(path)
    texts = Texts(case["base"], case["upstream"], case["fork"])
    solution = merge_python(texts, "a.py", marked=marked(texts))
    assert (None if solution is None else solution.text) == case.get("expected")
    assert ("refused" in case) == path.stem.endswith("_refused")


@table("path", CASES, ids=lambda path: path.stem)
def test_line_ends_are_kept(path: Path) -> None:
    case = {name: text.replace("\n", "\r\n") for name, text in sections(path).items()}
    texts = Texts(case["base"], case["upstream"], case["fork"])
    solution = merge_python(texts, "a.py", marked=marked(texts))
    assert (None if solution is None else solution.text) == case.get("expected")


@table("path", CASES, ids=lambda path: path.stem)
def test_a_merge_with_the_solution_changes_nothing(path: Path) -> None:
    case = sections(path)
    if "expected" not in case:
        return
    for side in ("upstream", "fork"):
        texts = Texts(case[side], case["expected"], case[side])
        again = merge_python(texts, "a.py", marked=marked(texts))
        assert again is not None
        assert again.text == case["expected"]
    assert broken_rules(case["base"], case["upstream"], case["fork"], case["expected"]) == ()


def test_what_no_conflict_touches_is_as_in_the_text_merge() -> None:
    head, tail = "x = [1,\n  2]\n\n\n", "\n\nmerged_cleanly = True\n"
    text = (
        f"{head}def f():\n<<<<<<< ours\n    one(a=1, b=2)\n||||||| base\n    one(a=1)\n"
        f"=======\n    one(a=1, c=3)\n>>>>>>> theirs\n{tail}"
    )
    texts = Texts(
        "x = [1,\n  2]\n\n\ndef f():\n    one(a=1)\n\n\nold = 1\n",
        f"{head}def f():\n    one(a=1, b=2)\n{tail}",
        "x = [1,\n  2]\n\n\ndef f():\n    one(a=1, c=3)\n\n\nold = 1\n",
    )
    solution = merge_python(texts, "a.py", marked=text)
    assert solution is not None
    assert solution.text == f"{head}def f():\n    one(a=1, c=3, b=2)\n{tail}"


def test_lines_that_zdiff3_takes_out_of_a_conflict_do_not_tear_a_statement() -> None:
    base = "def a():\n    return 1\n"
    more = "\n\ndef b():\n    one()\n    return 2\n"
    most = "\n\ndef b():\n    one()\n    two()\n    return 2\n"
    text = (
        "def a():\n    return 1\n\n\ndef b():\n    one()\n<<<<<<< ours\n    two()\n"
        "||||||| base\n=======\n>>>>>>> theirs\n    return 2\n"
    )
    solution = merge_python(Texts(base, base + most, base + more), "a.py", marked=text)
    assert solution is not None
    assert solution.text == base + most


@table(
    "text",
    [
        pytest.param("<<<<<<< ours\na = 1\n", id="open"),
        pytest.param("<<<<<<< ours\na = 1\n>>>>>>> theirs\n", id="no base"),
    ],
)
def test_markers_that_do_not_match_are_refused(text: str) -> None:
    texts = Texts("a = 0\n", "a = 1\n", "a = 2\n")
    assert merge_python(texts, "a.py", marked=text) is None


def test_bytes_that_are_not_utf8_stay() -> None:
    odd = "x = '\udcff'\n"
    texts = Texts(
        f"{odd}f(a=1)\n",
        f"{odd}f(a=1, b=2)\n",
        f"{odd}f(a=1, c=3)\n",
    )
    solution = merge_python(texts, "a.py", marked=marked(texts))
    assert solution is not None
    assert solution.text == f"{odd}f(a=1, c=3, b=2)\n"


def test_deep_nesting_is_refused() -> None:
    deep = "x = " + "(" * 90 + "{}" + ")" * 90 + "\n"
    texts = Texts(deep.format("a"), deep.format("b"), deep.format("c"))
    assert merge_python(texts, "a.py", marked=marked(texts)) is None


def test_a_solution_names_its_rules() -> None:
    texts = Texts("import a\n", "import a\nimport b\n", "import a\nimport c\n")
    solution = merge_python(texts, "a.py", marked=marked(texts))
    assert solution is not None
    assert solution.rules == ("imports",)


@table("path", ["__init__.py", "pkg/__init__.py", "a.pyi"])
def test_an_import_that_others_may_use_does_not_go(path: str) -> None:
    base = "from shop import cart\n\nrun()\n"
    texts = Texts(base, "run()\n", base.replace("shop", "store").replace("run()", "run(1)"))
    assert merge_python(texts, "a.py", marked=marked(texts)) is not None
    assert merge_python(texts, path, marked=marked(texts)) is None


def test_a_base_that_does_not_parse_is_mended_by_both_sides() -> None:
    gap = "".join(f"v{number} = {number}\n" for number in range(6))
    base, upstream, fork = "import m\n", "import b\nimport m\n", "import c\nimport m\n"
    texts = Texts(f"{base}{gap}x = (\n", f"{upstream}{gap}x = ()\n", f"{fork}{gap}x = ()\n")
    shown = marked(Texts(base, upstream, fork)) + f"{gap}x = ()\n"
    solution = merge_python(texts, "a.py", marked=shown)
    assert solution is not None
    assert solution.text == f"import b\nimport c\nimport m\n{gap}x = ()\n"


def test_a_name_that_one_side_imports_twice_is_a_persons() -> None:
    line = "from m import z, b, a"
    texts = Texts(f"{line}\n", f"{line}, c\n", f"{line}, a\n")
    assert merge_python(texts, "a.py", marked=marked(texts)) is None
