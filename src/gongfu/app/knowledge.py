"""The index of the code of an app's workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from gongfu.knowledge.index import Index
from gongfu.workspace.environment import child_env

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.app.families import Parts


def index_of(app: App) -> Index:
    """A new index; nothing is read before it is asked. Whoever asks for it closes it."""
    return Index(app.workspace, app.places.cache / "symbols", child_env(app.options.env))


def index_for(parts: Parts) -> Index:
    """The one index that the tools of a session share; it is closed with the session."""
    made = parts.shared.get("index")
    if made is None:
        made = parts.shared["index"] = index_of(parts.app)
        parts.closing.append(made.close)
    return cast("Index", made)
