"""Fixtures that every test may use."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

# a version manager's stand-in for `python3` takes longer to start than the interpreter itself
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).resolve().parent), os.environ.get("PATH", "")])


@pytest.fixture
def anyio_backend() -> str:
    """Gongfu runs on asyncio only."""
    return "asyncio"
