"""Servers made with the official SDK, of today's protocol and of the older one, as programs and behind addresses."""

from __future__ import annotations

import anyio
import pytest

from gongfu.config.settings import McpServer
from gongfu.core.errors import ToolFailure
from tests.plugins.mcp.kit import call, good, hub, names, serving
from tests.toolkit.kit import Ctx

pytestmark = pytest.mark.anyio
TOOLS = ["add", "echo", "fail", "mixed", "slow", "greet", "where", "think", "grow"]


class Person(Ctx):
    """Answers one question after the other."""

    def __init__(self, *answers: str) -> None:
        super().__init__()
        self._answers = list(answers)

    async def ask(self, text, /, *, options=(), default="", seconds=None):
        self.asked.append((text, options, default, seconds))
        return (self._answers.pop(0), "person") if self._answers else ("", "timeout")


async def all_of_it(folder, entry: McpServer, protocol: str, end=None) -> None:
    async with hub(folder, {"good": entry}) as made:
        connection = made.connections["good"]
        assert (connection.state, connection.protocol) == ("ready", protocol), connection.error
        assert connection.title == "A good server 1.2"
        assert connection.instructions == "Be kind to it."
        assert names(made, "good") == [f"good__{name}" for name in TOOLS]
        await calls(made, folder)
        await things(made)
        await call(made, "good__grow", name="b.c")
        with anyio.fail_after(8):
            while "good__b_c" not in names(made, "good"):
                await anyio.sleep(0.01)
        assert (await call(made, "good__b_c", x="y")).text == "b.c y"
        if end is not None:
            await gone(made, connection, end)


async def gone(made, connection, end) -> None:
    """A call that runs when the server goes fails visibly, and so does the next one."""
    async with anyio.create_task_group() as group:

        async def last() -> None:
            with pytest.raises(ToolFailure, match="effect is unknown"):
                await call(made, "good__slow", seconds=60, steps=600)

        group.start_soon(last)
        while not connection.calls:
            await anyio.sleep(0.01)
        end()
    with pytest.raises(ToolFailure, match=r"not connected|fell silent"):
        await call(made, "good__echo", text="x")
    assert "good__echo" in names(made, "good")


async def calls(made, folder) -> None:
    assert '"total": 3' in (await call(made, "good__add", a=1, b=2)).text
    assert (await call(made, "good__echo", text="功夫 🥋")).text == "功夫 🥋"
    assert (await call(made, "good__fail", reason="why")).status == "failed"
    with pytest.raises(ToolFailure):
        await made.connections["good"].ask("x", lambda client: client.read_resource("memo://nothing/here"), seconds=5)
    mixed = await call(made, "good__mixed")
    assert len(mixed.images) == 1
    assert mixed.text.split("\n\n") == [
        "words", "[image]", "[image, image/png, 2 bytes: not shown]", "[audio audio/wav, 30 bytes: not shown]",
        "[resource memo://1]\ninside",
    ]  # fmt: skip
    ctx = Ctx()
    assert (await call(made, "good__slow", ctx, seconds=0.5, steps=2)).text == "slept"
    assert ctx.shown.startswith("1/2 step 1\n")
    person = Person("Bob", "many", "2")
    assert (await call(made, "good__greet", person)).text == "Hello BobBob"
    assert person.asked[0][0] == "The MCP server good asks: Who are you?\nName (how you are called):"
    assert (await call(made, "good__greet", Person())).text == "nobody (cancel)"
    assert (await call(made, "good__greet", Ctx())).text == "nobody (decline)"
    assert (await call(made, "good__where")).text == folder.as_uri()
    assert (await call(made, "good__think")).text.startswith("refused")


async def things(made) -> None:
    assert [(t.server, t.id) for t in await made.resources()] == [
        ("good", "memo://hello"),
        ("good", "memo://{name}/text"),
    ]
    assert (await made.read_resource("good", "memo://hello")).text == "hello from a resource"
    assert (await made.read_resource("good", "memo://a/text")).text == "text of a"
    (prompt,) = await made.prompts("good")
    assert (prompt.id, prompt.arguments) == ("review", ("code", "style?"))
    assert (await made.get_prompt("good", "review", {"code": "x = 1"})).text == "Please review (short): x = 1"
    with pytest.raises(ToolFailure):
        await made.get_prompt("good", "review", {})
    with pytest.raises(ToolFailure, match="no MCP server 'nobody'"):
        await made.resources("nobody")


async def test_a_program(tmp_path):
    await all_of_it(tmp_path, good(), "2026-07-28")


async def test_an_address(tmp_path):
    with serving("http") as (origin, end):
        await all_of_it(tmp_path, McpServer(url=f"{origin}/mcp"), "2026-07-28", end)


async def test_an_address_of_the_older_protocol(tmp_path):
    with serving("http", "legacy") as (origin, end):
        await all_of_it(tmp_path, McpServer(url=f"{origin}/mcp", transport="http"), "2025-11-25", end)


async def test_an_event_stream_found_by_trying(tmp_path):
    with serving("sse") as (origin, _):
        async with hub(tmp_path, {"good": McpServer(url=f"{origin}/sse")}) as made:
            assert made.connections["good"].state == "ready", made.connections["good"].error
            assert (await call(made, "good__echo", text="x")).text == "x"


async def test_an_address_where_nobody_is(tmp_path):
    import socket

    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/mcp"
        async with hub(tmp_path, {"good": McpServer(url=url)}, tries=1) as made:
            assert made.connections["good"].state == "failed"
            with pytest.raises(ToolFailure, match="not connected"):
                await made.connections["good"].client()
            assert made.tools("good") == ()
