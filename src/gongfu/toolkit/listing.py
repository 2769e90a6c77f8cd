"""A folder as a tree of names: bounded, in the order of the names, ignored folders closed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from gongfu.workspace.ignore import NEVER, Ignores, is_folder
from gongfu.workspace.names import show_name
from gongfu.workspace.root import Workspace

_MOST = 400
_MOST_IN_ONE = 150


def tree(folder: Path, workspace: Workspace, depth: int, room: int) -> tuple[str, int]:
    """The text of the tree and how many entries it shows. Folders end in a slash, links show where they lead.

    Levels are filled from the top: when the bound of 400 entries or of `room` bytes is reached, deeper folders stay
    closed. OSError when the folder itself cannot be read.
    """
    os.scandir(folder).close()
    root = _Node(Ignores.at(folder, workspace), "")
    level, left = [root], _MOST
    for step in range(depth):
        following: list[_Node] = []
        for node in level:
            if left <= 0:
                break
            following += node.open(left if step == 0 else min(left, _MOST_IN_ONE))
            left -= len(node.names)
        level = following
    lines = list(root.lines(0))
    shown: list[str] = []
    for line in lines:
        room -= len(line.encode("utf-8")) + 1
        if room < 0:
            shown.append(f"[{len(lines) - len(shown):,} more lines left out; list a folder further down]")
            break
        shown.append(line)
    return "\n".join(shown) if shown else "[the folder is empty]", _MOST - left


class _Node:
    """A folder in the tree; closed until it is opened."""

    def __init__(self, here: Ignores, label: str) -> None:
        self._here = here
        self.label = label
        self.names: list[tuple[str, _Node | None]] = []
        self._more = 0
        self._is_open = False
        self._unreadable = False

    def open(self, most: int) -> list[_Node]:
        """List it, at most that many names; its own folders come back, still closed."""
        self._is_open = True
        entries = self._scan()
        self._more = max(0, len(entries) - most)
        for entry in entries[:most]:
            folder = is_folder(entry)
            name = show_name(entry.name)
            if self._here.covers(entry.name, folder=folder):
                self.names.append((f"{name}/ (ignored)" if folder else f"{name} (ignored)", None))
            elif folder:
                self.names.append(("", _Node(self._here.enter(entry.name), f"{name}/")))
            else:
                self.names.append((f"{name}{_arrow(entry)}", None))
        return [node for _, node in self.names if node is not None]

    def _scan(self) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._here.folder) as entries:
                return sorted((e for e in entries if e.name not in NEVER), key=lambda e: os.fsencode(e.name))
        except OSError:
            self._unreadable = True
            return []

    def lines(self, depth: int) -> Iterator[str]:
        """The lines of what is in it."""
        indent = "  " * depth
        for label, node in self.names:
            if node is None:
                yield f"{indent}{label}"
                continue
            yield f"{indent}{node.label}{node.remark()}"
            yield from node.lines(depth + 1)
        if self._more:
            yield f"{indent}[{self._more:,} more]"

    def remark(self) -> str:
        """What is said of a folder beside its name."""
        if self._unreadable:
            return " (not readable)"
        if self._is_open:
            return ""
        count = len(self._scan())
        return f" ({count} {'entry' if count == 1 else 'entries'})" if count else " (empty)"


def _arrow(entry: os.DirEntry[str]) -> str:
    try:
        return f" -> {show_name(str(Path(entry.path).readlink()))}" if entry.is_symlink() else ""
    except OSError:
        return ""
