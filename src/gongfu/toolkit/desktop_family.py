"""All tools of the screen."""

from __future__ import annotations

from collections.abc import Callable

from gongfu.config.settings import Desktop
from gongfu.toolkit.desktop import DesktopTools
from gongfu.toolkit.desktop_try import TryTools
from gongfu.toolkit.ocr import Reader
from gongfu.toolkit.programs import Programs
from gongfu.tools.protocol import Toolset
from gongfu.workspace.root import Workspace


def desktop_family(
    workspace: Workspace, programs: Programs, keep: Callable[[bytes], str], settings: Desktop
) -> Toolset:
    """The tools of one session; `keep` stores bytes as an artifact and gives its id."""
    reader = Reader(programs, settings.ocr)
    return (*DesktopTools(workspace, programs, reader, keep), *TryTools(programs, keep, settings.try_on))
