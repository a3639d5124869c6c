"""A name that one side removes while the other uses it is told in any language of code."""

from collections.abc import Mapping

from patchmgr.engines.audit.other_languages import check_other_languages
from patchmgr.engines.audit.states import run_checks
from tests.engines.audit.audited import audited, found
from tests.tables import table

GO = """\
package store

func First(size int) int {
\tlimit := size * 2
\tlog(limit)
\tlog(limit + 1)
\treturn Total(limit, 1)
}

func Second() int {
\treturn 2
}

func Third() int {
\treturn 3
}
"""
TOTAL = "package store\n\nfunc Total(a, b int) int {\n\treturn a + b\n}\n"
RUST = """\
pub struct Pool { size: usize }

impl Pool {
    pub fn grow(&mut self, by: usize) -> usize { self.size + by }
}

fn last() -> usize {
    3
}
"""
TS = """\
export const widthOf = (text: string) => text.length;

export function heightOf(text: string): number {
  const rows = text.split("x");
  return rows.length;
}

export class Box {
  area() {
    return 1;
  }
}
"""
SHELL = """\
JOBS=4

build() {
  make -j"$JOBS"
}

check() {
  true
}
"""
PROTO = "message Query {\n  string text = 1;\n}\n\nmessage Reply {\n  string line = 1;\n}\n"

YAML = "base: &defaults\n  a: 1\nfirst:\n  <<: *defaults\n  b: 2\nsecond:\n  c: 3\n  last: 1\n"
MAKE = "SRC = a.c\nOBJ = $(SRC:.c=.o)\n\nall: $(OBJ)\n\ttrue\n\nclean:\n\trm $(OBJ)\n"
DOCKER = "FROM a AS build\nRUN b\nFROM a\nCOPY --from=build /x /x\nRUN c\nRUN d\nRUN e\n"

Edit = tuple[str, str]


def edited(files: Mapping[str, str], path: str, *edits: Edit) -> Mapping[str, str]:
    text = files[path]
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return {**files, path: text}


def told(base: Mapping[str, str], ours: Mapping[str, str], upstream: Mapping[str, str]) -> object:
    sides = [
        {path: text.encode() for path, text in side.items()} for side in (base, ours, upstream)
    ]
    findings = found((check_other_languages,), *sides)
    assert not any(finding.is_certain for finding in findings)
    return [(finding.path, finding.symbol) for finding in findings]


STORE = {"store/a.go": GO, "store/total.go": TOTAL}
USES_TOTAL = edited(STORE, "store/a.go", ("return 3", "return Total(3, 3)"))
NO_TOTAL = {path: text.replace("Total", "Sum") for path, text in STORE.items()}
WEB = {"web/size.ts": TS, "web/page.ts": "import * as size from './size';\n\nstart();\n"}
LOST = {
    "a function in Go": (STORE, USES_TOTAL, NO_TOTAL, ("store/a.go", "Total")),
    "a parameter in Go": ({"a.go": GO},
        edited({"a.go": GO}, "a.go", ("Total(limit, 1)", "Total(limit, size)")),
        edited({"a.go": GO}, "a.go", ("First(size", "First(width"), ("= size", "= width")),
        ("a.go", "size")),
    "a method in Rust": ({"pool.rs": RUST},
        edited({"pool.rs": RUST}, "pool.rs", ("    3\n", "    Pool { size: 1 }.grow(3)\n")),
        edited({"pool.rs": RUST}, "pool.rs", ("fn grow", "fn extend")), ("pool.rs", "grow")),
    "a constant in TypeScript": (WEB,
        edited(WEB, "web/page.ts", ("start();", 'start(size.widthOf("a"));')),
        edited(WEB, "web/size.ts", ("widthOf", "breadthOf")), ("web/page.ts", "widthOf")),
    "a variable in a shell script": ({"run.sh": SHELL},
        edited({"run.sh": SHELL}, "run.sh", ("  true", '  ctest -j"$JOBS"')),
        edited({"run.sh": SHELL}, "run.sh", ("JOBS", "CORES")), ("run.sh", "JOBS")),
    "a message": ({"a.proto": PROTO},
        edited({"a.proto": PROTO}, "a.proto", ("string line = 1;", "Query line = 1;")),
        edited({"a.proto": PROTO}, "a.proto", ("message Query", "message Request")),
        ("a.proto", "Query")),
    "an anchor in YAML": ({"a.yml": YAML},
        edited({"a.yml": YAML}, "a.yml", ("  last: 1\n", "  last: 1\n  <<: *defaults\n")),
        edited({"a.yml": YAML}, "a.yml", ("defaults", "common")), ("a.yml", "defaults")),
    "a list in a Makefile": ({"Makefile": MAKE},
        edited({"Makefile": MAKE}, "Makefile", ("clean:", "SRC += mine.c\n\nclean:")),
        edited({"Makefile": MAKE}, "Makefile", ("SRC", "SOURCES")), ("Makefile", "SRC")),
    "a stage in a Dockerfile": ({"Dockerfile": DOCKER},
        edited({"Dockerfile": DOCKER}, "Dockerfile", ("RUN e", "COPY --from=build /y /y\nRUN e")),
        edited({"Dockerfile": DOCKER}, "Dockerfile", ("build", "builder")),
        ("Dockerfile", "build")),
    "what the series renames and upstream uses": (STORE, NO_TOTAL, USES_TOTAL,
        ("store/a.go", "Total")),
}  # fmt: skip


@table(("base", "ours", "upstream", "finding"), LOST)
def test_a_name_that_the_other_side_removed_is_told(
    base: Mapping[str, str], ours: Mapping[str, str], upstream: Mapping[str, str],
    finding: tuple[str, str],
) -> None:  # fmt: skip
    assert told(base, ours, upstream) == [finding]


ELSEWHERE = {**NO_TOTAL, "store/more.go": TOTAL}
KEPT = {
    "a function that moved": (STORE, USES_TOTAL, ELSEWHERE),
    "a function in a file that nobody touched": (
        {**STORE, "store/old.go": "package store\n\nvar total = Total\n"},
        {**USES_TOTAL, "store/old.go": "package store\n\nvar total = Total\n"},
        {**NO_TOTAL, "store/old.go": "package store\n\nvar total = Total\n"},
    ),
    "a function of its own": (STORE, {**USES_TOTAL, "store/own.go": TOTAL}, NO_TOTAL),
    "a variable of its own": (
        {"a.go": GO},
        edited({"a.go": GO}, "a.go", ("return 3", "limit := 3\n\treturn limit")),
        edited({"a.go": GO}, "a.go", ("limit", "most")),
    ),
    "a string": (WEB, edited(WEB, "web/page.ts", ("start()", "start('widthOf')")),
                 edited(WEB, "web/size.ts", ("widthOf", "breadthOf"))),
    "prose": (
        {**STORE, "store/a.md": "One.\n"}, {**STORE, "store/a.md": "One, Total.\n"}, NO_TOTAL,
    ),
    "the same rename on both sides": (STORE, NO_TOTAL, NO_TOTAL),
}  # fmt: skip


@table(("base", "ours", "upstream"), KEPT)
def test_a_name_that_is_still_somewhere_is_not_told(
    base: Mapping[str, str], ours: Mapping[str, str], upstream: Mapping[str, str]
) -> None:
    assert told(base, ours, upstream) == []


def test_a_remark_may_say_what_is_gone() -> None:
    remark = edited(STORE, "store/a.go", ("\treturn 3", "\t// not Total\n\treturn 3"))
    assert told(STORE, remark, NO_TOTAL) == []


@table(("is_upstream",), {"upstream": (True,), "the series": (False,)})
def test_a_name_that_one_side_removed_from_a_file_that_upstream_moved_is_told(
    is_upstream: bool,
) -> None:
    used = edited({"a.go": GO}, "a.go", ("return 3", "return limit"))["a.go"]
    sides = (used, GO.replace("limit", "most"))
    ours, theirs = (text.encode() for text in (sides if is_upstream else sides[::-1]))
    files = {"a.go": GO.encode()}, {"a.go": ours}, {"b.go": theirs}
    _, states = audited(*files, renames={"a.go": "b.go"})
    ((patch, finding),) = run_checks(states, (check_other_languages,))
    assert (patch, finding.path, finding.symbol) == ("p", "b.go", "limit")


def test_a_word_that_the_series_removed_from_a_file_that_upstream_moved_is_its_patch_s() -> None:
    rest = "".join(f"k{n}: {n}\n" for n in range(8))
    base = f"x: some_name\ny: some_name\n{rest}"
    ours, theirs = base.replace("some_name", "other"), f"{base}z: some_name\n"
    files = {"a.yaml": base.encode()}, {"a.yaml": ours.encode()}, {"b.yaml": theirs.encode()}
    _, states = audited(*files, renames={"a.yaml": "b.yaml"})
    ((patch, finding),) = run_checks(states, (check_other_languages,))
    assert (patch, finding.path, finding.symbol) == ("p", "b.yaml", "some_name")
