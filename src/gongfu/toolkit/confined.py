"""What the model is told of the sandbox, and only when it matters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gongfu.workspace.sandbox.confinement import Launch
    from gongfu.workspace.sandbox.sandbox import Sandbox

_DENIED = (
    rb"read-only file system|permission denied|operation not permitted|network is unreachable|device or resource busy"
    rb"|could not resolve|cannot resolve|name resolution|getaddrinfo|name or service not known|nodename nor servname"
    rb"|connection refused|no such host|failed to lookup address|EROFS|EACCES|EPERM|ENOTFOUND|EAI_AGAIN|ENETUNREACH"
    rb"|can only add regular files|you have unstaged changes"
    rb"|no route to host|could not connect|couldn't connect|cross-device link|403 forbidden by the sandbox"
)


def sandbox_note(sandbox: Sandbox | None, launch: Launch, output: bytes, *, failed: bool) -> str:
    """What to add to a command that ran confined: "" unless it failed and its output speaks of a denial, or it was
    denied one of the workspace's secrets."""
    if sandbox is None or launch.kind == "none":
        return ""
    if failed and re.search(_DENIED, output, re.IGNORECASE):
        return sandbox.said(launch)
    return sandbox.said_of_secrets(launch) if launch.masked and _denied_secret(launch, output) else ""


def _denied_secret(launch: Launch, output: bytes) -> bool:
    names = "|".join(re.escape(path.rpartition("/")[2]) for path in launch.masked)
    return bool(
        re.search(rb"(?:%s)\b.*(?:denied|regular files|resource busy)" % names.encode(errors="surrogateescape"), output)
    )


def settled_note(sandbox: Sandbox | None, launch: Launch, *, over: bool) -> str:
    """Sets aside what the command made that git would obey outside the sandbox; what to say of that."""
    if sandbox is None or launch.kind == "none":
        return ""
    moved = sandbox.settle(launch, over=over)
    return (
        f"no command may make what git obeys outside the sandbox; renamed to *.refused: {', '.join(moved)}"
        if moved
        else ""
    )


def ports_note(launch: Launch, *, running: bool) -> str:
    """What to add to the start of a background command that goes on: who reaches its ports."""
    if not running or launch.kind != "bwrap" or launch.network == "on":
        return ""
    if launch.shared:
        return "\n[it runs in a sandbox: other commands here reach its ports, nobody else does]"
    return "\n[it runs in a sandbox with a network of its own: other commands do not reach its ports]"
