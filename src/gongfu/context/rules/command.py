"""What the words of a shell command name: places that it touches, and those that it plainly writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

_MOST: Final = 16 << 10
_TOKEN: Final = re.compile(
    r"(?P<copy>\d?>&\d)|(?P<to>(?:&|\d)?>>?[|&]?)|(?P<cut>&&|\|\||[;&|()\n])|(?P<word>(?:'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|[^\s'\"\\;&|<>()])+)",
    re.DOTALL,
)
_QUOTED: Final = re.compile(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"|\\(.)", re.DOTALL)
_ASSIGNED: Final = re.compile(r"\w+=")
_PREFIXES: Final = frozenset(("sudo", "env", "time", "nice", "nohup", "command", "exec", "xargs", "then", "do", "else"))
_WRITERS: Final = frozenset(
    (
        "chmod", "chown", "cp", "dd", "install", "ln", "mkdir", "mv", "patch", "rm", "rmdir", "rsync", "shred", "tee",
        "touch", "truncate", "unlink",
    )
)  # fmt: skip
_IN_PLACE: Final = frozenset(("sed", "perl"))
_GIT: Final = frozenset(("rm", "mv", "checkout", "restore", "clean"))


class Named(NamedTuple):
    """Paths as they are written, seen from the folder that the command runs in; `writes` are among `touches`."""

    touches: tuple[str, ...]
    writes: tuple[str, ...]


def named(command: str) -> Named:
    """The paths in a command line: arguments, targets of redirections, and folders that are entered with `cd`.

    It is a reading of words, not of meaning: what a program or a variable makes of them is not known.
    """
    touches: dict[str, None] = {}
    writes: dict[str, None] = {}
    base = ""
    for words, targets in _simple(command[:_MOST]):
        name, args = _split(words)
        entered = name in ("cd", "pushd") and bool(args)
        paths = [_under(base, arg) for arg in args]
        if entered:
            base = paths[0]
        ends = [_under(base, target) for target in targets]
        touches |= dict.fromkeys((*paths, *ends))
        writes |= dict.fromkeys((*(paths if _changes(name, words) else ()), *ends))
    return Named(tuple(touches), tuple(writes))


def _simple(command: str) -> Iterator[tuple[list[str], list[str]]]:
    """Each simple command: its words, and the targets of its redirections."""
    words: list[str] = []
    targets: list[str] = []
    redirected = False
    for match in _TOKEN.finditer(command):
        if match["cut"]:
            yield words, targets
            words, targets = [], []
        elif match["word"]:
            word = _QUOTED.sub(lambda m: m[1] or m[2] or m[3] or "", match["word"])
            (targets if redirected else words).append(word)
        redirected = bool(match["to"])
    yield words, targets


def _split(words: Sequence[str]) -> tuple[str, list[str]]:
    """The program that is called, and those of its arguments that may be paths."""
    at = 0
    while at < len(words) and (words[at] in _PREFIXES or _ASSIGNED.match(words[at])):
        at += 1
    if at == len(words):
        return "", []
    args = [word.rpartition("=")[2] for word in words[at + 1 :] if not word.startswith("-") or "=" in word]
    program = [words[at]] if "/" in words[at] else []
    return words[at].rpartition("/")[2], [arg for arg in (*program, *args) if arg and "$" not in arg and "`" not in arg]


def _changes(name: str, words: Sequence[str]) -> bool:
    if name in _IN_PLACE:
        return any(word.startswith(("-i", "--in-place")) for word in words)
    return name in _WRITERS or (name == "git" and any(word in _GIT for word in words))


def _under(base: str, path: str) -> str:
    return path if not base or path.startswith("/") else f"{base}/{path}"
