"""Finds the browser of the system: Chrome, Chromium, Edge or Brave."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import which

from gongfu.core.errors import ToolFailure
from gongfu.tools.needs import program, told

_NAMES = (
    "google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "chrome", "microsoft-edge",
    "microsoft-edge-stable", "msedge", "brave-browser", "brave",
)  # fmt: skip
_MAC = ("Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser")
_WINDOWS = (
    "Google/Chrome/Application/chrome.exe", "Chromium/Application/chrome.exe", "Microsoft/Edge/Application/msedge.exe",
    "BraveSoftware/Brave-Browser/Application/brave.exe",
)  # fmt: skip
NEED = program(
    *_NAMES, apt="chromium", brew="--cask google-chrome", winget="Google.Chrome", what="Chrome, Chromium or Edge"
)


def find_browser(setting: str, env: Mapping[str, str], tool: str) -> str:
    """The program of the browser: what `setting` names, else the first that is found. ToolFailure for none."""
    if setting:
        found = which(os.path.expanduser(setting), path=env.get("PATH", os.defpath))  # noqa: PTH111 - may have no home
        if found is None:
            raise ToolFailure(f"web.browser.executable names {setting}, which is no program here; nothing was done")
        return found
    for name in _NAMES:
        if found := which(name, path=env.get("PATH", os.defpath)):
            return found
    for place in _places(env):
        if place.is_file():
            return str(place)
    raise ToolFailure(told(tool, NEED))


def _places(env: Mapping[str, str]) -> Iterator[Path]:
    if sys.platform == "darwin":
        for folder in (Path("/Applications"), Path(env.get("HOME", "/")) / "Applications"):
            for name in _MAC:
                yield folder / f"{name}.app/Contents/MacOS/{name}"
    elif sys.platform == "win32":
        for variable in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
            for name in _WINDOWS if env.get(variable) else ():
                yield Path(env[variable]) / name
    else:
        yield from map(Path, ("/usr/lib/chromium/chromium", "/snap/bin/chromium", "/opt/google/chrome/chrome"))
