"""The tools that are about Gongfu itself: its mode, settings, models and commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gongfu.toolkit.command_tools import CommandTools
from gongfu.toolkit.model_tools import ModelTools
from gongfu.toolkit.settings_tools import SettingsTools
from gongfu.tools.protocol import Toolset

if TYPE_CHECKING:
    from gongfu.app.families import Parts


def settings_tools(parts: Parts) -> Toolset:
    """The family `settings`."""
    app, session = parts.app, parts.session
    return (
        *SettingsTools(app.places, app.settings, app.workspace.root),
        *ModelTools(session, app.router, app.settings, app.places, app.options.env),
        *CommandTools(app.command_files, app.places, app.workspace, session.kit.registry),
    )
