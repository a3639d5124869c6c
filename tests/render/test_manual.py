"""Man pages: what roff would take for its own is escaped."""

from datetime import date

from patchmgr.commands.help import parse_topic
from patchmgr.model.manual import CommandPage, ParameterHelp
from patchmgr.render.manual import Manual
from tests.tables import table

MANUAL = Manual("1.2", date(2026, 1, 2), first_line='.\\" ours')
PAGE = CommandPage(
    ("patchmgr", "do"),
    "Do it.",
    ("More.",),
    ("patchmgr do --it 'x'",),
    (ParameterHelp((), "[X]...", "The X.", False),),
    (ParameterHelp(("-i", "--it"), "N", ".Dot", True), ParameterHelp(("--flag",), "", "", False)),
)


def test_the_page_of_a_command() -> None:
    assert MANUAL.command_page(PAGE).decode() == (
        '.\\" ours\n'
        '.TH PATCHMGR\\-DO 1 2026-01-02 "patchmgr 1.2" "patchmgr manual"\n'
        ".SH NAME\npatchmgr\\-do \\- Do it\n"
        ".SH SYNOPSIS\n.B patchmgr do\n"
        "\\fB\\-i\\fP \\fIN\\fP [\\fIOPTIONS\\fP] \\fI[X]...\\fP\n"
        ".SH DESCRIPTION\nDo it.\n.PP\nMore.\n"
        ".SH ARGUMENTS\n.TP\n\\fI[X]...\\fP\nThe X.\n"
        ".SH OPTIONS\n.TP\n\\fB\\-i\\fP, \\fB\\-\\-it\\fP \\fIN\\fP\n\\&.Dot\n"
        ".TP\n\\fB\\-\\-flag\\fP\n\\&\n"
        ".SH EXAMPLES\n.RS 4\n.nf\npatchmgr do \\-\\-it \\(aqx\\(aq\n.fi\n.RE\n"
        ".SH SEE ALSO\n.BR patchmgr (1)\n"
    )


@table(
    ("text", "wanted"),
    [
        ("a `b-c` d", "a \\fBb\\-c\\fP d"),
        ("\\n ~ ^ \"q\" 'q'", "\\en \\(ti \\(ha \\(dqq\\(dq \\(aqq\\(aq"),
        (".br", "\\&.br"),
        ("word " * 15 + ". dot " + "word " * 3, "word " * 15 + "\\&"),
        ("\u00fc \u202e", "\\[u00FC] \\[u202E]"),
        ("    .code", "\\&.code"),
        ("    a\n\n    b", "\na\n"),
        ("- item", ".IP \\(bu 2\nitem\n"),
    ],
)
def test_text_of_a_topic(text: str, wanted: str) -> None:
    page = MANUAL.topic_page(parse_topic(f"# t: about\n\n{text}\n")).decode()
    body = page.partition(".SH DESCRIPTION\n")[2].partition(".SH SEE ALSO")[0]
    plain = wanted.strip() if not wanted.startswith("word") else "word word"
    assert plain in body
    assert all(not line.startswith((". ", ".dot", ".code", ".br")) for line in body.split("\n"))
