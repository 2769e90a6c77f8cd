"""What git would obey outside, and what a confined command must not make where there is none."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

_OBEYED = ("commondir", "config.worktree", "info/attributes", "hooks")
_ASIDE = ".refused"


def absent(folders: Iterable[str]) -> tuple[str, ...]:
    """The names in folders of git that are not there, and that git would obey if they were: where its settings and
    hooks are, or what they are. A file cannot be kept from being made as one that exists is kept from being changed.
    """
    return tuple(path for folder in folders for name in _OBEYED if not _is_there(path := f"{folder}/{name}"))


def set_aside(paths: Iterable[str]) -> list[str]:
    """Rename those of the paths that have come into being; gives those back. Nothing is lost."""
    moved: list[str] = []
    for path in paths:
        if not _is_there(path):
            continue
        with suppress(OSError):
            os.rename(path, _free(path))  # noqa: PTH104
            moved.append(path)
    return moved


def _is_there(path: str) -> bool:
    """Hooks are there when one of them runs: samples do not."""
    if not os.path.lexists(path):
        return False
    if not path.endswith("/hooks") or os.path.islink(path):  # noqa: PTH114
        return True
    try:
        return any(not name.endswith(".sample") for name in os.listdir(path))  # noqa: PTH208
    except OSError:
        return True


def _free(path: str) -> str:
    name, number = f"{path}{_ASIDE}", 1
    while os.path.lexists(name):
        number += 1
        name = f"{path}{_ASIDE}{number}"
    return name
