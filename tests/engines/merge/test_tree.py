"""Parsing loses nothing, whatever the language."""

from hypothesis import given, settings
from hypothesis import strategies as st

from patchmgr.engines.merge.languages import language_of
from patchmgr.engines.merge.statements import read
from patchmgr.engines.merge.tree import Node
from tests.long import examples
from tests.tables import table

PYTHON = '''\
"""Docstring."""
from a import (  # why
    x,  # one
    y
)


@decorated(
    1,
)
async def f(a, *, b: int = 3, **rest) -> dict[str, int]:
    # first
    if a:  # head
        return {"k": [1, 2], **rest}
    elif b: pass
    else:
        x = """a
b"""
    # last
    try:
        call()()
    except (A, B) as error:
        raise
    match a:
        case [1, *_]:
            pass

class C: x: int
'''
TEXTS = {
    "a.py": PYTHON,
    "torn.py": ")\n    else:\n  x = [1,\n",
    "a.cu": "#include <x.h>\n\n/* c */ int f(int a) { return g(a, {1, 2}); } // t\n",
    "macro.h": "#define X \\\n 1\n#if Y // why\nint a;\n#endif\n",
    "crossed.cpp": "f({)}\n",
    "torn.cpp": "  } else {\n    f(1,\n#ifdef A\n",
    "no-receiver.go": "func () F() {\n}\n\nfunc (a *T[K, V]) F() {\n}\nfunc (",
    "group.go": 'import (\n\t"a" // why\n\tb "c"\n)\n\nvar d = `\n{` // t\nvar',
    "types.go": "type a struct {\n\tb int\n}\n\ntype c = a\n",
    "a.ts": "a()\n;[b].c(/[/]'/)\n@D()\nclass E {\n  f = `${\n`\n}\n",
    "a.yaml": "on:\n  push: [a, b]\njobs:\n  # c\n  x:\n    - run: |\n        echo\n",
    "a.toml": '[tool]\nx = [\n  "a",\n]\n',
    "CMakeLists.txt": "set(X\n  a.cc\n  b.cc)\n",
    "a.json": '{"a": [1, 2], "b": {}}\n',
    "a.md": "# Title\n\n- one\n- two",
    "Dockerfile": "FROM a\nRUN x && \\\n    y\n",
    "empty.py": "",
}

_WORDS = ["func (", "if ", "class ", "import ", "else", "var ", "type ", "@", "`"]
_PIECES = st.sampled_from([*"([{<>}]);,:=#'\"\\/*ab \n", *_WORDS])


@table("path", list(TEXTS))
def test_parsing_loses_nothing(path: str) -> None:
    assert read(TEXTS[path], language_of(path)).whole == TEXTS[path]


@settings(max_examples=examples(300), deadline=None)
@given(path=st.sampled_from(sorted(TEXTS)), text=st.lists(_PIECES, max_size=30).map("".join))
def test_parsing_loses_nothing_of_a_text_that_is_not_code(path: str, text: str) -> None:
    assert read(text, language_of(path)).whole == text


def _lists(node: Node) -> list[str]:
    own = [node.key] if node.kind == "list" else []
    return [*own, *(key for part in node.parts for key in _lists(part))]


@table(
    ("text", "kinds"),
    [
        ("f(a)(b)[0]", "call call subscript"),
        ("def f(a, *, b=()): pass", "parameters tuple"),
        ("class C(A): pass", "call"),
        ("x = {a: {b}, **c}", "dict set"),
        ("x = [y, (1, 2)]", "list tuple"),
        ("return (a, b)", "tuple"),
        ("__all__ = ['a', 'b']", "set"),
        ("from a import b, c  # why", "import"),
        ("import a.b as c", "import"),
        ("from a import (b)", "import"),
        ("f()", "call"),
    ],
)
def test_the_kind_of_a_python_bracket_depends_on_what_precedes_it(text: str, kinds: str) -> None:
    assert _lists(read(f"{text}\n", language_of("a.py"))) == kinds.split()


def test_the_joined_parts_of_a_node_are_its_text() -> None:
    def check(node: Node) -> None:
        assert not node.parts or "".join(part.whole for part in node.parts) == node.text
        for part in node.parts:
            check(part)

    for path, text in TEXTS.items():
        check(read(text, language_of(path)))


@table(
    ("one", "other"),
    [
        ("f(a,\n  b,\n)\n", "f(a, b)\n"),
        ("x = 'a'\n", 'x = "a"\n'),
        ("from m import (a,\n    b)\n", "from m import (a, b)\n"),
    ],
)
def test_reformatting_does_not_change_the_words_of_a_node(one: str, other: str) -> None:
    language = language_of("a.py")
    assert read(one, language).normalized == read(other, language).normalized


def test_moving_a_statement_into_a_block_changes_the_words_of_the_tree() -> None:
    language = language_of("a.py")
    one, other = "if a:\n    b\nc\n", "if a:\n    b\n    c\n"
    assert read(one, language).normalized != read(other, language).normalized
