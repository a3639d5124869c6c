"""`init`, and the groups `upstream` and `series`."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

from patchmgr import commands, render
from patchmgr.cli.patches import FirstParent, Linearize, Squash, form_of
from patchmgr.cli.root import (
    Given,
    MaybeName,
    answer,
    argument,
    never_with,
    only_with,
    open_all_series,
    open_root,
    open_series,
    open_session,
    option,
    say,
    takes,
    view_of,
)
from patchmgr.errors import UsageError


@takes("dry_run", "every_patch", "quiet", "json")
def init(
    folder: Annotated[Path, argument("[DIR]")] = Path(),
    from_branch: Annotated[
        tuple[str, str] | None, option("--from-branch REPO BRANCH", "Import this branch of a fork.")
    ] = None,
    upstream: Annotated[
        str | None, option("--upstream REF", "Upstream's ref in REPO, such as upstream/main.")
    ] = None,
    linearize: Linearize = False,
    first_parent: FirstParent = False,
    squash: Squash = False,
) -> None:
    """Make an empty workspace, or one from a git fork.

    With --from-branch, the fork's commits become a series on the upstream state that the branch
    last merged. The store borrows REPO's objects. Merges are split into commits as with
    --linearize, unless you give --first-parent or --squash.

    Example: patchmgr init my-fork

    Example: patchmgr init my-fork --from-branch ~/src/vllm my-branch --upstream upstream/main
    """
    form = form_of(linearize=linearize, first_parent=first_parent, squash=squash)
    is_dry_run = bool(Given.is_dry_run)
    place = ((Given.folder or Path()) / folder).absolute()  # as with git -C
    if from_branch is not None:
        if upstream is None:
            message = "name upstream's ref in the repository with --upstream REF"
            raise UsageError(message, "for example: --upstream upstream/main")
        source = Path(os.path.abspath(from_branch[0]))
        branch = commands.init.Branch(source, from_branch[1], upstream, form)
        done = commands.init.init_from_branch(place, branch, open_root, is_dry_run=is_dry_run)
        answer(render.listings.started_value(done), render.listings.started_text(done, view_of()))
    else:
        others = {"--upstream": upstream, f"--{form}": form, "--json": Given.wants_json}
        only_with("--from-branch REPO BRANCH", False, others)
        made = commands.init.init(place, is_dry_run=is_dry_run)
        say(f"{view_of().verb('Would make', 'Made')} a workspace in {made}")


@takes("dry_run")
def upstream_add(
    name: str,
    git: Annotated[str | None, option("--git URL", "The URL or path of a git repository.")] = None,
    package: Annotated[
        str | None, option("--package NAME", "The name of a package on the package index.")
    ] = None,
    archive: Annotated[
        str | None,
        option("--archive FILE|URL", "An archive or a folder, read again at each fetch."),
    ] = None,
    track: Annotated[
        str | None,
        option("--track git|package", "What to track, if both are given: commits or releases."),
    ] = None,
    branch: Annotated[str | None, option("--branch B", "The branch to track.")] = None,
    reference: Annotated[
        Path | None, option("--reference DIR", "Borrow git objects from this clone.")
    ] = None,
) -> None:
    """Add an upstream: a git repository, a package, or an archive.

    An archive or a folder has no versions: `upstream fetch` reads its current content, and `--onto
    upstream/main` means the content that was read last.

    Example: patchmgr upstream add vllm --package vllm

    Example: patchmgr upstream add sdk --archive https://example.org/sdk-latest.tar.gz
    """
    wanted = commands.upstream.upstream_of(
        name, track=track, git=git, package=package, branch=branch, archive=archive
    )
    added = commands.upstream.add_upstream(open_session(), wanted, reference=reference)
    say(f"{view_of().verb('Would add', 'Added')} upstream {added.name}, tracked by {added.track}")


@takes("json")
def upstream_list() -> None:
    """List the upstream projects.

    Example: patchmgr upstream list
    """
    lock = open_session().workspace.lock()
    values = [upstream for _, upstream in sorted(lock.upstreams.items())]
    answer({"upstreams": values}, render.listings.upstreams_text(values))


@takes("json")
def upstream_fetch(
    names: Annotated[list[str] | None, argument("[NAME]...")] = None,
    ref: Annotated[
        list[str] | None, option("--ref REF", "Also fetch this branch or release.")
    ] = None,
) -> None:
    """Fetch the branches in use and all tags, or the newest release.

    Example: patchmgr upstream fetch vllm --ref v0.24.0
    """
    fetched = commands.upstream.fetch_upstreams(open_session(), names or (), refs=ref or ())
    answer({"upstreams": fetched}, render.listings.fetched_text(fetched))


@takes("dry_run")
def series_new(
    name: str,
    upstream: Annotated[
        str | None, option("--upstream U", "The upstream that the series is for.")
    ] = None,
    base: Annotated[str | None, option("--base REF", "The upstream state to pin.")] = None,
    on: Annotated[
        str | None, option("--on SERIES", "The series that the new series is based on.")
    ] = None,
) -> None:
    """Make an empty series on an upstream state, or on another series.

    Example: patchmgr series new vllm --upstream vllm --base v0.23.0
    """
    record = commands.series.new_series(open_session(), name, upstream=upstream, base=base, on=on)
    pin = record.pin
    named = pin.commit if pin.ref == pin.commit else f"{pin.ref} ({pin.commit})"
    say(f"{view_of().verb('Would make', 'Made')} series {name} on {named}")


@takes("json")
def series_list() -> None:
    """List the series.

    Example: patchmgr series list
    """
    session, names = open_all_series(None)
    views = [commands.series.show_series(session, name) for name in names]
    answer(
        {"series": [*map(render.listings.series_value, views)]},
        render.listings.series_list_text(views),
    )


@takes("json")
def series_show(name: MaybeName = None) -> None:
    """Show a series: its pin, and every patch with its header.

    Example: patchmgr series show vllm
    """
    view = commands.series.show_series(*open_series(name))
    answer({"series": render.listings.series_value(view)}, render.listings.series_text(view))


@takes("json")
def series_graph(
    name: MaybeName = None,
    form: Annotated[str, option("--format text|mermaid", "The output format.")] = "text",
) -> None:
    """Show which other patches each patch needs.

    A patch needs another if it does not apply without the other, or uses a name that the other
    defines. Patches that do not need each other can be reordered.

    Example: patchmgr series graph vllm --format mermaid
    """
    session, series = open_series(name)
    found = commands.series.series_graph(session, series)
    draw = render.listings.graph_mermaid if form == "mermaid" else render.listings.graph_text
    answer({"series": series, "patches": found}, draw(found))


@takes("verbose", "quiet", "json")
def status(
    of: Annotated[
        str | None, option("--of COMMIT", "Show which series a commit, branch or tag comes from.")
    ] = None,
    repo: Annotated[Path | None, option("--repo DIR", "The clone that contains COMMIT.")] = None,
    upstreaming: Annotated[
        bool, option("--upstreaming", "Show each patch's upstream status.")
    ] = False,
    gh: Annotated[
        bool, option("--gh", "With --upstreaming: ask gh which pull requests are closed.")
    ] = False,
    build_env: Annotated[
        bool, option("--build-env", "Print the pins as environment variables for a build.")
    ] = False,
) -> None:
    """Show the state of every series, or the origin of a commit.

    With --upstreaming, each patch is tried on upstream's tip as of the last fetch. With
    --build-env, the pins and heads are printed as variables for a build.

    Example: patchmgr status

    Example: patchmgr status --upstreaming

    Example: patchmgr status --build-env

    Example: patchmgr status --of preview-1
    """
    session = open_session()
    only_with("--upstreaming", upstreaming, {"--gh": gh})
    only_with("--of", of, {"--repo": repo})
    never_with("--upstreaming", upstreaming, {"--of": of, "--build-env": build_env})
    less = {"--verbose": Given.is_verbose, "--quiet": Given.is_quiet}
    never_with("--of", of, less)
    never_with("--build-env", build_env, {"--of": of, **less})
    if upstreaming:
        rows = commands.upstreaming.upstreaming(session, asks=gh)
        answer({"upstreaming": rows}, render.listings.upstreaming_text(rows, view_of()))
    elif build_env:
        told = commands.status.build_environment(session)
        answer({"build_env": told.variables}, render.inspecting.build_text(told))
        say(*told.notes)
    elif of is not None:
        known = commands.status.describe_commit(session, of, repository=repo)
        value = render.inspecting.commit_value(known)
        answer({"of": value}, render.inspecting.commit_text(known))
    else:
        found = commands.status.status(session, int(time.time()))
        value = render.listings.status_value(found)
        answer(value, render.listings.status_text(found, view_of()))
