"""What tools cannot work without: how it is declared, whether it is there, and what brings it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from gongfu.core.specs import Requirement, ToolSpec

_SYSTEMS = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}


def library(*names: str, extra: str) -> Requirement:
    """Python packages, by their import names, of one of Gongfu's extras; each of them is a requirement of its own."""
    return Requirement(kind="library", names=names, install=f"pip install 'gongfu[{extra}]'")


def program(
    *names: str, apt: str = "", brew: str = "", winget: str = "", what: str = "", install: str = ""
) -> Requirement:
    """One of some programs; `apt`, `brew` and `winget` are the packages that bring it on each system."""
    return Requirement(kind="program", names=names, what=what, install=install or _command(apt, brew, winget))


def display() -> Requirement:
    """A screen with windows on it."""
    return Requirement(kind="display", what="a display")


def platform(*names: str) -> Requirement:
    """One of some systems, by their `sys.platform`."""
    return Requirement(kind="platform", names=names)


def either(first: Requirement, *others: Requirement) -> Requirement:
    """`first`, or one of `others` instead of it; `first` is what is recommended where none is there."""
    return replace(first, others=others)


def _command(apt: str, brew: str, winget: str) -> str:
    match sys.platform:
        case "darwin" if brew:
            return f"brew install {brew}"
        case "win32" if winget:
            return f"winget install {winget}"
        case "linux" if apt:
            return f"sudo apt-get install {apt}"
        case _:
            return ""


def lacking(needs: Iterable[Requirement], env: Mapping[str, str]) -> Requirement | None:
    """The first requirement that is not met with the environment `env`; None when all are."""
    return next((need for need in needs if not is_met(need, env)), None)


def is_met(need: Requirement, env: Mapping[str, str]) -> bool:
    """Whether a requirement is met: nothing is imported or run to find out."""
    return _is_there(need, env) or any(_is_there(other, env) for other in need.others)


def _is_there(need: Requirement, env: Mapping[str, str]) -> bool:
    match need.kind:
        case "library":
            return all(map(_has_library, need.names))
        case "program":
            return any(_has_program(name, env) for name in need.names)
        case "display":
            return sys.platform != "linux" or bool(env.get("DISPLAY") or env.get("WAYLAND_DISPLAY"))
        case "platform":
            return sys.platform in need.names


def _has_library(name: str) -> bool:
    if name in sys.modules:
        return True
    from importlib.util import find_spec  # costs what only a tool with such a need should pay

    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):  # a parent package is missing
        return False


def _has_program(name: str, env: Mapping[str, str]) -> bool:
    from shutil import which  # the same

    return which(name, path=env.get("PATH", os.defpath)) is not None


def named(need: Requirement) -> str:
    """A requirement in a few words."""
    return " / ".join(dict.fromkeys(_named(one) for one in (need, *need.others)))


def _named(need: Requirement) -> str:
    match need.kind:
        case "display":
            return need.what
        case "platform":
            return " / ".join(_SYSTEMS.get(system, system) for system in need.names)
        case _:
            return need.what or (", " if need.kind == "library" else " / ").join(need.names)


def told(name: str, need: Requirement) -> str:
    """One or two sentences for a model that called tool `name`: what is missing and what would bring it."""
    match need.kind:
        case "display":
            return f"{name} needs a display and there is none here (DISPLAY is not set); nothing was done."
        case "platform":
            return f"{name} works only on {named(need)}; nothing was done."
        case _:
            none = ", none of which is here" if need.others else ", which is not installed"
            said = f"{name} needs {named(need)}{none}; nothing was done."
            return f"{said} It is installed with: {need.install}" if need.install else said


def missing(spec: ToolSpec, env: Mapping[str, str]) -> str:
    """Why a tool cannot work with the environment `env`, as `told`; "" when it can."""
    need = lacking(spec.needs, env)
    return "" if need is None else told(spec.name, need)
