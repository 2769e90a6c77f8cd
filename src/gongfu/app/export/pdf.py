"""PDF: printed by a browser of this machine, else set by typst."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import anyio.to_thread

from gongfu.core.errors import UserError
from gongfu.workspace.environment import child_env
from gongfu.workspace.process import run

_SECONDS = 120.0
_OUT = "page.pdf"
_NAMES = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge", "microsoft-edge",
    "microsoft-edge-stable",
)  # fmt: skip
_PLACES = {
    "darwin": (
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    ),
    "win32": (
        r"Google\Chrome\Application\chrome.exe",
        r"Chromium\Application\chrome.exe",
        r"Microsoft\Edge\Application\msedge.exe",
    ),
}


def find_browser(env: Mapping[str, str]) -> str:
    """The program of a Chrome, Chromium or Edge on this machine; "" when there is none."""
    for name in _NAMES:
        if found := shutil.which(name, path=env.get("PATH", os.defpath)):
            return found
    for place in _PLACES.get(sys.platform, ()):
        for name in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA") if sys.platform == "win32" else ("",):
            if (path := Path(env.get(name, "")) / place).is_file():
                return str(path)
    return ""


def has_typst() -> bool:
    """Whether the package of the extra `pdf` is there."""
    from importlib.util import find_spec

    return find_spec("typst") is not None


async def print_page(html: str, browser: str, env: Mapping[str, str]) -> bytes:
    """The PDF of a page as `browser` prints it. UserError when it cannot."""
    with tempfile.TemporaryDirectory(prefix="gongfu-pdf-") as name:
        folder = Path(name)
        arguments = await anyio.to_thread.run_sync(_laid_out, folder, html, browser)
        try:
            done = await run(arguments, cwd=folder, env=child_env(env), timeout=_SECONDS, keep=4000)
        except (OSError, ValueError) as error:
            raise UserError("export.pdf_failed", reason=error) from error
        data = await anyio.to_thread.run_sync(_made, folder)
        if not data:
            lines = done.output.decode("utf-8", "replace").strip().splitlines()
            raise UserError("export.pdf_failed", reason=lines[-1][:200] if lines else f"exit {done.code}")
        return data


def _laid_out(folder: Path, html: str, browser: str) -> list[str]:
    """Write the page; the arguments that have it printed."""
    page = folder / "page.html"
    page.write_text(html, "utf-8", errors="replace")
    arguments = [
        browser, "--headless=new", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-sync",
        "--no-pdf-header-footer", f"--user-data-dir={folder}/profile", "--disable-dev-shm-usage",
        "--disable-background-networking", f"--print-to-pdf={folder / _OUT}", page.as_uri(),
    ]  # fmt: skip
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.insert(1, "--no-sandbox")  # it refuses to start as root otherwise; the page may run no script
    return arguments


def _made(folder: Path) -> bytes:
    try:
        return (folder / _OUT).read_bytes()
    except FileNotFoundError:
        return b""


async def typeset(source: str, files: Mapping[str, bytes]) -> bytes:
    """The PDF of a typst document with its `files` by name. UserError when it cannot be set."""

    def work() -> bytes:
        import typst  # the extra `pdf`

        with tempfile.TemporaryDirectory(prefix="gongfu-pdf-") as folder:
            main = Path(folder, "main.typ")
            main.write_text(source, "utf-8", errors="replace")
            for name, data in files.items():
                Path(folder, name).write_bytes(data)
            try:
                return bytes(typst.compile(str(main), root=folder))
            except RuntimeError as error:
                raise UserError("export.pdf_failed", reason=str(error).strip().splitlines()[0][:200]) from error

    return await anyio.to_thread.run_sync(work)
