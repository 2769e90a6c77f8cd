"""The tools multi_file_edit and edit_lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio.to_thread
import msgspec

from gongfu.core.base import Base
from gongfu.core.display import Display
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.changeset import MOST_FILES, Changeset
from gongfu.toolkit.edits import Edit, apply_edits
from gongfu.toolkit.files import check_text, previewed
from gongfu.toolkit.lines import LineEdit, apply_line_edits
from gongfu.toolkit.places import Places, strictest
from gongfu.toolkit.readlog import ReadLog
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome
from gongfu.workspace.root import Workspace

_MOST_EDITS = 2000


class FileEdits(Base, frozen=True):
    """The edits of one file, in order."""

    path: str
    edits: list[Edit]


class ManyTools:
    """multi_file_edit and edit_lines of one session; `reads` is shared with the tools that read and write."""

    def __init__(self, workspace: Workspace, reads: ReadLog) -> None:
        self._workspace = workspace
        self._places = Places(workspace)
        self._reads = reads

    # --- multi_file_edit ------------------------------------------------------------------------------------------

    async def _files_facts(self, args: dict[str, Any]) -> Facts:
        files = _files(args["files"])
        located = [self._places.judge(file.path) for file in files]
        dry = bool(args.get("dry_run"))
        paths = tuple(dict.fromkeys(p for one in located for p in self._places.paths(one, write=not dry)))
        consent = strictest(self._places.consent(one) for one in located)
        preview = await previewed(consent, lambda: self._plan_files(files, False).display())
        title = located[0].shown if len(located) == 1 else f"{len(located)} files"
        if dry:
            return Facts(access=("read",), paths=paths, title=title)
        return Facts(access=("write",), paths=paths, writes=paths, title=title, preview=preview)

    def _files_claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        dry = bool(args.get("dry_run"))
        names = dict.fromkeys(file.path for file in _files(args["files"]))
        return tuple(Claim(resource=str(self._workspace.locate(name).path), write=not dry) for name in names)

    @tool(access="write", facts=_files_facts, claims=_files_claims)
    async def multi_file_edit(self, files: list[FileEdits], dry_run: bool = False) -> Outcome:
        wanted = _files(files)
        changes = await anyio.to_thread.run_sync(self._plan_files, wanted, True, abandon_on_cancel=True)
        if not changes.changed:
            return Outcome(text="The edits leave all files as they are; nothing was written.")
        display = changes.display()
        if dry_run:
            return Outcome(text=f"{display['diff']}[nothing was written]", display=display)
        await anyio.to_thread.run_sync(changes.make)
        return Outcome(text=changes.told("Edited"), display=display)

    def _plan_files(self, files: Sequence[FileEdits], again: bool) -> Changeset:
        changes = Changeset(self._places, self._reads, again=again)
        for number, file in enumerate(files, 1):
            state = changes.existing(file.path)
            try:
                changes.edit(state, apply_edits(state.text(), file.edits, state.located.shown))
            except ToolFailure as failure:
                if len(files) == 1:
                    raise
                raise ToolFailure(f"file {number} of {len(files)}: {failure} No file was changed.") from None
        return changes

    # --- edit_lines -----------------------------------------------------------------------------------------------

    async def _lines_facts(self, args: dict[str, Any]) -> Facts:
        located = self._places.judge(args["path"])
        edits = _line_edits(args["edits"])
        paths = self._places.paths(located, write=True)

        def preview() -> Display:
            return self._plan_lines(args["path"], edits, False).display()

        shown = await previewed(self._places.consent(located), preview)
        return Facts(access=("write",), paths=paths, writes=paths, title=located.shown, preview=shown)

    def _lines_claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource=str(self._workspace.locate(args["path"]).path), write=True),)

    @tool(access="write", facts=_lines_facts, claims=_lines_claims)
    async def edit_lines(self, path: str, edits: list[LineEdit]) -> Outcome:
        wanted = _line_edits(edits)
        changes = await anyio.to_thread.run_sync(self._plan_lines, path, wanted, True, abandon_on_cancel=True)
        if not changes.changed:
            return Outcome(text="The edits leave the file as it is; nothing was written.")
        display = changes.display()
        await anyio.to_thread.run_sync(changes.make)
        return Outcome(text=changes.told("Edited"), display=display)

    def _plan_lines(self, path: str, edits: Sequence[LineEdit], again: bool) -> Changeset:
        changes = Changeset(self._places, self._reads, again=again)
        state = changes.existing(path)
        changes.edit(state, apply_line_edits(state.text(), edits, state.located.shown))
        return changes


def _files(given: Sequence[Any]) -> list[FileEdits]:
    """The files and their edits, from what was validated or its JSON."""
    files = [one if isinstance(one, FileEdits) else msgspec.convert(one, FileEdits) for one in given]
    if not files:
        raise ToolFailure("there is nothing to do; give files, each with its path and edits")
    if len(files) > MOST_FILES:
        raise ToolFailure(f"at most {MOST_FILES} files in one call; arrived: {len(files):,}")
    for file in files:
        if not file.edits:
            raise ToolFailure(f"no edits for {file.path!r}; nothing was changed")
        for edit in file.edits:
            check_text(edit.new, "new")
    if sum(len(file.edits) for file in files) > _MOST_EDITS:
        raise ToolFailure(f"more than {_MOST_EDITS:,} edits in one call; make several calls")
    return files


def _line_edits(given: Sequence[Any]) -> list[LineEdit]:
    edits = [one if isinstance(one, LineEdit) else msgspec.convert(one, LineEdit) for one in given]
    if not edits:
        raise ToolFailure("there is nothing to do; give edits")
    if len(edits) > _MOST_EDITS:
        raise ToolFailure(f"more than {_MOST_EDITS:,} edits in one call; make several calls")
    for edit in edits:
        check_text(edit.text, "text")
    return edits
