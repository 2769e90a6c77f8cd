"""The environment of a confined command: no addresses of services that it cannot reach, folders it can write."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from gongfu.workspace.root import rest_below

_SERVICES = (
    "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS",
    "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "SESSION_MANAGER", "ICEAUTHORITY", "DOCKER_HOST",
    "CONTAINER_HOST", "PULSE_SERVER", "PIPEWIRE_REMOTE", "TMUX", "STY", "VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE",
    "GNOME_KEYRING_CONTROL", "NOTIFY_SOCKET", "LISTEN_FDS", "BROWSER",
)  # fmt: skip
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "FTP_PROXY")


def confined_env(env: Mapping[str, str], *, temp: str, writable: Sequence[str], network: str) -> dict[str, str]:
    """`env` without what leads to services of this machine, with temporary files and caches in `temp`.

    Caches of the person are not written: what lies there is run outside later. Without a network the proxies go, too.
    """
    child = {name: value for name, value in env.items() if name not in _SERVICES}
    if network != "on":
        for name in PROXIES:
            child.pop(name, None)
            child.pop(name.lower(), None)
    for name in ("TMPDIR", "TMP", "TEMP"):
        if name == "TMPDIR" or name in child:
            child[name] = temp
    if not _may_write(child.get("XDG_CACHE_HOME") or f"{child.get('HOME', '/')}/.cache", writable):
        child["XDG_CACHE_HOME"] = f"{temp}/.cache"
        child.setdefault("NPM_CONFIG_CACHE", f"{temp}/.cache/npm")
    return child


def _may_write(folder: str, writable: Sequence[str]) -> bool:
    real = os.path.realpath(folder)
    return any(rest_below(real, place) is not None for place in writable)
