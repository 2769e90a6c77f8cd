"""Notices on the person's desktop."""

from __future__ import annotations

import asyncio
import os
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from gongfu.workspace.screen.orders import ScreenProblem, Told, UseNotice
from gongfu.workspace.screen.programs import call, has

_SECONDS = 5.0
_POWERSHELL: Final = (
    "Add-Type -AssemblyName System.Windows.Forms; Add-Type -AssemblyName System.Drawing;"
    "$n = New-Object System.Windows.Forms.NotifyIcon; $n.Icon = [System.Drawing.SystemIcons]::Information;"
    "$n.Visible = $true; $n.ShowBalloonTip(5000, $env:GONGFU_TITLE, $env:GONGFU_MESSAGE, 'Info');"
    "Start-Sleep -Seconds 5; $n.Dispose()"
)
_OSASCRIPT: Final = (
    "on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run",
)  # fmt: skip


def show_notice(order: UseNotice) -> Told:
    """Show it by the library, else by a program; `by` says which. ScreenProblem when nothing of that is there."""
    problems: list[str] = []
    for way in (_by_library, _by_program):
        try:
            by = way(order)
        except ScreenProblem as problem:
            problems.append(str(problem))
        else:
            if by:
                return Told(by=by)
    tell = f" ({'; '.join(problems)})" if problems else ""
    more = ": sudo apt-get install libnotify-bin" if sys.platform == "linux" else ": pip install 'gongfu[desktop]'"
    raise ScreenProblem(f"notices cannot be shown here{tell}; a desktop session and notify-send would{more}")


def _by_library(order: UseNotice) -> str:
    if find_spec("desktop_notifier") is None or (
        sys.platform == "linux" and not os.environ.get("DBUS_SESSION_BUS_ADDRESS")
    ):
        return ""
    library: Any = import_module("desktop_notifier")

    async def send() -> None:
        await asyncio.wait_for(
            library.DesktopNotifier(app_name="Gongfu", app_icon=None).send(title=order.title, message=order.message),
            _SECONDS,
        )

    try:
        asyncio.run(send())
    except Exception as error:  # noqa: BLE001 - the library has other errors on each system
        raise ScreenProblem(f"desktop-notifier: {str(error).strip() or type(error).__name__}") from None
    return "desktop-notifier"


def _by_program(order: UseNotice) -> str:
    match sys.platform:
        case "darwin":
            lines = [word for line in _OSASCRIPT for word in ("-e", line)]
            call("osascript", *lines, order.title, order.message)
            return "osascript"
        case "win32":
            os.environ.update(GONGFU_TITLE=order.title, GONGFU_MESSAGE=order.message)
            call("powershell", "-NoProfile", "-NonInteractive", "-Command", _POWERSHELL)
            return "powershell"
        case _ if has("notify-send"):
            call("notify-send", "--app-name=Gongfu", "--", order.title, order.message)
            return "notify-send"
        case _:
            return ""
