"""Where a header says that a patch stands upstream: read, judged, and written for others."""

from collections.abc import Mapping

import pytest

from patchmgr.errors import PatchmgrError
from patchmgr.formats.exports import FORMS, ExportItem, Pinned
from patchmgr.formats.patch_files import parse_patch
from patchmgr.formats.series_files import parse_series
from patchmgr.formats.upstream_status import MAINLINE, STATUS, stance_problems, standing_of
from patchmgr.model.patch import Author, Patch
from patchmgr.model.upstream_status import Stance
from tests.tables import table

ID, OTHER = "a1" * 20, "b2" * 20
URL = "https://lists.example.org/1"


def headed(fields: Mapping[str, str]) -> Patch:
    """Return a patch whose header has fields."""
    lines = "".join(f"{name}: {value}\n" for name, value in fields.items())
    text = (
        "From 0 Mon Sep 17 00:00:00 2001\nFrom: Joe <joe@example.org>\n"
        f"Date: Thu, 14 May 2026 21:22:37 +0200\nSubject: it\n\nWhy.\n\n{lines}\n"
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    )
    return parse_patch(text.encode(), name="it.patch")


READ = {
    "nothing": ({}, Stance.PENDING, ""),
    "no": ({"Forwarded": "no"}, Stance.PENDING, ""),
    "not needed": ({"Forwarded": "not-needed"}, Stance.INAPPROPRIATE, ""),
    "sent": ({"Forwarded": f"yes, {URL}"}, Stance.SUBMITTED, URL),
    "sent somewhere": ({"Forwarded": "yes"}, Stance.SUBMITTED, ""),
    "sent, then applied": (
        {"Forwarded": URL, "Applied-Upstream": f"1.2, {ID}"}, Stance.BACKPORT, f"1.2, {ID}"
    ),
    "backport": ({"Origin": f"backport, {ID}", "Forwarded": "not-needed"}, Stance.BACKPORT, ID),
    "vendor": ({"Origin": f"vendor, {ID}"}, Stance.PENDING, ""),
    "pending": ({STATUS: "Pending"}, Stance.PENDING, ""),
    "submitted": ({STATUS: f"Submitted [{URL}]"}, Stance.SUBMITTED, URL),
    "loosely": ({STATUS: f"submitted, {URL}"}, Stance.SUBMITTED, URL),
    "accepted": ({STATUS: f"Accepted [{ID}]"}, Stance.BACKPORT, ID),
    "inactive": ({STATUS: "Inactive-Upstream [lastcommit: 2011]"}, Stance.INACTIVE,
                 "lastcommit: 2011"),
    "brackets inside": ({STATUS: "Denied [see [1] there]"}, Stance.DENIED, "see [1] there"),
    "unknown": ({STATUS: "Wontfix"}, Stance.PENDING, ""),
    "suse": ({"Git-commit": ID, MAINLINE: "v6.5-rc7"}, Stance.BACKPORT, ID),
    "suse's next": ({MAINLINE: "v6.5 or v6.6-rc1 (next release)"}, Stance.BACKPORT,
                    "v6.5 or v6.6-rc1 (next release)"),
    "suse never": ({MAINLINE: "Never, ours"}, Stance.INAPPROPRIATE, "ours"),
    "suse sent": ({MAINLINE: "Submitted, 19 July 2015 - linux-btrfs"}, Stance.SUBMITTED,
                  "19 July 2015 - linux-btrfs"),
    "suse not yet": ({MAINLINE: "Not yet, too early"}, Stance.PENDING, "too early"),
}  # fmt: skip


@pytest.mark.parametrize(("fields", "stance", "detail"), READ.values(), ids=READ)
def test_the_stance_of_a_header(fields: Mapping[str, str], stance: Stance, detail: str) -> None:
    found = standing_of(headed(fields))
    assert (found.stance, found.detail) == (stance, detail)


# As bitbake's qa.py and kernel-source's suse_git/header.py judge them.
JUDGED = {
    "nothing": ({}, ()),
    "sound": ({STATUS: f"Backport [{ID}]"}, ()),
    "small": ({STATUS: "pending"}, ("Upstream-Status is pending, but it must be one of",)),
    "no space": ({STATUS: "Submitted[x]"}, ("Upstream-Status is Submitted[x], but it must be",)),
    "no reason": ({STATUS: "Inappropriate"}, ("Upstream-Status is Inappropriate without",)),
    "no date": ({STATUS: "Inactive-Upstream [gone]"}, ("Upstream-Status is Inactive-Upstream",)),
    "version": ({MAINLINE: "v6.5", "Git-commit": ID}, ()),
    "version alone": ({MAINLINE: "v6.5"}, ("Patch-mainline is v6.5, but Git-commit is missing",)),
    "queued": ({MAINLINE: "Queued", "Git-commit": ID},
               ("Patch-mainline is Queued, but Git-repo is missing",)),
    "sent and landed": ({MAINLINE: f"Submitted, {URL}", "Git-commit": ID},
                        (f"Patch-mainline is Submitted, {URL}, so Git-commit must not be given",)),
    "never": ({MAINLINE: "Never"}, ("Patch-mainline is Never, but it must be a version",)),
    "n/a": ({MAINLINE: "n/a"}, ("Patch-mainline is n/a, but it must be a version",)),
}  # fmt: skip


@pytest.mark.parametrize(("fields", "words"), JUDGED.values(), ids=JUDGED)
def test_what_is_wrong_with_a_status(fields: Mapping[str, str], words: tuple[str, ...]) -> None:
    patch = headed(fields)
    found = [each for field in (STATUS, MAINLINE) for each in stance_problems(patch, field)]
    assert len(found) == len(words), found
    assert all(sentence.startswith(word) for sentence, word in zip(found, words, strict=True))


def written(form: str, fields: Mapping[str, str]) -> dict[str, str]:
    """Return what an exported patch says; once more exported, it must keep its bytes."""
    line = parse_series(b"it.patch\n").lines[0]
    known = {ID: "v1.2", OTHER: None}
    pinned = Pinned("c" * 40, "v1", (line,), repository="https://example.org/up", landed=known)
    item = ExportItem(headed(fields), line, Author("Joe", "joe@example.org", "0 +0000"))
    raw = FORMS[form].rewritten(item, item.patch.diff, pinned)
    again = ExportItem(parse_patch(raw, name="it.patch"), line, item.author)
    assert FORMS[form].kept((again,), pinned) == (True,)
    assert again.patch.diff == item.patch.diff
    names = (STATUS, MAINLINE, "Git-commit", "Git-repo")
    return {name: said for name in names if (said := again.patch.says(name)) is not None}


QUEUED = {MAINLINE: "Queued in subsystem maintainer repository", "Git-commit": OTHER,
          "Git-repo": "https://example.org/up"}  # fmt: skip
WRITTEN = [
    ("yocto", {}, {STATUS: "Pending"}),
    ("yocto", {"Forwarded": URL}, {STATUS: f"Submitted [{URL}]"}),
    ("yocto", {"Forwarded": "not-needed"}, {STATUS: "Inappropriate"}),
    ("yocto", {"Origin": f"backport, {ID}"}, {STATUS: f"Backport [{ID}]"}),
    ("yocto", {STATUS: "inappropriate, ours"}, {STATUS: "Inappropriate [ours]"}),
    ("yocto", {STATUS: "Denied [x]", "Forwarded": URL}, {STATUS: "Denied [x]"}),
    ("suse", {}, {MAINLINE: "Not yet, not sent upstream"}),
    ("suse", {"Forwarded": URL}, {MAINLINE: f"Submitted, {URL}"}),
    ("suse", {"Forwarded": URL, "Git-repo": "x"}, {MAINLINE: f"Submitted, {URL}"}),
    ("suse", {"Origin": f"backport, {ID[:12]}"}, {MAINLINE: "v1.2", "Git-commit": ID}),
    ("suse", {"Applied-Upstream": f"commit:{OTHER}"}, QUEUED),
    ("suse", {STATUS: "Inappropriate [ours]"},
     {STATUS: "Inappropriate [ours]", MAINLINE: "Never, ours"}),
    ("suse", {MAINLINE: "v1.1", "Git-commit": ID}, {MAINLINE: "v1.1", "Git-commit": ID}),
]  # fmt: skip


@table(("form", "fields", "expected"), WRITTEN)
def test_words_of_others(form: str, fields: Mapping[str, str], expected: Mapping[str, str]) -> None:
    assert written(form, fields) == expected


REFUSED = [
    ("yocto", {STATUS: "Wontfix"}, "has Upstream-Status: Wontfix, which is not a valid status"),
    ("suse", {MAINLINE: "n/a"}, "has Patch-mainline: n/a, which is not a valid status"),
    ("suse", {"Applied-Upstream": "1.2"}, "but its Applied-Upstream names no commit"),
    ("suse", {"Origin": f"backport, {'c3' * 20}"}, "names c3c3c3c3c3c3, which was not fetched"),
]


@table(("form", "fields", "words"), REFUSED)
def test_what_is_not_guessed(form: str, fields: Mapping[str, str], words: str) -> None:
    with pytest.raises(PatchmgrError, match=words):
        written(form, fields)
