"""Rates a whole command line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from gongfu.permissions.rating import Line, Part, Rating
from gongfu.permissions.shell.rate import rate
from gongfu.permissions.shell.state import Simple, State, TooMuch
from gongfu.permissions.shell.tables import names
from gongfu.permissions.shell.walk import Walker, bad_signs
from gongfu.permissions.shell.words import literal, quoted
from gongfu.workspace.protect import mentions_protected
from gongfu.workspace.root import Workspace

MAX_LENGTH = 64_000
_PLAIN = r" *[A-Za-z0-9_./:@%+,-]+(?: +[A-Za-z0-9_./:=@%+,-]+)* *"
"""One command of plain words: it means the same with and without the grammar, which takes long to load."""
_RESERVED = names(
    "if then else elif fi for while until do done case esac in function select time coproc declare typeset export "
    "readonly local unset unsetenv"
)


def rate_line(
    command: str,
    *,
    cwd: Path,
    workspace: Workspace,
    env: Mapping[str, str] | None = None,
    windows: bool = sys.platform == "win32",
    secrets: Sequence[Path] | None = None,
) -> Line:
    """What a command line would do, part by part; never raises, whatever the text.

    `cwd` is the absolute folder that it starts in, `env` the environment that it gets (as far as it is known: PATH,
    HOME and TMPDIR matter). A line that is not understood has a part that is rated "unknown" and a `problem`.
    `windows`: it is a line of cmd or PowerShell. `secrets` are those that the line names (`mentions_protected`), where
    somebody has looked already.
    """
    if windows:
        from gongfu.permissions.shell.windows import rate_windows

        return rate_windows(command, cwd=cwd, workspace=workspace)
    state = State(cwd, workspace, _variables(env or {}))
    problem = _problem(command, state)
    parts = [found.part() for found in state.parts.values()]
    if problem:
        text = quoted(command.strip()[:2_000])
        parts.append(Part(text=text, ratings=("unknown",), why="shell_unparsed", about=problem))
    elif not parts:
        parts.append(Part(text=quoted(command.strip()), ratings=("read",)))
    return Line(parts=_with_secrets(tuple(parts), command, cwd, workspace, secrets), problem=problem)


def _variables(env: Mapping[str, str]) -> dict[str, str]:
    known = {name: env[name] for name in ("HOME", "TMPDIR", "PATH", "USER") if name in env}
    known.setdefault("HOME", os.path.expanduser("~"))  # noqa: PTH111 - pathlib raises where there is no home
    return known


def _problem(command: str, state: State) -> str:
    """Rates what can be rated; why the whole could not be, or ""."""
    if len(command) > MAX_LENGTH:
        return "it is too long"
    try:
        source = command.encode()
    except UnicodeEncodeError:
        return "it is no valid text"
    problem = bad_signs(command)
    if problem:
        return problem
    try:
        walker = Walker(state, source, rate)
        if re.fullmatch(_PLAIN, command) and command.split(maxsplit=1)[0] not in _RESERVED:
            rate(walker, Simple(words=tuple(literal(word) for word in command.split())))
            return ""
        return walker.whole()
    except TooMuch as error:
        return str(error)
    except RecursionError:
        return "it is nested too deep"


def _with_secrets(
    parts: tuple[Part, ...], command: str, cwd: Path, workspace: Workspace, secrets: Sequence[Path] | None
) -> tuple[Part, ...]:
    """Secrets that the line names in a way which the parts do not show."""
    if len(command) > MAX_LENGTH or "{" * 200 in command or any("credential" in p.ratings for p in parts):
        return parts
    named = mentions_protected(command, cwd, workspace, windows=False) if secrets is None else secrets
    if not named:
        return parts
    name = str(named[0])
    for i, part in enumerate(parts):
        if named[0].name in part.text or i == len(parts) - 1:
            ratings: tuple[Rating, ...] = tuple(sorted({*part.ratings, "credential"}))
            grave = replace(part, ratings=ratings, why="protected_secret", about=name)
            return (*parts[:i], grave, *parts[i + 1 :])
    return parts
