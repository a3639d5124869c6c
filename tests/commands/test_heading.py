"""`edit`, `rename`, `show` and guards: what a patch says of itself, and what is said of it."""

import pytest

from tests.commands.desks import Hands, hands
from tests.commands.scenes import PARTS, Stage, one_line, text
from tests.commands.test_refreshing import diff_of
from tests.conftest import Repository, once
from tests.tables import table


@pytest.fixture
def desk(stage: Stage) -> Hands:
    """Return a desk at the two patches of the stage, both pushed."""
    once("heading", stage.folder, PARTS, lambda: hands(stage).run("push", "-a"))
    return Hands(stage, Repository(stage.folder / "checkout", is_there=True), "s")


def header(desk: Hands, name: str) -> str:
    """Return the header of a patch, as `show` prints it."""
    return desk.run("show", name, "--header").out


TOP = (
    "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"
    'From: "A. Author" <author@example.org>\n'
    "Date: Tue, 14 Nov 2023 22:13:20 +0000\n"
)


@table(
    ("options", "below"),
    [
        (("--subject", "Other"), "Subject: Other\n\nWhy it is so.\n\n"),
        (("-m", ""), "Subject: fork: one\n\n"),
        (("-m", "From: a <a@b>\n---\nx"), "Subject: fork: one\n\n> From: a <a@b>\n> ---\nx\n\n"),
        (
            ("--field", "Origin=vendor", "--field", "Bug=https://example.org/1"),
            "Subject: fork: one\n\nWhy it is so.\n\nOrigin: vendor\nBug: https://example.org/1\n\n",
        ),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else None,
)
def test_options_change_their_part_alone(desk: Hands, options: tuple[str, ...], below: str) -> None:
    old = desk.raw("fork-one.patch")
    desk.run("edit", "fork-one", *options)
    assert header(desk, "fork-one") == TOP.replace('"A. Author"', header_name(old)) + below
    assert diff_of(desk.raw("fork-one.patch")) == diff_of(old)
    (desk.folder / "fork-one.patch").write_bytes(old)


def header_name(raw: bytes) -> str:
    """Return the author's name as the header writes it."""
    line = next(line for line in raw.decode().split("\n") if line.startswith("From: "))
    return line[6 : line.index(" <")]


def test_a_field_is_replaced_where_it_stands_and_goes_when_it_is_empty(desk: Hands) -> None:
    desk.run("edit", "fork-one", "--field", "Origin=one", "--field", "Forwarded=no")
    desk.run("edit", "fork-one", "--field", "origin=two\nlines")
    below = "Why it is so.\n\norigin: two\n lines\nForwarded: no\n\n"
    assert header(desk, "fork-one").endswith(below)
    desk.run("edit", "fork-one", "--field", "Origin=")
    assert header(desk, "fork-one").endswith("Why it is so.\n\nForwarded: no\n\n")
    assert desk.run("show", "fork-one", "--json").json["fields"]["Forwarded"] == "no"
    desk.run("pop", "-a")  # the header is none of what was pushed


def test_an_author_is_replaced_and_unknown_lines_stay(desk: Hands) -> None:
    place = desk.folder / "fork-one.patch"
    place.write_bytes(place.read_bytes().replace(b"Subject: fork", b"X-Odd:  kept \nSubject: fork"))
    desk.run("edit", "fork-one", "--author", "Jörg, B. <j@example.org>", "--subject", "Größer")
    found = header(desk, "fork-one")
    assert 'From: "Jörg, B." <j@example.org>\nDate: ' in found
    assert "X-Odd:  kept \nSubject: Größer\nMIME-Version: 1.0\n" in found
    shown = desk.run("show", "fork-one", "--json").json
    assert shown["author"] == "Jörg, B. <j@example.org>"
    assert shown["subject"] == "Größer"


@table(
    ("options", "message"),
    [
        (("--subject", "two\nlines"), "the Subject must be one line of plain text"),
        (("--subject", " "), "the Subject must be one line of plain text"),
        (("--author", "nobody"), "--author must be written as: Name <name@example.org>"),
        (("--field", "Origin"), "--field must be written as NAME=VALUE, not 'Origin'"),
        (("--field", "two words=x"), "two words is not a valid field name"),
        (("--field", "Subject=x"), "the field Subject cannot be set with --field; use --subject"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else None,
)
def test_what_no_header_can_hold(desk: Hands, options: tuple[str, ...], message: str) -> None:
    before = desk.look()
    assert one_line(desk.run("edit", *options, code=2)) == message
    assert desk.look() == before


def test_a_condition_that_cannot_be_read_is_refused(desk: Hands) -> None:
    before = desk.raw("fork-one.patch")
    for value, problem in (
        ("foo bar", "patch fork-one.patch Needed-When"),
        ("path x of other", "patch fork-one.patch names an unknown upstream: other"),
    ):
        told = one_line(desk.run("edit", "fork-one", "--field", f"Needed-When={value}", code=1))
        assert f"is not a valid header for fork-one.patch: {problem}" in told
        assert desk.raw("fork-one.patch") == before


def test_fields_that_go_with_the_old_text_are_named(desk: Hands) -> None:
    desk.run("edit", "fork-one", "--field", "Needed-When=path pkg", "--field", "Origin=one")
    told = desk.run("edit", "fork-one", "-m", "Better.", "--field", "Origin=two").err
    assert "these fields, which are gone: Needed-When\n" in told


def test_a_plain_header_becomes_a_mail_when_it_is_edited(desk: Hands) -> None:
    place = desk.folder / "fork-two.patch"
    raw = place.read_bytes()
    diff = raw[raw.index(b"diff --git") :]
    place.write_bytes(b"Description: words\n more\nOrigin: vendor\n\n" + diff)
    desk.run("edit", "--field", "Forwarded=no")
    new = place.read_bytes()
    assert new.startswith(b"From 0000000000000000000000000000000000000000 Mon Sep 17")
    assert b"\nSubject: words\n" in new
    assert b"Origin: vendor\n" in new
    assert new.endswith(diff)


def test_the_editor_gets_the_header(desk: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_EDITOR", "sed -i -e s/Why/How/")
    assert desk.run("edit", "fork-one").out == "Edited fork-one.patch: fork: one\n"
    assert header(desk, "fork-one").endswith("\n\nHow it is so.\n\n")
    assert desk.run("edit", "fork-one").out == "fork-one.patch is unchanged\n"
    monkeypatch.setenv("GIT_EDITOR", "truncate -s 0")
    assert one_line(desk.run("edit", code=2)) == "the header is empty, so nothing was changed"
    monkeypatch.setenv("GIT_EDITOR", "false")
    assert one_line(desk.run("edit", code=1)).startswith("the editor false ended with exit code 1")


def test_the_editor_does_not_draw_into_the_result(
    desk: Hands, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GIT_EDITOR", "echo drawn; sed -i -e s/Why/How/")
    desk.run("edit", "fork-one", "--json")
    drawn = capfd.readouterr()
    assert "drawn" not in drawn.out
    assert "drawn\n" in drawn.err


def test_what_is_no_header_is_kept_as_typed(desk: Hands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_EDITOR", "sed -i -e '$a--- a/x\\n+++ b/x\\n@@ -1 +1 @@\\n-a\\n+b'")
    before = desk.raw("fork-one.patch")
    answer = desk.run("edit", "fork-one", code=1)
    assert "it would change what the patch does" in one_line(answer)
    kept = desk.stage.root / ".patchmgr/header.txt"
    assert f"your text is kept in {kept}" in answer.err
    assert "Why it is so." in kept.read_text()
    assert desk.raw("fork-one.patch") == before


def test_a_patch_gets_another_name_everywhere(desk: Hands) -> None:
    raw = desk.raw("fork-one.patch")
    (desk.folder / "series").write_text("# one\nfork-one.patch #-sym # why\nfork-two.patch\n")
    settings = "# mine\n[groups]\nx = ['fork-one', \"fork-two\"]  # a group\n"
    (desk.folder / "series.toml").write_text(settings)
    assert desk.run("rename", "fork-one", "first").out == "Renamed fork-one.patch to first.patch\n"
    listed = "# one\nfirst.patch #-sym # why\nfork-two.patch\n"
    assert (desk.folder / "series").read_text() == listed
    assert (desk.folder / "series.toml").read_text() == settings.replace("fork-one", "first")
    assert desk.raw("first.patch") == raw
    assert desk.applied() == ["first.patch", "fork-two.patch"]
    assert desk.run("rename", "second").out == "Renamed fork-two.patch to second.patch\n"
    assert desk.run("rename", "second").out == "second.patch is unchanged\n"
    assert "already has a patch first.patch" in one_line(desk.run("rename", "first", code=1))
    (desk.folder / "stray.patch").write_text("mine\n")
    assert "stray.patch already" in one_line(desk.run("rename", "stray", code=2))
    desk.run("pop", "-a")


def test_a_decision_follows_its_patch(desk: Hands) -> None:
    desk.run("rebase", "s", "--onto", "upstream/collides", code=3)
    desk.run("decide", "fork-one.patch", "needed")
    desk.run("rebase", "--abort")
    desk.run("rename", "fork-one", "first")
    decisions = (desk.stage.root / "conflicts/decisions.toml").read_text()
    assert 'patch = "first.patch"' in decisions


def test_a_patch_that_a_rebase_waits_for_keeps_its_name(desk: Hands) -> None:
    desk.run("rebase", "s", "--onto", "upstream/collides", code=3)
    refused = one_line(desk.run("rename", "fork-one", "first", code=1))
    assert refused == "the rebase in progress still needs fork-one.patch"
    desk.run("rebase", "--abort")
    desk.run("rename", "fork-one", "first")


def test_a_patch_is_shown_as_it_is(desk: Hands) -> None:
    assert desk.run("show", "1").out.encode() == desk.raw("fork-one.patch")
    assert desk.run("show").out.encode() == desk.raw("fork-two.patch")
    desk.run("goto", "0")
    assert one_line(desk.run("show", code=1)) == "no patch of s is pushed; name a patch"


def test_guards_are_set_and_listed(stage: Stage) -> None:
    def guard(*arguments: str) -> str:
        return stage.run("series", "guard", *arguments).out

    assert guard() == "s has no guards\n"
    place = stage.root / "series/s/series"
    place.write_text("fork-one.patch -p1 #+old # why\nfork-two.patch")
    assert guard("fork-one", "+sm120", "#-rocm") == "fork-one.patch  +sm120 -rocm\n"
    assert guard("2", "--", "-x") == "fork-two.patch  -x\n"
    assert place.read_text() == "fork-one.patch -p1 #+sm120 #-rocm # why\nfork-two.patch #-x"
    assert guard("2", "--none") == "fork-two.patch  no guards\n"
    (stage.root / "series/s/series.toml").write_text("[groups]\nexperimental = ['fork-two']\n")
    assert guard() == (
        "fork-one.patch  +sm120 -rocm\nfork-two.patch  no guards  (group experimental is off)\n"
    )
    for wrong in (("1", "sym"), ("1", "+a b"), ("1", "+")):
        assert "is not a guard" in one_line(stage.run("series", "guard", *wrong, code=2))
    assert "or --none" in one_line(stage.run("series", "guard", "1", code=2))


@table(
    ("settings", "select", "is_in"),
    [
        ("[groups]\nexperimental = ['fork-two.patch']\n", (), False),
        ("[groups]\nexperimental = ['fork-two']\n", ("experimental",), True),
        ("[groups]\nexperimental = ['fork-one']\n", (), True),
        ("off = []\n[groups]\nexperimental = ['fork-two']\n", (), True),
        ("off = ['x']\n[groups]\nx = ['fork-two']\n", (), False),
        ("off = ['x']\n[groups]\nx = ['fork-two']\n", ("x",), True),
        ("[groups]\nx = ['fork-two']\n", (), True),
    ],
)
def test_a_group_that_is_off_is_in_nothing_unless_it_is_selected(
    stage: Stage, settings: str, select: tuple[str, ...], is_in: bool
) -> None:
    (stage.root / "series/s/series.toml").write_text(settings)
    options = [word for name in select for word in ("--select", name)]
    built = stage.run("branch", "s", *options, "--json").json
    assert built["commits"] == (1 if "fork-one" in settings else 1 + is_in)
    checkout = stage.folder / "checkout"
    if not checkout.exists():
        stage.clone()
    options += ["--dry-run", "--json"]
    applied = stage.run("apply", "s", "--to", checkout, *options).json
    verdicts = {patch["name"]: patch["verdict"] for patch in applied["patches"]}
    assert (verdicts["fork-two.patch"] == "unchanged") is is_in
    rebased = stage.run("rebase", "s", "--onto", "upstream/main", *options).json
    patches = {patch["name"]: patch for patch in rebased["series"][0]["patches"]}
    assert (patches["fork-two.patch"]["verdict"] == "unchanged") is is_in
    if not is_in:
        assert patches["fork-two.patch"]["reason"].endswith("is off and not selected")
    assert "fork-two.patch" in (stage.root / "series/s/series").read_text()


def test_a_group_that_is_switched_off_is_told_by_verify(stage: Stage) -> None:
    checkout = stage.clone()
    stage.run("apply", "s", "--to", checkout.root)
    (stage.root / "series/s/series.toml").write_text("[groups]\nexperimental = ['fork-two']\n")
    assert "has changed since" in stage.run("verify", "s", "--to", checkout.root, code=4).out
    stage.run("apply", "s", "--to", checkout.root)
    assert (checkout.root / "run.sh").read_text() == "#!/bin/sh\n"
    assert (checkout.root / "pkg/a.py").read_text() == text(l30="ours\n")
