"""Statements that end at the end of a line, as in Go and JavaScript, are merged whole."""

from patchmgr.engines.merge.languages import language_of
from patchmgr.engines.merge.resolve import resolve
from patchmgr.engines.merge.statements import read
from patchmgr.engines.structure.sides import Texts
from tests.engines.merge.marked import marked
from tests.tables import table


@table(
    ("path", "statements"),
    {
        "literals of empty structs": ("a.go", ["x := interface{}{}", "y <- struct{}{}"]),
        "a literal of structs": ("a.go", ["x := []struct {\n\ta int\n}{\n\t{1},\n}", "f(x)"]),
        "a function that is called": ("a.go", ["go func() {\n\tf()\n}()", "f()"]),
        "branches": ("a.go", ["if a {\n\tf()\n} else {\n\tg()\n}", "f()"]),
        "a pointer": ("a.go", ["a := b", "*p = c", "return"]),
        "a head": ("a.go", ["for i := 0; i < n; i++ {\n\tf()\n}", "x++"]),
        "imports": ("a.go", ['import (\n\t"a"\n\tb "c"\n)', "var a = `\nb`"]),
        "a block without its end": ("a.go", ["if a {", "f()", "g()"]),
        "a chain of calls": ("a.js", ["a()\n  .then(b)\n  .catch(c)", "d()"]),
        "a sum": ("a.js", ["a = b\n  + c", "d++", "e()"]),
        "a bracket behind a semicolon": ("a.js", ["a()", ";[1].map(b)", ";(c)()"]),
        "a template": ("a.ts", ["const a = `\n${b}\n`", "c()"]),
        "a regular expression": ("a.ts", ["a(/['{]/g)", "b()"]),
        "annotations": ("a.kt", ["@A\n@B(c)\nfun d() {\n    e()\n}", "val f = 1"]),
    },
)  # fmt: skip
def test_a_line_ends_a_statement_unless_it_continues(path: str, statements: list[str]) -> None:
    text = "\n".join(statements)
    parts = [part.text for part in read(text, language_of(path)).parts if part.kind != "blank"]
    assert parts == statements


def _merged(path: str, base: str, ours: str, theirs: str) -> str | None:
    before, after = ("func f() {\n\tbegin()\n", "\tend()\n}\n")
    *sides, shown = marked(base, ours, theirs, before=before, after=after)
    found = resolve(Texts(*sides), path, shown.encode())
    assert found is not None
    return found.text and found.text.removeprefix(before).removesuffix(after)


@table(
    ("path", "ours", "theirs"),
    {
        "sent structs": ("a.go", "\ta <- struct{}{}\n", "\tb <- struct{}{}\n"),
        "sets": ("a.go", "\ta := map[string]struct{}{}\n", "\tb := map[string]struct{}{}\n"),
        "interfaces": ("a.go", "\ta := interface{}{}\n", "\tb := interface{}{}\n"),
        "goroutines":
            ("a.go", "\tgo func() {\n\t\ta()\n\t}()\n", "\tdefer func() {\n\t\tb()\n\t}()\n"),
        "functions": ("a.go", "\ta := func() {\n\t\tc()\n\t}\n", "\tb := func() {\n\t\td()\n\t}\n"),
        "arrows":
            ("a.js", "\tconst a = () => {\n\t\tc()\n\t}\n", "\tconst b = () => {\n\t\td()\n\t}\n"),
        "brackets": ("a.js", "\t;(() => {\n\t\ta()\n\t})()\n", "\t;(() => {\n\t\tb()\n\t})()\n"),
        "members": ("a.js", "\ta.c = 1\n", "\tb.c = 2\n"),
        "tests":
            ("a.kt", "\t@Test\n\tfun a() {\n\t\tc()\n\t}\n", "\t@Test\n\tfun b() {\n\t}\n"),
    },
)  # fmt: skip
def test_statements_that_both_sides_add_are_kept_whole(path: str, ours: str, theirs: str) -> None:
    assert _merged(path, "", ours, theirs) == theirs + ours


@table(
    ("path", "base", "ours", "theirs"),
    {
        "an else if behind an else":
            ("a.go", "", "\t} else {\n\t\ta()\n", "\t} else if b {\n\t\tc()\n"),
        "two conditions":
            ("a.js", "", "\t} else if (a) {\n\t\tb()\n", "\t} else if (c) {\n\t\td()\n"),
        "two last branches":
            ("a.java", "", "\t} finally {\n\t\ta();\n", "\t} finally {\n\t\tb();\n"),
        "two defaults": ("a.go", "", "\tdefault:\n\t\ta()\n", "\tdefault:\n\t\tb()\n"),
        "one case": ("a.go", "", "\tcase a:\n\t\tb()\n", "\tcase a:\n\t\tc()\n"),
        "two conditions of one block":
            ("a.ts", "", "\tif (a) {\n\t\tc(d)\n\t}\n", "\tif (b) {\n\t\tc(d)\n\t}\n"),
        "one field": ("a.go", "", "\ta chan struct{}\n", "\ta map[string]struct{}\n"),
        "one alias": ("a.go", "", '\ta "x/b"\n', '\ta "x/c"\n'),
        "the rest of an object":
            ("a.js", "\tf({\n\t\ta,\n\t})\n", "\tf({\n\t\ta,\n\t\tb,\n\t})\n",
             "\tf({\n\t\ta,\n\t\t...c\n\t})\n"),
        "what closes the block around it":
            ("a.go", "", "\ta int\n}\n\nfunc b() {\n\tc()\n", "\td int\n}\n\nfunc e() {\n\tg()\n"),
    },
)  # fmt: skip
def test_two_versions_of_a_branch_ask(path: str, base: str, ours: str, theirs: str) -> None:
    assert _merged(path, base, ours, theirs) is None
    assert _merged(path, base, theirs, ours) is None


def test_a_line_added_before_a_changed_line_keeps_the_change() -> None:
    merged = _merged("a.ts", "\ta: 1,\n", "\tb: 2,\n\ta: 1,\n", "\ta: 3,\n")
    assert merged == "\tb: 2,\n\ta: 3,\n"
