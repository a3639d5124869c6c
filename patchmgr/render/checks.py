"""The results of `check`, `audit` and `doctor`, as text, JSON and JUnit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from patchmgr.model.check import Checked, GateResult, Problem, Standing
from patchmgr.render.escape import clean, counted, cut_off, first_few, tallied
from patchmgr.render.machine import fields, finding_document, keys
from patchmgr.render.rebase import painted
from patchmgr.render.view import View, table

if TYPE_CHECKING:
    from patchmgr.commands.audit import Audited
    from patchmgr.commands.doctor import Diagnosis


MOST = 20
_FEW = 3
_COLORS = {Standing.PASSED: "32", Standing.FAILED: "31", Standing.SKIPPED: "2"}


def checked_text(checked: Checked, view: View, *, limit: int = MOST) -> Iterator[str]:
    """Yield each failed gate with up to `limit` lines of problems, then a count of all gates."""
    patches = counted(len(checked.patches), "patch")
    if view.is_line:
        yield f"{checked.series}: {patches}, {_gates(checked)}"
        return
    yield painted(f"{checked.series}  {patches}", "1", color=view.color)
    if checked.head is not None:
        yield f"head {checked.head}"
    shown = [g for g in checked.gates if view.is_all or g.standing is Standing.FAILED]
    words = [painted(g.standing.value, _COLORS[g.standing], color=view.color) for g in shown]
    cells = [(word, clean(g.name), _about(g)) for word, g in zip(words, shown, strict=True)]
    for gate, line in zip(shown, table(cells), strict=True):
        yield f"  {line}"
        rows = cut_off(list(_rows(gate.problems)), limit, "{}; to see all: --json")
        yield from (f"      {row}" for row in rows)
    yield f"  {_gates(checked)}"


def _gates(checked: Checked) -> str:
    words = tallied((gate.standing for gate in checked.gates), Standing)
    return f"{counted(len(checked.gates), 'gate')}: {words or 'none'}"


def _about(gate: GateResult) -> str:
    if gate.standing is Standing.SKIPPED:
        return clean(gate.note)
    is_timed = gate.seconds is not None
    words = [f"{gate.seconds:.1f} s" if is_timed else f"{gate.looked_at} checked"]
    if gate.problems:
        words.append(counted(len(gate.problems), "problem"))
    if gate.note:
        words.append(clean(gate.note))
    if gate.log is not None:
        words.append(f"log {clean(gate.log)}")
    return ", ".join(words)


def _rows(problems: Sequence[Problem]) -> Iterator[str]:
    """Yield a line for each problem; a problem that many patches share is listed once."""
    alike: dict[str, list[str]] = {}
    for problem in problems:
        if problem.patch and not problem.path:
            alike.setdefault(problem.sentence, []).append(clean(problem.patch))
    for problem in problems:
        patches = [] if problem.path else alike.get(problem.sentence, [])
        if len(patches) <= _FEW:
            yield _place(problem)
        elif clean(problem.patch or "") == patches[0]:
            yield f"{clean(problem.sentence)}: {counted(len(patches), 'patch')}"
            yield f"  {first_few(patches, _FEW)}"


def _place(problem: Problem) -> str:
    patch = f"{clean(problem.patch)}: " if problem.patch else ""
    line = f":{problem.line}" if problem.line else ""
    path = f"{clean(problem.path)}{line}: " if problem.path else ""
    return f"{patch}{path}{clean(problem.sentence)}"


def checked_value(checked: Checked) -> dict[str, Any]:
    """Return the result of `check` for one series as JSON data."""
    return {
        "name": checked.series,
        "head": checked.head,
        "sound": checked.is_sound,
        "patches": checked.patches,
        "gates": [_gate(gate) for gate in checked.gates],
    }


def _gate(gate: GateResult) -> dict[str, Any]:
    return fields(
        gate,
        "name",
        "standing",
        "looked_at",
        "note",
        "log",
        seconds=None if gate.seconds is None else round(gate.seconds, 3),
        problems=[fields(p, "sentence", "patch", "path", "line") for p in gate.problems],
    )


def junit(results: Sequence[Checked]) -> str:
    """Return the results of `check` as JUnit XML: a test suite for each series."""
    root = Element("testsuites")
    for checked in results:
        # a gate has a case for each patch, one for the whole branch, or both
        cases = [case for gate in checked.gates for case in _cases(checked, gate)]
        counts = {
            "tests": len(cases),
            "failures": sum(bool(case[2]) for case in cases),
            "errors": 0,
            "skipped": sum(case[3] is not None for case in cases),
        }
        suite = SubElement(root, "testsuite", name=clean(checked.series))
        suite.attrib.update({name: str(count) for name, count in counts.items()})
        for gate, name, problems, why in cases:
            owner = clean(f"{checked.series}.{gate.name}")
            case = SubElement(suite, "testcase", classname=owner, name=clean(name))
            if gate.seconds is not None:
                case.set("time", f"{gate.seconds:.3f}")
            if why is not None:
                SubElement(case, "skipped", message=clean(why))
            elif problems:
                failure = SubElement(case, "failure", message=counted(len(problems), "problem"))
                failure.text = clean("\n".join(map(_place, problems)), keep="\n")
    indent(root)
    raw: bytes = tostring(root, "UTF-8", xml_declaration=True)
    return f"{raw.decode()}\n"


_Case = tuple[GateResult, str, "Sequence[Problem]", "str | None"]


def _cases(checked: Checked, gate: GateResult) -> Iterator[_Case]:
    """Yield the test cases of a gate: one for each patch, one for the branch, or both."""
    if gate.standing is Standing.SKIPPED:
        yield gate, "branch", (), gate.note
        return
    by_patch: dict[str | None, list[Problem]] = {}
    for problem in gate.problems:
        by_patch.setdefault(problem.patch, []).append(problem)
    if gate.seconds is None:
        for patch in checked.patches:
            yield gate, patch, by_patch.pop(patch, []), None
    rest = [problem for problems in by_patch.values() for problem in problems]
    if rest or gate.seconds is not None:
        yield gate, "branch", rest, None


def audited_text(results: Sequence[Audited], view: View) -> Iterator[str]:
    """Yield the findings of each audit, one per line, beginning with the certain ones."""
    for audited in results:
        found = sorted(audited.findings, key=lambda told: not told[1].is_certain)
        yield f"{clean(audited.name)}  {counted(len(found), 'finding')}"
        for patch, finding in () if view.is_line else found:
            word = "certain" if finding.is_certain else "likely"
            word = word if finding.accepted is None else "accepted"
            who = f"{clean(patch)}  " if patch else ""
            yield f"  {word:<8}  {who}{clean(finding.sentence())}"
            if finding.proposal is not None:
                yield f"            instead: {clean(finding.proposal)}"


def audited_value(audited: Audited) -> dict[str, Any]:
    """Return the findings of an audit as JSON data."""
    found = [
        {"patch": patch or None, **keys(finding_document(one))} for patch, one in audited.findings
    ]
    return {"name": audited.name, "sound": audited.is_sound, "findings": found}


_HEALTH_COLORS = {"well": "32", "note": "33", "broken": "31", "mended": "32"}


def doctor_text(found: Sequence[Diagnosis], *, color: bool) -> Iterator[str]:
    """Yield the result of `doctor`: one line per examined item, grouped by area, with hints."""
    for area, members in groupby(found, key=lambda one: one.area):
        yield painted(area, "1", color=color)
        for one in members:
            word = "ok" if one.health.value == "well" else one.health.value
            word = painted(word.ljust(6), _HEALTH_COLORS[one.health.value], color=color)
            about = f": {clean(one.text)}" if one.text else ""
            yield f"  {word}  {clean(one.what)}{about}"
            yield from (f"            {clean(hint)}" for hint in one.hints)
