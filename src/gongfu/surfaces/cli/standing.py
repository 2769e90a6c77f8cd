"""Whether the settings of a project hold, for commands that need nothing else of the app."""

from __future__ import annotations

from pathlib import Path

from gongfu.config.load import PROJECT_FILE
from gongfu.config.paths import Places


def project_trusted(found: Places, root: Path) -> bool:
    """Whether the folder `root` is trusted; False where it has no settings that could matter."""
    if not (root / PROJECT_FILE).exists():
        return False
    from gongfu.app.trust import standing  # the app loads only where a project has settings

    return standing(found, root.resolve()).trusted
