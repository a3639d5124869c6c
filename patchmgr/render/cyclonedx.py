"""Write bills of materials in CycloneDX format; the same input always gives the same bytes."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from datetime import datetime, timezone
from uuid import NAMESPACE_OID, UUID, uuid5

from cyclonedx.model import (
    AttachedText,
    Encoding,
    HashAlgorithm,
    HashType,
    IdentifiableAction,
    XsUri,
)  # fmt: skip
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import (
    Commit,
    Component,
    ComponentType,
    Diff,
    Patch,
    PatchClassification,
    Pedigree,
)  # fmt: skip
from cyclonedx.model.issue import IssueClassification, IssueType
from cyclonedx.model.tool import ToolRepository
from cyclonedx.output.json import BY_SCHEMA_VERSION
from cyclonedx.schema import SchemaVersion
from packageurl import PackageURL

from patchmgr import __version__
from patchmgr.model.bill_of_materials import Issue, Materials, PatchUsed
from patchmgr.render.escape import clean

FORMS = {"cyclonedx": "1.6", "cyclonedx-1.5": "1.5"}
"""The versions of the CycloneDX specification, keyed by the names of the formats."""
_FORGE = re.compile(
    r"(?:\w+://)?(?:[^@/]*@)?(github|gitlab|bitbucket)\.(?:com|org)[:/](.+)/([^/]+?)(?:\.git)?/?"
)


def bill_of_materials(materials: Sequence[Materials], form: str = "cyclonedx") -> str:
    """Return a bill of materials as CycloneDX JSON; `form` says which version of CycloneDX."""
    tool = Component(
        name="patchmgr", version=__version__, type=ComponentType.APPLICATION, bom_ref="patchmgr"
    )
    when = _time(max((one.time for one in materials), default=0))
    bom = Bom(
        components=map(_component, materials),
        metadata=BomMetaData(tools=ToolRepository(components=[tool]), timestamp=when),
        serial_number=UUID(int=0),
    )
    write = BY_SCHEMA_VERSION[SchemaVersion.from_version(FORMS[form])]
    bom.serial_number = uuid5(NAMESPACE_OID, write(bom).output_as_string())
    return f"{write(bom).output_as_string(indent=1)}\n"


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)


def _component(one: Materials) -> Component:
    name = one.upstream.package or one.upstream.name
    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=one.sha256)] if one.sha256 else []
    ref, at = f"{one.series}@upstream", _purl(one, one.base)
    upstream = Component(name=name, version=one.base, purl=at, hashes=hashes, bom_ref=ref)
    names = ", ".join(clean(used.patch.name) for used in one.patches)
    pedigree = Pedigree(
        ancestors=[upstream],
        commits=[_commit(used) for used in one.patches if used.commit is not None],
        patches=map(_patch, one.patches),
        notes=f"Patches of the series {one.series}, in their order: {names}",
    )
    # A commit with patches cannot be downloaded from anywhere, so it has no package URL.
    purl = _purl(one, one.version) if one.commit is None and one.upstream.package else None
    return Component(
        name=name, version=one.version, purl=purl, pedigree=pedigree, bom_ref=one.series
    )


def _purl(one: Materials, version: str) -> PackageURL:
    """Return a package URL; its type is pypi, that of a forge such as github, or generic."""
    upstream = one.upstream
    if one.commit is None and upstream.package is not None:
        return PackageURL("pypi", None, upstream.package, version)
    forge = _FORGE.fullmatch(upstream.git or "")
    if one.commit is not None and forge is not None:
        return PackageURL(forge[1], forge[2], forge[3], one.commit)
    known = {"vcs_url": f"git+{upstream.git}"} if one.commit is not None else {}
    return PackageURL("generic", None, upstream.name, one.commit or version, known)


def _commit(used: PatchUsed) -> Commit:
    when = _time(int(used.author.date.split(" ")[0]))
    who = IdentifiableAction(timestamp=when, name=used.author.name, email=used.author.email)
    return Commit(uid=used.commit, author=who, message=clean(used.patch.subject))


def _patch(used: PatchUsed) -> Patch:
    kind = PatchClassification.BACKPORT if used.is_backport else PatchClassification.UNOFFICIAL
    try:
        text = AttachedText(content=used.patch.raw.decode(), content_type="text/x-patch")
    except UnicodeDecodeError:
        raw = base64.b64encode(used.patch.raw).decode()
        text = AttachedText(content=raw, content_type="text/x-patch", encoding=Encoding.BASE_64)
    return Patch(type=kind, diff=Diff(text=text), resolves=map(_issue, used.issues))


def _issue(one: Issue) -> IssueType:
    kinds = IssueClassification
    kind = kinds.SECURITY if one.is_vulnerability else kinds.DEFECT
    urls = [XsUri(one.url)] if one.url is not None else []
    return IssueType(type=kind, id=clean(one.id), references=urls)
