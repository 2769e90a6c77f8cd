"""The tools of the browser: open, read, click, type, screenshot, tabs."""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import anyio

from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure
from gongfu.core.messages import ImagePart
from gongfu.toolkit.browser_gate import MARK
from gongfu.toolkit.browser_outline import news, outline, without
from gongfu.toolkit.browser_session import SIZE, Browsing, Side, Tab
from gongfu.toolkit.pictures import picture_of
from gongfu.toolkit.web_guard import NEAR, Link, link_of, refusal, unbroken
from gongfu.toolkit.web_view import paged
from gongfu.tools.decorator import tool
from gongfu.tools.needs import library
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome, Toolset

if TYPE_CHECKING:
    from playwright.async_api import Locator

    from gongfu.store.artifacts import ArtifactWriter

TabAction: TypeAlias = Literal["list", "select", "close"]
NEEDS = (library("playwright", extra="browser"),)
_PRIVATE_NAMES = ("local", "internal", "lan", "localhost", "intranet", "corp", "home", "test", "arpa")
_OPEN_SECONDS = 30
_ACT_SECONDS = 5
_IN_VAIN = {  # what the library's log says, and what it means
    "intercepts pointer events": "something else lies over the element",
    "element is not enabled": "the element is disabled",
    "element is not editable": "the field cannot be changed",
    "element is not visible": "the element is not visible",
    "element is outside of the viewport": "the element cannot be scrolled into view",
}
_TALL = 8000  # pixels of a whole page
_MAX_IMAGE = 5 * 1024 * 1024
_SHOWN = 4000  # bytes of an outline that comes without being asked for
_LONGEST = 100_000  # characters that are typed


def browser_tools(browsing: Browsing, artifact: Callable[[], ArtifactWriter], keep: Callable[[bytes], str]) -> Toolset:
    """The tools of one session. `artifact` takes texts that are too long for one result, `keep` pictures, and gives
    their names."""
    tools = BrowserTools(browsing, artifact, keep)
    return (
        tools.browser_open, tools.browser_read, tools.browser_click, tools.browser_type, tools.browser_screenshot,
        tools.browser_tabs,
    )  # fmt: skip


class BrowserTools:
    """See `browser_tools`."""

    def __init__(
        self, browsing: Browsing, artifact: Callable[[], ArtifactWriter], keep: Callable[[bytes], str]
    ) -> None:
        self._browsing = browsing
        self._artifact = artifact
        self._keep = keep

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:  # noqa: ARG002 - the seam's own
        return (Claim(resource="browser", write=True),)

    # --- open ---------------------------------------------------------------------------------------------------------

    async def _open_facts(self, args: dict[str, Any]) -> Facts:
        link = link_of(args["url"])
        kind = self._browsing.reach.judge_name(link.host, link.port)
        if kind and kind not in NEAR:
            raise ToolFailure(refusal(link.place, kind, agree=False))
        return Facts(access=("network",), hosts=(link.place,), title=link.url)

    @tool(access="network", facts=_open_facts, claims=_claims, needs=NEEDS)
    async def browser_open(self, url: str, new_tab: bool = False) -> Outcome:
        link = link_of(url)
        side = await self._side(link)
        tab = await self._browsing.tab_for(side, "browser_open", new=new_tab)
        if side == "inside":
            self._browsing.agree(link)
        gate = self._browsing.gates[side]
        gate.problems.clear()
        async with self._told(tab):
            since = anyio.current_time()
            try:
                answer = await tab.page.goto(link.url, wait_until="domcontentloaded", timeout=_OPEN_SECONDS * 1000)
            except Exception as error:
                place = f"{link.host}:{link.port}"
                why = next((w for at, w in gate.problems.items() if place in at), "") or _first(error)
                if "Download is starting" in str(error):
                    await tab.settle(since)
                    return await self._report(tab, "")
                if _is_playwright(error):
                    raise ToolFailure(f"{link.url} could not be opened: {why}") from None
                raise
            if answer is not None and MARK in answer.headers:
                raise ToolFailure(f"{link.url} could not be opened: {await answer.text()}")
            await self._settle(tab, since)
            status = f"the server answered {answer.status}" if answer is not None and answer.status >= 400 else ""
            tab.seen = ""
            return await self._report(tab, status, whole=True)

    async def _side(self, link: Link) -> Side:
        """Whether a page is of the open web or inside. ToolFailure for what may not be reached.

        The person agreed to a name; it stands for something inside only if it looks like that.
        """
        reach = self._browsing.reach
        addresses = await reach.addresses(link.host, link.port)
        kind = reach.judge(link.host, link.port, addresses)
        looks_private = "." not in link.host or link.host.rpartition(".")[2] in _PRIVATE_NAMES
        if not kind:
            return "open"
        if kind in NEAR and (reach.judge_name(link.host, link.port) in NEAR or looks_private):
            return "inside"
        raise ToolFailure(refusal(link.place, kind, addresses, agree=False))

    # --- read ---------------------------------------------------------------------------------------------------------

    async def _look_facts(self, args: dict[str, Any]) -> Facts:  # noqa: ARG002 - the seam's own
        return Facts(access=("read",), title=self._browsing.tab().page.url[:200])

    @tool(access="read", facts=_look_facts, claims=_claims, needs=NEEDS)
    async def browser_read(self, ctx: CallContext, element: str = "", offset: int = 1) -> Outcome:
        tab = self._browsing.tab()
        async with self._told(tab):
            text = await self._outline(tab, element)
            if not element:
                tab.seen = text
            shown = paged(f"{await self._head(tab)}\n\n{text or '(nothing to see)'}", offset, ctx.room, self._artifact)
        return Outcome(text=shown.text, display=text_display("", f"{shown.total:,} lines"), spill=shown.spill)

    async def _outline(self, tab: Tab, element: str = "") -> str:
        seconds = _ACT_SECONDS * 1000
        shown = await self._find(tab, element) if element else tab.page
        snapshot = await shown.aria_snapshot(mode="ai", timeout=seconds)
        return without(outline(snapshot), await _passwords(tab))

    # --- click and type -----------------------------------------------------------------------------------------------

    async def _act_facts(self, args: dict[str, Any]) -> Facts:
        url = self._browsing.tab().page.url
        hosts = (link_of(url).place,) if url.startswith(("http://", "https://")) else ()
        what = args.get("element") or args.get("key") or ""
        typed = unbroken(str(args.get("text") or ""))[:1000]
        preview = text_display(typed) if typed else {}
        return Facts(
            access=("network",),
            hosts=hosts,
            preview=preview,
            title=" ".join(unbroken(f"{what[:80]} in {url[:120]}").split()),
        )

    @tool(access="network", facts=_act_facts, claims=_claims, needs=NEEDS)
    async def browser_click(self, element: str, double: bool = False, accept: bool = False) -> Outcome:
        tab = self._browsing.tab()
        async with self._told(tab):
            found = await self._find(tab, element)
            tab.accepting = accept
            since = anyio.current_time()
            try:
                await (found.dblclick if double else found.click)(timeout=_ACT_SECONDS * 1000)
                await self._settle(tab, since)
            finally:
                tab.accepting = False
            return await self._report(tab, "")

    @tool(access="network", facts=_act_facts, claims=_claims, needs=NEEDS)
    async def browser_type(self, element: str, text: str = "", key: str = "") -> Outcome:
        if len(text) > _LONGEST:
            raise ToolFailure(f"text has {len(text):,} characters; at most {_LONGEST:,} are typed")
        if key and not re.fullmatch(r"(?:(?:Control|Shift|Alt|Meta)\+)*(?:[A-Z][A-Za-z]+\d*|F\d+|\S)", key):
            raise ToolFailure(f"key {key[:40]!r} is none; keys are such as Enter, Tab, Escape, ArrowDown, Control+a")
        tab = self._browsing.tab()
        async with self._told(tab):
            found = await self._find(tab, element, field=True)
            clean = unbroken(text).replace("\0", "")
            since = anyio.current_time()
            tag = str(await found.evaluate("e => e.tagName"))
            if tag == "SELECT":
                await _choose(found, clean)
            elif text or not key:
                await found.fill(clean, timeout=_ACT_SECONDS * 1000)
            if key:
                await found.press(key, timeout=_ACT_SECONDS * 1000)
            await self._settle(tab, since)
            return await self._report(tab, "")

    # --- screenshot ---------------------------------------------------------------------------------------------------

    @tool(access="read", facts=_look_facts, claims=_claims, needs=NEEDS)
    async def browser_screenshot(self, full_page: bool = False, element: str = "") -> Outcome:
        tab = self._browsing.tab()
        async with self._told(tab):
            raw = await self._picture(tab, full_page, element)
            head = await self._head(tab)
        picture = picture_of(raw)
        if picture is None or len(raw) > _MAX_IMAGE:
            raise ToolFailure(f"the picture has {len(raw):,} bytes, which is too much; take one of an element")
        size = f"{picture.width}x{picture.height}"
        image = ImagePart(
            media_type=picture.media_type, data=base64.b64encode(raw).decode("ascii"), width=picture.width,
            height=picture.height,
        )  # fmt: skip
        display = {
            "kind": "image", "media_type": picture.media_type, "artifact": self._keep(raw), "width": picture.width,
            "height": picture.height, "summary": size,
        }  # fmt: skip
        return Outcome(text=f"{head}\n{picture.media_type}, {size}", display=display, images=(image,))

    async def _picture(self, tab: Tab, full_page: bool, element: str) -> bytes:
        seconds = 2 * _ACT_SECONDS * 1000
        if element:
            found = await self._find(tab, element)
            return await found.screenshot(type="png", animations="disabled", timeout=seconds)
        height = SIZE[1]
        if full_page:
            height = min(_TALL, int(await tab.page.evaluate("document.documentElement.scrollHeight") or SIZE[1]))
        clip: Any = {"x": 0, "y": 0, "width": SIZE[0], "height": height} if full_page else None
        raw = await tab.page.screenshot(
            type="png", full_page=full_page, clip=clip, animations="disabled", timeout=seconds
        )  # fmt: skip
        if len(raw) > _MAX_IMAGE // 2:
            raw = await tab.page.screenshot(
                type="jpeg", quality=60, full_page=full_page, clip=clip, animations="disabled", timeout=seconds
            )  # fmt: skip
        return raw

    # --- tabs ---------------------------------------------------------------------------------------------------------

    async def _tabs_facts(self, args: dict[str, Any]) -> Facts:
        return Facts(access=("read",), title=f"{args.get('action', 'list')} {args.get('tab') or ''}".strip())

    @tool(access="read", facts=_tabs_facts, claims=_claims, needs=NEEDS)
    async def browser_tabs(self, action: TabAction = "list", tab: int = 0) -> Outcome:
        browsing = self._browsing
        if action != "list":
            found = browsing.tabs.get(tab)
            if found is None:
                raise ToolFailure(f"there is no tab {tab}; {action} needs one of: {', '.join(map(str, browsing.tabs))}")
            if action == "select":
                browsing.current = tab
            else:
                async with self._told(found):
                    await found.page.close()
                browsing.tabs.pop(tab, None)
        lines: list[str] = []
        for one in browsing.tabs.values():
            mark = " (current)" if one.number == browsing.current else ""
            lines.append(f"{one.number}{mark}: {'crashed' if one.crashed else one.page.url[:300]}")
        text = "\n".join(lines) or "No tab is open."
        return Outcome(
            text=text, display={"kind": "list", "items": lines, "total": len(lines), "summary": f"{len(lines)} tabs"}
        )  # fmt: skip

    # --- what they share ----------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _told(self, tab: Tab) -> AsyncGenerator[None]:
        """Turns what the browser complains of into failures for the model."""
        try:
            yield
        except ToolFailure:
            raise
        except Exception as error:
            if not _is_playwright(error):
                raise
            if tab.crashed:
                raise ToolFailure(
                    f"the page of tab {tab.number} has crashed; open it again with browser_open"
                ) from None
            if "closed" in str(error) and tab.number not in self._browsing.tabs:
                raise ToolFailure("the page was closed meanwhile; browser_tabs shows what is open") from None
            raise ToolFailure(f"the page did not do that: {_first(error)}") from None

    async def _find(self, tab: Tab, element: str, *, field: bool = False) -> Locator:
        """The one element that is meant: a number of the outline, CSS, or text that is seen."""
        wanted = unbroken(element.strip())
        if not wanted or len(wanted) > 1000 or "\0" in wanted:
            raise ToolFailure("element must be a number of browser_read such as e7, CSS, or the text that is seen")
        if number := re.fullmatch(r"\[?(?:ref=)?((?:f\d+)?e?\d+)\]?", wanted):
            name = number[1] if "e" in number[1] else f"e{number[1]}"
            found = tab.page.locator(f"aria-ref={name}")
            if await found.count() != 1:
                raise ToolFailure(f"there is no element {name} on the page now; browser_read gives the numbers anew")
            return found
        if re.match(r"css=|[#.\[*]|[a-z][\w\-]*(?:[#.\[>:]|$)", wanted) and not wanted.endswith(":"):
            found = tab.page.locator(f"css={wanted.removeprefix('css=')}")
            if await found.count():
                return await _only(found, wanted)
        for found in _by_words(tab, wanted, field=field):
            if await found.count():
                return await _only(found, wanted)
        raise ToolFailure(f"nothing on the page is {wanted[:100]!r}; browser_read numbers what can be used")

    async def _settle(self, tab: Tab, since: float) -> None:
        """Wait until the page stands and is quiet, within bounds."""
        await tab.settle(since)
        with suppress(*_playwright_errors()):
            await tab.page.wait_for_load_state("domcontentloaded", timeout=_ACT_SECONDS * 1000)

    async def _head(self, tab: Tab) -> str:
        title = " ".join((await tab.page.title()).split())[:200]
        return unbroken(f"[tab {tab.number}] {title + ' | ' if title else ''}{tab.page.url[:500]}")

    async def _report(self, tab: Tab, status: str, *, whole: bool = False) -> Outcome:
        """What a call led to: where the page is, what happened, and the lines that are new on it."""
        if tab.number not in self._browsing.tabs:
            return Outcome(text="the page closed itself; browser_tabs shows what is open")
        after = await self._outline(tab)
        fresh = after if whole or not tab.seen else news(tab.seen, after)
        tab.seen = after
        notes, tab.notes = tab.notes, []
        if status:
            notes.append(status)
        if self._browsing.lost:
            self._browsing.lost = False
            notes.append("the browser had ended by itself and was started anew; earlier tabs are gone")
        notes += [f"not let through: {place}" for place in self._browsing.refused(tab)]
        lines = [await self._head(tab), *(f"[{note}]" for note in notes)]
        if fresh:
            data = unbroken(fresh).encode()
            cut = len(data) > _SHOWN
            lines += ["" if whole else "new on the page:", data[:_SHOWN].decode("utf-8", "ignore")]
            lines += ["[browser_read shows the rest]"] if cut else []
        return Outcome(text=unbroken("\n".join(lines)), display=text_display("", unbroken(tab.page.url[:120])))


def _by_words(tab: Tab, words: str, *, field: bool) -> list[Locator]:
    page = tab.page
    fields = [page.get_by_label(words, exact=True), page.get_by_label(words), page.get_by_placeholder(words)]
    texts = [
        page.get_by_role("button", name=words, exact=True), page.get_by_role("link", name=words, exact=True),
        page.get_by_text(words, exact=True), page.get_by_role("button", name=words),
        page.get_by_role("link", name=words), page.get_by_text(words),
    ]  # fmt: skip
    return fields if field else [*texts, *fields]


async def _choose(found: Locator, label: str) -> None:
    """Choose an option by what it says. ToolFailure when there is none, with those that there are."""
    labels = [" ".join(text.split()) for text in await found.locator("option").all_inner_texts()]
    if label not in labels:
        raise ToolFailure(f"there is no option {label[:80]!r}; the options are: {', '.join(labels)[:1000]}")
    await found.select_option(label=label, timeout=_ACT_SECONDS * 1000)


async def _only(found: Locator, words: str) -> Locator:
    count = await found.count()
    if count > 1:
        raise ToolFailure(
            f"{count} elements are {words[:100]!r}; take the number that browser_read gives to one of them"
        )
    return found


def _playwright_errors() -> tuple[type[Exception], ...]:
    from playwright.async_api import Error  # loaded already

    return (Error,)


def _is_playwright(error: Exception) -> bool:
    return isinstance(error, _playwright_errors())


async def _passwords(tab: Tab) -> list[str]:
    """What stands in the password fields of the page and its frames."""
    found: list[str] = []
    for frame in tab.page.frames:
        with suppress(*_playwright_errors()):  # a frame that is gone
            found += await frame.locator("input[type=password]").evaluate_all("all => all.map(one => one.value)")
    return found


def _first(error: Exception) -> str:
    """The lines of a complaint that tell what happened, without colours, the library's names and the log of the call;
    of one that waited in vain, what it waited for."""
    text, _, log = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).partition("Call log:")
    if "Timeout" in text and (why := next((said for seen, said in _IN_VAIN.items() if seen in log), "")):
        return why
    lines = [re.sub(r"^(?:Page|Locator|Frame)\.\w+: ", "", line.strip()) for line in text.splitlines() if line.strip()]
    return "; ".join(lines[:2])[:300] or type(error).__name__
