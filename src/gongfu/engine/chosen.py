"""What a person chooses for one session while it is open: its model, its work mode, and what runs without asking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from gongfu.core.errors import UsageError
from gongfu.core.events import ModelChosen

if TYPE_CHECKING:
    from gongfu.engine.chains import Chains
    from gongfu.engine.modes import Overlay
    from gongfu.engine.session import Session
    from gongfu.models.protocol import ModelProvider
    from gongfu.permissions.policy import Mode

PERMISSIONS: tuple[Mode, ...] = ("ask", "edits", "plan", "auto", "full")


class Chosen:
    """The part of `Session` that holds such choices. Each counts from the next request or call on."""

    overlay: Overlay
    _chain: Sequence[ModelProvider]
    _chains: Chains

    @property
    def model(self) -> str:
        """The model of the last prompt; "" before the first."""
        return self._chain[0].info.ref if self._chain else ""

    async def models(self) -> Sequence[ModelProvider]:
        """The models that a prompt asks that names none, in their order. UserError when none can be had."""
        return await self._chains.usual()

    async def set_model(self, ref: str) -> bool:
        """Ask another model (or several, at commas) from the next turn on; "" is that of the settings. Whether it is a
        change. UserError, with nothing changed, when it cannot be had.
        """
        session = cast("Session", self)
        if ref == session.state.model:
            return False
        await self._chains.of(ref)
        session.begin()
        session.stream.emit(ModelChosen(model=ref))
        return True

    @property
    def mode(self) -> str:
        """The work mode; "" for none."""
        return self.overlay.name

    def set_mode(self, name: str) -> bool:
        """Work in another mode ("": in none) from the next request on, because a person wants it; see `Overlay.set`."""
        return self.overlay.set(name)

    @property
    def permission(self) -> Mode:
        """What may run without asking; a sub-agent's is that of the agent above it."""
        return self.overlay.permission

    def set_permission(self, mode: str) -> bool:
        """Let other calls run without asking, from the next one on; whether it is a change.

        A question that waits stays. UsageError for a word that is none.
        """
        known: Mode | None = next((one for one in PERMISSIONS if one == mode), None)
        if known is None:
            raise UsageError("app.bad_permission", wanted=mode)
        return self.overlay.permit(known)
