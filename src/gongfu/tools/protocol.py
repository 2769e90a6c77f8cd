"""The seam between the engine and every tool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Protocol, TypeAlias

from gongfu.core.base import Base
from gongfu.core.display import Display
from gongfu.core.events import TodoItem
from gongfu.core.messages import ImagePart
from gongfu.core.specs import Access, ToolSpec


class Claim(Base, frozen=True):
    """A resource that a call uses. Two calls conflict when their resources are the same or one lies below the other
    (path components) and at least one of them writes. "*" conflicts with everything."""

    resource: str
    write: bool = False


class Facts(Base, frozen=True):
    """What the policy and the person are told of one call before it runs.

    `paths` are absolute, after resolving links; `command` is a whole command line; `hosts` are names with ports.
    `writes` are the paths among `paths` that would change. `below` are further files that change in a folder of
    `writes`: they are kept for an undo, and permission for the folder is permission for them.
    `title` is one short line; `preview` a display. `asks`: the tool itself asks the person before anything leaves,
    whatever modes and rules allow, so that nobody is asked for its hosts too.
    """

    access: tuple[Access, ...] = ()
    paths: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    below: tuple[str, ...] = ()
    command: str = ""
    cwd: str = ""
    hosts: tuple[str, ...] = ()
    title: str = ""
    preview: Display = {}
    asks: bool = False


class Leave(Base, frozen=True):
    """How far a permitted call may go. `free`: outside any sandbox; else `network` and `write` say what the sandbox
    lets through (`write`: in the workspace). `changes` is False for a command that was seen to do nothing but read."""

    free: bool = False
    network: bool = False
    write: bool = True
    changes: bool = True


class Outcome(Base, frozen=True):
    """What a tool gives back. `text` is for the model and whole: the engine bounds it and spills the rest.

    `spill` is the path of a file that already holds the whole text (a tool that streamed its output there); then
    `text` is a bounded view of it that is kept as it is. `todo` replaces the todo list of the session. `agent` names
    the sub-agent whose report this is.
    """

    text: str
    display: Display = {}
    images: tuple[ImagePart, ...] = ()
    status: Literal["done", "failed"] = "done"
    spill: str = ""
    todo: tuple[TodoItem, ...] | None = None
    agent: str = ""


class CallContext(Protocol):
    """What a running call may do besides returning."""

    @property
    def call_id(self) -> str: ...

    @property
    def room(self) -> int:
        """Bytes of text that the result may have before it is cut."""
        ...

    @property
    def leave(self) -> Leave:
        """How far this call may go."""
        ...

    def output(self, text: str, /) -> None:
        """Show the person some live output."""
        ...

    async def ask(
        self,
        text: str,
        /,
        *,
        options: tuple[str, ...] = (),
        default: str = "",
        seconds: float | None = None,
        preview: Display | None = None,
    ) -> tuple[str, Literal["person", "policy", "timeout", "cancel"]]:
        """Ask the person; the answer and who gave it. With nobody there the policy answers with `default`.

        `preview` is what the question is about.
        """
        ...


class Tool(Protocol):
    """One tool. `check` and `claims` are pure and quick; `facts` may read the file system (previews)."""

    @property
    def spec(self) -> ToolSpec: ...

    def claims(self, args: dict[str, Any], /) -> tuple[Claim, ...]:
        """The resources this call uses; () when it conflicts with nothing."""
        ...

    async def facts(self, args: dict[str, Any], /) -> Facts:
        """Facts for the policy. ToolFailure for a call that cannot run (nothing is asked then)."""
        ...

    async def run(self, args: dict[str, Any], ctx: CallContext, /) -> Outcome:
        """Run the call with validated arguments. ToolFailure speaks to the model."""
        ...


Toolset: TypeAlias = Iterable[Tool]
