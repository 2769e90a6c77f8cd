"""A folder that nobody may enter, too."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest


@pytest.fixture
def scene_folder() -> Generator[Path]:
    top = Path(tempfile.mkdtemp(prefix="scene-"))
    top.chmod(0o755)
    yield top
    shutil.rmtree(top)
