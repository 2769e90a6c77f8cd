"""The small files of a workspace, for models that must be shown what there is."""

from __future__ import annotations

from gongfu.workspace.ignore import walk
from gongfu.workspace.protect import why_protected
from gongfu.workspace.root import Workspace

MOST = 12
LARGEST = 4096


def small_files(workspace: Workspace) -> list[tuple[str, str]]:
    """(path, text) of the first small text files of the working directory; ignored and secret ones are left out."""
    found: list[tuple[str, str]] = []
    for path in walk(workspace.directory, workspace, limit=400):
        if len(found) >= MOST:
            break
        if why_protected(path, workspace) or path.stat().st_size > LARGEST:
            continue
        data = path.read_bytes()
        if b"\0" in data:
            continue
        found.append((workspace.show(path), data.decode("utf-8", "replace")))
    return found
