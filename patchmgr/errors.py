"""Errors shown to users, and their exit codes."""

from __future__ import annotations

EXIT_DONE = 0
EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_CONFLICTS = 3
EXIT_FINDINGS = 4
EXIT_FAULT = 70
EXIT_INTERRUPTED = 130

USAGE_KINDS = frozenset(
    {
        "usage",
        "unknown-ref",
        "unknown-series",
        "unknown-upstream",
        "unknown-patch",
        "unknown-conflict",
        "unknown-topic",
    }
)


class PatchmgrError(Exception):
    """An expected failure; it says what happened, to which file or patch, and what to do next.

    `kind` is a stable word for scripts, `message` is one line, and each hint is a line, too.
    """

    def __init__(self, kind: str, message: str, *hints: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.hints = hints

    @property
    def exit_code(self) -> int:
        """Return the exit code of the command: 2 for wrong usage, 3 for a conflict, otherwise 1."""
        if self.kind in USAGE_KINDS:
            return EXIT_USAGE
        return EXIT_CONFLICTS if self.kind == "conflict" else EXIT_ERROR


class UsageError(PatchmgrError):
    """The error for a command whose arguments or options are wrong."""

    def __init__(self, message: str, *hints: str) -> None:
        super().__init__("usage", message, *hints)
