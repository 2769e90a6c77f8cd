"""The look at the folder with which a task of a small model begins: real tool calls that need no model.

What the model is shown of files is thereby in the log, and the guard of written files knows that they were read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from gongfu.core.messages import CallPart
from gongfu.core.specs import ToolSpec
from gongfu.models.local.story import OPENING, Turn

Files = Callable[[], Sequence[tuple[str, str]]]
"""Gives the small text files of the workspace as (path, text)."""

_MOST = 6
_SMALL = 2400  # characters of one file
_ALL = 6000  # characters together
_LINES = 150
_TEXT = re.compile(
    r"(?:^|/)(?:makefile|dockerfile|readme)$"
    r"|\.(?:py|js|mjs|ts|rb|sh|pl|php|lua|go|rs|c|h|cc|cpp|java|kt|r|txt|md|rst|csv|tsv|json|toml|ya?ml|ini|cfg|conf"
    r"|html?|css|xml|sql|log)$",
    re.IGNORECASE,
)


def opening(turn: Turn, tools: Iterable[ToolSpec], files: Files | None) -> tuple[CallPart, ...]:
    """The calls with which `turn` begins or goes on looking; () when it has begun.

    First the folder is listed, and small files are read along when `files` tells them: those that the task names, and
    the others too when there are few. Then what the task names and is not small is read in part; without `files` all.
    """
    there = {tool.name for tool in tools}
    if turn.steps or "list_files" not in there:
        return ()
    if turn.openings == 0:
        told = _told(files(), turn.task) if files is not None and "read_file" in there else []
        return (_call("list_files", path="."), *(_call("read_file", path=path) for path in told))
    if turn.openings == 1 and "read_file" in there:
        known = {file.path for file in turn.files}
        wanted = chosen(turn.listing, turn.task, few=files is None)
        return tuple(_call("read_file", path=path, limit=_LINES) for path in wanted if path not in known)
    return ()


def _told(files: Sequence[tuple[str, str]], task: str) -> list[str]:
    small = {path: len(text) for path, text in files if len(text) <= _SMALL}
    left = _ALL
    paths: list[str] = []
    for path in worth_a_look(list(small), task):
        if small[path] <= left:
            left -= small[path]
            paths.append(path)
    return paths


def chosen(listing: str, task: str, *, few: bool = True) -> list[str]:
    """The text files of a listing that are worth a look; not only those named when there are `few`."""
    return worth_a_look([path for path in tree_paths(listing) if _TEXT.search(path)], task, few=few)


def worth_a_look(paths: Sequence[str], task: str, *, few: bool = True) -> list[str]:
    """Of `paths` those that the task names, and with `few` the others too when there are few altogether."""
    words = set(re.findall(r"[\w./-]*\w", task))
    named = [path for path in paths if path in words or path.rpartition("/")[2] in words]
    rest = [path for path in paths if path not in named] if few and len(paths) <= _MOST else []
    return [*named, *rest][:_MOST]


def tree_paths(listing: str) -> list[str]:
    """The files of a tree as `list_files` draws it, two spaces a level, folders with a slash at the end."""
    folders: list[str] = []
    found: list[str] = []
    for line in listing.split("\n"):
        name = line.lstrip(" ")
        depth = (len(line) - len(name)) // 2
        if not name or name.startswith("[") or name.endswith(" (ignored)") or " -> " in name:
            continue
        del folders[depth:]
        if name.endswith("/"):
            folders.append(name)
        elif not name.endswith(")"):
            found.append("".join(folders) + name)
    return found


def _call(name: str, **arguments: object) -> CallPart:
    return CallPart(id="", name=name, arguments=msgspec.json.encode(arguments).decode(), raw=OPENING)
