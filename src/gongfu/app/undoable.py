"""What an App offers of undo; all of it loads when it is first called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from gongfu.app.app import App
    from gongfu.app.deeds import Story
    from gongfu.app.give_back import Agree, Given
    from gongfu.app.keeper import Keeper
    from gongfu.engine.session import Session


class Undoable:
    """The part of `App` that gives files back."""

    async def undo(
        self, session: str = "", *, turns: int = 1, force: bool = False, agree: Agree | None = None
    ) -> Given:
        """Give files back to how they were before the last `turns` turns of a session, see `app.undo.undo`."""
        from gongfu.app.undo import undo

        return await undo(cast("App", self), session, turns=turns, force=force, agree=agree)

    async def redo(self, session: str = "", *, force: bool = False, agree: Agree | None = None) -> Given:
        """Take back the last undo or rewind of files, see `app.undo.redo`."""
        from gongfu.app.undo import redo

        return await redo(cast("App", self), session, force=force, agree=agree)

    async def rewind(self, session: str = "", **wanted: Any) -> Given:
        """Go back to before an earlier prompt with talk and files, see `app.rewinding.rewind`."""
        from gongfu.app.rewinding import rewind

        return await rewind(cast("App", self), session, **wanted)

    async def restore(self, checkpoint: str, *, force: bool = False, agree: Agree | None = None) -> Given:
        """Give all files back as a checkpoint has them, see `app.kept_list.restore`."""
        from gongfu.app.kept_list import restore

        return await restore(cast("App", self), checkpoint, force=force, agree=agree)

    async def checkpoints(self, session: str = "", *, changed: bool = True) -> tuple[str, Story]:
        """The id of a session, and what its turns did to the files. Nothing is locked or changed.

        "" is the session that changed files here last (`changed`), else the one that was last active.
        """
        from gongfu.app.undo import look

        return await look(cast("App", self), session, changed=changed)

    def forget_files(self) -> int:
        """Delete the checkpoints of sessions that are gone, see `app.forgetting`; how many."""
        app = cast("App", self)
        if not app.places.checkpoints.exists():
            return 0
        from gongfu.app.forgetting import forget_files

        return forget_files(app)


def keeper_of(app: App, session: Session) -> Keeper:
    """The guard of a session."""
    from gongfu.app.keeper import Keeper

    def place() -> Any:
        from gongfu.app.shelf import Place

        return Place(root=app.workspace.root, store=app.places.checkpoints, env=app.options.env)

    return Keeper(session.id, place, lambda event: session.stream.emit(event))  # noqa: PLW0108 - the stream is not there yet
