"""Tell open pull requests of a patch repository how a new pin affects them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from patchmgr.commands.plan import changed_patches, try_stack
from patchmgr.errors import PatchmgrError
from patchmgr.model.plan import PlannedPatch
from patchmgr.model.sync import PullCheck
from patchmgr.plumbing.committing import fetch_ref
from patchmgr.plumbing.pull_requests import PullRequests, RefusedError, Request
from patchmgr.render.sync import check_markdown
from patchmgr.services.load import RebaseRun
from patchmgr.services.patch_repository import PatchRepository, workspace_at
from patchmgr.store import LOCK


class PullChecks(Struct, frozen=True):
    """Rebases the stack in each open pull request onto the new pin, and comments on it."""

    run: RebaseRun
    repository: PatchRepository
    pulls: PullRequests
    stack: tuple[str, ...]
    remote: str

    def found(self) -> Iterator[PullCheck]:
        """Yield the results for pull requests that change a series of the stack.

        A pull request is left out if it edits upstream.lock, which contains the pin, or if its
        comment is up to date.
        """
        prefix = self.repository.prefix
        folders = tuple(f"{prefix}series/{name}/" for name in self.stack)
        for request in self.pulls.others():
            check = PullCheck(request.number, request.url, request.head)
            try:
                paths = [*self.pulls.paths(request.number)]
                if f"{prefix}{LOCK}" not in paths and any(p.startswith(folders) for p in paths):
                    yield from self._told(request, check)
            except RefusedError as refused:
                yield replace(check, fault=str(refused))
            except PatchmgrError as fault:
                yield replace(check, fault=fault.message)

    def _told(self, request: Request, check: PullCheck) -> Iterator[PullCheck]:
        name = self.stack[0]
        pin = self.run.session.workspace.series_record(name).pin
        about = f"<!-- patchmgr pin {name} "
        mark = f"{about}{request.head} {pin.commit} -->"
        comments = self.pulls.comments(request.number)
        number, body = next((c for c in comments if c[1].startswith(about)), (None, ""))
        if body.startswith(mark):
            return
        fetch_ref(self.repository.clone.git_dir, self.remote, self.pulls.head_ref(request.number))
        patches = self._carried(request.head, pin.ref, pin.commit)
        if patches is None:
            return
        check = replace(check, patches=patches)
        if not self.repository.is_dry_run:
            text = f"{mark}\n{check_markdown(check, name, pin)}"
            self.pulls.comment(request.number, text, instead=number)
        yield check

    def _carried(self, head: str, ref: str, commit: str) -> tuple[PlannedPatch, ...] | None:
        """Return the patches that a rebase onto the pin changes, or None if the pin is the same."""
        session = self.run.session
        workspace = workspace_at(session.workspace, head)[1]
        record = workspace.series_record(self.stack[0])
        if record.pin.commit == commit:
            return None
        run = replace(self.run, session=replace(session, workspace=workspace))
        onto = commit if session.side_of(record).has_history else ref
        return changed_patches(try_stack(run, self.stack, onto).outcomes)
