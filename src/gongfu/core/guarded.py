"""Events of safe hands: checkpoints of the files, what was given back, hooks that ran, what was granted."""

from __future__ import annotations

from typing import Literal

from gongfu.core.event_base import Event


class CheckpointTaken(Event, frozen=True, tag="checkpoint_taken"):
    """The files of the workspace are kept as they are now: `files` in all, `changed` since the one before.

    `when` tells why: before the first change of `turn`, after its last, or by hand before files are given back.
    `bytes` were stored anew. `uncovered` names what is not kept (too large, not readable), as far as it was touched.
    """

    checkpoint: str
    when: Literal["before", "after", "restore"]
    turn: str = ""
    files: int = 0
    changed: int = 0
    bytes: int = 0
    seconds: float = 0.0
    uncovered: tuple[str, ...] = ()


class FilesRestored(Event, frozen=True, tag="files_restored"):
    """Files were given back to how `checkpoint` has them; `before` keeps how they were until then.

    `paths` are the first of those that changed, `kept` those that were left because somebody else changed them since.
    """

    action: Literal["undo", "redo", "rewind"]
    checkpoint: str
    before: str
    written: int = 0
    deleted: int = 0
    paths: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()


class HookRan(Event, frozen=True, tag="hook_ran"):
    """A hook of the user or of a trusted project ran at `event`. `code` is its exit code (None: it was stopped).

    `decision` is what it decided of a call ("" for nothing), `reason` its words, `call` the call that it was about.
    `changed`: it gave the call other arguments.
    """

    event: str
    command: str
    code: int | None = None
    decision: Literal["", "allow", "ask", "deny", "block"] = ""
    reason: str = ""
    call: str = ""
    seconds: float = 0.0
    changed: bool = False


class PermissionGranted(Event, frozen=True, tag="permission_granted"):
    """A person allowed `parts` for the rest of the session, or for the project: exactly these, as they were shown."""

    scope: Literal["session", "project"]
    tool: str
    parts: tuple[str, ...] = ()
