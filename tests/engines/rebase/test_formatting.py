"""The formatting rung on texts: what it merges and what it refuses."""

from collections.abc import Callable, Sequence

from patchmgr.engines.merge.candidate import Resolved
from patchmgr.engines.rebase.formatting import (
    STABLE,
    is_same_cxx,
    is_same_python,
    may_be_formatting,
    merge_formatted,
    notation_of,
    stability,
)
from patchmgr.engines.rebase.rungs import Solved, Unsolved, solve_text
from patchmgr.engines.rebase.work import Mergers
from patchmgr.engines.structure.python_tree import compiles
from patchmgr.engines.structure.sides import Texts
from patchmgr.model.merge import Clean, Merge
from patchmgr.model.outcome import How, Reliability, Suggestion
from patchmgr.model.ports import Style
from tests.engines.ports import PlainMerge
from tests.tables import table

Line = Callable[[bytes], bytes]


class Fake:
    """A formatter that works line by line, and counts its calls."""

    def __init__(self, *lines: Line | None) -> None:
        self._lines = lines
        self.asked: list[bytes] = []

    def styles(self, path: str) -> Sequence[Style]:
        return [self._style(line) for line in self._lines]

    def _style(self, line: Line | None) -> Style:
        def style(content: bytes) -> bytes | None:
            self.asked.append(content)
            return None if line is None else b"".join(map(line, content.splitlines(keepends=True)))

        return style


def tight(line: bytes) -> bytes:
    """Format: one space around an equals sign."""
    left, sign, right = line.partition(b"=")
    return left.rstrip() + b" = " + right.lstrip() if sign else line


def doubling(line: bytes) -> bytes:
    return tight(line).replace(b"1", b"11")


def never_done(line: bytes) -> bytes:
    """Format, and move the text after `# 7` a bit each time."""
    return tight(line).replace(b"# 7", b" # 7")


HEAD = b"import os\n\n"
TAIL = b"".join(b"w%d = os\n" % n for n in range(20))
LOOSE_TAIL = TAIL.replace(b" = ", b"=")


def module(*lines: bytes, is_loose: bool = False) -> bytes:
    whole = HEAD + b"".join(line + b"\n" for line in lines)
    return whole.replace(b" = ", b"=") + LOOSE_TAIL if is_loose else whole + TAIL


BASE = module(b"a = 1", b"b = 2", b"c = 3", is_loose=True)
FORK = module(b"a = 1", b"b = 20", b"c = 3", is_loose=True)
NEW = module(b"a = 1", b"b = 2", b"c = 3")
MERGED = module(b"a = 1", b"b = 20", b"c = 3")


def merge(
    base: bytes, upstream: bytes, fork: bytes, *lines: Line | None, path: str = "a.py"
) -> bytes | None:
    formatter = Fake(*lines)
    return merge_formatted(base, upstream, fork, path=path, formatter=formatter, text=PlainMerge())


@table(
    ("sides", "lines", "expected"),
    {
        "upstream-formatted": ((BASE, NEW, FORK), (tight,), MERGED),
        "the-first-tool-fails": ((BASE, NEW, FORK), (None, tight), MERGED),
        "first-is-not-its-own": ((BASE, NEW, FORK), (lambda line: line.upper(), tight), MERGED),
        "and-edited-beside-it": ((BASE, module(b"a = 1", b"b = 2", b"c = 30"), FORK), (tight,),
            None),
        "and-edited-elsewhere": ((BASE, module(b"new = 5", b"a = 1", b"b = 2", b"c = 3"), FORK),
            (tight,), module(b"new = 5", b"a = 1", b"b = 20", b"c = 3")),
        "nearly-stable": (
            (BASE, module(b"a = 1", b"b = 2", b"c = 3").replace(b"w9 = ", b"w9= "), FORK), (tight,),
            MERGED.replace(b"w9 = ", b"w9= ")),
        "not-stable": ((BASE, BASE.replace(b"b=2", b"b=3"), FORK), (tight,), None),
        "no-formatter": ((BASE, NEW, FORK), (), None),
        "a-tool-that-fails": ((BASE, NEW, FORK), (None,), None),
        "no-use": ((NEW, NEW.replace(b"b = 2", b"b = 3"), MERGED), (tight,), None),
        "upstream-has-it": ((BASE, MERGED, FORK), (tight,), None),
        "changes-a-token": ((BASE, NEW, FORK), (doubling,), None),
        "base-does-not-parse": ((BASE.replace(b"b", b"b ("), NEW, FORK), (tight,), None),
    },
)  # fmt: skip
def test_the_patchs_side_is_formatted_as_upstream(
    sides: tuple[bytes, bytes, bytes], lines: tuple[Line | None, ...], expected: bytes | None
) -> None:
    assert merge(*sides, *lines) == expected


def test_a_merge_that_the_formatter_changes_again_is_refused() -> None:
    fork = FORK.replace(b"b=20", b"b=20  # 7")
    assert merge(BASE, NEW, fork, tight) == MERGED.replace(b"20", b"20  # 7")
    assert merge(BASE, NEW, fork, never_done) is None


def test_a_merge_that_does_not_compile_or_loses_a_name_is_refused() -> None:
    new = NEW.replace(HEAD, b"")
    fork = FORK.replace(b"b=20", b"b=20\nos.nice(3)")
    assert merge(BASE, new.replace(b"= os", b"= 0"), fork, tight) is None


def test_a_file_of_an_unknown_language_is_not_formatted() -> None:
    assert merge(BASE, NEW, FORK, tight, path="a.txt") is None


CXX = b"#include <b>\n#include <a>\n// all of it\nint f() {\n%s}\n" + b"int x;\n" * 20


@table(
    ("line", "is_solved"),
    {
        "white-space": (tight, True),
        "includes": (lambda line: tight(line).replace(b"<b>", b"<a>"), False),
        "a-token": (lambda line: tight(line).replace(b"3;", b"3; ;"), False),
        "comment": (lambda line: tight(line).replace(b"all of", b"some of"), False),
    },
)
def test_formatting_keeps_the_tokens_of_cxx(line: Line, is_solved: bool) -> None:
    base, fork = CXX % b"a=1;\nb=2;\nc=3;\n", CXX % b"a=1;\nb=20;\nc=3;\n"
    new = line(CXX.replace(b"\n", b"\0")).replace(b"\0", b"\n") % b"a = 1;\nb = 2;\nc = 3;\n"
    found = merge(base, new, fork, line, path="a.cu")
    assert (found == new.replace(b"= 2;", b"= 20;")) is is_solved


@table(
    ("before", "after", "share"),
    [
        (b"", b"", 1.0),
        (b"a\nb\n", b"a\nb\n", 1.0),
        (b"a\nb\n", b"a\nc\n", 0.5),
        (b"a\n", b"a\nb\nc\nd\n", 0.25),
        (b"a\n", b"", 0.0),
    ],
)
def test_stability_is_the_share_of_same_lines(before: bytes, after: bytes, share: float) -> None:
    assert stability(before, after) == share
    assert 0 < STABLE < 1


# On the ladder


SURE = (Reliability("replay", 95, 100),)


def solve(
    formatter: Fake | None, resolved: Resolved | None = None, *, ours: bool = True
) -> Solved | Unsolved:
    def structure(texts: Texts, path: str, marked: bytes) -> Resolved | None:
        assert marked.index(b"b = 2\n") < marked.index(b"b=20\n"), "upstream's side is first"
        return resolved

    return solve_text(
        BASE, NEW, FORK, "a.py",
        mergers=Mergers(text=PlainMerge(), formatter=formatter, structure=structure),
        is_upstream_ours=ours,
    )  # fmt: skip


@table("ours", [True, False])
def test_formatting_is_tried_before_structure(ours: bool) -> None:
    resolved = Resolved("merged\n", SURE)
    assert solve(Fake(tight), resolved, ours=ours) == Solved(MERGED, How.FORMAT)
    structural = Solved(b"merged\n", How.STRUCTURAL, reliability=SURE)
    assert solve(Fake(None), resolved, ours=ours) == structural
    assert isinstance(solve(None, ours=ours), Unsolved)


@table(("is_layout", "how"), {"layout": (True, How.FORMAT), "more": (False, How.STRUCTURAL)})
def test_a_merge_with_a_side_of_layout_alone_is_of_format(is_layout: bool, how: How) -> None:
    resolved = Resolved("merged\n", SURE, is_layout=is_layout)
    assert solve(None, resolved) == Solved(b"merged\n", how, reliability=SURE)


def test_suggestions_for_a_region_are_returned() -> None:
    suggestions = ((Suggestion(b"b = 20\n", SURE[0]),),)
    left = solve(None, Resolved(None, suggestions=suggestions))
    assert isinstance(left, Unsolved)
    assert left.suggestions == suggestions


class Saying(PlainMerge):
    """A text merge that always has the same result."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def merge(self, base: bytes, ours: bytes, theirs: bytes) -> Merge:
        return Clean(self._content)


@table(
    ("upstream", "content"),
    {
        "a-line-of-nobody": (NEW, MERGED + b"e = 5\n"),
        "a-line-lost": (NEW + b"e = 5\n", MERGED),
        "another-order": (NEW, MERGED.replace(b"a = 1\nb = 20\n", b"b = 20\na = 1\n")),
    },
)
def test_a_text_merge_with_lines_of_no_side_is_refused(upstream: bytes, content: bytes) -> None:
    tools = {"formatter": Fake(tight), "text": Saying(content)}
    assert merge_formatted(BASE, upstream, FORK, path="a.py", **tools) is None  # type: ignore[arg-type]


class FailsOn(Fake):
    """A formatter that fails on one text."""

    def __init__(self, content: bytes) -> None:
        super().__init__(tight)
        self._content = content

    def styles(self, path: str) -> Sequence[Style]:
        (style,) = super().styles(path)
        return [lambda content: None if content == self._content else style(content)]


def test_a_merge_that_cannot_be_formatted_is_refused() -> None:
    found = [
        merge_formatted(BASE, NEW, FORK, path="a.py", formatter=FailsOn(text), text=PlainMerge())
        for text in (b"", MERGED)
    ]
    assert found == [MERGED, None]


@table(
    ("base", "ours", "theirs", "expected"),
    {
        "one-side-in-lines": ("f(a, b)\n", "f(\n    a,\n    b,\n)\n", "f(a, c)\n", True),
        "other-words": ("f(a, b)\n", "f(\n    x,\n    b,\n)\n", "f(a, c)\n", True),
        "same-word": ("f(a, b)\n", "f(\n    a,\n    x,\n)\n", "f(a, c)\n", False),
        "both-insert": ("f(a)\n", "f(a, x)\n", "f(\n    a,\n    c,\n)\n", False),
        "both-import": ("import a\n", "import a\nimport x\n", "import a\nimport c\n", True),
        "quotes": ("f('a', b)\n", 'f("a", b)\n', "f('a', c)\n", True),
        "one-indents": ("a = 1\nb = 2\n", "  a = 1\n  b = 3\n", "a = 4\nb = 2\n", True),
        "one-changes-nothing": ("a = 1\nb = 2\n", "a = 1\nb = 2\n", "a = 4\nb = 3\n", True),
        "neither-in-lines": ("a = 1\nb = 2\n", "a = 1\nb = 3\n", "a = 4\nb = 2\n", False),
    },
)
def test_same_words_are_not_formatting(base: str, ours: str, theirs: str, expected: bool) -> None:
    marked = f"<<<<<<< o\n{ours}||||||| b\n{base}=======\n{theirs}>>>>>>> t\n"
    assert may_be_formatting(marked.encode()) is expected


@table(
    ("one", "other", "is_same"),
    {
        "quotes-and-commas": ("x = {'a':1}\n", 'x = {\n    "a": 1,\n}\n', True),
        "a-comment-with-other-spaces": ("x=1 #why\n", "x = 1  # why\n", True),
        "a-comment-lost": ("x=1 # why\n", "x = 1\n", False),
        "a-comment-reworded": ("x=1 # why\n", "x = 1  # who\n", False),
        "a-prefix-without-meaning": ("x = u'a'\n", 'x = "a"\n', True),
        "a-prefix-with-meaning": ("x = b'a'\n", 'x = "a"\n', False),
        "brackets-of-del": ("del (a, b)\n", "del a, b\n", True),
        "joined-strings": ("x = ('a' 'b')\n", 'x = "ab"\n', True),
        "a-docstring-laid-out": ("def f():\n  '''A.\n  B.'''\n", 'def f():\n    """A.\n    B."""\n',
            True),
        "reworded": ("def f():\n  '''A.'''\n", 'def f():\n    """B."""\n', False),
        "white-space-in-a-string": ("x = ' a'\n", "x = 'a'\n", False),
        "imports-sorted": ("import b\nimport a\n", "import a\nimport b\n", False),
        "indented": ("if a:\n  b\nc\n", "if a:\n    b\n    c\n", False),
        "no-python": ("x = (\n", "x = (\n\n", False),
        "no-python-any-more": ("x = 1\n", "x = (\n", False),
        "a-body-that-is-no-text": ("def f(): ...\n", "def f():\n    ...\n", True),
        "too-long": ("x = a" + "+a" * 1500, "x = a" + " + a" * 1500, False),
        "too-deep": ("x = (" * 300, "x = ( " * 300, False),
    },
)  # fmt: skip
def test_python(one: str, other: str, is_same: bool) -> None:
    assert is_same_python(one.encode(), other.encode()) is is_same
    assert is_same_python(one.encode(), one.encode())


def test_comparing_a_text_does_not_change_its_tree() -> None:
    assert is_same_python(b'"""A."""\n', b'"""A.\n"""\n')
    assert compiles('"""A."""\n')


@table(
    ("one", "other", "is_same"),
    {
        "spaces": ("int  x=1 ;", "int x = 1;\n", True),
        "lines": ("f(a,b);", "f(a,\n  b);", True),
        "a-macro": ("#define A(x)   \\\n  x\n", "#define A(x) \\\n x\n", True),
        "a-directive": ("# include <a>\n", "#include <a>\n", True),
        "includes-sorted": ("#include <b>\n#include <a>\n", "#include <a>\n#include <b>\n", False),
        "comment-flow": ("// one two\n// three\n", "// one\n// two three\n", True),
        "a-comment-lost": ("// one two\n", "// one\n", False),
        "the-end-of-a-namespace": ("namespace a {\n}\n", "namespace a {\n}  // namespace a\n",
            True),
        "a-string-broken": ('f("a b");', 'f("a" " b");', False),
        "braces": ("if (a) b;", "if (a) { b; }", False),
    },
)  # fmt: skip
def test_cxx(one: str, other: str, is_same: bool) -> None:
    assert is_same_cxx(one.encode(), other.encode()) is is_same


@table(
    ("path", "is_known"),
    [("a.py", True), ("a.pyi", True), ("a.cu", True), ("a.h", True), ("a.md", False), ("", False)],
)
def test_the_language_is_recognized_by_the_name(path: str, is_known: bool) -> None:
    assert (notation_of(path) is not None) is is_known


@table(
    ("merged", "is_sound"),
    [(b"def f(a, b): ...\n", True), (b"def f(a, a): ...\n", False), (b"return\n", False)],
)
def test_a_merge_that_does_not_compile_is_not_sound(merged: bytes, is_sound: bool) -> None:
    notation = notation_of("a.py")
    assert notation is not None
    sides = (b"def f(a): ...\n", b"def f(a, b): ...\n", b"def f(a): ...\n")
    assert notation.is_sound(merged, *sides) is is_sound


@table(
    ("merged", "is_sound"),
    {
        "both": ("{z}{u}{f}", True),
        "a-function-twice": ("{z}{u}{u}{f}", False),
        "a-brace-too-many": ("{z}{u}{f}}}\n", False),
        "an-open-branch": ("{z}{u}{f}#if A\n", False),
    },
)
def test_a_merge_of_cxx_has_each_definition_once(merged: str, is_sound: bool) -> None:
    names = {name: f"void {name}() {{\n  one();\n}}\n\n" for name in "zuf"}
    base, ours, theirs = (text.format(**names).encode() for text in ("{z}", "{z}{u}", "{z}{u}{f}"))
    notation = notation_of("a.cu")
    assert notation is not None
    assert notation.is_sound(merged.format(**names).encode(), base, ours, theirs) is is_sound
