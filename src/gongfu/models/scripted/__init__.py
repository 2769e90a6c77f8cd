"""A model that plays a script, in process and over HTTP, for tests, demonstrations and reproducible reports."""

from __future__ import annotations

from gongfu.models.scripted.player import ScriptError, Seen, UnexpectedCall, UnusedSteps
from gongfu.models.scripted.provider import SCRIPTED, Scripted
from gongfu.models.scripted.script import Call, Calls, Fault, Match, Planned, Raw, Say, Step

__all__ = [
    "SCRIPTED",
    "Call",
    "Calls",
    "Fault",
    "Match",
    "Planned",
    "Raw",
    "Say",
    "ScriptError",
    "Scripted",
    "Seen",
    "Step",
    "UnexpectedCall",
    "UnusedSteps",
]
