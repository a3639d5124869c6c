"""`apply`, `unapply`, `verify`, `overlay`, `wheel`, `branch`, `report`: put a series to use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from patchmgr import commands, render, services
from patchmgr.cli.root import (
    Given,
    MaybeName,
    Names,
    answer,
    end_if,
    never_with,
    only_with,
    open_all_series,
    open_series,
    option,
    say,
    show,
    takes,
    text_of,
    view_of,
)
from patchmgr.errors import EXIT_CONFLICTS, EXIT_FINDINGS, PatchmgrError, UsageError
from patchmgr.formats.shown import typed

if TYPE_CHECKING:
    from patchmgr.model.bill_of_materials import Materials
    from patchmgr.render.view import View
    from patchmgr.services.installed import Location
    from patchmgr.services.session import Session


Python = Annotated[
    str | None,
    option("--python EXE", "The Python interpreter of the environment that has the package."),
]
Site = Annotated[
    Path | None, option("--site DIR", "The folder with the installed package (site-packages).")
]
PackageName = Annotated[
    str | None, option("--package NAME", "The package; needed if upstream.lock does not name it.")
]
Breaks = Annotated[
    bool, option("--break-system-packages", "Change the environment even if the system manages it.")
]


def location_of(
    python: str | None, site: Path | None, package: str | None, *, breaks_system: bool = False
) -> Location:
    """Return where a package is installed, given either `python` or `site`."""
    if (python is None) == (site is None):
        raise UsageError("give either --python EXE or --site DIR")
    place = None if site is None else site.absolute()
    return services.installed.Location(python, place, package, breaks_system)


@takes("select", "dry_run", "verbose", "quiet", "json")
def overlay(
    name: MaybeName = None,
    python: Python = None,
    site: Site = None,
    package: PackageName = None,
    out: Annotated[Path | None, option("--out DIR", "The folder to create.")] = None,
) -> None:
    """Make a folder of patched modules, for read-only installations.

    Python uses the modules if PYTHONPATH contains the folder and the installed package is still the
    one that the overlay was made for.

    Example: patchmgr overlay vllm --python /opt/venv/bin/python --out /srv/vllm-patches
    """
    if out is None:
        raise UsageError("name the folder for the overlay with --out DIR")
    view, where = view_of(), location_of(python, site, package)
    session, named = open_series(name)
    made = commands.overlay.make_overlay(session, named, where, out.absolute())
    value = render.applied.application_value(made.application, view)
    answer(value, render.applied.overlay_text(made, view), out=made.place, left=made.left)
    end_if(made.application.has_conflicts, EXIT_CONFLICTS)


@takes("select", "dry_run", "verbose", "quiet", "json")
def wheel(
    name: MaybeName = None,
    source: Annotated[Path | None, option("--from WHEEL", "The wheel to patch.")] = None,
    out: Annotated[Path, option("--out DIR", "The folder for the patched wheel.")] = Path(),
    sbom: Annotated[bool, option("--sbom", "Add a CycloneDX bill of materials.")] = False,
) -> None:
    """Write a patched wheel, with a new version and RECORD.

    Example: patchmgr wheel vllm --from vllm-0.23.0-cp38-abi3-manylinux_2_31_x86_64.whl --out dist
    """
    if source is None:
        raise UsageError("use --from WHEEL to name the wheel to patch")
    session, named = open_series(name)
    bill = _bill() if sbom else None
    made = commands.wheel.make_wheel(session, named, source.absolute(), out.absolute(), bill)
    answer(render.applied.wheel_value(made), render.applied.wheel_text(made, view_of()))
    end_if(made.place is None, EXIT_CONFLICTS)


@takes("select", "dry_run", "verbose", "quiet", "json")
def apply(
    name: MaybeName = None,
    to: Annotated[
        Path | None, option("--to CHECKOUT", "The git checkout to apply the series to.")
    ] = None,
    commit: Annotated[bool, option("--commit", "Make one commit per patch.")] = False,
    python: Python = None,
    site: Site = None,
    package: PackageName = None,
    warn_at_start: Annotated[
        bool | None,
        option(
            "--warn-at-start/--no-warn-at-start",
            "Make Python warn at startup if the patches are missing.",
        ),
    ] = None,
    break_system_packages: Breaks = False,
    show_conflicts: Annotated[
        bool, option("--show-conflicts", "For a package, print both sides of each conflict.")
    ] = False,
) -> None:
    """Apply a series to a checkout or an installed package.

    Either the whole series is applied, or nothing.

    Example: patchmgr apply vllm --to ~/src/vllm --commit

    Example: patchmgr apply vllm --python .venv/bin/python
    """
    view = view_of()
    others = {"--break-system-packages": break_system_packages, "--show-conflicts": show_conflicts}
    others["--warn-at-start"] = warn_at_start is not None
    if _is_package(
        python, site, {"--to": to, "--commit": commit}, {"--package": package, **others}
    ):
        where = location_of(python, site, package, breaks_system=break_system_packages)
        session, named = open_series(name)
        done = commands.apply.apply_to_package(session, named, where, warns_at_start=warn_at_start)
    else:
        session, named = open_series(name)
        done = commands.apply.apply_to_checkout(session, named, _target(to), commits=commit)
    text = render.applied.application_text(done, view)
    if show_conflicts and done.carried is not None:
        text = chain(text, render.conflicts.conflicts_text(done.carried.outcome))
    answer(render.applied.application_value(done, view), text)
    end_if(done.has_conflicts, EXIT_CONFLICTS)


def _is_package(
    python: str | None,
    site: Path | None,
    of_checkout: Mapping[str, object],
    of_package: Mapping[str, object],
) -> bool:
    """Return whether the options name a package; refuse options that fit only the other target."""
    is_package, named = python is not None or site is not None, "--python or --site"
    never_with(named, is_package, of_checkout)
    only_with(named, is_package, of_package)
    return is_package


def _target(to: Path | None) -> Path:
    if to is None:
        message = "name a checkout with --to CHECKOUT, or a package with --python EXE or --site DIR"
        raise UsageError(message)
    return to.absolute()


@takes("dry_run", "json")
def unapply(
    name: MaybeName = None,
    to: Annotated[
        Path | None, option("--to CHECKOUT", "The git checkout to remove the series from.")
    ] = None,
    python: Python = None,
    site: Site = None,
    package: PackageName = None,
    break_system_packages: Breaks = False,
    force: Annotated[
        bool, option("--force", "Also restore edited files; save the edits in a patch file.")
    ] = False,
) -> None:
    """Remove a series from a checkout or an installed package.

    Example: patchmgr unapply vllm --to ~/src/vllm

    Example: patchmgr unapply vllm --python .venv/bin/python
    """
    others = {"--package": package, "--break-system-packages": break_system_packages}
    is_package = _is_package(python, site, {"--to": to}, others)
    session, named = open_series(name)
    if is_package:
        where = location_of(python, site, package, breaks_system=break_system_packages)
        done = commands.apply.unapply_from_package(session, named, where, is_forced=force)
    else:
        done = commands.apply.unapply_from_checkout(session, named, _target(to), is_forced=force)
    if Given.wants_json:
        answer(done, "")
        return
    verb = view_of().verb("Would restore", "Restored")
    say(f"{verb} {render.escape.counted(len(done.paths), 'file')} in {done.target}")
    if done.edits is not None:
        root, file = typed(done.target), typed(done.edits)
        # Below the folder of another repository, git would skip all files of the patch.
        alone = "--git-dir=/dev/null " if is_package else ""
        tool = f"git {alone}-C {root} apply --reject {file}"
        say(f"To make your edits again: {tool}")


@takes("select", "verbose", "quiet", "json")
def verify(
    name: MaybeName = None,
    to: Annotated[Path | None, option("--to CHECKOUT", "The git checkout to verify.")] = None,
    python: Python = None,
    site: Site = None,
    package: PackageName = None,
) -> None:
    """Check that a series is applied; exit with code 4 if it is not.

    Example: patchmgr verify vllm --to ~/src/vllm

    Example: patchmgr verify vllm --python .venv/bin/python
    """
    view = view_of()
    is_package = _is_package(python, site, {"--to": to}, {"--package": package})
    session, named = open_series(name)
    if is_package:
        where = location_of(python, site, package)
        state = services.installed.verify_package(session, named, where)
        answer(render.applied.state_value(state), render.applied.state_text(state, view))
        end_if(not state.is_sound, EXIT_FINDINGS)
    else:
        found = services.checkouts.verify_checkout(session, named, _target(to))
        files = [*map(render.applied.file_value, found.files)]
        text = render.applied.verification_text(found, view)
        answer(found, text, sound=found.is_sound, files=files)
        end_if(not found.is_sound, EXIT_FINDINGS)


@takes("select", "dry_run", "json")
def branch(
    name: MaybeName = None,
    repo: Annotated[Path | None, option("--repo DIR", "The clone to build the branch in.")] = None,
    branch_name: Annotated[
        str | None, option("--name BRANCH", "The name of the branch; default: patchmgr/SERIES.")
    ] = None,
    tag: Annotated[str | None, option("--tag TAG", "Also tag the head.")] = None,
    force: Annotated[
        bool, option("--force", "Replace a branch or tag that patchmgr did not make.")
    ] = False,
    without: Annotated[
        list[str], option("--without NAME", "Leave out a patch or group; repeatable.")
    ] = [],  # noqa: B006 - typer copies it
    only: Annotated[
        list[str],
        option("--only PATCH", "Include only this patch or group, and what it needs; repeatable."),
    ] = [],  # noqa: B006 - typer copies it
    sign: Annotated[
        bool, option("--sign", "Sign the commits with the key that git is configured to use.")
    ] = False,
    signoff: Annotated[bool, option("--signoff", "Add your Signed-off-by to the commits.")] = False,
    committer: Annotated[
        str | None,
        option("--committer me", "Record yourself as the committer, with the current time."),
    ] = None,
    push: Annotated[
        str | None,
        option("--push REMOTE", "Push the branch, unless somebody else has pushed to it."),
    ] = None,
) -> None:
    """Build the branch of a series on its pin, one commit per patch.

    The commits are the same on every machine, unless you put your name or signature into them with
    --sign, --signoff or --committer me.

    Example: patchmgr branch vllm --repo ~/src/vllm --name my-fork --tag preview-1

    Example: patchmgr branch vllm --repo ~/src/vllm --name my-fork --push origin

    Example: patchmgr branch vllm --without marlin --name arm-1
    """
    mine = commands.branch.mine_of(committer, signs_off=signoff, signs=sign)
    session, named = open_series(name)
    reasons = commands.branch.left_out(session, named, without=without, only=only)
    place = None if repo is None else repo.absolute()
    wanted = commands.branch.Publication(place, branch_name, tag, mine, push, force)
    built = commands.branch.branch(session, named, wanted, left_out=reasons)
    answer(built, render.applied.built_text(built, view_of()))


def _bill(form: str = "cyclonedx") -> Callable[[Sequence[Materials]], str]:
    """Return a function that writes bills of materials.

    Raises PatchmgrError "missing-extra" if the CycloneDX library is not installed.
    """
    try:
        return partial(render.cyclonedx.bill_of_materials, form=form)
    except ImportError as fault:
        hint = "pip install 'cyclonedx-python-lib>=8'"
        message = "a bill of materials needs the CycloneDX library for Python"
        raise PatchmgrError("missing-extra", message, hint) from fault


def _compare(session: Session, base: str, names: list[str], form: str, view: View) -> None:
    if form not in ("terminal", "markdown", "json"):
        raise UsageError(f"--compare needs --format terminal, markdown or json, not {form}")
    commit, found = commands.report.compare(session, base, names)
    page = render.reports
    if form == "markdown":
        show("\n".join(page.compared_markdown(one, base) for one in found))
        return
    text = "\n".join(text_of(page.compared_text(one, base, view)) for one in found)
    values = [page.compared_value(one) for one in found]
    answer({"since": {"ref": base, "commit": commit}, "series": values}, text)


@takes("quiet", "json", "select")
def report(
    names: Names = None,
    format_: Annotated[
        str,
        option(
            "--format terminal|markdown|json|html|cyclonedx|cyclonedx-1.5", "The output format."
        ),
    ] = "terminal",
    compare: Annotated[
        str | None,
        option("--compare BASE", "Show what changed since BASE, a commit of the workspace."),
    ] = None,
) -> None:
    """Report what a series changes, by subsystem and patch.

    The report lists the changed files and lines, the conditions that guard each change, hotspots
    and risks. The HTML page also shows the conflicts of a rebase in progress, side by side. The
    CycloneDX formats are bills of materials. They say what is patched, by which patches and
    commits, and which bugs the patches fix.

    Example: patchmgr report vllm --format markdown

    Example: patchmgr report vllm --format html > report.html

    Example: patchmgr report --compare origin/main --format markdown
    """
    form = "json" if Given.wants_json else format_
    Given.wants_json = form == "json"
    session, chosen = open_all_series(names)
    if compare is not None:
        _compare(session, compare, names or [], form, view_of())
    elif form.startswith("cyclonedx"):
        find = services.bill_of_materials.series_materials
        show(_bill(form)([find(session, name) for name in chosen]))
    else:
        footprints = [commands.report.report(session, name) for name in chosen]
        waiting = services.work_orders.waiting_orders
        asked = chosen if form == "html" else []
        orders = [one for name in asked for one in waiting(session, name)]
        show(render.reports.reports_text(footprints, form, view_of(), orders))
