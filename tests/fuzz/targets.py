"""Every target of the fuzzer by its name, and how many inputs the long job gives it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.fuzz import merges, patches, workspace_files


@dataclass(frozen=True, slots=True)
class Target:
    """A check that any bytes must pass; `share` of the long job's inputs go to it."""

    check: Callable[[bytes], None]
    share: float
    longest: int = 4096
    is_parser: bool = True


TARGETS: Mapping[str, Target] = {
    "patch": Target(patches.patch, 0.16),
    "header": Target(patches.header, 0.08),
    "mailbox": Target(patches.mailbox, 0.10),
    "hunks": Target(patches.hunks, 0.10),
    "delta": Target(patches.delta, 0.05, 512),
    "series": Target(workspace_files.series, 0.08, 1024),
    "lock": Target(workspace_files.lock, 0.07),
    "conflict": Target(workspace_files.conflict, 0.06),
    "decisions": Target(workspace_files.decisions, 0.05),
    "settings": Target(workspace_files.settings, 0.05),
    "predicate": Target(workspace_files.predicate, 0.05, 512),
    "regex": Target(workspace_files.regex, 0.03, 256),
    "archive": Target(workspace_files.archive, 0.03, 16384),
    "record": Target(workspace_files.record, 0.02),
    "operation": Target(workspace_files.operation, 0.02),
    "journal": Target(workspace_files.journal, 0.02),
    "applied": Target(workspace_files.target_record, 0.02),
    "upstream": Target(workspace_files.upstream_files, 0.01),
    "ladder": Target(merges.ladder, 0.6, 256, is_parser=False),
    "memory": Target(merges.memory, 0.1, 256, is_parser=False),
    "rebase": Target(merges.rebase, 0.12, 512, is_parser=False),
    "absorption": Target(merges.absorption, 0.12, 512, is_parser=False),
    "structure": Target(merges.structure, 0.06, 256, is_parser=False),
}
