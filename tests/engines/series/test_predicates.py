"""Predicates, evaluated on states in memory."""

from collections.abc import Mapping

import pytest

from patchmgr.engines.series.predicates import Evaluation, broken_promise, evaluate, refusal
from patchmgr.errors import PatchmgrError
from patchmgr.formats.predicates import parse_predicate
from patchmgr.model.predicate import Conditions, State
from tests.engines.ports import MemoryBlobs
from tests.engines.series import Files, Upstream, link, submodule
from tests.tables import table

CMAKE = b'set(REPO "x")\nset(TAG "%s")\n'
CODE = b"""import a


class C:
    one = 1

    def m(self):
        if a:
            return one


def m():
    return two
"""


def state(name: str, files: Files, version: str | None = None, upstream: str = "up") -> State:
    blobs = MemoryBlobs()
    return State(upstream, name, Upstream(blobs, files), blobs, version)


class Others:
    """Other states by upstream and ref; records which were requested."""

    def __init__(self, states: Mapping[tuple[str, str | None], State]) -> None:
        self._states = states
        self.asked: list[tuple[str, str | None]] = []

    def state(self, upstream: str, ref: str | None) -> State:
        self.asked.append((upstream, ref))
        if (upstream, ref) not in self._states:
            raise PatchmgrError("unknown-state", f"{upstream} has no {ref}")
        return self._states[upstream, ref]


OWN = state(
    "up v1",
    {
        "d/f.py": CODE,
        "win.txt": b"one\r\ntwo\r\n",
        "link": link(b"d/f.py"),
        "sub": submodule("a"),
        "pin.cmake": CMAKE % (b"a" * 40),
        "two.cmake": CMAKE % (b"a" * 40) + CMAKE % (b"b" * 40),
        "same.cmake": CMAKE % (b"a" * 40) + CMAKE % (b"a" * 40),
        "latin.txt": b"caf\xe9\n",
        "k.cu": b"template <int N>\n__global__ void kernel(int* p) {\n  p[0] = N;\n}\n",
        "shim.py": b"from x import C\n",
        "broken.py": b'class C:\n    """never closed\n',
        "tail.cu": b"void f() {\n  one();\n}\n#if A\nvoid g() {\n#else\nvoid h() {{\n",
        "notes.txt": b"C is a class\n",
    },
    version="1.2.3",
)
OTHERS = Others(
    {
        ("lib", None): state("lib v9", {"csrc/new.h": b"x\n"}, "9.0", "lib"),
        ("lib", "a" * 40): state("lib aaaa", {"csrc/old.h": b"x\n"}, None, "lib"),
        ("lib", "v1"): state("lib v1", {}, "1.0", "lib"),
        ("up", "v0"): state("up v0", {"gone": b"x\n"}, "0.1"),
    }
)


def find(text: str) -> Evaluation:
    return evaluate(parse_predicate(text, what="p"), OWN, OTHERS)


@table(
    ("text", "holds", "why"),
    [
        ("path d/f.py", True, "there is d/f.py in up v1"),
        ("path d", True, "there is d in up v1"),
        ("path d/g", False, "there is no d/g in up v1"),
        ("path link", True, "there is link in up v1"),
        ("path sub", True, "there is sub in up v1"),
        ("no path d/g", True, "there is no d/g in up v1"),
        ('pattern "(one|x)$" in d/f.py', True, 'line 9 of d/f.py in up v1 matches "(one|x)$"'),
        ('pattern "^one$" in win.txt', True, 'line 1 of win.txt in up v1 matches "^one$"'),
        ('pattern "three" in win.txt', False, 'no line of win.txt in up v1 matches "three"'),
        ('pattern "one.two" in win.txt', False, 'no line of win.txt in up v1 matches "one.two"'),
        ('pattern "caf." in latin.txt', True, 'line 1 of latin.txt in up v1 matches "caf."'),
        ('pattern "a" in nothing', False, "there is no file nothing in up v1"),
        ('pattern "d" in link', False, "there is no file link in up v1"),
        ('pattern "a" in sub', False, "there is no file sub in up v1"),
        ('pattern "a" in d', False, "there is no file d in up v1"),
        ('no pattern "a" in nothing', True, "there is no file nothing in up v1"),
        ('pattern "one" in d/f.py:C', True, 'line 5 of d/f.py in up v1 matches "one"'),
        ('pattern "one" in d/f.py:C.m', True, 'line 9 of d/f.py in up v1 matches "one"'),
        ('pattern "two" in d/f.py:m', True, 'line 13 of d/f.py in up v1 matches "two"'),
        ('pattern "two" in d/f.py:C', False, 'no line of d/f.py:C in up v1 matches "two"'),
        ('pattern "one" in d/f.py:C.n', False, "there is no d/f.py:C.n in up v1"),
        ('pattern "N;" in k.cu:kernel', True, 'line 3 of k.cu in up v1 matches "N;"'),
        ('pattern "x" in shim.py:C', False, "there is no shim.py:C in up v1"),
        ('pattern "x" in notes.txt:D', False, "there is no notes.txt:D in up v1"),
        ('pattern "one" in tail.cu:f', True, 'line 2 of tail.cu in up v1 matches "one"'),
        ('pattern "x" in tail.cu:one', False, "there is no tail.cu:one in up v1"),
        ("release >=1.2,<2", True, "up v1 is release >=1.2,<2"),
        ("release <1.2", False, "up v1 is not release <1.2"),
        ("path d and path link", True, "there is d in up v1; there is link in up v1"),
        ("path d and path x and path y", False, "there is no x in up v1"),
        ("path x or path d or path link", True, "there is d in up v1"),
        ("path x or path y", False, "there is no x in up v1; there is no y in up v1"),
        ("not (path x or path y)", True, "there is no x in up v1; there is no y in up v1"),
        ("not path d", False, "there is d in up v1"),
        ("path d of up", True, "there is d in up v1"),
        ("path gone of up at v0", True, "there is gone in up v0"),
        ("path csrc/new.h of lib", True, "there is csrc/new.h in lib v9"),
        ("path csrc of lib", True, "there is csrc in lib v9"),
        ("release ==9.* of lib", True, "lib v9 is release ==9.*"),
        ('pattern "x" in csrc/new.h of lib at v1', False, "there is no file csrc/new.h in lib v1"),
        ('path csrc of lib at "TAG .(a+)" in pin.cmake', True, "there is csrc in lib aaaa"),
        ('path csrc of lib at "TAG .(a+)" in same.cmake', True, "there is csrc in lib aaaa"),
    ],
)  # fmt: skip
def test_a_predicate_holds_or_not_and_says_why(text: str, holds: bool, why: str) -> None:
    assert find(text) == Evaluation(holds, why)


@table(
    ("text", "problem"),
    [
        (
            "release >1 of lib at " + "a" * 40,
            "lib aaaa is not a release, so release >1 cannot be evaluated",
        ),
        ("path x of lib at v7", "lib has no v7"),
        ("path x of nobody", "nobody has no None"),
        (
            'path x of lib at "TAG (.*)" in no',
            "cannot read a ref from no: in up v1, there is no such file",
        ),
        (
            'path x of lib at "TAG (.*)" in d/f.py',
            'cannot read a ref from d/f.py: in up v1, no line that matches "TAG (.*)" names a ref',
        ),
        (
            'path x of lib at "TAG (.*)" in two.cmake',
            "cannot read a ref from two.cmake: "
            'in up v1, lines that match "TAG (.*)" name different refs',
        ),
        ('pattern "x" in broken.py:C', "the symbols of broken.py in up v1 cannot be determined"),
        ('pattern "x" in notes.txt:C', "the symbols of notes.txt in up v1 cannot be determined"),
        ('pattern "x" in tail.cu:h', "the symbols of tail.cu in up v1 cannot be determined"),
    ],
)  # fmt: skip
def test_a_predicate_without_an_answer_is_an_error(text: str, problem: str) -> None:
    with pytest.raises(PatchmgrError) as caught:
        find(text)
    assert caught.value.message == problem
    assert caught.value.exit_code == 1


def test_parts_after_the_answer_are_not_evaluated() -> None:
    OTHERS.asked.clear()
    assert not find("path x and path x of nobody").holds
    assert find("path d or path x of nobody").holds
    assert OTHERS.asked == []


def test_a_missing_content_is_an_error() -> None:
    class Gone:
        def read(self, blob: str) -> bytes:
            raise PatchmgrError("missing-object", f"no {blob[:4]}")

    gone = State("up", "up v1", OWN.tree, Gone())
    claim = parse_predicate('no pattern "x" in d/f.py', what="p")
    with pytest.raises(PatchmgrError, match=r"^no "):
        evaluate(claim, gone, OTHERS)


@table("regex", ["(a|aa)+$", "(a*)*b", "(?:a?){200}a{200}$", "(.*a){20}$"])
def test_no_expression_hangs(regex: str) -> None:
    own = state("up v1", {"f": b"a" * 100_000 + b"!\n"})
    assert not evaluate(parse_predicate(f'pattern "{regex}" in f', what="p"), own, OTHERS).holds


def test_a_byte_that_is_not_utf_8_matches_as_a_character() -> None:
    own = state("up v1", {"f": b"a\xffb\n"})
    assert evaluate(parse_predicate('pattern "^a.b$" in f', what="p"), own, OTHERS).holds


def conditions(needed_when: str | None = None, ensures: str | None = None) -> Conditions:
    return Conditions(
        None if needed_when is None else parse_predicate(needed_when, what="p"),
        None if ensures is None else parse_predicate(ensures, what="p"),
    )


@table(
    ("found", "reason"),
    [
        (conditions(), None),
        (conditions("path d"), None),
        (conditions("path x"), "not needed: there is no x in up v1"),
        (conditions(None, "path x"), None),
        (conditions(None, "path d"), "up v1 already satisfies Ensures: there is d in up v1"),
        (conditions("path d", "path x"), None),
        (conditions("path x", "path d"), "not needed: there is no x in up v1"),
        (conditions("path d", "path d"), "up v1 already satisfies Ensures: there is d in up v1"),
    ],
)
def test_a_patch_is_carried_unless_refused(found: Conditions, reason: str | None) -> None:
    assert refusal(found, OWN, OTHERS) == reason


@table(
    ("found", "reason"),
    [
        (conditions("path x"), None),
        (conditions(None, "path d"), None),
        (
            conditions(None, "path x"),
            "does not satisfy Ensures: there is no x in up v1 with the patch",
        ),
    ],
)
def test_a_false_ensures_is_a_broken_promise(found: Conditions, reason: str | None) -> None:
    assert broken_promise(found, OWN, OTHERS) == reason
