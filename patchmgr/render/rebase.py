"""The result of `rebase` as text for a terminal, and diffs in git's colors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import dedent, shorten

from patchmgr.model.audit import Ledger, Sums
from patchmgr.model.outcome import PatchOutcome, SeriesOutcome, Verdict
from patchmgr.model.snapshot import is_full_id
from patchmgr.model.upstream import CommitSummary
from patchmgr.render.escape import clean, counted, cut_off, measured_text, reliability_text, tallied
from patchmgr.render.view import View

VERDICT_COLORS = {
    Verdict.UNCHANGED: "32",
    Verdict.MODIFIED: "33",
    Verdict.PARTIAL: "33",
    Verdict.ABSORBED: "36",
    Verdict.CONFLICT: "1;31",
    Verdict.BLOCKED: "31",
    Verdict.SKIPPED: "2",
}
LONGEST_TEXT = 12  # lines
LONGEST_WORDS = 300  # characters of a header field
MOST_HUNKS = 6
_FEW = 3  # patches that are named when a rebase stops
# "gone" does not mean that upstream gave up the change.
_SINCE = {"evolved": "changed again in", "gone": "its lines were removed in"}
_WIDTH = max(len(verdict.value) for verdict in Verdict)
_AS_IT_IS = ("  ", "decide with: ", "accept it with: ")  # not wrapped: code, and commands to type


def painted(text: str, code: str, *, color: bool) -> str:
    """Return the text in the color of an SGR code, or unchanged if `color` is False."""
    return f"\x1b[{code}m{text}\x1b[0m" if color else text


def rebase_text(outcome: SeriesOutcome, view: View) -> Iterator[str]:
    """Yield the result of `rebase` for one series: a heading, its patches, and a summary."""
    if view.is_line:
        yield f"{_heading(outcome)}: {_summary(outcome)}"
        return
    yield _heading(outcome)
    yield from listed(outcome.patches, view)
    yield f"  {_summary(outcome)}"
    if outcome.ledger is not None:
        yield from view.folded(ledger_line(outcome.ledger), "  ")


def listed(patches: Iterable[PatchOutcome], view: View) -> Iterator[str]:
    """Yield lines for each patch that changed or has warnings, or for all if the view shows all."""
    for patch in patches:
        is_worth = patch.verdict is not Verdict.UNCHANGED or patch.warnings or patch.findings
        if view.is_all or is_worth:
            yield from patch_lines(patch, view)


def _heading(outcome: SeriesOutcome) -> str:
    unit = "release" if outcome.onto.archive else "commit"
    base, onto = short_ref(outcome.base.ref), short_ref(outcome.onto.ref)
    if base == onto:  # a branch, before and after a fetch
        base, onto = (f"{base} {pin.commit[:12]}" for pin in (outcome.base, outcome.onto))
    moved = moved_text(outcome.upstream_commits, outcome.commits_back, unit)
    return f"{outcome.name}: {base} -> {onto}  ({moved})"


def moved_text(number: int, back: int, unit: str) -> str:
    """Return the distance of a rebase: "back over 1 commit, 5 upstream commits"."""
    moved = counted(number, f"upstream {unit}")
    if back:
        gone = f"back over {counted(back, unit)}"
        moved = f"{gone}, {moved}" if number else gone
    return moved


def short_ref(ref: str) -> str:
    """Return the first 12 digits of a full commit id, or any other ref unchanged."""
    return ref[:12] if is_full_id(ref) else clean(ref)


def patch_lines(patch: PatchOutcome, view: View) -> Iterator[str]:
    """Yield the lines for a patch: its verdict and name, how it merged, and evidence or causes."""
    word = patch.verdict.value.ljust(_WIDTH)
    verdict = painted(word, VERDICT_COLORS[patch.verdict], color=view.color)
    how = ", ".join(dict.fromkeys(h.how.value for h in patch.hunks if h.how is not None))
    name, subject = clean(patch.name), clean(patch.subject)
    told = f"  [{how}]" if how else ""
    full = f"{name}  {subject}{told}"
    indent = " " * (_WIDTH + 4)
    yield f"  {verdict}  {full if len(indent + full) <= view.width else name + told}"
    for line in _about(patch):
        is_typed = line.startswith(_AS_IT_IS)
        yield from ((f"{indent}{line}",) if is_typed else view.folded(line, indent))


def _about(patch: PatchOutcome) -> Iterator[str]:
    for one in patch.evidence:
        told = f"  ({reliability_text(one.reliability)})" if one.reliability else ""
        yield f"in {commit_line(one)}{told}"
    for one in patch.cause:
        yield f"since {commit_line(one)}"
    yield from _history_lines(patch)
    for old, new in dict.fromkeys((hunk.path, hunk.new_path) for hunk in patch.hunks):
        if old != new:
            yield f"{clean(old)} -> {clean(new)}"
    for known in dict.fromkeys(hunk.reliability for hunk in patch.hunks):
        if known is not None:
            yield f"merged by structure: {reliability_text(known)}"
    for conflict in patch.conflicts if patch.verdict is Verdict.CONFLICT else ():
        yield f"{clean(conflict.new_path)}: {conflict.reason}  (conflict {conflict.id})"
    yield from _likely_lines(patch)
    yield from (f"warning: {clean(warning)}" for warning in patch.warnings)
    yield from _finding_lines(patch)
    if patch.reason is not None and not patch.open_findings:
        yield clean(patch.reason)


def _finding_lines(patch: PatchOutcome) -> Iterator[str]:
    """Yield the findings that stop a merged patch, and those that a person accepted."""
    for finding in patch.findings:
        if finding.accepted is not None:
            yield f"accepted: {clean(finding.sentence())}  (because: {clean(finding.accepted)})"
    for finding in patch.open_findings:
        yield f"{clean(finding.sentence())}  (conflict {finding.id})"
    for finding in patch.open_findings:
        if finding.can_be_accepted:
            yield f"accept it with: patchmgr conflicts accept {finding.id} --because TEXT"


def _history_lines(patch: PatchOutcome) -> Iterator[str]:
    """Yield what upstream later did to a landed patch, and which hunks are still carried."""
    landed = next((commit for commit, event in patch.history if event == "landed"), "")
    for commit, event in patch.history:
        if event == "reverted":
            yield f"landed in {landed[:12]}, reverted in {commit[:12]}"
        elif patch.now_in is not None and event == "evolved":
            yield f"moved to {clean(patch.now_in)} in {commit[:12]}"
        elif event in _SINCE:
            yield f"{_SINCE[event]} {commit[:12]}"
    if patch.superseded and patch.verdict is Verdict.ABSORBED:
        missing = sum(not wording.upstream for wording in patch.superseded)
        without = f", without {counted(missing, 'part')} of it" if missing else ""
        yield f"superseded: landed in a different form{without} (both texts: --show-conflicts)"
    if patch.verdict is Verdict.PARTIAL:
        taken = [h for h in patch.hunks if h.verdict is Verdict.ABSORBED]
        left = [h for h in patch.hunks if h.verdict is not Verdict.ABSORBED]
        # Of the 53 hunks of a patch of Elements, upstream had one; the six named were others.
        told, fewer = ("no longer", taken) if len(taken) < len(left) else ("still", left)
        yield f"{told} carried: {len(fewer)} of {counted(len(patch.hunks), 'hunk')}"
        places = [f"  {clean(h.new_path)} line {h.line}" for h in fewer]
        yield from cut_off(places, MOST_HUNKS, "  and {}")


def _likely_lines(patch: PatchOutcome) -> Iterator[str]:
    """Yield a patch's reason, upstream code that resembles it, and the command to decide."""
    pairs = [(c, r) for c in patch.conflicts for r in c.resemblances]
    if patch.verdict is not Verdict.CONFLICT:
        return
    yield from header_lines(patch.description, patch.drop_when)
    for likely in patch.likely:
        where = commit_line(likely)
        named = f", named in {clean(likely.named_by)}" if likely.named_by else ""
        told = f", {measured_text(likely.reliability)}" if likely.reliability else ""
        yield f"likely absorbed by {where}  (confidence {likely.confidence}{named}{told})"
    for conflict, resemblance in pairs:
        place = f"{clean(conflict.new_path)} line {resemblance.line}"
        if resemblance.commit is None:
            yield f"upstream has this, in {place}:"
        else:
            yield f"upstream had this, in {place} of {resemblance.commit[:12]}:"
        yield from _quoted(resemblance.upstream)
        yield "where the patch adds this:"
        yield from _quoted(resemblance.patch)
    if pairs or patch.likely:
        yield f"decide with: patchmgr decide {clean(patch.name)} absorbed    (or: needed)"


def header_lines(description: str | None, drop_when: str | None) -> Iterator[str]:
    """Yield the lines of a patch's header that say why the patch exists and when to drop it."""
    for word, text in (("why", description), ("drop when", drop_when)):
        if text is not None:
            yield f"{word}: {clean(shorten(text, LONGEST_WORDS, placeholder=' ...'))}"


def _quoted(content: bytes) -> Iterator[str]:
    lines = dedent(content.decode("utf-8", "backslashreplace").expandtabs(4)).splitlines()
    shown = cut_off(lines, LONGEST_TEXT, "... and {}", "line")
    yield from (f"  | {clean(line)}".rstrip() for line in shown)


def commit_line(one: CommitSummary) -> str:
    """Return an upstream commit on one line: pull request (if known), commit id and subject."""
    pull = "" if one.pull is None else f"#{one.pull} "
    return f"{pull}{one.commit[:12]} {clean(one.title)}"


def _summary(outcome: SeriesOutcome) -> str:
    counts = tallied((patch.verdict for patch in outcome.patches), Verdict)
    return ": ".join(filter(None, (counted(len(outcome.patches), "patch"), counts)))


def ledger_line(ledger: Ledger) -> str:
    """Return a line with the numbers of added and removed lines, by what became of them."""
    sides = ("added", ledger.added), ("removed", ledger.removed)
    told = [f"{sums.total} {name}: {_sums(sums)}" for name, sums in sides]
    end = "" if ledger.is_balanced else "; the sums do not add up"
    return f"lines {'; '.join(told)}{end}"


def _sums(sums: Sums) -> str:
    named = {
        "carried": sums.carried,
        "in upstream": sums.upstream,
        "in conflict": sums.conflict,
        "given up": sums.given_up,
    }
    return ", ".join(f"{number} {name}" for name, number in named.items() if number) or "none"


def after_rebase(
    outcomes: Iterable[SeriesOutcome],
    *,
    is_dry_run: bool,
    work: Path | None,
    waiting: Iterable[str] = (),
) -> Iterator[str]:
    """Yield lines that say what the user can do after a rebase.

    `work` is the folder with the files in conflict, if any; `waiting` lists files with markers.
    """
    outcomes = tuple(outcomes)
    pinned = {(o.onto.ref, o.upstream) for o in outcomes if o.base.commit == o.onto.commit}
    for ref, name in sorted(pinned):
        if ref.startswith("upstream/"):
            yield f"{clean(ref)} was at the pin when it was last fetched"
            yield f"To fetch it again: patchmgr upstream fetch {name}"
    if work is not None:
        yield "The patch files, the pin and the branch are unchanged."
        yield "To leave out the first patch in conflict: patchmgr rebase --skip"
        yield "To give up the rebase: patchmgr rebase --abort"
        yield from _next_step(outcomes, work, tuple(waiting))
    elif any(outcome.has_conflicts for outcome in outcomes):
        yield _conflicts_left(outcomes)
        yield "Nothing was written: this was a dry run. To resolve conflicts, run without --dry-run"
    elif is_dry_run:
        yield "No conflict. Nothing was written: this was a dry run."
    else:
        for outcome in outcomes:
            yield f"{outcome.name}: head {outcome.head}"


def after_checkout(outcomes: Sequence[SeriesOutcome], place: Path) -> Iterator[str]:
    """Yield lines that say what the user can do after a rebase whose checkout is at `place`."""
    stopped = (p for o in outcomes for p in o.patches if p.verdict is Verdict.CONFLICT)
    patch = next(stopped, None)
    if patch is None:
        for outcome in outcomes:
            yield f"{outcome.name}: head {outcome.head}"
        yield f"The result is checked out in {clean(str(place))}"
        return
    yield "The patch files, the pin and the branch are unchanged."
    yield _conflicts_left(outcomes)
    told = clean(patch.reason or "see git status there")
    yield f"The first conflict is in {clean(str(place))}: {told}"
    yield "Resolve it there (or: git mergetool), then run: patchmgr rebase --continue"


def _next_step(
    outcomes: Sequence[SeriesOutcome], work: Path, waiting: Sequence[str]
) -> Iterator[str]:
    """Yield the files with conflict markers, the open findings, and the command to continue."""
    findings = [
        (patch.name, finding.id)
        for outcome in outcomes
        for patch in outcome.patches
        for finding in patch.open_findings
        if finding.can_be_accepted
    ]
    if waiting:
        yield "These files have conflict markers:"
        yield from (f"  {clean(str(work / name))}" for name in waiting)
    if findings:
        yield "These patches merged, but the result is broken or lacks lines. Correct or accept:"
        for name, id in findings:
            yield f"  {clean(name)}: patchmgr conflicts accept {id} --because TEXT"
    yield _conflicts_left(outcomes)
    edit = "Edit the files (or: patchmgr mergetool), then run" if waiting else "Then run"
    yield f"{edit}: patchmgr rebase --continue"


def _conflicts_left(outcomes: Sequence[SeriesOutcome]) -> str:
    left = [p for outcome in outcomes for p in outcome.patches if p.verdict is Verdict.CONFLICT]
    names = cut_off([clean(patch.name) for patch in left], _FEW, "{}")
    told = " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
    return f"Conflicts are left in {counted(len(left), 'patch')}: {told}"


_CODES = (
    (("+++ ", "--- ", "diff ", "index "), "1"),
    (("@@ ",), "36"),
    (("+",), "32"),
    (("-",), "31"),
)


def diff_text(header: bytes, diff: bytes, *, color: bool) -> str:
    """Return a patch for a terminal: control characters are escaped, and the diff is colored."""
    lines = content_lines(header) + [
        painted_line(line, color=color) for line in content_lines(diff)
    ]
    return "".join(f"{line}\n" for line in lines)


def painted_line(line: str, *, color: bool) -> str:
    """Return a line of a diff in the color that git gives it."""
    code = next((code for starts, code in _CODES if line.startswith(starts)), None)
    return line if code is None else painted(line, code, color=color)


def content_lines(content: bytes) -> list[str]:
    """Return the lines of a file's content, with unsafe characters escaped for a terminal."""
    text = content.decode("utf-8", "surrogateescape")
    return [clean(line, keep="\t") for line in text.removesuffix("\n").split("\n")] if text else []
