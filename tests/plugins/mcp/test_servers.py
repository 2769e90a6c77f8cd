"""Which servers there are, what their tools are called, and how much of what they say is taken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gongfu.config.load import Flags, load
from gongfu.config.paths import Places
from gongfu.config.settings import McpServer
from gongfu.plugins.mcp import meter
from gongfu.plugins.mcp.asking import elicit
from gongfu.plugins.mcp.meter import Meter
from gongfu.plugins.mcp.names import Names, labels
from gongfu.plugins.mcp.offers import Listed, clean, offers
from gongfu.plugins.mcp.remembered import Remembered
from gongfu.plugins.mcp.servers import Found, Server, gathered, read_project

ENV = {"TOKEN": "t", "HOST": "h"}


def project(**servers: object) -> Found:
    return read_project(json.dumps({"mcpServers": servers}).encode(), ENV)


def test_the_shape_of_claude_code_is_read() -> None:
    found = project(
        plain={"command": "npx", "args": ["-y", "x"], "env": {"K": "${TOKEN}", "D": "${NONE:-d}"}},
        http={"type": "http", "url": "https://${HOST}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        sse={"type": "sse", "url": "http://h/sse", "unknown": 1, "timeout": 5000},
        wrong={"type": "carrier-pigeon", "url": "x"},
        missing={"command": "x", "env": {"K": "${NONE}"}},
        odd=["no"],
        types={"command": 5},
    )
    assert found.entries["plain"] == McpServer(
        command="npx", args=("-y", "x"), env={"K": "t", "D": "d"}, transport="auto"
    )
    assert found.entries["http"].headers == {"Authorization": "Bearer t"}
    assert found.entries["http"].url == "https://h/mcp"
    assert (found.entries["sse"].transport, found.entries["sse"].timeout) == ("sse", 5.0)
    assert set(found.problems) == {"wrong", "missing", "odd", "types"}
    assert "NONE" in found.problems["missing"]


def test_a_project_cannot_say_that_a_tool_only_reads() -> None:
    assert project(x={"command": "y", "read_only": ["*"]}).entries["x"].read_only == ()


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{}", b'{"mcpServers": []}', b"[" * 100_000, b"\xff"])
def test_what_is_no_list_of_servers_is_told(data: bytes) -> None:
    found = read_project(data, {})
    assert found.entries == {}
    assert found.problems


def test_a_server_of_the_person_comes_before_one_of_the_project() -> None:
    servers = gathered({"a": McpServer(command="mine")}, (), project(a={"command": "theirs"}, b={"command": "b"}))
    assert [(s.name, s.entry.command, s.project) for s in servers] == [("a", "mine", False), ("b", "b", True)]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (McpServer(), "neither"),
        (McpServer(command="a", url="http://b"), "both"),
        (McpServer(url="ftp://b"), "http://"),
        (McpServer(command="a", transport="http"), "needs an address"),
        (McpServer(url="http://b", transport="stdio"), "needs a command"),
    ],
)
def test_entries_that_cannot_be_used_say_why(entry: McpServer, problem: str) -> None:
    assert problem in gathered({"x": entry}, (), Found())[0].problem


def layers(tmp_path: Path, mine: object, theirs: object):
    (tmp_path / "work" / ".gongfu").mkdir(parents=True)
    places = Places(home=tmp_path / "home")
    places.home.mkdir()
    places.config.write_text(json.dumps({"mcp": {"servers": mine}}) + "\n")
    (tmp_path / "work" / ".gongfu" / "config.yaml").write_text(json.dumps({"mcp": {"servers": theirs}}) + "\n")
    return load(places, project=tmp_path / "work", project_trusted=True, env={}, flags=Flags())


def test_a_projects_settings_add_servers_and_replace_none(tmp_path: Path) -> None:
    mine = {"a": {"url": "https://mine", "headers": {"Authorization": "secret"}}}
    theirs = {"a": {"url": "https://evil"}, "b": {"command": "b", "read_only": ["*"]}}
    loaded = layers(tmp_path, mine, theirs)
    servers = loaded.settings.mcp.servers
    assert servers["a"].url == "https://mine"
    assert (servers["b"].command, servers["b"].read_only) == ("b", ())
    assert [n.values["name"] for n in loaded.notices] == ["mcp.servers.a", "mcp.servers.b.read_only"]


@given(st.lists(st.text(max_size=90), unique=True, max_size=30))
def test_names_are_safe_and_unique_and_stay(tools: list[str]) -> None:
    made = Names("server")
    found = [made.of(tool) for tool in tools]
    assert len(set(found)) == len(found)
    assert all(len(n) <= 64 and n.isascii() and n.replace("_", "a").replace("-", "a").isalnum() for n in found)
    assert [made.of(tool) for tool in reversed(tools)] == found[::-1]


@given(st.lists(st.text(max_size=40), unique=True, max_size=20))
def test_labels_are_unique_and_leave_room(names: list[str]) -> None:
    found = labels(names)
    assert len(set(found.values())) == len(names)
    assert all(0 < len(label) <= 24 and "__" not in label for label in found.values())


def test_names_do_not_depend_on_what_else_is_there() -> None:
    assert labels(["a__b"])["a__b"] == "a_b"
    assert Names("s").of("a.b") == "s__a_b"
    assert len(Names("s").of("x" * 100)) == 64


def test_only_tools_that_are_wanted_are_taken() -> None:
    server = Server(name="s", label="s", entry=McpServer(command="c", tools=("get_*", "list"), exclude=("*_secret",)))
    listed = [Listed(name=n, schema={}) for n in ("get_a", "get_secret", "list", "put")]
    assert [o.tool for o in offers(server, Names("s"), listed).tools] == ["get_a", "list"]


def test_schemas_that_are_too_deep_are_refused() -> None:
    schema: dict = {}
    for _ in range(200):
        schema = {"type": "object", "properties": {"x": schema}}
    found = offers(Server(name="s", label="s"), Names("s"), [Listed(name="deep", schema=schema)])
    assert "deep" in found.refused["deep"]


@given(st.text(max_size=200))
def test_clean_text_has_no_control_characters(text: str) -> None:
    assert not any(c in clean(text) for c in "\x00\x1b\x7f\u202e\u200b\ufeff\r")
    clean(text).encode()


def test_the_meter_lets_bursts_through_and_stops_floods(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(meter.time, "monotonic", lambda: now[0])
    one = Meter()
    assert sum(one.lets_through() for _ in range(3_000)) == meter.BURST
    now[0] += 1
    assert sum(one.lets_through() for _ in range(3_000)) == meter.RATE
    assert one.why == ""
    for _ in range(meter.FLOOD):
        one.lets_through()
    assert "nobody asked for" in one.why


def test_garbage_between_messages_is_borne() -> None:
    one = Meter()
    for _ in range(5 * meter.GARBAGE):
        one.garbage(10)
        one.message()
    assert one.why == ""
    one.garbage(meter.GARBAGE_BYTES + 1)
    assert one.why


def test_names_are_remembered_for_the_same_entry_only(tmp_path: Path) -> None:
    file = tmp_path / "cache" / "names.json"
    server = Server(name="s", label="s", entry=McpServer(command="a"))
    Remembered(file).keep(server, ["s__x"])
    assert Remembered(file).names(server) == ("s__x",)
    assert Remembered(file).names(Server(name="s", label="s", entry=McpServer(command="b"))) == ()
    file.write_text("broken")
    assert Remembered(file).names(server) == ()


@pytest.mark.anyio
async def test_questions_of_servers_are_asked_field_by_field() -> None:
    from mcp_types import ElicitRequestFormParams, ElicitRequestURLParams

    said: list[tuple] = []
    answers = iter(["7", "maybe", "yes", "red", "a, b", ""])

    class Person:
        async def ask(self, text, /, *, options=(), default="", seconds=None):
            said.append((text, options))
            return next(answers), "person"

    fields = {
        "n": {"type": "integer", "minimum": 1, "maximum": 9},
        "ok": {"type": "boolean"},
        "color": {"type": "string", "enum": ["red", "blue"]},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
        "note": {"type": "string"},
    }
    schema = {"type": "object", "properties": fields, "required": ["n"]}
    result = await elicit(Person(), "srv", ElicitRequestFormParams(message="Well?\x1b", requested_schema=schema))
    assert result.action == "accept"
    assert result.content == {"n": 7, "ok": True, "color": "red", "tags": ["a", "b"]}
    assert said[0][0] == "The MCP server srv asks: Well?\nn:"
    assert said[1][1] == ("yes", "no")
    answers = iter(["yes"])
    url = ElicitRequestURLParams(message="Go", url="https://x.example", elicitation_id="1")
    assert (await elicit(Person(), "srv", url)).action == "accept"
    assert "https://x.example" in said[-1][0]


def test_hooks_of_claude_code_know_tools_of_servers_by_its_names() -> None:
    from gongfu.engine.hook_names import names_of, tool_name

    assert tool_name("files__read_file", {}) == "mcp__files__read_file"
    assert names_of("git_status") == ("git_status",)
    assert names_of("shell") == ("Bash",)
