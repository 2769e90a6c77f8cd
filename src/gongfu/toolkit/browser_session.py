"""The one browser of a session: started when it is first needed, with a profile of its own that goes with it."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import anyio

from gongfu.config.settings import Web
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.browser_find import find_browser
from gongfu.toolkit.browser_gate import Gate
from gongfu.toolkit.web_guard import Link, Reach, Resolve, resolve

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Dialog, Download, Page, Playwright, ProxySettings, Request

Side: TypeAlias = Literal["open", "inside"]
Keep: TypeAlias = Callable[[bytes], str]

SIZE = (1280, 800)
_TABS = 20
_START_SECONDS = 30
_DOWNLOAD_SECONDS = 30
_CLOSE_SECONDS = 5
_QUIET_SECONDS = 0.25
_BUSY_SECONDS = 3
_ARGS = (
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


class Tab:
    """One page. `seen` is the outline that the model was last shown, `notes` what happened since it was last told."""

    def __init__(self, number: int, page: Page, side: Side) -> None:
        self.number = number
        self.page = page
        self.side: Side = side
        self.seen = ""
        self.notes: list[str] = []
        self.accepting = False
        self.crashed = False
        self.asking: dict[Request, float] = {}  # requests under way, and when they began
        self.stirred = 0.0  # when something last happened
        self.downloads = 0
        self.downloaded = anyio.Event()  # set while nothing is being downloaded
        self.downloaded.set()

    def begun(self, request: Request) -> None:
        """A request has begun."""
        self.stirred = self.asking[request] = anyio.current_time()

    def ended(self, request: Request) -> None:
        """A request has ended, one way or another."""
        self.stirred = anyio.current_time()
        self.asking.pop(request, None)

    async def settle(self, since: float) -> None:
        """Wait until nothing happens any more of what began after `since` (requests, downloads), within bounds."""
        with anyio.move_on_after(_BUSY_SECONDS):
            while True:
                left = max(since, self.stirred) + _QUIET_SECONDS - anyio.current_time()
                if left <= 0 and not any(begun >= since for begun in self.asking.values()):
                    break
                await anyio.sleep(max(left, 0.02))
        with anyio.move_on_after(_DOWNLOAD_SECONDS):
            await self.downloaded.wait()


class Browsing:
    """The browser and its tabs. `web` are the settings, `env` is where proxies are named and programs are found,
    `child_env` what the browser gets to see of it, `keep` keeps a downloaded file and gives its place.

    Pages of the open web and pages that are inside (this machine, the local network) are kept apart, each with its own
    cookies and its own gate: no page of the open web reaches what the person agreed to inside.
    """

    def __init__(
        self, web: Web, env: Mapping[str, str], child_env: Callable[[], Mapping[str, str]], keep: Keep,
        resolve: Resolve = resolve, barred: Callable[[str], bool] | None = None,
    ) -> None:  # fmt: skip
        self._web = web
        self._env = env
        self._child_env = child_env
        self._keep = keep
        self.reach = Reach(web.allow_hosts, resolve, barred)
        self.gates: dict[Side, Gate] = {"open": Gate(self.reach, env), "inside": Gate(self.reach, env)}
        self._driver: Playwright | None = None
        self._browser: Browser | None = None
        self._contexts: dict[Side, BrowserContext] = {}
        self._count = 0
        self._making = False
        self.tabs: dict[int, Tab] = {}
        self.current = 0
        self.lost = False  # the browser ended by itself

    # --- life ---------------------------------------------------------------------------------------------------------

    async def _started(self, tool: str) -> Browser:
        if self._browser is not None and self._browser.is_connected():
            return self._browser
        if self._browser is not None:
            await self.close()
            self.lost = True
        path = find_browser(self._web.browser.executable, self._env, tool)
        if not self._web.browser.headless and sys.platform == "linux":
            if not (self._env.get("DISPLAY") or self._env.get("WAYLAND_DISPLAY")):
                raise ToolFailure("web.browser.headless is false, and there is no display here; nothing was done")
        for gate in self.gates.values():
            await gate.start()
        self._browser = await self._launched(path)
        return self._browser

    async def _launched(self, path: str) -> Browser:
        from playwright.async_api import Error, async_playwright  # heavy, and an extra

        try:
            self._driver = await async_playwright().start()
            return await self._driver.chromium.launch(
                executable_path=path,
                headless=self._web.browser.headless,
                chromium_sandbox=not _is_root(),
                args=list(_ARGS),
                env=dict(self._child_env()),
                proxy=self._proxy("open"),
                timeout=_START_SECONDS * 1000,
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        except (Error, OSError) as error:
            await self.close()
            raise ToolFailure(f"the browser {path} did not start: {_why(str(error))}") from None
        except BaseException:  # a call that was cancelled too: else what drives the browser would run on
            await self.close()
            raise

    def _proxy(self, side: Side) -> ProxySettings:
        return {"server": self.gates[side].url, "bypass": "<-loopback>"}

    async def close(self) -> None:
        """End the browser; its profile goes with it. May be called more than once."""
        browser, self._browser = self._browser, None
        driver, self._driver = self._driver, None
        self._contexts, self.tabs, self.current = {}, {}, 0
        with anyio.CancelScope(shield=True):
            if browser is not None and browser.is_connected():
                await _quietly(browser.close)
            if driver is not None:
                await _quietly(driver.stop)
            for gate in self.gates.values():
                await gate.close()

    # --- tabs ---------------------------------------------------------------------------------------------------------

    async def tab_for(self, side: Side, tool: str, *, new: bool) -> Tab:
        """The tab in which a page of that side is opened: the current one if it is of that side and not `new`."""
        browser = await self._started(tool)
        tab = self.tabs.get(self.current)
        if tab is not None and tab.side == side and not new and not tab.crashed:
            return tab
        if len(self.tabs) >= _TABS:
            raise ToolFailure(f"{_TABS} tabs are open; close some with browser_tabs first")
        context = self._contexts.get(side)
        if context is None:
            context = await browser.new_context(
                proxy=self._proxy(side), viewport={"width": SIZE[0], "height": SIZE[1]}, accept_downloads=True
            )
            context.set_default_timeout(10_000)
            self._contexts[side] = context
            context.on("page", lambda page: self._adopt(page, side))
        self._making = True
        try:
            page = await context.new_page()
        finally:
            self._making = False
        tab = next(t for t in self.tabs.values() if t.page is page)
        self.current = tab.number
        return tab

    def tab(self, number: int = 0) -> Tab:
        """An open tab, by itself the current one. ToolFailure when there is none."""
        if self._browser is not None and not self._browser.is_connected():
            raise ToolFailure(
                "the browser has ended by itself (a crash?); its pages are gone. browser_open starts anew"
            )
        tab = self.tabs.get(number or self.current)
        if tab is None and self.tabs and not number:
            tab = next(reversed(self.tabs.values()))
            self.current = tab.number
        if tab is None:
            known = ", ".join(map(str, self.tabs))
            raise ToolFailure(
                f"there is no tab {number}; tabs are: {known}" if known else "no page is open; browser_open opens one"
            )
        if tab.crashed:
            raise ToolFailure(f"the page of tab {tab.number} has crashed; open it again with browser_open")
        return tab

    def _adopt(self, page: Page, side: Side) -> None:
        """Take in a page that was opened, by a tool or by another page."""
        self._count += 1
        tab = Tab(self._count, page, side)
        opener = self.tabs.get(self.current)
        self.tabs[tab.number] = tab
        if opener is not None and not self._making:
            opener.notes.append(f"opened tab {tab.number}")

        async def dialog(found: Dialog) -> None:
            await self._answer(tab, found)

        async def download(found: Download) -> None:
            await self._download(tab, found)

        def crash(_: object) -> None:
            tab.crashed = True

        def close(_: object) -> None:
            self.tabs.pop(tab.number, None)

        page.on("request", tab.begun)
        page.on("requestfinished", tab.ended)
        page.on("requestfailed", tab.ended)
        page.on("dialog", dialog)
        page.on("download", download)
        page.on("crash", crash)
        page.on("close", close)

    async def _answer(self, tab: Tab, dialog: Dialog) -> None:
        from playwright.async_api import Error  # loaded already

        yes = tab.accepting or dialog.type in ("alert", "beforeunload")
        said = f"{dialog.type} {dialog.message[:300]!r} was {'accepted' if yes else 'dismissed'}"
        tab.notes.append(said if yes else f"{said}; accept=true answers yes")
        try:
            await (dialog.accept() if yes else dialog.dismiss())
        except Error:  # the page has gone
            return

    async def _download(self, tab: Tab, download: Download) -> None:
        from playwright.async_api import Error  # loaded already

        if not tab.downloads:
            tab.downloaded = anyio.Event()
        tab.stirred = anyio.current_time()
        tab.downloads += 1
        name = Path(download.suggested_filename).name[:200]
        try:
            with anyio.move_on_after(_DOWNLOAD_SECONDS) as scope:
                path = anyio.Path(await download.path())
                size = (await path.stat()).st_size
                if size > self._web.max_bytes:
                    tab.notes.append(f"download {name}: {size:,} bytes are too many (web.max_bytes); not kept")
                else:
                    place = self._keep(await path.read_bytes())
                    tab.notes.append(f"download {name} ({size:,} bytes) kept as {place}")
                await download.delete()
            if scope.cancelled_caught:
                await download.cancel()
                tab.notes.append(f"download {name} took more than {_DOWNLOAD_SECONDS} s and was stopped")
        except (Error, OSError) as error:
            tab.notes.append(f"download {name} failed: {str(error).splitlines()[0][:200]}")
        finally:
            tab.downloads -= 1
            if not tab.downloads:
                tab.downloaded.set()

    def agree(self, link: Link) -> None:
        """Let pages that are inside reach a place there, to which the person has agreed."""
        self.gates["inside"].agree(link)

    def refused(self, tab: Tab) -> list[str]:
        """What the gate did not let through since the last time."""
        gate = self.gates[tab.side]
        found = list(dict.fromkeys(gate.refused))
        gate.refused.clear()
        return found


async def _quietly(end: Callable[[], Awaitable[object]]) -> None:
    """End a part of the browser, which may be gone already."""
    from playwright.async_api import Error  # loaded already

    with suppress(Error), anyio.move_on_after(_CLOSE_SECONDS):
        await end()


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def _why(error: str) -> str:
    """The line of a long complaint that tells most."""
    if "sandbox" in error.lower() and "No usable sandbox" in error:
        return "its own sandbox cannot be set up here (user namespaces are off); install a browser that brings one"
    lines = [
        line.strip() for line in error.splitlines() if line.strip() and not line.strip().startswith(("=", "-", "╔"))
    ]
    told = next((line for line in lines if "ERROR" in line or "error" in line), lines[0] if lines else "no reason")
    return told[:300]
