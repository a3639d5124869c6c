"""Names that each side gives once."""

from __future__ import annotations

import pytest

from patchmgr.engines.audit.twice import check_twice
from tests.engines.audit.audited import found
from tests.tables import table

PAD = "".join(f"    p.add_argument('--{n}')\n" for n in "abcdefgh")
HEAD, TAIL = "def make(p):\n    q = p.add_argument_group('q')\n", "    return p\n"
KEYS = "".join(f"T[{n}] = {n}\n" for n in range(8))


@table(
    ("first", "pad", "last", "said"),
    [
        pytest.param("    p.add_argument('--x')\n", PAD, "    p.add_argument('--x', type=int)\n",
                     ["--x"], id="option"),
        pytest.param("    q.add_argument('--x')\n", PAD, "    p.add_argument('--x', type=int)\n",
                     ["--x"], id="option-of-a-group"),
        pytest.param("    p.add_argument('--x')\n", PAD, "    p.add_argument('--y')\n", [],
                     id="another-option"),
        pytest.param("    p.add_argument('--x')\n", PAD,
                     "    r = p.add_parser('r')\n    r.add_argument('--x')\n", [],
                     id="of-another-parser"),
        pytest.param("    if p:\n        p.add_argument('--x')\n", PAD,
                     "    if not p:\n        p.add_argument('--x')\n", [], id="another-branch"),
    ],
)  # fmt: skip
def test_an_option_of_both_sides_is_told(first: str, pad: str, last: str, said: list[str]) -> None:
    base, ours = HEAD + pad + TAIL, HEAD + first + pad + TAIL
    assert told(base, ours, HEAD + pad + last + TAIL) == said


@table(
    ("first", "last", "said"),
    [
        pytest.param("T['x'] = 1\n", "T['x'] = 2\n", ["'x'"], id="row"),
        pytest.param("T['x'] = 1\r", "#\r\rT['x'] = 2\r", ["'x'"], id="between-carriage-returns"),
        pytest.param("T['x'] = 1\n", "U['x'] = 2\n", [], id="row-of-another-table"),
        pytest.param("@app.get('/x')\ndef a(): ...\n", "@app.get('/x')\ndef b(): ...\n", ["/x"],
                     id="route"),
        pytest.param("@app.get('/x')\ndef a(): ...\n", "@app.post('/x')\ndef b(): ...\n", [],
                     id="another-verb"),
        pytest.param("class A:\n    x = 1\n", "class B:\n    x = 1\n", [], id="another-class"),
    ],
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
