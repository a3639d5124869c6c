"""A fault in a file is told even if another patch of the series renames the file."""

from patchmgr.engines.audit.interfaces import INTERFACES
from patchmgr.engines.audit.meaning import changed_meaning
from patchmgr.engines.audit.names import check_names
from patchmgr.engines.audit.other_languages import check_other_languages
from patchmgr.engines.audit.states import Check, run_checks
from patchmgr.engines.audit.twice import check_keys, check_twice
from tests.engines.audit.audited import audited
from tests.tables import table

PADS = "".join(f"    log({n})\n" for n in range(8))
PYTHON = f"def run(n):\n    size = n\n{PADS}    return 0\n"
GO = f"func run(n int) int {{\n    size := n\n{PADS}    return 0\n}}\n"
ROWS = "T = {}\n" + "".join(f"T['{n}'] = {n}\n" for n in range(8))
KEYS = "on:\n" + "".join(f"  k{n}: {n}\n" for n in range(8))
Edit = tuple[str, str]

CASES: dict[str, tuple[Check, str, str, Edit, Edit, str]] = {
    "name": (
        check_names, "a.py", PYTHON, ("return 0", "return size"), ("size = n", "count = n"), "size",
    ),
    "row": (check_twice, "a.py", ROWS, ("T = {}", "T = {}\nT['x'] = 1"),
            ("T['7'] = 7", "T['7'] = 7\nT['x'] = 2"), "'x'"),
    "key": (check_keys, "a.yml", KEYS, ("on:", "on:\n  x: 1"), ("  k7: 7", "  k7: 7\n  x: 2"), "x"),
    "value": (
        changed_meaning, "a.py", PYTHON, ("return 0", "return size + 1"), ("= n", "= 2"), "size",
    ),
    "word": (
        check_other_languages, "a.go", GO.replace("log(0)", "log(size)"),
        ("return 0", "return size"), ("    size := n\n    log(size)", "    log(n)"), "size",
    ),
}  # fmt: skip


@table(("check", "path", "base", "ours", "upstream", "symbol"), CASES)
def test_a_fault_in_a_renamed_file_is_told(
    check: Check, path: str, base: str, ours: Edit, upstream: Edit, symbol: str
) -> None:
    sides = [{path: text.encode()} for text in (base, base.replace(*ours), base.replace(*upstream))]
    for renames in ({}, {path: f"lib/{path}"}):
        _, states = audited(*sides, last_renames=renames)
        ((_, finding),) = run_checks(states, [check])
        assert (finding.path, finding.symbol) == (renames.get(path, path), symbol)


def test_a_module_that_upstream_changed_and_the_series_renames_is_looked_at() -> None:
    base = {"lib/a.py": b"def f():\n    return 1\n", "use.py": b"import lib\n"}
    ours = {**base, "use.py": b"import lib\nfrom lib.b import f\n"}
    upstream = {**base, "lib/a.py": b"def g():\n    return 1\n"}
    _, states = audited(base, ours, upstream, last_renames={"lib/a.py": "lib/b.py"})
    ((patch, finding),) = run_checks(states, INTERFACES)
    assert (patch, finding.path, finding.symbol) == ("p", "use.py", "lib.b.f")


def test_a_renamed_file_that_no_one_broke_tells_nothing() -> None:
    base = {"a.py": PYTHON.encode()}
    sides = [
        base,
        *({"a.py": PYTHON.replace("log(1)", new).encode()} for new in ("log(1)", "log(11)")),
    ]
    _, states = audited(*sides, last_renames={"a.py": "b.py"})
    assert states.changed_upstream == {"a.py", "b.py"}
    assert not run_checks(states, [case[0] for case in CASES.values()])
