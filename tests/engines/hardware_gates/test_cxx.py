"""Gates of changed C++ and CUDA: what a condition asks, and what is left with all gates off."""

import pytest

from patchmgr.commands.report import words_of as words_of_upstream
from patchmgr.engines.hardware_gates import cxx
from patchmgr.engines.hardware_gates.conditions import GateFinder
from patchmgr.engines.hardware_gates.cxx import parsed, words_of
from patchmgr.engines.hardware_gates.defaults import Defaults
from patchmgr.engines.hardware_gates.sites import UNREAD as WHY_UNREAD
from patchmgr.engines.hardware_gates.sites import PinAndHead
from patchmgr.engines.report.review import Judge
from patchmgr.model.footprint import ChangedSite, Reach
from tests.tables import table

WORDS = words_of_upstream("", {})
CONDITIONS = GateFinder(WORDS.of_cxx(), Defaults(), is_cxx=True)


def sites(before: str, after: str) -> tuple[ChangedSite, ...]:
    return Judge(WORDS)(PinAndHead("a.cu", before.encode(), after.encode()))


def in_function(body: str) -> str:
    return f"void f() {{\n{body}}}\n"


@table(
    ("test", "truth"),
    {
        "a gate": ("is_sm120", False),
        "in brackets": ("(is_sm120)", False),
        "negated in brackets": ("!(is_sm120)", True),
        "no gate": ("n", None),
        "a variable that is not set": ('std::getenv("A")', False),
        "a variable that is set": ('getenv("A") != nullptr', False),
        "one version": ("get_sm_version() == 120", False),
        "no version": ("get_sm_version() == 0", None),
        "a version that is not written": ("get_sm_version() == n", None),
        "an answer about something": ("f(n) == 120", None),
        "a lower bound": ("get_sm_version() >= 120", None),
        "a call without arguments": ("is_sm120()", False),
        "a call with arguments": ("is_sm120(n)", None),
        "a macro": ("defined(SM120)", False),
        "a harmless question before": ("n && is_sm120", False),
        "a question with an effect before": ("f(n) && is_sm120", None),
        "a sum before": ("n + 1 && is_sm120", None),
        "two gates": ("is_sm120 || is_sm121", False),
    },
)
def test_a_condition_is_true_or_false_where_that_is_sure(test: str, truth: bool | None) -> None:
    assert CONDITIONS.truth(parsed(words_of(test))) is truth


@table(
    ("test", "gates"),
    {
        "in brackets": ("(is_sm120 && n)", ["is_sm120"]),
        "negated in brackets": ("!(n || is_sm120)", ["not is_sm120"]),
        "a variable": ('getenv("A") == n', ['getenv("A") == n']),
        "an argument": ("f(is_sm120)", []),
        "an open bracket": ("(n", []),
    },
)
def test_a_condition_names_its_gates(test: str, gates: list[str]) -> None:
    assert [gate.text for gate in CONDITIONS.gates(parsed(words_of(test)))] == gates


@table(
    ("source", "left"),
    {
        "a body": ("for (;;) if (is_sm120) n(); a();", "for ( ; ; ) ; a ( ) ;"),
        "an else": ("if (n) a(); else b();", "if ( n ) a ( ) ; else b ( ) ;"),
        "a dead else": ("if (n) a(); else if (is_sm120) b();", "if ( n ) a ( ) ;"),
        "loops": ("if (n) for (;;) while (m) a(); b();",
            "if ( n ) for ( ; ; ) while ( m ) a ( ) ; b ( ) ;"),
        "the first part of an #if": ("#ifdef SM120\na\n#elif N\nb\n#else\nc\n#endif\n",
            "#if N b #else c #endif"),
        "parts behind a true one": ("#if N\na\n#elif !defined(SM120)\nb\n#else\nc\n#endif\n",
            "#if N a #elif !defined(SM120) b #endif"),
    },
)  # fmt: skip
def test_what_is_left_with_all_gates_off(source: str, left: str) -> None:
    words = words_of(source)
    kept = cxx.GateRemover(words, CONDITIONS).block(0, len(words), ())
    assert " ".join(word.text for word in kept) == left


UNREAD = {
    "brackets that do not match": "f(]\n",
    "an open bracket": "f(\n",
    "an #endif alone": "#endif\n",
    "an open #if": "#if A\n",
    "an if without a body": "if (n)",
    "a statement without an end": "if (n) a",
    "a loop without brackets": "if (n) for a;",
    "an if without brackets in another one": "if (n) if LIKELY (m) a;",
    "a do": "if (n) do a(); while (m);",
    "a directive as a body": "if (n)\n#if A\na();\n#endif\n",
}


@table("source", UNREAD)
def test_a_text_that_is_not_clear_is_shared(source: str) -> None:
    (site,) = sites("", source.rstrip("\n").replace("\n", " \n"))[:1]
    assert (site.reach, site.why, site.gates) == (Reach.SHARED, WHY_UNREAD, ())


def test_a_generated_text_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cxx, "_LONGEST", 3)
    assert [site.why for site in sites("a;\n", "a;\nb;\n")] == [WHY_UNREAD]


@table(
    ("before", "after", "answer"),
    {
        "an else of those with the gate": (in_function("a();\n"),
            in_function("if (!is_sm120)\n  a();\nelse\n  b();\n"),
            (Reach.INERT, ["not is_sm120", "is_sm120"])),
        "those without the gate": (in_function("a();\n"),
            in_function("if (!is_sm120)\n  b();\na();\n"), (Reach.SHARED, ["not is_sm120"])),
        "a macro": (in_function("#define A f(1)\na();\n"),
            in_function("#define A \\\n  f(2)\na();\n"), (Reach.SHARED, [])),
        "a statement behind a gate that goes": (in_function("a();\nif (is_sm120) b();\n"),
            in_function("a();\n"), (Reach.INERT, ["is_sm120"])),
        "a comment that comes": (in_function("a();\n"), in_function("a();\n  // b\n"), None),
        "a comment that goes": (in_function("a();\n  // b\n"), in_function("a();\n"), None),
    },
)  # fmt: skip
def test_whom_gates_let_in(before: str, after: str, answer: tuple[Reach, list[str]] | None) -> None:
    found = sites(before, after)
    if answer is None:
        assert found == ()
        return
    gates = dict.fromkeys(gate.text for site in found for gate in site.gates)
    assert (found[-1].reach, list(gates)) == answer


def test_a_directive_within_a_statement_stands_alone() -> None:
    before = in_function("f(a,\n#ifdef N\nb\n#else\nc\n#endif\n);\n")
    (site,) = sites(before, before.replace("b\n", "d\n"))
    assert (site.text, site.reach) == ("d", Reach.SHARED)


def test_a_function_that_is_new_is_added() -> None:
    before = in_function("a();\n")
    (site, *_) = sites(before, f"{before}void g() {{\nb();\n}}\n")
    assert (site.symbol, site.reach) == ("g", Reach.ADDED)
