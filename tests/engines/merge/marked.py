"""Files in conflict as git leaves them, made from the three sides of a region."""


def marked(
    base: str, ours: str, theirs: str, *, before: str = "", after: str = ""
) -> tuple[str, str, str, str]:
    """Return base, ours, theirs and the zdiff3 text of a file with one region."""
    shown = (
        f"{before}<<<<<<< ours\n{ours}||||||| base\n{base}=======\n{theirs}>>>>>>> theirs\n{after}"
    )
    sides = tuple(f"{before}{side}{after}" for side in (base, ours, theirs))
    return sides[0], sides[1], sides[2], shown
