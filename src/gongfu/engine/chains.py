"""Which models the prompts of a session ask: the usual ones, or those that a prompt names for its turn."""

from __future__ import annotations

from collections.abc import Sequence

from gongfu.core.modes import Bounds
from gongfu.engine.kit import Kit
from gongfu.engine.state import SessionState
from gongfu.models.protocol import ModelProvider


class Chains:
    """Resolves models when a prompt comes, and hands them to its turn."""

    def __init__(self, kit: Kit, state: SessionState) -> None:
        self._kit = kit
        self._state = state
        self._usual: Sequence[ModelProvider] = ()
        self._own: dict[str, Sequence[ModelProvider]] = {}  # by prompt, "" for a turn that goes on

    async def prepare(self, bounds: Bounds | None, *, going_on: bool) -> Sequence[ModelProvider]:
        """The models of the prompt that comes now. Those of prompts that wait are there, too, also after a restart.

        UserError when one of them cannot be had.
        """
        queue = list(self._state.queue.values())
        own = bounds.model if bounds is not None else ""
        if going_on and not queue:
            own = self._state.bounds.model
        named = [(q.prompt, q.bounds.model) for q in queue if q.bounds is not None and q.bounds.model]
        for prompt, model in named:
            if prompt not in self._own:
                self._own[prompt] = await self.of(model)
        if not own or len(named) < len(queue):
            self._usual = await self.usual()
        chosen = await self.of(own) if own else self._usual
        if going_on:
            self._own[""] = chosen
        return chosen

    async def usual(self) -> Sequence[ModelProvider]:
        """The models of a prompt that names none: those that the person chose for the session, else of the settings."""
        return await (self.of(self._state.model) if self._state.model else self._kit.chain())

    async def of(self, model: str) -> Sequence[ModelProvider]:
        """The models of a reference, "" for those of the settings. UserError when they cannot be had."""
        return await (self._kit.chain() if self._kit.chain_of is None else self._kit.chain_of(model))

    def keep(self, prompt: str, chain: Sequence[ModelProvider]) -> None:
        """The models of a prompt that has an id now."""
        self._own[prompt] = chain

    def take(self, prompt: str) -> Sequence[ModelProvider]:
        """The models of a turn that begins, by its prompt; "" for one that goes on."""
        return self._own.pop(prompt, self._usual)

    def drop(self, prompt: str) -> None:
        """A prompt was taken back."""
        self._own.pop(prompt, None)
