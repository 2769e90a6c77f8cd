"""The image in the clipboard."""

from __future__ import annotations

import os
import sys
from typing import Final

from gongfu.core.errors import UserError
from gongfu.workspace.screen.orders import ScreenProblem, UseClipboard
from gongfu.workspace.screen.programs import call, has, on_wayland

_KINDS: Final = ("image/png", "image/jpeg", "image/webp", "image/gif")
_MAC: Final = 'set d to the clipboard as «class PNGf»\nset f to open for access POSIX file "{path}" with write permission\nwrite d to f\nclose access f'  # noqa: E501 - a script of four lines
_WINDOWS: Final = (
    "Add-Type -AssemblyName System.Windows.Forms,System.Drawing;"
    "$i=[Windows.Forms.Clipboard]::GetImage();"
    "if($i){$m=New-Object IO.MemoryStream;$i.Save($m,[Drawing.Imaging.ImageFormat]::Png);"
    "[Convert]::ToBase64String($m.ToArray())}"
)


def clipboard_image() -> bytes:
    """The bytes of the image in the clipboard, b"" when there is none; it asks a program of the system and waits.

    UserError says what is missing here, or what went wrong.
    """
    try:
        match sys.platform:
            case "darwin":
                return _of_mac()
            case "win32":
                return _of_windows()
            case _:
                return _of_linux()
    except ScreenProblem as problem:
        raise UserError("talk_edit.clipboard_failed", reason=str(problem)) from None


def clipboard_text() -> str:
    """The text in the clipboard, "" when there is none or when it cannot be read."""
    from gongfu.workspace.screen.clips import use_clipboard

    try:
        return use_clipboard(UseClipboard()).text
    except ScreenProblem:
        return ""


def _of_linux() -> bytes:
    if on_wayland() and has("wl-paste"):
        kinds = call("wl-paste", "--list-types", fine=(0, 1)).decode("utf-8", "replace").split()
        kind = next((one for one in _KINDS if one in kinds), "")
        return call("wl-paste", "--no-newline", "--type", kind) if kind else b""
    if not on_wayland() and not os.environ.get("DISPLAY"):
        raise UserError("talk_edit.clipboard_no_screen")
    if has("xclip"):
        about = ("xclip", "-selection", "clipboard", "-out", "-target")
        kinds = call(*about, "TARGETS", fine=(0, 1)).decode("utf-8", "replace").split()
        kind = next((one for one in _KINDS if one in kinds), "")
        return call(*about, kind) if kind else b""
    program, package = ("wl-paste", "wl-clipboard") if on_wayland() else ("xclip", "xclip")
    raise UserError("talk_edit.clipboard_lacks", program=program, fix=f"sudo apt-get install {package}")


def _of_mac() -> bytes:
    if has("pngpaste"):
        try:
            return call("pngpaste", "-")
        except ScreenProblem:
            return b""  # there is no image in it
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "clipboard.png"
        call("osascript", "-e", _MAC.format(path=path), fine=(0, 1))
        return path.read_bytes() if path.exists() else b""


def _of_windows() -> bytes:
    from base64 import b64decode

    return b64decode(call("powershell", "-NoProfile", "-NonInteractive", "-STA", "-Command", _WINDOWS).strip())
