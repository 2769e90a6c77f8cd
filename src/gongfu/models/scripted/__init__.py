"""A model that plays a script, in process and over HTTP, for tests, demonstrations and reproducible reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gongfu.models.scripted.player import ScriptError, Seen, UnexpectedCall, UnusedSteps
from gongfu.models.scripted.provider import SCRIPTED, Scripted
from gongfu.models.scripted.read import DEMO, read_script, script_of
from gongfu.models.scripted.script import Call, Calls, Fault, Match, Planned, Raw, Say, Step

if TYPE_CHECKING:
    from gongfu.models.scripted.server import Received, Route, Server, serve

__all__ = [
    "DEMO",
    "SCRIPTED",
    "Call",
    "Calls",
    "Fault",
    "Match",
    "Planned",
    "Raw",
    "Received",
    "Route",
    "Say",
    "ScriptError",
    "Scripted",
    "Seen",
    "Server",
    "Step",
    "UnexpectedCall",
    "UnusedSteps",
    "read_script",
    "script_of",
    "serve",
]


def __getattr__(name: str) -> Any:
    """Load the server only when it is used; a script played in process needs none."""
    if name in ("Received", "Route", "Server", "serve"):
        from gongfu.models.scripted import server

        return getattr(server, name)
    raise AttributeError(name)
