"""Fixtures that every test may use."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Gongfu runs on asyncio only."""
    return "asyncio"
