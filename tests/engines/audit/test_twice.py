"""Names that each side gives once."""

import pytest

from patchmgr.engines.audit import twice
from patchmgr.engines.audit.cxx_includes import read_outside
from patchmgr.engines.audit.twice import check_counts, check_keys, check_twice
from patchmgr.engines.languages.cxx_declarations import Declaration
from tests.engines.audit.audited import found
from tests.tables import table

PAD = "".join(f"    p.add_argument('--{n}')\n" for n in "abcdefgh")
HEAD, TAIL = "def make(p):\n    q = p.add_argument_group('q')\n", "    return p\n"
KEYS = "".join(f"T[{n}] = {n}\n" for n in range(8))


@table(
    ("first", "pad", "last", "said"),
    {
        "option": ("    p.add_argument('--x')\n", PAD, "    p.add_argument('--x', type=int)\n",
            ["--x"]),
        "option-of-a-group": ("    q.add_argument('--x')\n", PAD,
            "    p.add_argument('--x', type=int)\n", ["--x"]),
        "another-option": ("    p.add_argument('--x')\n", PAD, "    p.add_argument('--y')\n", []),
        "of-another-parser": ("    p.add_argument('--x')\n", PAD,
            "    r = p.add_parser('r')\n    r.add_argument('--x')\n", []),
        "of-another-parser-of-that-name": (
            "    p = p.add_parser('a')\n    p.add_argument('--x')\n", PAD,
            "    p = p.add_parser('b')\n    p.add_argument('--x')\n", []),
        "another-branch": ("    if p:\n        p.add_argument('--x')\n", PAD,
            "    if not p:\n        p.add_argument('--x')\n", []),
    },
)  # fmt: skip
def test_an_option_of_both_sides_is_told(first: str, pad: str, last: str, said: list[str]) -> None:
    base, ours = HEAD + pad + TAIL, HEAD + first + pad + TAIL
    assert told(base, ours, HEAD + pad + last + TAIL) == said


@table(
    ("first", "last", "said"),
    {
        "row": ("T['x'] = 1\n", "T['x'] = 2\n", ["'x'"]),
        "between-carriage-returns-nothing-is-read": ("T['x'] = 1\r", "#\r\rT['x'] = 2\r", []),
        "row-of-another-table": ("T['x'] = 1\n", "U['x'] = 2\n", []),
        "route": ("@app.get('/x')\ndef a(): ...\n", "@app.get('/x')\ndef b(): ...\n", ["/x"]),
        "another-verb": ("@app.get('/x')\ndef a(): ...\n", "@app.post('/x')\ndef b(): ...\n", []),
        "mock": ("@mock.patch('x')\ndef a(): ...\n", "@mock.patch('x')\ndef b(): ...\n", []),
        "another-class": ("class A:\n    x = 1\n", "class B:\n    x = 1\n", []),
        "variable": ("LIMIT = 1\n", "LIMIT: int = 2\n", ["LIMIT"]),
        "another-branch": ("LIMIT = 1\n", "if T:\n    LIMIT = 2\n", []),
        "a-local": ("LIMIT = 1\n", "def f():\n    LIMIT = 2\n", []),
    },
)  # fmt: skip
def test_a_row_of_both_sides_is_told(first: str, last: str, said: list[str]) -> None:
    assert told(KEYS, first + KEYS, KEYS + last) == said


def test_a_member_of_both_sides_is_told() -> None:
    base = "class A:\n" + "".join(f"    a{n} = {n}\n" for n in range(8))
    ours = base.replace("class A:\n", "class A:\n    x = 1\n")
    assert told(base, ours, base + "    x = 2\n") == ["x"]


def told(base: str, ours: str, upstream: str) -> list[str | None]:
    texts = ({"m.py": text.encode()} for text in (base, ours, upstream))
    return [finding.symbol for finding in found([check_twice], *texts)]


PADS = "".join(f"int pad{n}(int a) {{\n  return a + {n};\n}}\n\n" for n in range(8))
COPY = "int copy(char* to) {\n  return fill(to);\n}\n\n"


@table(
    ("path", "ours", "upstream", "said"),
    {
        "one function": ("a.c", COPY, "int copy(char* to, int n) {\n  return n;\n}\n", ["copy"]),
        "an overload": ("a.cc", COPY, "int copy(char* to, int n) {\n  return n;\n}\n", []),
        "one type": ("a.cc", COPY, "int copy(char* x) {\n  return 1;\n}\n", ["copy"]),
        "of another class": ("a.cc", COPY, "int B::copy(char* x) {\n  return 1;\n}\n", []),
        "a declaration": ("a.c", COPY, "int copy(char* to);\n", []),
        "a call": ("a.c", COPY, "int more(char* to) {\n  return copy(to);\n}\n", []),
        "another name": ("a.c", COPY, COPY.replace("copy", "move"), []),
        "another language": ("a.go", COPY, COPY.replace("to", "x"), []),
    },
)
def test_a_function_defined_by_both(path: str, ours: str, upstream: str, said: list[str]) -> None:
    texts = ({path: text.encode()} for text in (PADS, ours + PADS, PADS + upstream))
    findings = found([check_twice], *texts)
    assert [finding.symbol for finding in findings] == said
    assert all(finding.line == 1 and not finding.is_certain for finding in findings)


NAMES = "".join(f"    int a{n};\n" for n in range(8))


@table(
    ("head", "pad", "first", "last", "said"),
    {
        "a member": ("struct S {\n", NAMES, "    node_t *x;\n", "    node_t *x;\n", ["x"]),
        "another member": ("struct S {\n", NAMES, "    int x;\n", "    int y;\n", []),
        "of another struct": (
            "struct S {\n", NAMES, "    int x;\n", "};\nstruct T {\n    int x;\n", []
        ),
        "a name that is elsewhere": (
            "int x;\nstruct S {\n", NAMES, "    int x;\n", "    int x;\n", ["x"]
        ),
        "an enumerator": (
            "enum E {\n", NAMES.replace("int ", "").replace(";", ","), "    X,\n", "    X\n", ["X"]
        ),
        "a macro": (
            "#define Y 1\n", NAMES.replace("    ", ""), "#define X 1\n", "#define X 2\n", ["X"]
        ),
    },
)  # fmt: skip
def test_a_name_given_by_both(head: str, pad: str, first: str, last: str, said: list[str]) -> None:
    tail = "" if head.startswith("#") else "};\n"
    sides = (head + pad + tail, head + first + pad + tail, head + pad + last + tail)
    texts = ({"a.c": text.encode()} for text in sides)
    assert [finding.symbol for finding in found([check_twice], *texts)] == said


def test_the_sides_are_not_read_for_what_the_base_defines_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = "#if A\n" + COPY + "#else\n" + COPY + "#endif\n" + PADS
    sides = (base, COPY.replace("copy", "mine") + base, base + "int other(int mine, int n);\n")
    asked: list[bytes | None] = []

    def read(content: bytes | None) -> tuple[Declaration, ...]:
        asked.append(content)
        return read_outside(content)

    monkeypatch.setattr(twice, "read_outside", read)
    assert not found([check_twice], *({"a.c": text.encode()} for text in sides))
    assert len({*asked}) == 2  # the result and the base


@table(
    ("path", "base", "first", "last", "said"),
    {
        "yaml": ("c.yml", "srv:\n{}  a: 1\n  b: 2\n  c: 3\n  d: 4\n{}", "  limit: 1\n",
            "  limit: 2\n", ["limit"]),
        "yaml-of-another-block": ("c.yml", "{}  a: 1\n  b: 2\n  c: 3\n  d: 4\n{}",
            "one:\n  limit: 1\n", "two:\n  limit: 2\n", []),
        "yaml-of-another-document": ("c.yml", "{}a: 1\nb: 2\n---\nc: 3\nd: 4\n{}", "limit: 1\n",
            "limit: 2\n", []),
        "yaml-of-another-item": ("c.yml", "jobs:\n{}- name: a\n  run: x\n- name: b\n  run: y\n{}",
            "- name: c\n  if: z\n", "- name: d\n  if: z\n", []),
        "json": ("c.json", '{{\n{}  "a": 1,\n  "b": 2,\n  "c": 3,\n{}  "d": 4\n}}\n',
            '  "limit": 1,\n', '  "limit": 1,\n', ["limit"]),
        "section": ("c.cfg", "{}[a]\nx = 1\n[b]\ny = 1\n[c]\nz = 1\n{}", "[lint]\nx = 2\n",
            "[lint]\nx = 3\n", ["[lint]"]),
        "of-another-section": ("c.cfg", "[a]\n{}x = 1\n[b]\ny = 1\n[c]\n{}z = 1\n", "w = 2\n",
            "w = 3\n", []),
        "typescript": ("t.ts", "const t = {{\n{}  a: 1,\n  b: 2,\n  c: 3,\n{}}};\n", "  mine: 1,\n",
            "  mine: 2,\n", ["mine"]),
        "go": ("t.go", "{}func A() {{\n}}\n\nfunc B() {{\n}}\n\nfunc C() {{\n}}\n{}",
            "func Max(x int) {\n}\n", "func Max(x int) {\n}\n", ["func Max"]),
        "go-of-another-type": ("t.go",
            "{}func A() {{\n}}\n\nfunc B() {{\n}}\n\nfunc C() {{\n}}\n{}",
            "func (a A) Max(x int) {\n}\n", "func (b B) Max(x int) {\n}\n", []),
        "case": ("t.go",
            "func A() {{\n\tswitch x {{\n{}\tcase 1:\n\t\ta()\n" "\tcase 2:\n\t\tb()\n{}\t}}\n}}\n",
            "\tcase 3:\n\t\tc()\n", "\tcase 3:\n\t\td()\n", ["case 3"]),
        "case-of-another-switch": ("t.go",
            "func A() {{\n\tswitch x {{\n{}\tcase 1:\n\t\ta()\n\t}}\n"
            "\tswitch y {{\n\tcase 2:\n\t\tb()\n{}\t}}\n}}\n", "\tcase 3:\n\t\tc()\n",
            "\tcase 3:\n\t\td()\n", []),
        "shell": ("t.sh", "{}a() {{\n  x\n}}\nb() {{\n  y\n}}\nc() {{\n  z\n}}\n{}",
            "retry() {\n  v\n}\n", "retry() {\n  w\n}\n", ["retry"]),
        "rust": ("t.rs", "{}fn a() {{\n}}\n\nfn b() {{\n}}\n\nfn c() {{\n}}\n{}",
            "pub fn max(x: u8) {\n}\n", "fn max(x: u8) {\n}\n", ["fn max"]),
        "php": ("t.php", "class A {{\n{}  function a() {{\n  }}\n  function b() {{\n  }}\n{}}}\n",
            "  public function is() {\n  }\n", "  private function is(int $x) {\n  }\n",
            ["function is"]),
        "java": ("T.java", "class A {{\n{}  public int a() {{\n  }}\n  int b() {{\n  }}\n{}}}\n",
            "  public int is() {\n  }\n", "  public int is() {\n  }\n", ["public int is()"]),
        "java-with-other-parameters": ("T.java",
            "class A {{\n{}  public int a() {{\n  }}\n  int b() {{\n  }}\n{}}}\n",
            "  public int is() {\n  }\n", "  public int is(int x) {\n  }\n", []),
    },
)  # fmt: skip
def test_what_both_sides_add(path: str, base: str, first: str, last: str, said: list[str]) -> None:
    sides = (base.format(*some).encode() for some in (("", ""), (first, ""), ("", last)))
    told = found([check_keys], *({path: side} for side in sides))
    assert [finding.symbol for finding in told] == said
    assert not any(finding.is_certain for finding in told)


LINES = "".join(f"    {{{n}, name{n}}},\n" for n in range(9))
TABLE = f"#define SIZE 9\n\n\nstruct entry entries[] = {{\n{LINES}}};\n"


def _with(entry: str, after: int, size: int = 10) -> str:
    line = f"    {{{after}, name{after}}},\n"
    return TABLE.replace("SIZE 9", f"SIZE {size}").replace(line, line + entry)


MINE = _with("    {20, mine},\n", 1)
TOLD = ["both sides raise this number from 9 to 10, and each of them also adds 1 other line"]
TWO = _with("    {20, mine},\n    {21, more},\n", 1, 11)


@table(
    ("mine", "upstream", "said"),
    {
        "an-entry-each": (MINE, _with("    {30, theirs},\n", 6), TOLD),
        "two-entries-each": (
            TWO, _with("    {30, theirs},\n    {31, other},\n", 6, 11),
            [
                "both sides raise this number from 9 to 11, and each of them also adds 2 other "
                "lines"
            ],
        ),
        "the-same-entry": (MINE.replace("name0", "name"), MINE.replace("name8", "name"), []),
        "another-number-of-entries": (MINE, _with("    {30, theirs},\n    {31, b},\n", 6), []),
        "a-number-that-falls": (
            MINE.replace("SIZE 10", "SIZE 8"), _with("    {30, theirs},\n", 6, 8), [],
        ),
        "other-text-beside-it": (
            MINE.replace("SIZE 10", "MOST 10"), _with("    {30, b},\n", 6).replace("SIZE", "MOST"),
            [],
        ),
    },
)  # fmt: skip
def test_a_size_both_sides_raise_for_their_entry(mine: str, upstream: str, said: list[str]) -> None:
    findings = found([check_counts], *({"t.c": x.encode()} for x in (TABLE, mine, upstream)))
    assert [finding.text for finding in findings] == said
