"""The faults of a candidate within its file, and the reasons to ask a person."""

from patchmgr.engines.merge.candidate import Candidate
from patchmgr.engines.merge.resolve import candidates_of
from patchmgr.engines.merge.verify import bound_in, is_broken
from patchmgr.engines.structure.sides import Texts
from tests.engines.merge.marked import marked
from tests.tables import table


def _by_text(
    path: str, base: str, ours: str, theirs: str, *, before: str = "", after: str = ""
) -> dict[str, Candidate]:
    texts = marked(base, ours, theirs, before=before, after=after)
    found = candidates_of(Texts(*texts[:3]), path, texts[3])
    assert found is not None
    return {candidate.text: candidate for candidate in found.regions[0]}


@table("text", ["    x = 1\n", "    x = 1\n    return x\n"])
def test_a_candidate_that_is_as_good_as_a_side_has_no_fault(text: str) -> None:
    sides = ("", "    x = 1\n", "    return x\n")
    assert _by_text("a.py", *sides, before="def f(x):\n")[text].features["fails"] == "no"


@table(
    ("before", "sides", "after"),
    {
        "a decorator": ("", ("@a\n", "@b\n", "@c\n"), "def f():\n    pass\n"),
        "lines of a docstring": (
            'def f():\n    """One.\n\ntwo\n',
            ("three\n", "3\n", "drei\n"),
            '    """\n\n\nx = 1\n',
        ),
    },
)
def test_candidates_are_read_in_files(before: str, sides: tuple[str, str, str], after: str) -> None:
    found = _by_text("a.py", *sides, before=before, after=after)
    assert found[sides[1]].features["fails"] == "no"


def test_a_statement_moved_out_of_a_block_is_not_a_change_of_layout() -> None:
    sides = ("        return x\n", "        return x  \n", "    \n    return x\n")
    found = _by_text("a.py", *sides, before="def f(x):\n    if x:\n        x += 1\n")
    assert {one.asks for one in found.values()} == {"indented"}


_CLEAN = "def f((x, y)):\n    g(x)\n"  # of Python 2, and not parsed


@table(
    ("sides", "merged"),
    {
        "spaces": (("    x = [a,b]\n", "    x = [a,c]\n", "    x = [a, b]\n"), "    x = [a,c]\n"),
        "the spaces in a string, and another line": (
            (
                "    x = ' a '\n    y = 1\n",
                "    x = ' a '\n    y = 2\n",
                "    x = 'a'\n    y = 1\n",
            ),
            "    x = 'a'\n    y = 2\n",
        ),
        "the indentation of all lines": (
            (
                "    g(x)\n    return x\n",
                "    g(x)\n    return y\n",
                "        g(x)\n        return x\n",
            ),
            "        g(x)\n        return y\n",
        ),
    },
)
def test_the_layout_of_code_that_cannot_be_parsed_is_compared_by_tokens(
    sides: tuple[str, str, str], merged: str
) -> None:
    found = _by_text("a.py", *sides, before=_CLEAN)
    assert [text for text, one in found.items() if not one.asks] == [merged]


@table(
    "sides",
    {
        "a line moves out of a block": (
            "        g(x)\n        return x\n",
            "        g(y)\n        return x\n",
            "        g(x)\n    return x\n",
        ),
        "both change the spaces in a string": (
            "        x = 'a'\n",
            "        x = ' a'\n",
            "        x = 'a '\n",
        ),
    },
)
def test_a_change_of_layout_may_change_the_code(sides: tuple[str, str, str]) -> None:
    found = _by_text("a.py", *sides, before=f"{_CLEAN}    if x:\n")
    assert all(one.asks for one in found.values())


def test_two_definitions_of_one_name_are_a_fault() -> None:
    ours, theirs = "def f():\n    return 1\n", "def f():\n    return 2\n"
    found = _by_text("a.py", "", ours, theirs)
    assert found[ours].features["fails"] == "no"
    assert found[ours + theirs].features["fails"] == "defined-twice"


def test_a_repeated_keyword_argument_is_a_fault() -> None:
    found = _by_text("a.py", "f(a)\n", "f(b=1, a=2)\n", "f(a=1, b=2)\n")
    twice = [c for text, c in found.items() if text.count("b=") > 1 and text.count("f(") == 1]
    assert all(candidate.features["fails"] == "syntax" for candidate in twice)


def test_a_name_that_is_no_longer_bound_is_a_fault() -> None:
    sides = ("    x = g()\n", "    x = g()\n    y = 1\n", "    z = g()\n")
    found = _by_text("a.py", *sides, before="def f():\n", after="    return x\n")
    faults = {text: candidate.features["fails"] for text, candidate in found.items()}
    assert faults[sides[1]] == "no"
    assert faults["    z = g()\n    y = 1\n"] == "no"  # theirs has that fault, too


def test_an_import_with_an_alias_binds_only_the_alias() -> None:
    bound = bound_in("import a.b, c as d  # as e\nfrom f import (g, h as i)\n")
    assert bound == {"a", "d", "g", "i"}


def test_a_branch_with_the_condition_of_an_earlier_one_is_a_fault() -> None:
    sides = ("", "    elif x:\n        a()\n", "    elif x:\n        b()\n")
    found = _by_text("a.py", *sides, before="def f(x):\n    if y:\n        c()\n")
    twice = [one for text, one in found.items() if text.count("elif x") > 1]
    assert twice
    assert {one.features["fails"] for one in twice} == {"never reached"}


def test_an_unclosed_bracket_is_a_fault_in_c() -> None:
    sides = "", "if (a) {\n  f();\n}\n", "if (b) {\n  g();\n}\n"
    found = _by_text("a.cc", *sides, before="{\n", after="}\n")
    assert {c.features["fails"] for text, c in found.items() if text.count("{") == 1} == {"no"}


@table(
    ("ours", "theirs", "before", "after", "fails"),
    {
        "not-closed": ("one '\n\ta\n", "two '\n\tb\n", "zero '\n'\n", "'\ndone\n", "syntax"),
        "in-a-remark-or-a-string": (
            "one  # it's one\n", 'two "isn\'t one"\n', "zero\n", "done\n", "no"),
    },
)  # fmt: skip
def test_an_unclosed_quote_is_a_fault_in_a_shell_script(
    ours: str, theirs: str, before: str, after: str, fails: str
) -> None:
    found = _by_text("a.sh", "", ours, theirs, before=before, after=after)
    assert found[theirs].features["fails"] == "no"
    assert {found[text].features["fails"] for text in (ours + theirs, theirs + ours)} == {fails}


def test_json_that_does_not_parse_is_a_fault() -> None:
    sides = ('  "a": 1\n', '  "a": 2\n', '  "a": 3\n')
    found = _by_text("a.json", *sides, before="{\n", after="}\n")
    assert found[sides[1]].features["fails"] == "no" if sides[1] in found else True
    joined = [c for text, c in found.items() if text.count('"a"') == 2]
    assert joined
    assert all(candidate.features["fails"] == "syntax" for candidate in joined)


def test_a_name_whose_import_the_other_side_removed_is_a_fault() -> None:
    base = "from m import cart\n\n\ndef f():\n    use(1, 1)\n"
    ours = "\n\ndef f():\n    use(2, 1)\n"
    theirs = "from m import cart\n\n\ndef f():\n    use(1, cart)\n"
    shown = (
        "\n\ndef f():\n<<<<<<< ours\n    use(2, 1)\n||||||| base\n    use(1, 1)\n=======\n"
        "    use(1, cart)\n>>>>>>> theirs\n"
    )
    found = candidates_of(Texts(base, ours, theirs), "a.py", shown)
    assert found is not None
    first = found.regions[0][0]
    assert (first.text, first.features["fails"]) == ("    use(2, cart)\n", "undefined-name")


def test_the_name_of_a_method_does_not_count_as_bound() -> None:
    within = "class A:\n    def more(self, ids):\n        return ids\n\n    def g(self, ids):\n"
    lines = ("f(self.ids)", "f(ids)", "f(self.more(self.ids))")
    found = _by_text("a.py", *(f"        {line}\n" for line in lines), before=within)
    faults = {text.strip(): candidate.features["fails"] for text, candidate in found.items()}
    assert faults["f(self.more(self.ids))"] == "no"
    assert faults["f(more(self.ids))"] == "undefined-name"


@table(
    ("path", "lines", "before", "after"),
    {
        "TOML": ("a.toml", ("", "a = 1\n", "a = 2\n"), "", ""),
        "JSON": ("a.json", ("", ' "a": 1,\n', ' "a": 2,\n'), "{\n", ' "z": 0\n}\n'),
    },
)
def test_a_repeated_key_of_data_is_a_fault(
    path: str, lines: tuple[str, str, str], before: str, after: str
) -> None:
    found = _by_text(path, *lines, before=before, after=after)
    both = [one for text, one in found.items() if lines[1] in text and lines[2] in text]
    assert both
    assert {one.features["fails"] for one in both} == {"syntax"}


@table(("path", "asked"), [("a.cc", "one side"), ("a.py", "")])
def test_only_a_person_may_drop_one_of_two_insertions(path: str, asked: str) -> None:
    """Upstream passes a value that it read before; the patch passes the original (a CUDA seed)."""
    lines = ("f(sram, at);\n", "f(sram, seed, at);\n", "f(sram, params.seed, at, x);\n")
    found = _by_text(path, *lines, before="int g() {\n" if path == "a.cc" else "def g():\n")
    assert found["f(sram, params.seed, at, x);\n"].asks == asked


@table("path", ["a.cc", "a.py"])
def test_a_name_that_one_side_replaces_and_the_other_qualifies_asks_a_person(path: str) -> None:
    lines = ("f(seed, 1);\n", "f(read_seed, 1);\n", "f(params.seed, 1);\n")
    found = _by_text(path, *lines, before="int g() {\n" if path == "a.cc" else "def g():\n")
    assert found["f(params.read_seed, 1);\n"].asks == "one expression"


DEVICE = "  Device device;\n  read(&device);\n"
CAST = "  out[(int64_t) at] = sum;\n"


@table(
    ("lines", "asks"),
    {
        "a-statement-that-ours-copies-and-theirs-changes": (
            ("  out[at] = sum;\n", "  if (a)\n    out[at] = sum;\n  else\n    out[at] = sum;\n",
             CAST),
            {"moved"}),
        "a-variable-that-both-declare": (
            ("  n = 256;\n", f"{DEVICE}  n = device.threads;\n", "  Tool device;\n  n = 256;\n"),
            {"said twice", "doubled"}),
        "a-parameter-of-one-that-comes-into-another": (
            ("void close(int fd, int sync);\nvoid flush(int fd);\n",
             "void close(int fd);\nvoid shut(int fd, long at);\nvoid flush(int fd, long at);\n",
             "void close(int fd, int sync, int cache);\nvoid flush(int fd);\n"),
            {"order", "elsewhere", "doubled"}),
        "in-blocks-of-their-own": (
            ("", "  {\n    Tool device;\n    a(device);\n  }\n", f"  {{\n{DEVICE}  }}\n"), {""}),
    },
)  # fmt: skip
def test_changes_of_both_sides_to_c_may_clash(lines: tuple[str, str, str], asks: set[str]) -> None:
    found = _by_text("a.cc", *lines, before="void f() {\n", after="}\n")
    both = [
        one
        for text, one in found.items()
        if text not in lines and one.rule not in ("ours", "theirs")
    ]
    assert {one.asks for one in both} == asks


CALL = "  plot->set(which, color);\n"
G = "}\n\nvoid F::color(int which, const S& color) {\n"
OPEN = "    setCurrent(at(i.key()));\n"
UNLESS = "    if (!i.has() && !k.empty()) {\n        open(i.path());\n    } else {\n"
FIELDS = "\tint a;\n\tlong b;\n"
COPY = "\tx->quants = (U*) malloc(sizeof(values));\n"


@table(
    ("path", "base", "ours", "theirs", "merged", "asks"),
    {
        "a prefix that one side replaces": (
            "CMakeLists.txt", "old_a(a)\nold_b(b)\n", "new_a(a)\nnew_b(b)\n",
            "old_a(a)\nold_b(b)\nold_c(c)\n", "new_a(a)\nnew_b(b)\nold_c(c)\n", "renamed"),
        "a prefix that one side replaces once": (
            "CMakeLists.txt", "old_a(a)\nall(b)\n", "new_a(a)\nall(b)\n",
            "old_a(a)\nall(b)\nold_c(c)\n", "new_a(a)\nall(b)\nold_c(c)\n", ""),
        "edits before and after the end of a function": (
            "a.cc", CALL, f"  plot->label(which, name);\n{G}  plot->color(which, color);\n",
            "  C c = C(color);\n  plot->set(which, c);\n",
            f"  C c = C(color);\n  plot->label(which, name);\n{G}  plot->color(which, c);\n",
            "closes"),
        "an edit before the end of a function": (
            "a.cc", CALL, f"{CALL}{G}  plot->label(which, color);\n",
            "  plot->set(which + 1, color);\n",
            f"  plot->set(which + 1, color);\n{G}  plot->label(which, color);\n", ""),
        "a block of each around one line": (
            "a.cc", OPEN, f"{UNLESS}    {OPEN}    }}\n",
            f"    if (pw.empty() && k.empty()) {{\n    {OPEN}    }} else {{\n"
            "        if (!i.is()) {\n            open(path);\n        }\n    }\n",
            f"{UNLESS}    if (pw.empty() && k.empty()) {{\n    {OPEN}    }} else {{\n"
            "        if (!i.is()) {\n            open(path);\n        }\n    }\n    }\n",
            "one block"),
        "a block of one side": (
            "a.cc", OPEN, f"{UNLESS}    {OPEN}    }}\n", f"{OPEN}    close(path);\n",
            f"{UNLESS}    {OPEN}    }}\n    close(path);\n", ""),
        "one parameter with two names": (
            "a.h", "  void a(E* e);\n", "  void a(E* e);\n  void b(E* event) override;\n",
            "  void b(E *e = {});\n  void a(E* e);\n",
            "  void b(E *e = {});\n  void a(E* e);\n  void b(E* event) override;\n",
            "declared alike"),
        "parameters of two types": (
            "a.h", "  void a(E* e);\n", "  void a(E* e);\n  void b(F* event) override;\n",
            "  void b(E *e);\n  void a(E* e);\n",
            "  void b(E *e);\n  void a(E* e);\n  void b(F* event) override;\n", ""),
        "two types of pointers": (
            "a.h", "", "typedef void (*a)(B* b, int id);\n", "typedef void (*c)(B* b, U code);\n",
            "typedef void (*c)(B* b, U code);\ntypedef void (*a)(B* b, int id);\n", ""),
        "two functions that copy the same": (
            "a.c", "\tx->quants = (U*) values;\n",
            f"{COPY}\tCopyMemory(x->quants, &values, sizeof(values));\n",
            f"{COPY}\tmemcpy(x->quants, values, sizeof(values));\n",
            f"{COPY}\tmemcpy(x->quants, values, sizeof(values));\n"
            "\tCopyMemory(x->quants, &values, sizeof(values));\n", "declared alike"),
        "two functions that each side calls in addition": (
            "a.c", "", "\tput(x->all, sizeof(all));\n", "\tlist(x->all, sizeof(all));\n",
            "\tlist(x->all, sizeof(all));\n\tput(x->all, sizeof(all));\n", ""),
        "a word before each line": (
            "a.h", FIELDS, f"{FIELDS}\tchar* c;\n", "\tALIGN int a;\n\tALIGN long b;\n",
            "\tALIGN int a;\n\tALIGN long b;\n\tchar* c;\n", "older form"),
        "a word before one of the lines": (
            "a.h", FIELDS, f"{FIELDS}\tchar* c;\n", "\tALIGN int a;\n\tlong b;\n",
            "\tALIGN int a;\n\tlong b;\n\tchar* c;\n", ""),
        "one fewer for a line of each": (
            "a.h", f"{FIELDS}\tint pad[100 - 48];\n", f"\tchar* c;\n{FIELDS}\tint pad[100 - 49];\n",
            f"{FIELDS}\tvoid (*d)();\n\tint pad[100 - 49];\n",
            f"\tchar* c;\n{FIELDS}\tvoid (*d)();\n\tint pad[100 - 49];\n", "same number"),
        "twenty more for a line of each": (
            "a.h", f"{FIELDS}\tint pad[100 - 48];\n", f"\tchar* c;\n{FIELDS}\tint pad[100 - 28];\n",
            f"{FIELDS}\tvoid (*d)();\n\tint pad[100 - 28];\n",
            f"\tchar* c;\n{FIELDS}\tvoid (*d)();\n\tint pad[100 - 28];\n", ""),
        "a line of which only the sign is left": (
            "a.am", "    a.h \\\n    b.h \\\n", "    b.h \\\n", "    a.h \\\n    c.h \\\n",
            " \\\n    c.h \\\n", "wordless"),
        "a line that a side has": (
            "a.am", "    a.h \\\n    b.h\n", "    b.h\n", "    a.h \\\n    b.h \\\n    c.h\n",
            "    b.h \\\n    c.h\n", ""),
        "a line feed less, and the end of a function": (
            "a.cc", "\t// Not yet \n\tkeep(this);\n", "\t// Not yet\n\tkeep(this);\n",
            "void start()\n\t{\n\tlog(name());\n", "void start()\n\t{\n\tlog(name());\n", ""),
        "a call that one side wraps": (
            "a.cc", "    if (key.starts(URL)\n        && open(value(key), domain, url)) {\n",
            "    if (key.starts(URL) && open(value(key), url, other)) {\n",
            "    if (key.starts(URL) && open(value(key), domain, url)) {\n",
            "    if (key.starts(URL) && open(value(key), url, other)) {\n", ""),
        "one declaration with two indentations": (
            "a.cc", "\tguard a(*d[i]->mutex());\n\tfloat b = d[i]->items();\n",
            "    reader in = d[i];\n    guard a(*in->mutex());\n    float b = in->items();\n",
            "    reader in = d[i];\n\tguard a(*in->mutex());\n    float b = in->items();\n",
            "    reader in = d[i];\n    guard a(*in->mutex());\n    float b = in->items();\n", ""),
        "a word behind a line that the other side has once": (
            "a.h", "    void setup();\n", "    void setup();\n\n    void handle(handler);\n",
            "    void setup() override;\n",
            "    void setup() override;\n\n    void handle(handler);\n", ""),
        "an argument beside another that is new": (
            "a.cc", "f(new A(i, t));\n", "f(new A(i, tnew));\n", "f(new A(i, t, false));\n",
            "f(new A(i, tnew, false));\n", ""),
        "a parameter beside another that goes": (
            "a.cc", "R::R(int seq, T type)\n", "R::R(uint64 seq, T type)\n", "R::R(int seq)\n",
            "R::R(uint64 seq)\n", ""),
        "arguments that move to another place beside a new one": (
            "a.cc", "f(new A(t, attr));\n", "f(new A(attr, other));\n",
            "f(new A(false, t, attr));\n", "f(new A(false, attr, other));\n", "order"),
        "a word before one that the other side replaces": (
            "a.c", "int f(P* p, S* s)\n", "static int f(P* p, S* s)\n", "ERROR f(P* p, S* s)\n",
            "static ERROR f(P* p, S* s)\n", ""),
        "an argument with the name of a word in a comment": (
            "a.py", "find(at, f(\n    Editor(a)))\n", "find(at, f(\n    Editor(a, b)))\n",
            "find(at, f(\n    choose(None, a)))  # todo: pass in b\n",
            "find(at, f(\n    choose(None, a)))  # todo: pass in b\n", "loses"),
    },
)  # fmt: skip
def test_changes_that_depend_on_each_other_ask_a_person(
    path: str, base: str, ours: str, theirs: str, merged: str, asks: str
) -> None:
    assert _by_text(path, base, ours, theirs)[merged].asks == asks


LOGGED = '    if (!rename(file, suffix)) {\n        warn() << "Unable to " << file;\n    }\n'
OTHER = '    pin();\n    if (!replace(file, suffix)) {\n        warn() << "Not there:" << error;\n'


@table(
    ("theirs", "asks"),
    {
        "both-go": (f"{OTHER}    }}\n", "no place"),
        "one-stays": (f"{OTHER}    }}\n    schedule(folder);\n", ""),
    },
)
def test_an_insertion_needs_a_line_that_the_other_side_keeps(theirs: str, asks: str) -> None:
    after = "}\nvoid g() {\n    rename(file, suffix, folder);\n}\n"
    sides = (
        f"{LOGGED}    schedule(folder);\n",
        f"{LOGGED}    changed(file);\n    schedule(folder);\n",
    )
    found = _by_text("a.cc", *sides, theirs, before="void f() {\n", after=after)
    assert next(one.asks for one in found.values() if one.rule == "replay") == asks


@table(
    ("theirs", "asks"),
    {
        "around-it": (
            "#ifndef NO_POLL\n#include <sys/poll.h>\n#else\n#include <poll.h>\n#endif\n",
            "emptied",
        ),
        "behind-it": ("#include <sys/poll.h>\nint more;\n", ""),
    },
)
def test_text_left_around_a_deleted_line_asks_a_person(theirs: str, asks: str) -> None:
    sides = ("#include <sys/poll.h>\n", "", theirs)
    found = _by_text("a.h", *sides, before="#include <sys/poll.h>\n#include <a.h>\n")
    left = theirs.replace("#include <sys/poll.h>\n", "")
    assert found[left].asks == asks


@table(
    ("after", "asks"),
    {
        "another-use": ("a = old.A\nb = old.B\n", "used elsewhere"),
        "no-other-use": ("a = old.A\n", ""),
    },
)
def test_an_alias_that_a_side_renames_and_the_other_uses_asks(after: str, asks: str) -> None:
    base, ours, theirs = 'import old "v2/p"\n', 'import old "v3/p"\n', 'import new "v2/p"\n'
    *_, marked_text = marked(base, ours, theirs, after=after)
    texts = Texts(f"{base}a = old.A\n", f"{ours}{after}", f"{theirs}a = new.A\n")
    found = candidates_of(texts, "a.go", marked_text)
    assert found is not None
    assert found.regions[0][0].text == 'import new "v3/p"\n'
    assert found.regions[0][0].asks == asks


def test_an_entry_that_ends_two_sections_asks_a_person() -> None:
    fix = "* [BUGFIX] Fix queries after a failed snapshot replay. #9980\n"
    ours, theirs = "## 2.0\n* [FEATURE] A new mode of operation. #87\n", "## 1.2\n"
    base, text = "## 1.1\n", f"<<<<<<< ours\n{ours}||||||| base\n=======\n{theirs}>>>>>>> theirs\n"
    sides = (f"{side}{fix}{base}" for side in (ours, theirs))
    found = candidates_of(Texts(base, *sides), "CHANGES.md", f"{text}{fix}{base}")
    assert found is not None
    asks = {one.rule: one.asks for one in found.regions[0]}
    assert asks["theirs, ours"] == asks["ours, theirs"] == "two wordings"


@table(
    ("base", "ours", "theirs", "merged", "asks"),
    {
        "its day, and another release above it": (
            "## 1.2 (not yet)\n", "## 1.2 (today)\n", "## 1.3 (not yet)\n", "## 1.3 (today)\n",
            "sections"),
        "its day in other words": (
            "## 1.2 (not yet)\n", "## 1.2 (today)\n", "## 1.2! (not yet)\n", "## 1.2! (today)\n",
            ""),
    },
)  # fmt: skip
def test_a_section_whose_release_one_side_changes_asks_a_person(
    base: str, ours: str, theirs: str, merged: str, asks: str
) -> None:
    assert _by_text("CHANGES.md", base, ours, theirs)[merged].asks == asks


_PYTHON_2 = """\
from a.async import b, c
print 'd', 0777, 5L, ur'e', `b`
if b <> 1: raise b, 'f'
try: exec 'g' in b
except (b,
        c), h: raise b('i'), None, h
else: print lambda (j, k): j
"""


@table(
    ("path", "text", "side", "is_so"),
    [
        ("a.py", "x = 1y = 2\n", "x = 1\ny = 2\n", True),
        ("a.py", "x = 1y = 2\n", "x = 1z = 2\n", False),
        ("a.py", f"{_PYTHON_2}x = y\n", _PYTHON_2, True),
        ("a.py", f"{_PYTHON_2}x = c\n", _PYTHON_2, False),
        ("a.rb", "x\nend\n", "x\n", True),
        ("a.md", "x(\n", "x\n", True),
        ("a.md", "x(\n", "y(\n", False),
        ("a.i", "#ifdef A\n#if B\n#endif\n", "#if B\n#endif\n", True),
        ("a.xml", "<p>\n<br/>\n<p>\n</p>\n", "<p>\n</p>\n", True),
        ("a.h", "vector<int> a;\nhere(1);\n", "here(1);\n", False),
        ("a.php", "<?php\nuse A;\n\nnamespace B;\n", "<?php\nnamespace B;\n", True),
        ("a.cs", "using A;\n\nnamespace B;\n", "namespace B;\n", False),
        ("a.php", "use A;\n" * 100_000, "", False),
        ("a.xml", "<" + "p" * 1_000_000, "", False),
        ("a.py", "here(1)\nx = 1\nhere(1)\n", "here(1)\n", True),
        ("a.py", "here(1)\nx = 1\nhere(1)\n", "here(1)\nhere(1)\n", False),
        ("a.py", "#!/bin/py\n\n# coding: l1\n", "#!/bin/py\n# coding: l1\n", True),
        ("a.py", "\n\n\n# coding: l1\n", "\n\n# coding: l1\n", False),
        ("a.cc", "a();\n\ufeff/* b */\n", "\ufeff/* b */\n", True),
        ("a.h", "static int a() const;\n", "int a() const;\n", True),
        ("a.h", "static int a(int b) const;\n", "static int a(int b) const;\n", False),
        ("a.h", "static int a();\nint b() const;\n", "static int a();\n", False),
        ("a.md", "x\r\ny\n", "x\ny\n", True),
        ("a.md", "x\r\ny\n", "x\ny\r\n", False),
    ],
)
def test_a_file_with_a_new_fault_is_broken(path: str, text: str, side: str, is_so: bool) -> None:
    assert is_broken(text, [side] * 3, path) is is_so


@table(
    ("path", "head", "ours", "theirs", "is_so"),
    [
        ("A.java", "class A {\n", "    int a() {\n    }\n", "    int b() {\n    }\n", False),
        ("A.java", "", "public interface A\n{\n}\n", "interface A\n{\n    int a;\n}\n", True),
        ("A.cs", "", "class A\n{\n}\n", "class A<T>\n{\n    int a;\n}\n", False),
        ("a.ts", "class A {\n", "  a(b: B) {\n  }\n", "  private a(c: any): C {\n  }\n", True),
        ("a.ts", "class A {\n", "  get a() {\n  }\n", "  set a(b) {\n  }\n", False),
        ("a.js", "f();\n", "if (a) {\n  b();\n}\n", "if (a) {\n  c();\n}\n", False),
        ("a.js", "f();\n", "it('a', () => {\n  b();\n});\n", "it('c', (d) => {\n});\n", False),
        ("a.js", "f({\n", "  a: 1,\n", "  'a': 2,\n", True),
        ("A.java", "class A {\n", "    private int a = 1;\n", "    static final B a;\n", True),
        ("A.java", "class A {\n", "    private int a = b;\n", "    private int b = a;\n", False),
        ("a.php", "class A\n{\n", "    static $a = 1;\n", "    protected ?B $a;\n", True),
        ("a.js", "f();\n", "a = b => 1;\n", "a = c => 1;\n", False),
        ("a.properties", "a=b\n", "a\\:_%1...=\n", "a\\:_%1... = b=c\n", True),
        ("a.properties", "a=b\n", "c=b\n", "d=b\n", False),
    ],
)
def test_a_name_that_both_sides_add_to_one_block_breaks_the_file(
    path: str, head: str, ours: str, theirs: str, is_so: bool
) -> None:
    sides = head, head + ours, head + theirs
    assert is_broken(head + ours + theirs, sides, path) is is_so


def test_a_method_that_both_sides_add_at_different_places_breaks_the_file() -> None:
    head, end = "class A {\n", "}\n"
    old, new = "    public int a() {\n    }\n", "    public int b() {\n    }\n"
    sides = (f"{head}{old}{end}", f"{head}{new}{old}{end}", f"{head}{old}{new}{end}")
    assert is_broken(f"{head}{new}{old}{new}{end}", sides, "A.java")
    other = new.replace("b()", "b(int c)")
    assert not is_broken(f"{head}{new}{old}{other}{end}", sides, "A.java")


@table(
    ("path", "base", "ours", "theirs", "merged", "is_so"),
    {
        "in the try alone": (
            "a.py", "here(1)\n", "try:\n    here(1)\nexcept E:\n    pass\n",
            "if a:\n    b = 1\n    here(1)\n",
            "if a:\n    b = 1\ntry:\n    here(1)\nexcept E:\n    pass\n", True),
        "in both": (
            "a.py", "here(1)\n", "try:\n    here(1)\nexcept E:\n    pass\n",
            "if a:\n    here(1)\n",
            "if a:\n    try:\n        here(1)\n    except E:\n        pass\n", False),
        "in another item": (
            "a.yml", "a:\n  - there\n  - here it is\n", "a:\n- there\n- here it is\n",
            "a:\n  - here it is\n  - there\n", "a:\n- there\n  - here it is\n", True),
        "a field in a class whose head one side changes": (
            "A.java", "class A {\n}\n", "class A {\n    int a;\n    private int b = 1;\n}\n",
            "class A implements B {\n    private int b = 2;\n}\n",
            "class A implements B {\n    private int b = 2;\n    int a;\n"
            "    private int b = 1;\n}\n", True),
        "a block of each side": (
            "a.cc", "", "if (a) {\n  here(1);\n}\n", "b();\nif (a) {\n  here(1);\n}\n",
            "if (a) {\n  here(1);\n}\nb();\nif (a) {\n  here(1);\n}\n", True),
        "another block under the condition of each side": (
            "a.cc", "", "if (here) {\n  b();\n}\n", "c();\nif (here) {\n  d();\n}\n",
            "if (here) {\n  b();\n}\nc();\nif (here) {\n  d();\n}\n", False),
        "the class of a file that both sides add": (
            "a.sc", "", "Here : Test {\n\ta { }\n}\n", "Here : Test {\n\tb { }\n}\n",
            "Here : Test {\n\ta { }\n}\nHere : Test {\n\tb { }\n}\n", True),
        "under another condition": (
            "a.cc", "#if A\na();\n#else\n#include <b.h>\n#endif\n",
            "#if A\na();\n#else\n#include <here.h>\n#include <b.h>\n#endif\n",
            "#if A\na();\n#endif\n#if B\n#include <b.h>\n#endif\n",
            "#if A\na();\n#endif\n#if B\n#include <here.h>\n#include <b.h>\n#endif\n", True),
        "under one more condition": (
            "a.cc", "#if A\n#include <b.h>\n#endif\n",
            "#if A\n#include <here.h>\n#include <b.h>\n#endif\n",
            "#if C\n#if A\n#include <b.h>\n#endif\n#endif\n",
            "#if C\n#if A\n#include <here.h>\n#include <b.h>\n#endif\n#endif\n", False),
        "under a condition that one side changes": (
            "a.cc", "#if A\n#include <b.h>\n#endif\n",
            "#if A\n#include <here.h>\n#include <b.h>\n#endif\n",
            "#if A || C\n#include <b.h>\n#endif\n",
            "#if A || C\n#include <here.h>\n#include <b.h>\n#endif\n", False),
        "an annotation of each side": (
            "a.py", "", "@here(1)\ndef a(): pass\n", "@here(1)\ndef b(): pass\n",
            "@here(1)\ndef a(): pass\n@here(1)\ndef b(): pass\n", False),
        "a name that one side removes": (
            "a.py", "import a\na(1)\n", "import a\na(1)\na(2)\n", "", "a(2)\n", True),
        "a message with the translation of another one": (
            "a.po", 'msgid "a"\nmsgstr ""\n', 'msgid "a"\nmsgstr "A"\n',
            'msgid "b"\nmsgstr ""\n', 'msgid "b"\nmsgstr "A"\n', True),
        "the header of translations": (
            "a.po", 'msgid ""\nmsgstr ""\n"a\\n"\n"b\\n"\n',
            'msgid ""\nmsgstr ""\n"A\\n"\n"b\\n"\n', 'msgid ""\nmsgstr ""\n"a\\n"\n"B\\n"\n',
            'msgid ""\nmsgstr ""\n"A\\n"\n"B\\n"\n', False),
        "in a released section": (
            "C.md", "## Next\n* an old one\n", "## Next\n## 1.2\n* an old one\n",
            "## Next\n* an old one\n* a new one\n",
            "## Next\n## 1.2\n* an old one\n* a new one\n", True),
        "in the next section": (
            "C.rst", "Next\n----\n- an old one\n", "Next\n----\n\n1.2\n---\n- an old one\n",
            "Next\n----\n- an old one\n- a new one\n",
            "Next\n----\n- a new one\n\n1.2\n---\n- an old one\n", False),
        "below lines, not headings": (
            "a.adoc", "== Next\n* an old one\n", "== Next\n[tabs]\n======\n* an old one\n",
            "== Next\n* an old one\n* a new one\n",
            "== Next\n[tabs]\n======\n* an old one\n* a new one\n", False),
    },
)  # fmt: skip
def test_a_line_that_leaves_its_block_or_section_breaks_the_file(
    path: str, base: str, ours: str, theirs: str, merged: str, is_so: bool
) -> None:
    assert is_broken(merged, (base, ours, theirs), path) is is_so
