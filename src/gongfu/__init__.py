"""Gongfu, an AI coding agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gongfu.core.version import __version__

if TYPE_CHECKING:
    from gongfu.app import App, open

__all__ = ["App", "__version__", "open"]


def __getattr__(name: str) -> Any:
    """Load the Python API when it is first used; importing `gongfu` itself costs nothing."""
    if name in ("App", "open"):
        from gongfu import app

        return getattr(app, name)
    raise AttributeError(name)
