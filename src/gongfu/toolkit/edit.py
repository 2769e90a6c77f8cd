"""The tool edit_file."""

from __future__ import annotations

from typing import Any, cast

import anyio.to_thread
import msgspec

from gongfu.core.display import Display
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.diffs import diff_of
from gongfu.toolkit.edits import Edit, Edited, apply_edits, changed_lines
from gongfu.toolkit.files import check_fresh, check_text, previewed
from gongfu.toolkit.places import Places, explained
from gongfu.toolkit.readlog import ReadLog
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome, Toolset
from gongfu.workspace.files import TextFile, read_text_file, write_atomic
from gongfu.workspace.root import Located, Workspace


def edit_tools(workspace: Workspace, reads: ReadLog) -> Toolset:
    """edit_file of one session; `reads` is shared with the tools that read and write."""
    return (EditTools(workspace, reads).edit_file,)


class EditTools:
    """See `edit_tools`."""

    def __init__(self, workspace: Workspace, reads: ReadLog) -> None:
        self._workspace = workspace
        self._places = Places(workspace)
        self._reads = reads

    async def _facts(self, args: dict[str, Any]) -> Facts:
        located = self._places.judge(args["path"])
        edits = _edits(args.get("old"), args.get("new"), args.get("all") or False, args.get("edits"))
        paths = self._places.paths(located, write=True)
        preview = await previewed(self._places.consent(located), lambda: self._preview(located, edits))
        return Facts(access=("write",), paths=paths, writes=paths, title=located.shown, preview=preview)

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource=str(self._workspace.locate(args["path"]).path), write=True),)

    @tool(access="write", facts=_facts, claims=_claims)
    async def edit_file(
        self,
        path: str,
        old: str | None = None,
        new: str | None = None,
        all: bool = False,
        edits: list[Edit] | None = None,
    ) -> Outcome:
        located = self._places.again(path)
        wanted = _edits(old, new, all, edits)
        # to work it out may take seconds in a large file, and can be cancelled; to write is done whole or not at all
        before, edited = await anyio.to_thread.run_sync(self._plan, located, wanted, abandon_on_cancel=True)
        return await anyio.to_thread.run_sync(self._edit, located, before, edited)

    def _preview(self, located: Located, edits: list[Edit]) -> Display:
        before, edited = self._plan(located, edits)
        return diff_of(located.shown, before.text, edited.file.text) if edited.file.raw != before.raw else {}

    def _plan(self, located: Located, edits: list[Edit]) -> tuple[TextFile, Edited]:
        """The file as it is and as it would be; ToolFailure when the edits must not or cannot be made."""
        if not located.path.exists():
            raise self._places.missing(located)
        with explained(located):
            before = read_text_file(located.path)
        seen = self._reads.seen(located.path)
        if seen is not None:
            check_fresh(located, seen.digest, before.digest)
        return before, apply_edits(before, edits, located.shown)

    def _edit(self, located: Located, before: TextFile, edited: Edited) -> Outcome:
        after = edited.file
        if after.raw == before.raw:
            return Outcome(text=f"The edits leave {located.shown} as it is; nothing was written.")
        with explained(located):
            write_atomic(located.path, after.raw, expect=before.digest, workspace=self._workspace)
        self._reads.wrote(located.path, after.digest, whole=False)
        display = diff_of(located.shown, before.text, after.text)
        how = " (white space differed; the file's own was kept)" if edited.loosely else ""
        head = f"Edited {located.shown} (+{display['added']} -{display['removed']}){how}. Now:"
        return Outcome(text=f"{head}\n{changed_lines(edited)}", display=display)


def _edits(old: str | None, new: str | None, all: bool, edits: list[Any] | None) -> list[Edit]:
    """What is to be done, from either way of saying it."""
    wanted: list[Edit] = []
    if old is not None or new is not None:
        if old is None or new is None:
            raise ToolFailure(
                f"{'old' if old is None else 'new'} is missing; give both, the text now and the text then"
            )
        wanted.append(Edit(old=old, new=new, all=all))
    for edit in edits or []:
        one = edit if isinstance(edit, Edit) else msgspec.convert(cast("dict[str, Any]", edit), Edit)
        wanted.append(one)
    if not wanted:
        raise ToolFailure("there is nothing to do; give old and new, or edits")
    for edit in wanted:
        check_text(edit.new, "new")
    return wanted
