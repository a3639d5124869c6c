"""Tests that a later definition hides."""

from __future__ import annotations

import pytest

from patchmgr.engines.audit.definitions import check_tests
from tests.engines.audit.audited import found

PAD = "".join(f"def helper_{n}():\n    return {n}\n\n\n" for n in range(6))
CLASS = "class TestA:\n    def test_one(self):\n        pass\n\n\n"
MORE = CLASS.replace("pass\n", "pass\n\n    def test_two(self):\n        pass\n")


@pytest.mark.parametrize(
    ("last", "path", "said"),
    [
        pytest.param(CLASS, "test_a.py", ["TestA.test_two"], id="hidden"),
        pytest.param(CLASS.replace("TestA", "TestB"), "test_a.py", [], id="another-name"),
        pytest.param(CLASS, "a.py", [], id="no-test-file"),
    ],
)
def test_a_test_that_no_run_finds_is_told(last: str, path: str, said: list[str]) -> None:
    base, ours = (CLASS + PAD).encode(), (MORE + PAD).encode()
    findings = found(
        [check_tests], {path: base}, {path: ours}, {path: (CLASS + PAD + last).encode()}
    )
    assert [finding.symbol for finding in findings] == said
