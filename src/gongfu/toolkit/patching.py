"""The tool apply_patch."""

from __future__ import annotations

from typing import Any

import anyio.to_thread

from gongfu.core.display import Display
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.changeset import MOST_FILES, Changeset, FileState
from gongfu.toolkit.files import check_text, previewed
from gongfu.toolkit.hunks import apply_hunks, new_text
from gongfu.toolkit.patches import FilePatch, parse
from gongfu.toolkit.places import Places, strictest
from gongfu.toolkit.readlog import ReadLog
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome
from gongfu.workspace.root import Workspace

_EXECUTABLE = 0o111


class PatchTools:
    """apply_patch of one session; `reads` is shared with the tools that read and write."""

    def __init__(self, workspace: Workspace, reads: ReadLog) -> None:
        self._workspace = workspace
        self._places = Places(workspace)
        self._reads = reads

    async def _facts(self, args: dict[str, Any]) -> Facts:
        files = _parsed(args["patch"])
        names = paths_of(files)
        located = [self._places.judge(name) for name in names]
        paths = tuple(dict.fromkeys(p for one in located for p in self._places.paths(one, write=True)))
        consent = strictest(self._places.consent(one) for one in located)
        preview = await previewed(consent, lambda: self._preview(files))
        title = located[0].shown if len(located) == 1 else f"{len(located)} files"
        return Facts(access=("write",), paths=paths, writes=paths, title=title, preview=preview)

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return tuple(
            Claim(resource=str(self._workspace.locate(name).path), write=True)
            for name in paths_of(_parsed(args["patch"]))
        )

    @tool(access="write", facts=_facts, claims=_claims)
    async def apply_patch(self, patch: str) -> Outcome:
        files = _parsed(patch)
        changes = await anyio.to_thread.run_sync(self._plan, files, True, abandon_on_cancel=True)
        if not changes.changed:
            return Outcome(text="The patch leaves all files as they are; nothing was written.")
        await anyio.to_thread.run_sync(changes.make)
        return Outcome(text=changes.told("Patched"), display=changes.display())

    def _preview(self, files: list[FilePatch]) -> Display:
        return self._plan(files, False).display()

    def _plan(self, files: list[FilePatch], again: bool) -> Changeset:
        changes = Changeset(self._places, self._reads, again=again)
        for number, file in enumerate(files, 1):
            try:
                _patched(changes, file)
            except ToolFailure as failure:
                if len(files) == 1:
                    raise
                raise ToolFailure(f"file {number} of {len(files)}, {file.path}: {failure}") from None
        return changes


def _parsed(patch: str) -> list[FilePatch]:
    check_text(patch, "patch")
    files = parse(patch)
    if len(files) > MOST_FILES:
        raise ToolFailure(f"the patch changes {len(files):,} files; at most {MOST_FILES} in one call")
    return files


def paths_of(files: list[FilePatch]) -> list[str]:
    """The paths that a patch changes, as they stand in it."""
    return list(dict.fromkeys(name for file in files for name in (file.path, file.to) if name))


def _patched(changes: Changeset, file: FilePatch) -> None:
    """Work out one file."""
    if file.kind == "add":
        # a plain diff says nothing of modes: the file gets the usual one
        changes.create(file.path, new_text(file.hunks).encode("utf-8"), file.mode)
        return
    state = changes.existing(file.path)
    if file.kind == "delete":
        _delete(changes, state, file)
        return
    target = changes.move(state, file.to, stays=file.stays) if file.to else state
    if file.hunks:
        changes.edit(target, apply_hunks(target.text(), file.hunks, target.located.shown))
    if file.mode is not None:
        old = target.old_mode if target.before is not None else (target.mode or 0o644)
        # git knows only whether a file can be run
        target.mode = old | _EXECUTABLE if file.mode & _EXECUTABLE else old & ~_EXECUTABLE


def _delete(changes: Changeset, state: FileState, file: FilePatch) -> None:
    shown = state.located.shown
    if file.hunks and apply_hunks(state.text(), file.hunks, shown).file.text:
        raise ToolFailure(f"the patch removes {shown}, and the file has more in it than that; nothing was changed")
    changes.remove(state)
