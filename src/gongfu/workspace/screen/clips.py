"""The clipboard."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

from gongfu.workspace.proctree import MARK
from gongfu.workspace.screen.orders import ScreenProblem, Told, UseClipboard
from gongfu.workspace.screen.programs import call, has, on_wayland

_POWERSHELL: Final = ("powershell", "-NoProfile", "-NonInteractive", "-Command")
_UTF8: Final = "[Console]::{}Encoding=[Text.UTF8Encoding]::new($false);"
_SECONDS = 10.0


def use_clipboard(order: UseClipboard) -> Told:
    """Put a text into the clipboard, or tell the text in it ("" when there is none)."""
    if order.text is not None:
        by = _put(order.text.encode("utf-8"))
        return Told(by=by)
    text, by = _get()
    return Told(text=text, by=by)


def _get() -> tuple[str, str]:
    argv = _reader()
    try:
        raw = call(*argv)
    except ScreenProblem as problem:
        if any(word in str(problem) for word in ("not available", "No selection", "Nothing is copied", "No suitable")):
            return "", argv[0]  # it is empty, or holds no text
        raise
    text = raw.decode("utf-8", "replace")
    return (text.removesuffix("\r\n") if sys.platform == "win32" else text), argv[0]


def _reader() -> tuple[str, ...]:
    match sys.platform:
        case "darwin":
            os.environ["LC_CTYPE"] = "UTF-8"
            return ("pbpaste",)
        case "win32":
            return (*_POWERSHELL, _UTF8.format("Output") + "Get-Clipboard -Raw")
        case _ if on_wayland() and has("wl-paste"):
            return ("wl-paste", "--no-newline", "--type", "text")
        case _ if has("xclip"):
            return ("xclip", "-selection", "clipboard", "-out", "-target", "UTF8_STRING")
        case _ if has("xsel"):
            return ("xsel", "--clipboard", "--output")
        case _:
            raise ScreenProblem(_lacking())


def _lacking() -> str:
    name = "wl-clipboard" if on_wayland() else "xclip"
    return f"the clipboard needs the program {name}, which is not installed: sudo apt-get install {name}"


def _put(data: bytes) -> str:
    match sys.platform:
        case "darwin":
            os.environ["LC_CTYPE"] = "UTF-8"
            call("pbcopy", stdin=data)
            return "pbcopy"
        case "win32":
            line = _UTF8.format("Input") + "Set-Clipboard -Value ([Console]::In.ReadToEnd())"
            call(*_POWERSHELL, line, stdin=data)
            return "powershell"
        case _ if on_wayland() and has("wl-copy"):
            argv = ("wl-copy", "--type", "text/plain;charset=utf-8")
        case _ if has("xclip"):
            argv = ("xclip", "-selection", "clipboard", "-in", "-target", "UTF8_STRING")
        case _ if has("xsel"):
            argv = ("xsel", "--clipboard", "--input")
        case _:
            raise ScreenProblem(_lacking())
    _hold(argv, data)
    return argv[0]


def _hold(argv: tuple[str, ...], data: bytes) -> None:
    """Hand the text over. On Linux a clipboard is what its owner gives when asked: so the program goes on, apart from
    this process, until another text takes its place."""
    bare = {name: value for name, value in os.environ.items() if name != MARK}
    process = subprocess.Popen(
        argv, env=bare, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        process.communicate(data, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise ScreenProblem(f"{argv[0]} did not take the text in {_SECONDS:.0f} s") from None
    if process.returncode:
        raise ScreenProblem(f"{argv[0]} could not put the text into the clipboard: exit code {process.returncode}")
