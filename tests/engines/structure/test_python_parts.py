import pytest

from patchmgr.engines.structure.python_comments import merge_lead, merge_lines
from patchmgr.engines.structure.python_join import join_statements
from patchmgr.engines.structure.python_names import bound_names, used_names
from patchmgr.engines.structure.python_nodes import merge_code
from patchmgr.engines.structure.python_tokens import (
    are_alike,
    has_comment,
    is_part_of,
    is_same_code,
    likeness,
    tokens_of,
)
from patchmgr.engines.structure.python_tree import Unsure, block_of
from tests.tables import table


@table(
    ("one", "other", "same"),
    [
        pytest.param("f(a, b)", "f(\n    a,\n    b,\n)", True, id="lines"),
        pytest.param("'a'", '"a"', True, id="quotes"),
        pytest.param("'a\"'", '"a"', False, id="quotes within"),
        pytest.param("a \\\n  + b", "a + b", True, id="continued"),
        pytest.param("(a,)", "(a)", True, id="comma that layout may add"),
        pytest.param("'a b'", "'a  b'", False, id="space in a string"),
        pytest.param("a  # x", "a  # y", False, id="comments"),
    ],
)
def test_code_without_its_layout(one: str, other: str, same: bool) -> None:
    assert is_same_code(one, other) == same


@table(
    ("base", "small", "large", "part"),
    [
        pytest.param("a b", "a x b", "a x y b", True, id="more added"),
        pytest.param("a b", "x b", "x y", True, id="removed as well"),
        pytest.param("a b", "x b", "a x b", False, id="not removed"),
        pytest.param("a b", "a b", "a x b", False, id="nothing added"),
        pytest.param("a b", "a", "x", False, id="only removed"),
        pytest.param("a b", "a x b", "a b y", False, id="something else"),
        pytest.param("a", "a ,", "a , x", False, id="only a sign"),
    ],
)
def test_edits_that_are_part_of_other_edits(base: str, small: str, large: str, part: bool) -> None:
    assert is_part_of(base.split(), small.split(), large.split()) == part


def test_large_texts_are_not_compared() -> None:
    assert not is_part_of([], ["a"] * 3000, ["a"] * 3000)


@table(
    ("one", "other", "alike"),
    [
        pytest.param("kind", "kind_of_item", True, id="start"),
        pytest.param("kind=", "kind", True, id="sign"),
        pytest.param("kind", "sort", False, id="other"),
        pytest.param("a.b", "a.b.c", False, id="no name"),
    ],
)
def test_names_for_one_thing(one: str, other: str, alike: bool) -> None:
    assert are_alike(one, other) == alike


def test_likeness_counts_tokens() -> None:
    assert likeness(["a", "b"], ["b", "a"]) == 1.0
    assert likeness(["a", "b"], ["c", "d"]) == 0.0
    assert likeness((), ()) == 1.0
    assert likeness("a", ["a", "b", "c", "d", "e", "f"], 0.5) == 0.0
    assert tokens_of("") == ()
    assert not has_comment("a = '#'")


@table(
    "text",
    [
        "",
        "a = 1\n",
        "a = 1",
        "# only a comment\n",
        "if a:\n    b\n    # in it\n# behind\nelif c:\n    d\nelse:\n    # first\n    e\n",
        "try:\n    a\nexcept B:\n    c\nelse:\n    d\nfinally:\n    e\n",
        "for a in b:\n    c\nelse:\n    d\n",
        "match a:\n    case 1:\n        b\n",
        "@a\n@b(\n  c)\ndef f(\n    g\n):\n    '''doc\n# no comment\n'''\n",
        "a = 1; b = 2\nc\n",
        "if a: b\nelse: c\n",
        "try: a\nfinally:\n    b\n",
        "class A:\r\n    b = 1\r\n",
        "async def f():\n    async with a:\n        b\n",
        "if a:\n    b\nelse: c\n",
        "def f(): return 1\n",
    ],
)
def test_a_block_is_the_file_byte_for_byte(text: str) -> None:
    block = block_of(text)
    assert block is not None
    assert block.text == text
    assert [s.text for s in block.statements if s.clauses] == [
        "".join(c.text for c in s.clauses) for s in block.statements if s.clauses
    ]


@table("text", ["a(\n", "a\rb\n", "a\n\f\nb\n", "\0"])
def test_a_text_of_unknown_layout_is_no_block(text: str) -> None:
    assert block_of(text) is None


@table(
    ("base", "upstream", "fork", "merged"),
    [
        pytest.param("", "\n", "\n", "\n", id="same"),
        pytest.param("\n", "\n\n", "\n# a\n", "\n# a\n", id="blank lines and a comment"),
        pytest.param("\n", "\n# a\n", "\n\n", "\n# a\n", id="a comment and blank lines"),
        pytest.param("# a\n", "# a\n", "# b\n", "# b\n", id="one side"),
        pytest.param("# a\n", "# b\n", "# a\n", "# b\n", id="other side"),
        pytest.param("# a\n", "\n# b\n", "# b\n", "\n# b\n", id="same comment"),
        pytest.param("", "# a b\n# c\n", "# a b\n", "# a b\n# c\n", id="absorbed"),
        pytest.param("", "# a b\n", "# a b\n# c\n", "# a b\n# c\n", id="absorbed by the fork"),
    ],
)
def test_leads_are_merged(base: str, upstream: str, fork: str, merged: str) -> None:
    assert merge_lead(base, upstream, fork) == merged


@table(
    ("base", "upstream", "fork"),
    [
        pytest.param("a b c\n", "a x c\n", "a y c\n", id="one word"),
        pytest.param("", "count of a\n", "counter of b\n", id="one name"),
        pytest.param("a\n", "", "a b\n", id="deleted and changed"),
    ],
)
def test_lines_that_both_change_are_refused(base: str, upstream: str, fork: str) -> None:
    with pytest.raises(Unsure):
        merge_lines(base, upstream, fork)


@table(
    ("texts", "kind"),
    [
        pytest.param(("else:\n", "else: # a\n", "else: # b\n"), "else", id="no parts"),
        pytest.param(("f(1, 2)", "f(1, 3)", "f(4, 2)"), "", id="no end of line"),
        pytest.param(("a(1)\n", " a(2)\n", "a(3)\n"), "", id="another indentation"),
        pytest.param(("a(\n", "b(\n", "c(\n"), "", id="does not parse"),
    ],
)
def test_pieces_that_cannot_be_read_are_refused(texts: tuple[str, str, str], kind: str) -> None:
    with pytest.raises(Unsure):
        merge_code(*texts, kind)


def test_names_that_statements_bind_and_use() -> None:
    block = block_of("import a.b as c\ndef f(x):\n    self.y = z\nfrom d import e\n")
    assert block is not None
    assert bound_names(block.statements) == {"c", "f", "self.y", "e"}
    assert used_names(block.statements) == {"z", "self"}


def test_members_are_joined_in_the_forks_order() -> None:
    one, two = block_of("def a(): ...\n"), block_of("class B:\n    c = 1\n")
    assert one is not None
    assert two is not None
    rule, joined = join_statements(one.statements, two.statements)
    assert (rule, [s.key for s in joined]) == ("members", [("def", "B"), ("def", "a")])
