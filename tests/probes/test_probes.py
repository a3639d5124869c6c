"""What a rebase says of merges that are clean for git and yet broken, and of their controls."""

from tests.probes.probe import Probe, ask_in_memory, read_probes
from tests.tables import table

PROBES = read_probes()
TOLD = 0.85


@table("probe", [p for p in PROBES if not p.is_broken], ids=lambda p: p.name)
def test_nothing_is_told_of_a_control(probe: Probe) -> None:
    answer = ask_in_memory(probe)
    assert not answer.is_told, answer.said


def test_most_probes_are_told() -> None:
    broken = [probe for probe in PROBES if probe.is_broken]
    silent = [f"{p.kind}: {p.name}" for p in broken if not ask_in_memory(p).is_told]
    assert len(silent) <= (1 - TOLD) * len(broken), "\n".join(["not told:", *silent])
