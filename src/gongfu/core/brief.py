"""How a sub-agent was set up, as it stands in the log of its own session."""

from __future__ import annotations

from gongfu.core.base import Base
from gongfu.core.modes import WorkMode


class Brief(Base, frozen=True, gc=False):
    """A sub-agent: its name, the call of its parent that started it, and what it was given.

    `role` are instructions behind its system prompt, `tools` the names that it may use, `model` a reference ("": the
    parent's model), `steps` its own limit of requests. `depth` is 1 for a sub-agent of the main agent. `mode` is the
    work mode that its parent worked in.
    """

    agent: str
    call: str = ""
    role: str = ""
    tools: tuple[str, ...] = ()
    model: str = ""
    steps: int = 0
    depth: int = 1
    background: bool = False
    mode: WorkMode | None = None
