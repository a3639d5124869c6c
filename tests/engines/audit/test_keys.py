"""What a block may have once, and both sides add to it, is told in any language."""

from __future__ import annotations

from patchmgr.engines.audit.keys import check_keys
from tests.engines.audit.audited import found
from tests.tables import table


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
    },
)  # fmt: skip
def test_what_both_sides_add_to_a_block_is_told(
    path: str, base: str, first: str, last: str, said: list[str]
) -> None:
    sides = (base.format(*some).encode() for some in (("", ""), (first, ""), ("", last)))
    told = found([check_keys], *({path: side} for side in sides))
    assert [finding.symbol for finding in told] == said
    assert not any(finding.is_certain for finding in told)
