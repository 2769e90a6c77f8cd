"""The browser's tools with a real browser against pages on loopback."""

from __future__ import annotations

import base64
import re
from contextlib import suppress
from pathlib import Path

import anyio
import psutil
import pytest

from gongfu.core.errors import ToolFailure
from gongfu.toolkit.pictures import picture_of
from tests.app.cast import workplace
from tests.models.raw_server import raw_server
from tests.toolkit.browser.shop import PUBLIC, Shop, need_browser, shop
from tests.toolkit.loop import play

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def stand(tmp_path_factory: pytest.TempPathFactory):
    """One browser for all tests but those that need one of their own."""
    async with shop(tmp_path_factory.mktemp("stand")) as (hand, server, pages):
        yield hand, server, pages


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


def browsers() -> list[psutil.Process]:
    """The processes of browsers that this one started."""
    return [p for p in psutil.Process().children(recursive=True) if "--user-data-dir" in " ".join(p.cmdline())]


async def test_a_visit(stand) -> None:
    """A page with scripts: read, filled in, sent, asked, left by a popup, looked at."""
    hand, server, _ = stand
    home = f"http://localhost:{server.port}/"
    text = await hand.text("open", url=home, new_tab=True)
    number, kept_before = hand.browsing.current, len(hand.kept)
    assert hand.facts.hosts == (f"localhost:{server.port}",)
    assert text.splitlines()[:4] == [f"[tab {number}] 功夫小店 | {home}", "", "# 欢迎光临", "今日 特价："]
    for line in ('link "第二页" [e4] -> /second', 'textbox "姓名" [e7]', "built by script"):
        assert line in text.splitlines()

    await hand("type", element="e7", text="小明")
    assert "(selected)" in await hand.text("type", element="Size", text="large")
    assert 'checkbox "agree" [e11] (checked)' in await hand.text("click", element="#ok")
    assert hand.facts.hosts == (f"localhost:{server.port}",)
    sent = await hand.text("type", element="#name", key="Enter")
    assert sent.splitlines()[1:] == ["new on the page:", "Hello 小明 large true"]

    assert "confirm 'Really?' was dismissed; accept=true answers yes" in await hand.text("click", element="ask me")
    assert "confirm 'Really?' was accepted" in await hand.text("click", element="ask me", accept=True)
    assert "alert 'Hello 你好' was accepted" in await hand.text("click", element="greet")
    assert '"pressed"' in await hand.text("click", element="f1e2")

    kept = await hand.text("click", element="download")
    assert f"(6 bytes) kept as a{kept_before + 1}" in kept
    assert hand.kept[-1] == "报告".encode()

    assert f"opened tab {number + 1}" in await hand.text("click", element="new window")
    assert (await hand.text("tabs")).splitlines()[-2:] == [
        f"{number} (current): {home}", f"{number + 1}: {home}second",
    ]  # fmt: skip
    await hand("tabs", action="select", tab=number + 1)
    assert "# 第二页" in await hand.text("read")
    assert (await hand.text("tabs", action="close", tab=number + 1)).splitlines()[-1] == f"{number}: {home}"

    whole = await hand("screenshot", full_page=True)
    seen = picture_of(base64.b64decode(whole.images[0].data))
    assert seen is not None
    assert (seen.media_type, seen.width) == ("image/png", 1280)
    part = await hand("screenshot", element="e12")
    assert part.images[0].width < 200
    assert part.display["artifact"] == f"a{len(hand.kept)}"
    assert "欢迎光临" in await hand.text("read", element="h1")


@pytest.mark.parametrize(
    ("tool", "args", "said"),
    [
        ("click", {"element": "e999"}, "there is no element e999 on the page now"),
        ("click", {"element": "nothing such"}, "nothing on the page is 'nothing such'"),
        ("click", {"element": "twin"}, "2 elements are 'twin'"),
        ("click", {"element": "  "}, "element must be"),
        ("click", {"element": "#[["}, "the page did not do that"),
        ("click", {"element": "x" * 2000}, "element must be"),
        ("type", {"element": "e7", "key": "Enter; rm"}, "key 'Enter; rm' is none"),
        ("type", {"element": "e7", "text": "x" * 100_001}, "at most 100,000"),
        ("type", {"element": "Size", "text": "huge"}, "there is no option 'huge'; the options are: small, large"),
        ("type", {"element": "h1", "text": "x"}, "the page did not do that"),
        ("tabs", {"action": "close", "tab": 7000}, "there is no tab 7000; close needs one of: "),
        ("read", {"offset": 0}, "there is no line 0"),
        ("open", {"url": "file:///etc/passwd"}, "only http:// and https://"),
        ("open", {"url": "http://169.254.169.254/"}, "cloud metadata"),
        ("open", {"url": "http://sly.example/"}, "leads to this machine"),
        ("open", {"url": "http://localhost:49149/"}, "refuses connections"),
        ("open", {"url": "https://localhost:49149/"}, "refuses connections"),
        ("open", {"url": "http://nowhere.example/"}, "cannot be found"),
    ],
)
async def test_what_cannot_be_done_is_told(stand, tool: str, args: dict, said: str) -> None:
    hand, server, _ = stand
    if not hand.browsing.tabs:
        await hand("open", url=f"http://localhost:{server.port}/")
    with pytest.raises(ToolFailure) as failure:
        await hand(tool, **args)
    assert said in str(failure.value)
    assert "Call log" not in str(failure.value)


async def test_passwords_are_not_told_and_what_keeps_a_click_is(stand) -> None:
    hand, server, pages = stand
    field = "<input type=password placeholder=Password><input placeholder=Plain>"
    pages.page = (
        f'{field}<button disabled>off</button><iframe srcdoc="{field}"></iframe>'
        "<div style='position:relative'><button>under</button><div style='position:absolute;inset:0'></div></div>"
    )
    told = await hand.text("open", url=f"http://localhost:{server.port}/page")
    for name, text in (("Plain", "seen"), ("Password", 'hunter "2: [x]'), ("Password", "hunter2")):
        elements = re.findall(rf'"{name}" \[(\w+)\]', told)
        assert len(elements) == 2
        for element in elements:
            fresh = await hand.text("type", element=element, text=text)
            assert ("hunter" in fresh, "seen" in fresh) == (False, name == "Plain")
    whole = await hand.text("read")
    assert whole.count("(filled in, not shown)") == whole.count(": seen") == 2
    for element, said in (("off", "the element is disabled"), ("under", "something else lies over the element")):
        with pytest.raises(ToolFailure) as failure:
            await hand.text("click", element=element)
        assert str(failure.value) == f"the page did not do that: {said}"


async def test_no_page_of_the_web_gets_inside(stand) -> None:
    """What a person agreed to is reached by its own pages alone; redirects, frames, fetches, pictures and sockets of
    others are not let through."""
    inner = Shop()
    hand, server, pages = stand
    async with raw_server(inner) as inside:
        place = f"localhost:{inside.port}"
        await hand("open", url=f"http://{place}/second")
        assert inner.paths[0] == "/second"
        inner.paths.clear()
        pages.page = f"""<title>sly</title><h1>sly</h1><img src="http://{place}/png"><iframe src="http://127.0.0.1:{inside.port}/"></iframe>
            <script>fetch("http://{place}/second", {{mode: "no-cors"}}); new WebSocket("ws://{place}/ws");
            fetch("/to?http://{place}/third", {{mode: "no-cors"}}); fetch("http://169.254.169.254/latest");
            navigator.sendBeacon("http://10.0.0.1/b", "x");</script>"""
        text = await hand.text("open", url=f"http://{PUBLIC}:{server.port}/page")
        assert "# sly" in text
        assert f"[not let through: {place} (this machine)]" in text
        assert "169.254.169.254:80 (metadata)" in text
        with pytest.raises(ToolFailure, match=r"could not be opened: .*leads to this machine"):
            await hand("open", url=f"http://{PUBLIC}:{server.port}/to?http://{place}/")
        assert inner.paths == []
        again = await hand.text("open", url=f"http://{place}/")
        assert "欢迎光临" in again


async def test_pages_inside_reach_only_what_was_agreed_to(stand) -> None:
    api = Shop()
    hand, server, pages = stand
    async with raw_server(api) as other:
        pages.page = f"<h1>dev</h1><img src='http://localhost:{other.port}/png'>"
        text = await hand.text("open", url=f"http://127.0.0.1:{server.port}/page")
        assert f"[not let through: localhost:{other.port} (this machine)]" in text
        assert api.paths == []
        await hand("open", url=f"http://localhost:{other.port}/second", new_tab=True)
        api.paths.clear()
        text = await hand.text("open", url=f"http://localhost:{server.port}/page")  # another name of the same place
        assert "not let through" not in text
        assert api.paths == ["/png"]
        assert "# 第二页" in await hand.text("open", url=f"http://router.lan:{server.port}/second")


async def test_errors_of_servers_and_crashes_are_told(stand) -> None:
    hand, server, _ = stand
    home = f"http://localhost:{server.port}"
    assert "[the server answered 500]" in await hand.text("open", url=f"{home}/broken")
    tab = hand.browsing.tab()
    session = await tab.page.context.new_cdp_session(tab.page)
    with anyio.move_on_after(1), suppress(Exception):
        await session.send("Page.crash")
    with anyio.fail_after(5):
        while not tab.crashed:
            await anyio.sleep(0.01)
    with pytest.raises(ToolFailure, match="crashed; open it again"):
        await hand("read")
    assert "# 第二页" in await hand.text("open", url=f"{home}/second")

    mine = [p for p in psutil.Process().children(recursive=True) if "--remote-debugging-pipe" in " ".join(p.cmdline())]
    roots = [p for p in mine if "--type=" not in " ".join(p.cmdline())]
    assert roots
    for process in roots:
        process.kill()
    with anyio.fail_after(5):
        while hand.browsing._browser.is_connected():
            await anyio.sleep(0.01)
    with pytest.raises(ToolFailure, match="the browser has ended by itself"):
        await hand("read")
    text = await hand.text("open", url=f"{home}/second")
    assert "[the browser had ended by itself and was started anew; earlier tabs are gone]" in text


async def test_without_a_browser_the_command_that_brings_one_is_named(tmp_path: Path) -> None:
    async with shop(tmp_path, browser={"executable": ""}) as (hand, server, _):
        hand.browsing._env = {"PATH": str(tmp_path)}
        url = f"http://localhost:{server.port}/"
        import gongfu.toolkit.browser_find as find

        places, find._places = find._places, lambda env: iter(())
        try:
            with pytest.raises(ToolFailure, match="browser_open needs Chrome, Chromium or Edge"):
                await hand("open", url=url)
        finally:
            find._places = places
        with pytest.raises(ToolFailure, match="no page is open; browser_open opens one"):
            await hand("read")


async def test_every_tool_through_the_loop(tmp_path: Path) -> None:
    need_browser()
    work, before = workplace(tmp_path), browsers()
    async with raw_server(Shop()) as server:
        url = f"http://localhost:{server.port}/"
        told = await play(
            work,
            ("browser_open", {"url": url}),
            ("browser_type", {"element": "姓名", "text": "小明"}),
            ("browser_click", {"element": "提交"}),
            ("browser_read", {}),
            ("browser_screenshot", {}),
            ("browser_tabs", {}),
        )
        assert [r.status for r in told.results] == ["done"] * 6, [r.text for r in told.results]
        assert "Hello 小明 small false" in told.results[3].text
        assert told.results[4].images[0].width == 1280
        assert told.text == f"1 (current): {url}"
        refused = await play(work, ("browser_open", {"url": url}), permission="auto", answers="no")
        assert refused.status == "refused"
    assert set(browsers()) <= set(before)
