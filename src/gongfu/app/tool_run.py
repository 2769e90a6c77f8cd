"""One tool by itself: a turn in which a script makes the one call, guarded as a call of a model is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from gongfu.app.app import App
from gongfu.config.settings import Models
from gongfu.models.scripted import Call, Say, Scripted

if TYPE_CHECKING:
    from gongfu.tools.registry import Registry

_REF = "tools/run"


def app_for_call(app: App, name: str, arguments: dict[str, Any]) -> App:
    """An app like `app`, not opened yet, whose turn is one call of `name`: no model is asked, nothing else is sent.

    Whatever its prompt, the turn runs the call with permissions, hooks, checkpoint and events as ever.
    """
    script = Scripted([Call(name, arguments), Say(".")])
    settings = replace(app.settings, models=Models(main=(_REF,)))
    return App(replace(app.options, settings=settings, providers={_REF: script}))


async def registry_of(app: App) -> Registry:
    """All tools that a session of `app` has; the session is closed again and leaves nothing behind."""
    session = await app.session()
    registry = session.kit.registry
    await session.close()
    return registry
