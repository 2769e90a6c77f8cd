"""The tools for files and edits on the shelf of a session."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gongfu.app.earlier import earlier
from gongfu.app.keeper import Keeper
from gongfu.toolkit.appending import AppendTools
from gongfu.toolkit.comparing import CompareTools
from gongfu.toolkit.info import InfoTools
from gongfu.toolkit.many import ManyTools
from gongfu.toolkit.moving import MoveTools
from gongfu.toolkit.patching import PatchTools
from gongfu.tools.protocol import Toolset

if TYPE_CHECKING:
    from gongfu.app.families import Parts


def edit_family(parts: Parts) -> Toolset:
    """apply_patch, diff, multi_file_edit and edit_lines."""
    workspace, reads = parts.app.workspace, parts.reads
    many = ManyTools(workspace, reads)
    compare = CompareTools(workspace, partial(earlier, parts.app))
    return (PatchTools(workspace, reads).apply_patch, compare.diff, many.multi_file_edit, many.edit_lines)


def files_family(parts: Parts) -> Toolset:
    """append_file, copy_file, delete_file, file_info, move_file and write_chunk."""
    app, session = parts.app, parts.session

    def kept() -> bool:
        return isinstance(session.guard, Keeper) and session.guard.holds

    moving = MoveTools(app.workspace, parts.reads, env=app.options.env, kept=kept)
    appending = AppendTools(app.workspace, parts.reads)
    parts.closing.append(appending.close)
    info = InfoTools(app.workspace, app.options.env)
    return (
        appending.append_file, appending.write_chunk, info.file_info, moving.copy_file, moving.delete_file,
        moving.move_file,
    )  # fmt: skip
