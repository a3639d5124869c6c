"""Generated histories: a fork of a few commits and an upstream that went on, from one number."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

File = bytes | None
State = dict[str, bytes]

_WORDS = tuple(f"{word} {n}" for word in ("call", "value", "while", "}", "") for n in range(6))


@dataclass(frozen=True)
class Tale:
    """Files of the base, and what each commit of the fork and of upstream changes.

    `moves` are files that upstream moves before it goes on, old name to new.
    """

    base: Mapping[str, bytes]
    ours: Sequence[Mapping[str, File]]
    theirs: Sequence[Mapping[str, File]]
    moves: Mapping[str, str]


def tell(seed: int) -> Tale:
    """Return the history of a number."""
    chooser = random.Random(seed)
    base = {name: _start(chooser) for name in ("f.py", "g.txt", "sub/h.c")}
    base["crlf.txt"] = base["g.txt"].replace(b"\n", b"\r\n")
    moves = {"sub/h.c": "sub/moved/h.c"} if chooser.random() < 0.25 else {}
    state = dict(base)
    ours = [_commit(chooser, state, b"ours") for _ in range(chooser.randrange(1, 5))]
    state = {moves.get(name, name): content for name, content in base.items()}
    theirs = [_commit(chooser, state, b"theirs") for _ in range(chooser.randrange(1, 4))]
    return Tale(base, ours, theirs, moves)


def _start(chooser: random.Random) -> bytes:
    lines = [chooser.choice(_WORDS) for _ in range(chooser.randrange(20, 70))]
    return "".join(f"{line}\n" for line in lines).encode()


def _commit(chooser: random.Random, state: State, word: bytes) -> dict[str, File]:
    """Change one or two files of a state and return what was changed."""
    changed: dict[str, File] = {}
    for name in chooser.sample(sorted(state), chooser.randrange(1, 3)):
        fate = chooser.random()
        if fate < 0.06 and len(state) > 2:
            del state[name]
            changed[name] = None
            continue
        if fate < 0.14:
            name = f"new/{word.decode()}{chooser.randrange(3)}"
            state.setdefault(name, b"")
        state[name] = _edited(chooser, state[name], word)
        changed[name] = state[name]
    return changed


def _edited(chooser: random.Random, content: bytes, word: bytes) -> bytes:
    end = b"\r\n" if b"\r\n" in content else b"\n"
    lines = content.split(end)[:-1]
    for _ in range(chooser.randrange(1, 3)):
        at = chooser.randrange(len(lines) + 1)
        new = b"%s %d" % (word, chooser.randrange(99))
        match chooser.choice(("replace", "delete", "insert")):
            case "replace" if at < len(lines):
                lines[at] = new
            case "delete" if at < len(lines) > 5:
                del lines[at]
            case _:
                lines.insert(at, new)
    return b"".join(line + end for line in lines)
