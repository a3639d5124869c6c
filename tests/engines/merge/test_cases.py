"""Files in conflict, and the merges expected of them."""

import re
from pathlib import Path

import pytest

from patchmgr.engines.merge.resolve import resolve
from patchmgr.engines.structure.sides import Texts

CASES = sorted(Path(__file__).with_name("cases").glob("*.txt"), key=lambda path: path.name)
SECTION = re.compile(r"^-- (\w+)\n", re.MULTILINE)
REGION = re.compile(
    r"^<{7} upstream\n(?P<upstream>(?:.*\n)*?)\|{7} base\n(?P<base>(?:.*\n)*?)={7}\n"
    r"(?P<fork>(?:.*\n)*?)>{7} fork\n",
    re.MULTILINE,
)


def sides_of(sections: dict[str, str]) -> Texts:
    """Return the sides of a case; a side without a section is taken from the marked text."""
    base, upstream, fork = (
        sections.get(side) or REGION.sub(lambda m, s=side: str(m[s]), sections["marked"])  # type: ignore[misc]
        for side in ("base", "upstream", "fork")
    )
    return Texts(base, upstream, fork)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_a_file_merges_as_its_case_says_or_is_left_to_a_person(path: Path, end: str) -> None:
    head, *parts = SECTION.split(path.read_text(encoding="utf-8"))
    sections = {k: v.replace("\n", end) for k, v in zip(parts[::2], parts[1::2], strict=True)}
    lines = {name: text.replace(end, "\n") for name, text in sections.items()}
    texts = Texts(*(text.replace("\n", end) for text in sides_of(lines).sides()))
    found = resolve(texts, head.removeprefix("path: ").strip(), sections["marked"].encode())
    assert found is not None
    assert found.text == sections.get("expected")
    assert ("refused" in sections) == (found.text is None)
