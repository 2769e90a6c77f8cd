"""Lines of cmd and PowerShell: no grammar of a shell of Unix fits them, so only the plainest are understood."""

from __future__ import annotations

import re
from pathlib import Path

from gongfu.permissions.rating import Line, Part, Rating
from gongfu.workspace.protect import mentions_protected
from gongfu.workspace.root import Workspace

_READS = (
    r"(?i)dir|ls|get-childitem|gci|get-location|pwd|cd|hostname|whoami|ver|get-date"
    r"|git (status|log|diff|branch|rev-parse HEAD)( --?(short|oneline|stat|name-only|cached|staged"
    r"|porcelain|show-current))*"
    r"|(python|py|node|npm|git|cargo|go|dotnet|pip) (--version|-V)|go version|(type|cat|get-content|gc"
    r"|dir|ls|get-childitem|gci) (?P<path>[\w][\w./\\-]*)"
)


def rate_windows(command: str, *, cwd: Path, workspace: Workspace) -> Line:
    """A line that only looks, of plain words alone and inside the workspace, is "read"; any other "unknown"."""
    text = re.sub(r"[ \t]+", " ", command.strip())
    match = re.fullmatch(_READS, text)
    ratings: tuple[Rating, ...] = ("unknown",)
    if match is not None and workspace.contains(cwd.resolve()):
        path = match["path"]
        if path is None or (":" not in path and workspace.contains((cwd / path.replace("\\", "/")).resolve())):
            ratings = ("read",)
    if mentions_protected(command, cwd, workspace, windows=True):
        ratings = tuple(sorted({*ratings, "credential"}))
    seen = ratings == ("read",)
    return Line(
        parts=(Part(text=text, ratings=ratings, why="" if seen else "shell_unseen", about="" if seen else text[:80]),)
    )
