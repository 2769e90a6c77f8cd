"""The composition root: settings in, an App out. `gongfu.open()` is the Python API."""

from gongfu.app.app import App, Session, TurnFinished
from gongfu.app.build import open

__all__ = ["App", "Session", "TurnFinished", "open"]
