"""The search for regular expressions: Python's `re` is the oracle, time is the point."""

from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchmgr.engines import regexes
from patchmgr.engines.regexes import Searcher, TooCostly
from patchmgr.formats.regexes import parse_regex


def searcher(text: str) -> Searcher:
    return Searcher(parse_regex(text))


_ATOMS = ["a", "b", " ", ".", "[ab]", "[^a]", r"\w", r"\W", r"\d", r"\s", "^", "$", r"\b"]
_REPEATS = ["*", "+", "?", "{2}", "{1,3}", "{,2}", "*?", "+?", "??"]


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeated = st.tuples(inner, st.sampled_from(_REPEATS)).map(lambda p: f"(?:{p[0]}){p[1]}")
    either = st.tuples(inner, inner).map(lambda p: f"(?:{p[0]}|{p[1]})")
    return repeated | either | st.tuples(inner, inner).map("".join) | inner.map("({})".format)


PATTERNS = st.recursive(st.sampled_from(_ATOMS), _larger, max_leaves=8)
LINES = st.text(alphabet="ab -1é", max_size=10)


@given(PATTERNS, st.lists(LINES, max_size=4))
def test_a_line_matches_where_python_says_so(pattern: str, lines: list[str]) -> None:
    search = searcher(pattern)
    wanted = re.compile(pattern, re.ASCII)
    assert [search.matches(line) for line in lines] == [bool(wanted.search(x)) for x in lines]


@pytest.mark.parametrize(
    ("pattern", "line", "group"),
    [
        (r"TAG ([0-9a-f]{4})", "  TAG 12ef # TAG 0000", "12ef"),
        (r'TAG "?(\w+)"?', 'GIT_TAG "v1"', "v1"),
        (r"(a+)", "baaab", "aaa"),
        (r"(a+?)", "baaab", "a"),
        (r"(a|ab)(?:c|bcd)", "abcd", "a"),
        (r"(?:a|(b))", "ab", None),
        (r"x(\w*)", "a x", ""),
        (r"(a)b|c", "c", None),
        (r"(a)b", "ac", None),
        (r"()", "", ""),
        (r"(^|-)b", "a-b", "-"),
        (r"(?:(a)|b)*c", "abc", "a"),
        (r"\b(\w+)$", "one two", "two"),
        (r"((a)(b))", "ab", "ab"),
    ],
)
def test_the_group_of_the_first_match_is_pythons(
    pattern: str, line: str, group: str | None
) -> None:
    assert searcher(pattern).group(line) == group
    found = re.search(pattern, line)
    assert (found[1] if found else None) == group


@pytest.mark.parametrize("pattern", [r"\B", r"a\Bb"])
@pytest.mark.parametrize(("line", "is_match"), [("ab", True), ("a b", False)])
def test_inside_of_a_word_is_no_edge(pattern: str, line: str, is_match: bool) -> None:
    assert searcher(pattern).matches(line) is is_match


HOSTILE = [
    pytest.param("(a+)+$", "a" * 200_000 + "!", id="nested"),
    pytest.param("(a|a)*b", "a" * 200_000, id="ambiguous"),
    pytest.param("(a|aa)+$", "a" * 200_000 + "b", id="overlapping"),
    pytest.param("((a*)*)*b", "a" * 200_000, id="empty-loops"),
    pytest.param("(?:a?){200}a{200}$", "a" * 50_000 + "b", id="many-maybes"),
    pytest.param(".*.*.*.*.*x", "a" * 100_000, id="polynomial"),
    pytest.param("(.*a){20}$", "ab" * 50_000, id="counted-wildcards"),
    pytest.param(r"^(\w+\s?)*$", "word " * 20_000 + "!", id="words"),
]


@pytest.mark.parametrize(("pattern", "line"), HOSTILE)
def test_no_expression_hangs(pattern: str, line: str) -> None:
    start = time.monotonic()
    try:
        searcher(pattern).matches(line)
        searcher(pattern).group(line[:2000])
    except TooCostly:
        pass
    assert time.monotonic() - start < 20


def test_what_blows_up_the_memory_of_states_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regexes, "MOST_VISITS", 100_000)
    chooser = random.Random(1)
    line = "".join(chooser.choice("ab") for _ in range(20_000))
    search = searcher("a[ab]{200}c")
    with pytest.raises(TooCostly):
        search.matches(line)
    assert len(search._states) <= regexes._MOST_STATES
    with pytest.raises(TooCostly):
        searcher("(a[ab]{200}c)").group(line)


def test_a_real_file_is_searched_fast() -> None:
    lines = ['  set(_UPSTREAM_TAG "v1")  # a line as there are many'] * 20_000
    start = time.monotonic()
    search = searcher('TAG "?([0-9a-f]{40})"?')
    assert not any(search.matches(line) for line in lines)
    assert time.monotonic() - start < 5
