"""Tests that pytest no longer collects, and fixtures that are gone."""

from patchmgr.engines.audit.collected import check_collected
from tests.engines.audit.audited import found
from tests.tables import table

PAD = "".join(f"    def helper_{n}(self):\n        return {n}\n\n" for n in range(6))
CLASS = f"class TestA:\n    def test_one(self):\n        pass\n\n{PAD}"
MORE = CLASS + "    def test_two(self):\n        pass\n"
FIXTURE = "import pytest\n\n\n@pytest.fixture\ndef client():\n    return 1\n"
ASKS = "def test_it(client):\n    assert client\n"


@table(
    ("old", "new", "said"),
    {
        "renamed": ("class TestA", "class CasesA", ["CasesA.test_two"]),
        "still-collected": ("class TestA", "class TestB", []),
        "of-a-base": ("class TestA", "class CasesA(Base)", []),
        "off": ("class TestA:\n", "class TestA:\n    __test__ = False\n", ["TestA.test_two"]),
    },
)
def test_a_test_in_a_class_nobody_collects_is_told(old: str, new: str, said: list[str]) -> None:
    base, ours = {"test_a.py": CLASS.encode()}, {"test_a.py": MORE.encode()}
    findings = found([check_collected], base, ours, {"test_a.py": CLASS.replace(old, new).encode()})
    assert [finding.symbol for finding in findings] == said


RENAMED = FIXTURE.replace("client", "other")


@table(
    ("old", "new", "asks", "said"),
    {
        "gone": (FIXTURE, RENAMED, ASKS, ["client"]),
        "changed": (FIXTURE, FIXTURE.replace("1", "2"), ASKS, []),
        "named": (FIXTURE, RENAMED.replace("fixture", "fixture(name='client')"), ASKS, []),
        "star": (FIXTURE, f"from fixtures import *\n{RENAMED}", ASKS, []),
        "maybe-of-a-star": ("from fixtures import *\n", RENAMED, ASKS, []),
        "no-fixture": ("def made():\n    client = 'a client'\n", "", ASKS, []),
        "not-asked-for": (FIXTURE, RENAMED, ASKS.replace("client)", "client=None)"), []),
    },
)
def test_a_fixture_that_is_gone_is_told(old: str, new: str, asks: str, said: list[str]) -> None:
    base = {"tests/conftest.py": old.encode()}
    ours = {**base, "tests/unit/test_new.py": asks.encode()}
    findings = found([check_collected], base, ours, {"tests/conftest.py": new.encode()})
    assert [finding.symbol for finding in findings] == said


REST = "".join(f"def helper_{n}():\n    return {n}\n\n\n" for n in range(6))
ONE = "class TestA:\n    def test_one(self):\n        pass\n\n\n"
TWO = ONE.replace("pass\n", "pass\n\n    def test_two(self):\n        pass\n")


@table(
    ("last", "path", "said"),
    {
        "hidden": (ONE, "test_a.py", ["TestA.test_two"]),
        "another-name": (ONE.replace("TestA", "TestB"), "test_a.py", []),
        "no-test-file": (ONE, "a.py", []),
    },
)
def test_a_test_that_no_run_finds_is_told(last: str, path: str, said: list[str]) -> None:
    base, ours = (ONE + REST).encode(), (TWO + REST).encode()
    upstream = (ONE + REST + last).encode()
    findings = found([check_collected], {path: base}, {path: ours}, {path: upstream})
    assert [finding.symbol for finding in findings] == said
