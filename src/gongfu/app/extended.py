"""What files of the person and of a trusted project add to an App: work modes and commands."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from gongfu.core.modes import NO_MODE

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.app.commands import Expanded
    from gongfu.core.modes import WorkMode
    from gongfu.engine.prompted import Prompted
    from gongfu.engine.session import Session
    from gongfu.plugins.commands import Command, CommandFiles
    from gongfu.plugins.folders import Folders
    from gongfu.plugins.modes import ModeFiles


class Extended:
    """The part of `App` that reads such files; all of it loads when it is first needed."""

    @cached_property
    def folders(self) -> Folders:
        """Where they lie. Those of the project count only where its folder is trusted, as they were then."""
        from gongfu.plugins.folders import Folders

        options = cast("App", self).options
        return Folders(
            places=options.places,
            project=options.workspace.root if options.trusted else None,
            digests=options.trust.findings.files if options.trusted else {},
        )

    @cached_property
    def modes(self) -> ModeFiles:
        """The work modes that there are."""
        from gongfu.plugins.modes import ModeFiles
        from gongfu.toolkit.catalog import CORE

        return ModeFiles(self.folders, families=CORE)

    @cached_property
    def command_files(self) -> CommandFiles:
        """The files of commands that there are."""
        from gongfu.plugins.commands import CommandFiles

        return CommandFiles(self.folders)

    def commands(self) -> tuple[Command, ...]:
        """The commands that a prompt may start with. ConfigError for the first file that is wrong."""
        return self.command_files.all()

    async def expand(self, text: str, session: Session) -> Expanded:
        """What a person's text is for the model: that of a command with its arguments, files and output of commands.

        Commands run and files are read by permission, and the person may be asked through the session. A text that
        starts with no slash and name is given back as it is. UsageError, with the nearest, for a command that is none.
        """
        from gongfu.app.commands import expand

        return await expand(cast("App", self), text, session)

    async def mentioned(self, text: str, session: Session) -> Expanded:
        """A plain prompt with the files and folders behind it that it names as `@path`, read by permission.

        What names none that exists stays as it is, and so does the text itself. See `app.mentions`.
        """
        from gongfu.app.mentions import mentioned

        return await mentioned(cast("App", self), session, text)

    async def prompt(self, session: Session, text: str, **more: Any) -> Prompted:
        """Send a person's text to a session as `Session.prompt` does, commands expanded."""
        found = await self.expand(text, session)
        images = (*more.pop("images", ()), *found.images)
        return await session.prompt(found.prompt, images=images, bounds=found.bounds, **more)

    def get_mode(self, name: str) -> WorkMode:
        """The work mode of that name. UserError when there is none, or its file is wrong."""
        return self.modes.get(name)

    def in_mode(self, session: Session) -> Session:
        """A session that was just opened, in the work mode that the app was opened with."""
        mode = cast("App", self).options.work_mode
        if mode and session.brief is None:
            session.overlay.set("" if mode == NO_MODE else mode)
        return session
