"""The constructed cases O and P: both sides add members to one place."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from tests.commands.constructed import Document, Edit, Story, add, say

pytestmark = pytest.mark.each_form  # each has its own sets

_ONE_LINE = {
    "python": 'KINDS = {{"{}"}}\n\n\n',
    "cxx": 'static const std::set<std::string> kinds = {{"{}"}};\n\n',
    "text": "Kinds: {}.\n\n",
}
_MANY_LINES = {
    "python": ("KINDS = {\n", '    "{}",\n', "}\n\n\n"),
    "cxx": ("static const std::set<std::string> kinds = {\n", '    "{}",\n', "};\n\n"),
    "text": ("Kinds:\n", "- {}\n", "\n"),
}


def _one_line(*members: str) -> Edit:
    def edit(document: Document) -> Document:
        comma = ", " if document.form.name == "text" else '", "'
        text = _ONE_LINE[document.form.name].format(comma.join(members))
        return replace(document, preamble=text)

    return edit


def _many_lines(*members: str) -> Edit:
    def edit(document: Document) -> Document:
        head, item, foot = _MANY_LINES[document.form.name]
        return replace(document, preamble=head + "".join(map(item.format, members)) + foot)

    return edit


SETS = pytest.mark.parametrize(
    "kinds", [pytest.param(_one_line, id="one-line"), pytest.param(_many_lines, id="many-lines")]
)


@SETS
def test_o_other_members_in_the_set(story: Story, kinds: Callable[..., Edit]) -> None:
    """O: upstream added other members to the set that we add one to, which was sorted before."""
    is_asked = story.form.name == "text" and kinds is _one_line
    story.start(kinds("amber", "birch", "cedar"))
    story.patch(kinds("amber", "birch", "cedar", "olive"))
    story.upstream(7, kinds("amber", "birch", "cedar", "maple", "rowan"))
    told = story.rebase(code=3 if is_asked else 0)
    if is_asked:
        assert told.verdicts() == ["conflict"]
        return
    assert told.verdicts() == ["modified"]
    assert told.hunks() == ["modified structural"]
    assert told.cause() == [7]
    old = ("amber", "birch", "cedar")
    new = ("maple rowan olive", "olive maple rowan", "maple olive rowan")
    orders = [kinds(*old, *members.split()) for members in new]
    assert told.tree in [story.tree(order) for order in orders]


@SETS
def test_o_ours_among_the_members(story: Story, kinds: Callable[..., Edit]) -> None:
    """O: upstream added members, ours among them."""
    story.start(kinds("amber", "birch", "cedar"))
    story.patch(kinds("amber", "birch", "cedar", "olive"))
    story.upstream(7, kinds("amber", "birch", "cedar", "maple", "olive", "rowan"))
    if story.form.name == "text" and kinds is _one_line:
        assert story.rebase(code=3).verdicts() == ["conflict"]
        return
    told = story.rebase()
    assert told.verdicts() == ["absorbed"]
    assert told.hunks() == ["absorbed superset #7"]
    assert told.evidence() == [7]
    assert told.tree == story.tree()


@pytest.mark.parametrize("is_wrapped", [False, True], ids=["functions", "methods"])
def test_p_another_function_at_the_same_place(story: Story, is_wrapped: bool) -> None:
    """P: upstream added another function, or method, where we add one."""
    story.start(lambda document: replace(document, is_wrapped=is_wrapped))
    ours = add("our_own", tuple(say(30, n) for n in range(6)), before=11)
    theirs = add("their_own", tuple(say(35, n) for n in range(7)), before=11)
    story.patch(ours)
    story.upstream(7, theirs)
    if story.form.name == "text":
        assert story.rebase(code=3).verdicts() == ["conflict"]
        return
    told = story.rebase()
    assert told.verdicts() == ["modified"]
    assert told.hunks() == ["modified structural"]
    assert told.cause() == [7]
    ours_first = add("our_own", tuple(say(30, n) for n in range(6)), before="their_own")
    assert told.tree in (story.tree(ours), story.tree(ours_first))
