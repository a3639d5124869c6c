"""The grammar of predicates, and each of its errors with the column."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.errors import PatchmgrError
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.predicates import LONGEST, parse_predicate, read_conditions
from patchmgr.model.patch import Patch
from patchmgr.model.predicate import (
    AllOf,
    AnyOf,
    Conditions,
    NamedRef,
    Not,
    PathExists,
    PatternFound,
    Predicate,
    ReleaseIn,
    Where,
    WrittenRef,
    claims,
)
from tests.tables import table

X, Y, Z = PathExists("x"), PathExists("y"), PathExists("z")
TAG = 'TAG "?([0-9a-f]{40})'


HERE = Where()


def pattern(text: str, path: str, symbol: str | None = None, where: Where = HERE) -> PatternFound:
    return PatternFound(text, path, symbol, where)


@table(
    ("text", "predicate"),
    {
        "path": ('path "x"', X),
        "path-without-quotes": ("path x", X),
        "no-path": ('no path "x"', Not(X)),
        "path-named-like-a-keyword": ("path of", PathExists("of")),
        "escapes-in-a-path": ('path "a \\"b\\" \\\\ c"', PathExists('a "b" \\ c')),
        "pattern": ('pattern "a b" in d/f.py', pattern("a b", "d/f.py")),
        "no-pattern": ('no pattern "a" in f', Not(pattern("a", "f"))),
        "quote-in-a-pattern": ('pattern "\\"a\\d" in f', pattern('\\"a\\d', "f")),
        "symbol": ('pattern "a" in f.py:C.m', pattern("a", "f.py", "C.m")),
        "c++-symbol": ('pattern "a" in f.cu:C::m', pattern("a", "f.cu", "C::m")),
        "quoted-path": ('pattern "a" in "f g.py"', pattern("a", "f g.py")),
        "and-symbol": ('pattern "a" in "f g.py":C', pattern("a", "f g.py", "C")),
        "colon-in-a-quoted-path": ('pattern "a" in "ab:g"', pattern("a", "ab:g")),
        "both-quoted": ('pattern "a" in "f g":"C::operator()"',
            pattern("a", "f g", "C::operator()")),
        "quoted-symbol": ('pattern "a" in f:"operator()"', pattern("a", "f", "operator()")),
        "symbol-and-parenthesis": ('(pattern "a" in f:C)', pattern("a", "f", "C")),
        "release": ("release >=0.24.0,<0.27", ReleaseIn(">=0.24.0,<0.27")),
        "release-with-spaces": ("release >= 0.24, < 0.27 and path x",
            AllOf((ReleaseIn(">= 0.24, < 0.27"), X))),
        "release-in-quotes": ('release "==1.*"', ReleaseIn("==1.*")),
        "release-and-parenthesis": ("(release ~=1.0)", ReleaseIn("~=1.0")),
        "not": ("not path x", Not(X)),
        "not-twice": ("not not path x", Not(Not(X))),
        "and": ("path x and path y and path z", AllOf((X, Y, Z))),
        "or": ("path x or path y or path z", AnyOf((X, Y, Z))),
        "and-binds-more": ("path x or path y and path z", AnyOf((X, AllOf((Y, Z))))),
        "parentheses": ("(path x or path y) and path z", AllOf((AnyOf((X, Y)), Z))),
        "not-binds-most": ("not path x and path y", AllOf((Not(X), Y))),
        "not-of-parentheses": ("not (path x and path y)", Not(AllOf((X, Y)))),
        "more-parentheses": ("((path x))", X),
        "of-another": ("path x of up", PathExists("x", Where("up"))),
        "at-a-ref": ("path x of up at v1.0 and path y",
            AllOf((PathExists("x", Where("up", NamedRef("v1.0"))), Y))),
        "quoted-ref": ('path x of up at "v 1"', PathExists("x", Where("up", NamedRef("v 1")))),
        "at-what-a-file-names": ('no path "x" of up at "TAG \\"?([0-9a-f]{40})" in c.cmake',
            Not(PathExists("x", Where("up", WrittenRef('TAG \\"?([0-9a-f]{40})', "c.cmake"))))),
        "pattern-elsewhere": ('pattern "a" in f:C of up at v1',
            pattern("a", "f", "C", Where("up", NamedRef("v1")))),
        "release-elsewhere": ("release >1 of up", ReleaseIn(">1", Where("up"))),
        "on-several-lines": ('path "x"\nand\n  path y ', AllOf((X, Y))),
    },
)  # fmt: skip
def test_a_text_becomes_a_predicate(text: str, predicate: Predicate) -> None:
    assert parse_predicate(text, what="p") == predicate


PART = "`not`, `path`, `no path`, `pattern` or `release`"


@table(
    ("text", "column", "problem"),
    [
        ("", 1, f"expected {PART}, but the text ends here"),
        ("needed", 1, f"expected {PART}, not needed"),
        ('"path" x', 1, f'expected {PART}, not "path"'),
        ("path", 5, "expected a path, but the text ends here"),
        ("path )", 6, "expected a path, not )"),
        ('path ""', 6, "expected a path, not \"\""),
        ('path "/x"', 6, "the path is absolute"),
        ('path "x/"', 6, "the path has an empty component"),
        ('pattern "a" in ../x', 16, "the path has a .. component"),
        ("path x y", 8, "expected `and`, `or` or the end, not y"),
        ("path x and", 11, f"expected {PART}, but the text ends here"),
        ("path x or or", 11, f"expected {PART}, not or"),
        ("(path x", 8, "expected `and`, `or` or `)`, but the text ends here"),
        ("path x)", 7, "expected `and`, `or` or the end, not )"),
        ("no release >1", 4, "expected `path` or `pattern`, not release"),
        ("pattern a in f", 9, "expected a regular expression in double quotes, not a"),
        ('pattern "a', 9, "the string has no closing quote on its line"),
        ('pattern "a\nb" in f', (1, 9), "the string has no closing quote on its line"),
        ('pattern "(a" in f', 9, "missing ): (a"),
        (r'pattern "(a)\1" in f', 9, r"invalid escape sequence: \1"),
        ('pattern "a" of f', 13, "expected `in`, not of"),
        ('pattern "a" in', 15, "expected a path, but the text ends here"),
        ('pattern "a" in f:', 18, "expected a symbol right after the colon"),
        ('pattern "a" in f: C', 18, "expected a symbol right after the colon"),
        ('pattern "a" in f: "C"', 18, "expected a symbol right after the colon"),
        ('pattern "a" in f:""', 18, "expected a symbol right after the colon"),
        ('pattern "a" in "f": C', 20, "expected a symbol right after the colon"),
        ('pattern "a" in "f" :C', 20, "expected `and`, `or` or the end, not :C"),
        ("release", 8, "expected a version specifier such as >=0.24,<0.27, but the text ends here"),
        ("release and", 9, "expected a version specifier such as >=0.24,<0.27, not and"),
        ("release 0.24", 9, "0.24 is not a version specifier such as >=0.24,<0.27"),
        ("release >=x", 9, ">=x is not a version specifier such as >=0.24,<0.27"),
        ("release ===x", 9, "a version specifier needs a comparison other than ==="),
        ('release ""', 9, "a version specifier needs a comparison other than ==="),
        ("path x of", 10, "expected the name of an upstream, but the text ends here"),
        ("path x at v1", 8, "expected `and`, `or` or the end, not at"),
        ("path x of up at", 16, "expected a ref, but the text ends here"),
        ('path x of up at "T" in f', 17, "the regular expression must have one group, not 0"),
        ('path x of up at "(T)(U)" in f', 17, "the regular expression must have one group, not 2"),
        ('path x of up at "(T)" in', 25, "expected a path, but the text ends here"),
        ("not " * 51 + "path x", 201, "the predicate is nested deeper than 50 levels"),
        ("(" * 100, 51, "the predicate is nested deeper than 50 levels"),
        ("x" * (LONGEST + 1), LONGEST + 1, f"a predicate has no more than {LONGEST} characters"),
        ("path x\nand\npath", (3, 5), "expected a path, but the text ends here"),
        ("path x \x1b[31m", 8, r"expected `and`, `or` or the end, not \x1b[31m"),
    ],
)  # fmt: skip
def test_an_error_names_the_column(text: str, column: int | tuple[int, int], problem: str) -> None:
    with pytest.raises(PatchmgrError) as caught:
        parse_predicate(text, what="patch p Needed-When")
    line = (
        f"line {column[0]} column {column[1]}" if isinstance(column, tuple) else f"column {column}"
    )
    assert caught.value.message == f"patch p Needed-When {line}: {problem}"
    assert caught.value.kind == "bad-predicate"
    assert caught.value.exit_code == 1


_WORDS = st.sampled_from(
    [
        '"a"', '"(a)"', "x", "(", ")", "and", "or", "not", "no", "path", "pattern", "in",
        "release", ">=1", ",<2", "of", "at", "f:", ":", '"', "\n", "\\",
    ]
)  # fmt: skip


@given(st.lists(_WORDS, max_size=15).map(" ".join) | st.text(max_size=60))
def test_any_text_is_a_predicate_or_an_error(text: str) -> None:
    message = "fine"
    try:
        assert claims(parse_predicate(text, what="p"))
    except PatchmgrError as fault:
        message = fault.message
    assert message.isprintable()


def patch(fields: Mapping[str, str]) -> Patch:
    return Patch("p", b"", b"", b"", "", b"", None, (), is_mailbox=True, fields=fields)


def test_the_header_of_a_patch_has_the_conditions() -> None:
    raw = (
        b"From: A <a@b>\nDate: Thu, 1 Jan 2026 12:00:00 +0000\nSubject: s\n\n"
        b'Needed-When: pattern "a" in\n d/f.py of up\nEnsures: path x\n\n'
        b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"
    )
    conditions = read_conditions(parse_patch(raw, name="p"))
    assert conditions == Conditions(pattern("a", "d/f.py", None, Where("up")), X)
    assert not conditions.are_empty


def test_most_patches_have_no_conditions() -> None:
    assert read_conditions(patch({"Bug": "path x"})).are_empty


def test_a_field_counts_in_any_case_but_only_once() -> None:
    assert read_conditions(patch({"needed-when": "path x"})) == Conditions(X)
    with pytest.raises(
        PatchmgrError, match=r"^patch p Ensures line 2 column 1: expected `and`, `or`"
    ):
        read_conditions(patch({"ensures": "path x", "Ensures": "path y"}))


def test_claims_are_listed_from_left_to_right() -> None:
    whole = parse_predicate("path x and not (path y or path z)", what="p")
    assert claims(whole) == (X, Y, Z)
