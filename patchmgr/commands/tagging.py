"""What the message of a preview tag says: base, digest, verdicts, gates, and our trailers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from patchmgr import __version__
from patchmgr.commands.checked import last_checked
from patchmgr.commands.prepared import Ready
from patchmgr.commands.session import Session
from patchmgr.commands.targets import series_digest
from patchmgr.formats.shown import shown
from patchmgr.model.outcome import PatchOutcome

SERIES, VERSION, BASE, REF, DIGEST = (
    f"Patchmgr-{key}" for key in ("Series", "Version", "Base", "Ref", "Digest")
)


def tag_message(
    session: Session, ready: Ready, outcomes: Sequence[PatchOutcome], selected: Collection[str]
) -> bytes:
    """Return the message of a tag on the branch of a series.

    Commits get no trailers: their ids are the same for every version of patchmgr.
    """
    record, pin = ready.record, ready.record.pin
    carried = [outcome for outcome in outcomes if outcome.is_carried]
    lines = [f"{record.name} on {shown(pin.ref)}: {len(carried)} patches", ""]
    lines += _verdicts(ready, outcomes)
    lines += _gates(session, ready, selected)
    if selected:
        lines.append(f"Selected: {', '.join(sorted(map(shown, selected)))}")
    left = [outcome for outcome in outcomes if not outcome.is_carried]
    lines += [f"Left out: {shown(o.name)} ({shown(o.reason or '')})" for o in left]
    lines += [
        "",
        f"{SERIES}: {record.name}",
        f"{VERSION}: {__version__}",
        f"{BASE}: {pin.commit}",
        f"{REF}: {shown(pin.ref)}",
        f"{DIGEST}: {series_digest(session, record, selected)}",
    ]
    return ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")


def _verdicts(ready: Ready, outcomes: Sequence[PatchOutcome]) -> list[str]:
    """Return what the last rebase made of the patches, which the lock keeps."""
    rows = ready.record.result.get("patches", ())
    base = ready.record.result.get("base")
    if not rows or not isinstance(base, dict):
        return ["Verdicts: none, the series was not rebased yet"]
    counts = Counter(str(row["verdict"]) for row in rows)
    words = ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))
    lines = [f"Verdicts of the rebase from {shown(str(base.get('ref', '')))}: {words}"]
    return lines + [
        f"  {row['verdict']}: {shown(str(row['name']))}"
        for row in rows
        if row["verdict"] != "unchanged"
    ]


def _gates(session: Session, ready: Ready, selected: Collection[str]) -> list[str]:
    kept = last_checked(session.workspace, ready.record.name)
    if kept is None or kept.digest != series_digest(session, ready.record, selected):
        return ["Gates: not run on this state"]
    lines = ["Gates:"]
    for gate in kept.gates:
        few = "problem" if gate.problems == 1 else "problems"
        problems = f" ({gate.problems} {few})" if gate.problems else ""
        lines.append(f"  {gate.standing}: {shown(gate.name)}{problems}")
    return lines
