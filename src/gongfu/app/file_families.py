"""The tools for files and edits on the shelf of a session."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gongfu.app.earlier import earlier
from gongfu.toolkit.comparing import CompareTools
from gongfu.toolkit.many import ManyTools
from gongfu.toolkit.patching import PatchTools
from gongfu.tools.protocol import Toolset

if TYPE_CHECKING:
    from gongfu.app.families import Parts


def edit_family(parts: Parts) -> Toolset:
    """apply_patch, diff_files, edit_files and edit_lines."""
    workspace, reads = parts.app.workspace, parts.reads
    many = ManyTools(workspace, reads)
    compare = CompareTools(workspace, partial(earlier, parts.app))
    return (PatchTools(workspace, reads).apply_patch, compare.diff_files, many.edit_files, many.edit_lines)
