"""Rates one simple command: its redirections, its assignments, and what its program does."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from gongfu.permissions.shell import files, wrappers
from gongfu.permissions.shell.command import Command
from gongfu.permissions.shell.kept import overwrites, removes
from gongfu.permissions.shell.paths import is_system, real_path, touch
from gongfu.permissions.shell.programs import HANDLERS, generic
from gongfu.permissions.shell.state import Found, Redirect, Simple
from gongfu.permissions.shell.tables import DANGEROUS_NAMES, INTERPRETERS, MILD_NAMES, PURE, SHELLS, names
from gongfu.permissions.shell.walk import Walker
from gongfu.permissions.shell.words import Word, quoted

_RESERVED = names("if then else elif fi for while until do done case esac in function select ]] { } ! ( )")
_MILD_VALUES = {
    "PYTHONPATH": r"(\.|(\./)?[\w-][\w./-]*)(:(\.|(\./)?[\w-][\w./-]*))*",
    "NODE_OPTIONS": r"--max[-_]old[-_]space[-_]size=\d+",
    "GOFLAGS": r"-mod=\w+|-v|",
    "CC": r"gcc|clang|cc", "CXX": r"g\+\+|clang\+\+|c\+\+",
    **dict.fromkeys(("EDITOR", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "VISUAL"), r"true|:|cat"),
    "DOCKER_BUILDKIT": r"[01]", "MAKEFLAGS": r"-j *\d*",
}  # fmt: skip
_HANDLERS = {**HANDLERS, **files.HANDLERS, **wrappers.HANDLERS}


def canonical(simple: Simple) -> str:
    """The source of a command in one line: the same for two spellings of it, never the same for two commands."""
    pieces = [f"{name}={word.source}" for name, word in simple.assigned]
    for i, word in enumerate(simple.words):
        named = i == 0 and word.plain and "=" in word.text
        pieces.append(quoted(word.text, first=True) if named else word.source)
    pieces.extend(f"{r.mark} {r.target.source}".rstrip() for r in simple.redirects)
    return " ".join(pieces)


def rate(walker: Walker, simple: Simple) -> None:
    """Add the part of a simple command to the line, and those of the scripts that it is given."""
    state = walker.state
    text = canonical(simple)
    if simple.stdin == "pipe" and _takes_code(simple):
        text = " | ".join((*simple.before, text))
    found = state.found(text, " | ".join(simple.before))
    for redirect in simple.redirects:
        _redirect(redirect, found, walker, simple.words)
    for name, word in simple.assigned:
        assignment(name, word, found)
    if not simple.words:
        found.add("read")
        return
    command(walker, simple, found, simple.words)


def _takes_code(simple: Simple) -> bool:
    return any(word.text.rpartition("/")[2] in SHELLS or not word.plain for word in simple.words[:6])


def _redirect(redirect: Redirect, found: Found, walker: Walker, words: Sequence[Word]) -> None:
    sign = redirect.mark.lstrip("0123456789")
    target = redirect.target
    if sign in ("<<", "<<<", "<<-") or (
        sign in (">&", "<&", ">&-", "<&-") and re.fullmatch(r"\d+-?|-|", target.text) and target.literal
    ):
        found.add("read")
    elif sign in ("<", "<&"):
        touch(target, walker.state, found)
    elif sign in (">", ">>", ">|", "&>", "&>>", ">&", "<>"):
        touch(target, walker.state, found, write=True)
        empties = not words or words[0].text in (":", "true")
        lost = removes if empties else overwrites
        if sign not in (">>", "&>>", "<>") and lost(walker.state, target):
            found.add("destructive", why="shell_destructive", about=f"{redirect.mark} {target.source}")
    else:
        found.add("unknown", why="shell_unseen", about=redirect.mark)


def assignment(name: str, word: Word, found: Found) -> None:
    """Rate setting a variable, for this command or for all that follow."""
    found.add("read")
    name = name.rstrip("+")
    if _runs_only(name, word):
        found.add("run")
        return
    mild = re.fullmatch(MILD_NAMES, name) and (not name.endswith("PAGER") or word.text in ("", "cat"))
    if re.fullmatch(DANGEROUS_NAMES, name) and not mild:
        found.add("unknown", why="shell_overrides", about=name)
    elif "$(" in word.text or "`" in word.text or re.match(r".*\[", word.text):
        found.add("unknown", why="shell_unseen", about=name)


def _runs_only(name: str, word: Word) -> bool:
    """Whether a variable that is dangerous has a value by which no more than code of the workspace runs."""
    form = _MILD_VALUES.get(name)
    return form is not None and word.plain and re.fullmatch(form, word.text) is not None and ".." not in word.text


def command(walker: Walker, simple: Simple, found: Found, words: Sequence[Word]) -> None:
    """Rate the words of a command; a wrapper comes back here with what it runs."""
    first = words[0]
    found.named(words)
    if (
        first.text in _RESERVED
        or not first.plain
        or not first.text.isascii()
        or not first.text
        or re.search(r"[\s\x00-\x1f]", first.text)
    ):
        found.add("unknown", why="shell_unseen", about=first.source)
        _args(Command(walker, simple, found, words, _inner))
        return
    this = Command(walker, simple, found, words, _inner)
    if first.text in walker.state.functions and "/" not in first.text:
        found.add("read")
        if first.text in walker.state.calls:
            found.add("destructive", why="shell_bomb", about=first.text)
        walker.call(first.text)
        this.seen()
        return
    if "/" in first.text or "\\" in first.text:
        if not _program_of_system(this, first.text):
            return
        this.name = first.text.rpartition("/")[2]
    elif _shadowed(this):
        this.add("run")
    name = this.name.lower() if os.name == "nt" else this.name
    name = name.removesuffix(".exe")
    this.name = name
    if name not in PURE and name not in ("cd", "pushd", "popd"):
        _standing(this)
    this.hosts()
    _HANDLERS.get(_family(name), generic)(this)


def _inner(outer: Command, words: Sequence[Word]) -> None:
    command(outer.walker, outer.simple, outer.found, words)


def _args(this: Command) -> None:
    for arg in this.args:
        if arg.literal and arg.text.startswith(("/", "~", "..", ".")):
            this.paths([arg])


def _family(name: str) -> str:
    """The name without a version: `python3.12`, `mkfs.ext4`."""
    if name in _HANDLERS:
        return name
    short = re.sub(r"[-.]?\d+(\.\d+)*t?$", "", name)
    if short.startswith("mkfs"):
        return "mkfs"
    return short if short in INTERPRETERS or short in ("pip", "gcc", "clang") else name


def _program_of_system(this: Command, text: str) -> bool:
    """Whether a path names a program of the system, which is then known by its name. Rates all others."""
    for place in this.state.places:
        path = text if text.startswith("/") else None if place is None else os.path.join(place, text)  # noqa: PTH118
        real = None if path is None else real_path(path)
        if real is None or not is_system(real) or this.state.workspace.contains(Path(real)):
            name = text.rpartition("/")[2]
            in_venv = re.search(r"(^|/)(\.?venv|env)/(bin|Scripts)/[^/]+$", text) or "/node_modules/.bin/" in f"/{text}"
            this.name = text
            this.read(Word(text=text, source=text))
            this.add("run")
            _standing(this)
            this.hosts()
            if in_venv and _family(name) in _HANDLERS:
                this.name = name
                _HANDLERS[_family(name)](this)
            else:
                generic(this)
            return False
    return True


def _shadowed(this: Command) -> bool:
    """Whether a program of this name in the workspace may come before that of the system."""
    return any(os.path.exists(os.path.join(folder, this.name)) for folder in this.state.near)  # noqa: PTH110, PTH118


def _standing(this: Command) -> None:
    """A command that runs outside the workspace works on what is there."""
    for place in this.state.places:
        if place is None:
            this.add("unknown", why="shell_somewhere", about=this.name)
            continue
        real = real_path(place)
        if not this.state.workspace.contains(Path(real)) and not is_system(real):
            this.add("outside", why="outside_command", about=real)
