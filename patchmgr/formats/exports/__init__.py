"""The forms in which a series leaves: what each keeps, how it writes the rest, its files."""

from __future__ import annotations

from collections.abc import Mapping

from patchmgr.formats.exports.form import Form
from patchmgr.formats.exports.gbp import Gbp
from patchmgr.formats.exports.mails import Mailbox, NumberedMails
from patchmgr.formats.exports.one_diff import OneDiff
from patchmgr.formats.exports.packages import PatchPackage
from patchmgr.formats.exports.quilt import Quilt
from patchmgr.formats.exports.stgit import StGit

FORMS: Mapping[str, Form] = {
    "quilt": Quilt(),
    "mbox": Mailbox(),
    "git": NumberedMails(),
    "gbp": Gbp(),
    "stgit": StGit(),
    "patch-package": PatchPackage(),
    "diff": OneDiff(),
}
