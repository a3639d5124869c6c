"""What upstream has of the commits that headers of patches name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from patchmgr.formats.stances import commit_in, standing_of
from patchmgr.model.patch import Patch
from patchmgr.model.stance import Stance
from patchmgr.model.upstream import SeriesRecord
from patchmgr.plumbing.git_upstream import first_release
from patchmgr.services.session import Session
from patchmgr.services.upstream_patches import git_side


def landed_commits(
    session: Session, record: SeriesRecord, patches: Sequence[Patch]
) -> Mapping[str, str | None]:
    """Return the commits that patches are backports of, as far as the store has them.

    With the first release that holds each, None where none does.
    """
    standings = [standing_of(patch) for patch in patches]
    named = [commit_in(one.detail) for one in standings if one.stance is Stance.BACKPORT]
    if not any(named) or session.workspace.upstream(record.upstream).git is None:
        return {}
    side = git_side(session, record)
    commits = [side.reader.commit(name) for name in named if name is not None]
    return {commit: first_release(side.store, commit) for commit in commits if commit is not None}
