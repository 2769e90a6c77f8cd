"""The three dialects by the end of their paths."""

from __future__ import annotations

from gongfu.models.scripted.chat import CHAT
from gongfu.models.scripted.messages import MESSAGES
from gongfu.models.scripted.responses import RESPONSES
from gongfu.models.scripted.wire import Dialect

BY_PATH = {"/chat/completions": CHAT, "/responses": RESPONSES, "/messages": MESSAGES}


def dialect_of(path: str) -> Dialect | None:
    """The dialect that is spoken at a path."""
    clean = path.split("?", 1)[0].rstrip("/")
    return next((d for end, d in BY_PATH.items() if clean.endswith(end)), None)
