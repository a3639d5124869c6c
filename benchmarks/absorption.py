"""Times the search for absorbed patches over growing histories, for docs/benchmarks.md.

    PATCHMGR_MIRRORS=<folder> python -m benchmarks.absorption [--rounds N] [--write]

One patch is a real commit, put on a pin before it; the targets are ever further along the first
parents of a public history.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.clones import output
from benchmarks.pages import Section, measure_page, program, tell
from benchmarks.timing import Tool, measure

REPOSITORY = "flashinfer-ai+flashinfer/repo"
PATH = "flashinfer/utils.py"
FURTHEST = 2000
STEPS = (125, 250, 500, 1000, FURTHEST)
BEGIN, END = "<!-- begin: python -m benchmarks.absorption -->", "<!-- end: absorption -->"


def main() -> None:
    """Measure, print, and write the page where that is asked for."""
    measure_page(
        Section(__doc__ or "", REPOSITORY, BEGIN, END, rounds=5),
        lambda mirror, place, environment, rounds: Growth(mirror, place, environment).report(
            rounds
        ),
    )


@dataclass(frozen=True, slots=True)
class Growth:
    """One patch on a pin, and targets at growing distance."""

    mirror: Path
    place: Path
    environment: Mapping[str, str]

    def report(self, rounds: int) -> str:
        """Return the table: time, memory and verdict by distance."""
        line = self._git(
            "rev-list", "--first-parent", f"--max-count={FURTHEST + 1}", "HEAD"
        ).split()
        line.reverse()
        landed = self._git("log", "-1", "--first-parent", "--format=%H", line[60], "--", PATH)
        pin = self._git("rev-parse", f"{landed}^")
        workspace = self._workspace(pin, landed)
        start = self._git("rev-list", "--first-parent", "--count", f"{pin}..{line[-1]}")
        lines = [
            "| upstream commits | touching the path | median | largest process | verdict |",
            "|--:|--:|--:|--:|---|",
        ]
        targets = {}
        for count in STEPS:
            number = min(count, int(start)) - 1
            targets[count] = self._git(
                "rev-list", "--first-parent", "--reverse", f"{pin}..{line[-1]}"
            ).split()[number]
        tools = [self._tool(workspace, target) for target in targets.values()]
        for (count, target), measured in zip(
            targets.items(), measure(tools, rounds, tell), strict=True
        ):
            touching = self._git(
                "rev-list", "--first-parent", "--count", f"{pin}..{target}", "--", PATH
            )
            verdict = self._verdict(workspace, target)
            lines.append(
                f"| {count} | {touching} | {measured.median:.2f} s | {measured.peak:.0f} MB "
                f"| {verdict} |"
            )
        return "\n".join(lines)

    def _git(self, *arguments: str) -> str:
        command = ["git", f"--git-dir={self.mirror}", *arguments]
        return output(command, self.place, self.environment)

    def _workspace(self, pin: str, landed: str) -> Path:
        root, mirror = self.place / "workspace", str(self.mirror)
        patch = self.place / "landed.patch"
        mail = self._git(
            "format-patch", "-1", "--stdout", "--full-index", "--no-signature", landed, "--", PATH
        )
        patch.write_text(f"{mail}\n", encoding="utf-8", errors="surrogateescape")
        inside = ("-C", str(root))
        for arguments in (
            ("init", str(root)),
            (*inside, "upstream", "add", "up", "--git", mirror, "--reference", mirror),
            (*inside, "series", "new", "one", "--upstream", "up", "--base", pin),
            (*inside, "import", str(patch), "--series", "one"),
        ):
            output([*program(), *arguments], self.place, self.environment)
        return root

    def _tool(self, workspace: Path, target: str) -> Tool:
        command = self._command(workspace, target)
        return Tool(target[:12], command, workspace, self.environment, good=(0, 3))

    def _verdict(self, workspace: Path, target: str) -> str:
        found = json.loads(
            output([*self._command(workspace, target), "--json"], workspace, self.environment,
                   good=False)
        )  # fmt: skip
        return str(found["series"][0]["patches"][0]["verdict"])

    def _command(self, workspace: Path, target: str) -> tuple[str, ...]:
        asked: Sequence[str] = ("rebase", "one", "--onto", target, "--dry-run")
        return (*program(), "-C", str(workspace), *asked)


if __name__ == "__main__":
    main()
