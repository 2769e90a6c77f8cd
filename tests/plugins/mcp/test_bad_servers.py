"""Servers that die, hang, flood and lie: wire rows 33-39 and their kind."""

from __future__ import annotations

import json
import time

import anyio
import pytest

from gongfu.core.errors import ToolFailure
from gongfu.plugins.mcp import pipes
from gongfu.tools.validate import validate
from gongfu.workspace.proctree import snapshot
from tests.plugins.mcp.kit import ENV, bad, call, hub, names, tool_of
from tests.toolkit.kit import Ctx

pytestmark = pytest.mark.anyio


async def until(true, seconds: float = 8) -> None:
    with anyio.fail_after(seconds):
        while not true():
            await anyio.sleep(0.01)


async def test_a_server_that_dies_in_a_call_fails_it_and_is_started_again(tmp_path):
    async with hub(tmp_path, {"bad": bad("plain", tmp_path / "starts")}) as made:
        before = names(made)
        with pytest.raises(ToolFailure, match=r"ended with exit code 3.*effect is unknown"):
            await call(made, "bad__die")
        assert (await call(made, "bad__ping")).text.startswith("pong 2")
        assert names(made) == before
        assert "goodbye" not in made.connections["bad"].said  # that was the one before


async def test_names_stay_when_a_server_comes_back_with_other_tools(tmp_path):
    async with hub(tmp_path, {"bad": bad("changing", tmp_path / "starts")}) as made:
        assert names(made) == ["bad__ping", "bad__die", "bad__hang"]
        with pytest.raises(ToolFailure):
            await call(made, "bad__die")
        await made.connections["bad"].client()
        assert names(made) == ["bad__later", "bad__ping", "bad__die", "bad__hang"]


async def test_a_server_that_dies_at_its_start_is_given_up_with_what_it_said(tmp_path):
    async with hub(tmp_path, {"bad": bad("dies", tmp_path / "starts")}) as made:
        connection = made.connections["bad"]
        await until(lambda: connection.state == "failed")
        assert connection.error == "it ended with exit code 7"
        assert connection.said == "cannot start: no luck\n"
        assert len((tmp_path / "starts").read_text()) == 3
        with pytest.raises(ToolFailure, match="not connected"):
            await connection.client()


async def test_a_server_that_dies_once_is_there_after_a_pause(tmp_path):
    async with hub(tmp_path, {"bad": bad("dies once", tmp_path / "starts")}) as made:
        await until(lambda: made.connections["bad"].state == "ready")
        assert (await call(made, "bad__ping")).status == "done"


async def test_a_silent_server_is_given_up_in_time(tmp_path):
    async with hub(tmp_path, {"bad": bad("silent"), "other": bad()}, connect=0.6, tries=1) as made:
        await until(lambda: made.connections["bad"].state == "failed")
        assert "did not answer within 0.6 seconds" in made.connections["bad"].error


async def test_a_program_that_is_not_there_says_so_at_once(tmp_path):
    from gongfu.config.settings import McpServer

    async with hub(tmp_path, {"bad": McpServer(command="no-such-program-at-all")}) as made:
        connection = made.connections["bad"]
        assert (connection.state, connection.error) == ("failed", "there is no program no-such-program-at-all")


async def test_a_call_that_hangs_is_told_to_stop_and_the_next_one_works(tmp_path):
    async with hub(tmp_path, {"bad": bad(timeout=0.3)}) as made:
        began = time.monotonic()
        with pytest.raises(ToolFailure, match=r"within 0.3 seconds.*effect is unknown"):
            await call(made, "bad__hang")
        assert time.monotonic() - began < 3
        told = json.loads((await call(made, "bad__odd", what="cancelled")).text)
        assert len(told) == 1


async def test_a_cancelled_call_tells_the_server(tmp_path):
    async with hub(tmp_path, {"bad": bad()}) as made:
        with anyio.move_on_after(0.2) as scope:
            await call(made, "bad__hang")
        assert scope.cancelled_caught
        assert len(json.loads((await call(made, "bad__odd", what="cancelled")).text)) == 1
        assert made.connections["bad"].calls == []


async def test_a_flood_of_notifications_passes_by(tmp_path):
    async with hub(tmp_path, {"bad": bad()}) as made:
        assert (await call(made, "bad__flood", times=5000)).text.startswith("pong")
        assert len(made.connections["bad"].logged) <= 2_000


async def test_a_flood_without_end_stops_the_server(tmp_path):
    async with hub(tmp_path, {"bad": bad()}) as made:
        with pytest.raises(ToolFailure, match="messages that nobody asked for"):
            await call(made, "bad__flood", times=100_000)
        assert (await call(made, "bad__ping")).status == "done"


async def test_a_server_that_babbles_is_stopped(tmp_path):
    async with hub(tmp_path, {"bad": bad("babble")}, tries=1) as made:
        assert "something else than messages" in made.connections["bad"].error


async def test_noise_on_standard_error_harms_nobody(tmp_path):
    async with hub(tmp_path, {"bad": bad("noisy")}) as made:
        assert (await call(made, "bad__ping")).status == "done"
        assert len(made.connections["bad"].said) <= 8 * 1024


async def test_an_enormous_answer_is_not_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(pipes, "LONGEST", 2_000_000)
    async with hub(tmp_path, {"bad": bad()}) as made:
        with pytest.raises(ToolFailure, match="a message of more than 2,000,000 bytes"):
            await call(made, "bad__huge", mb=5)
        assert (await call(made, "bad__ping")).status == "done"


async def test_a_schema_of_five_megabytes_is_refused_by_name(tmp_path):
    async with hub(tmp_path, {"bad": bad("large")}) as made:
        assert "bad__large" not in names(made)
        assert "5,0" in made.connections["bad"].offers.refused["large"]
        assert (await call(made, "bad__ping")).status == "done"


@pytest.mark.parametrize(
    ("what", "status", "text"),
    [
        ("wrong id", "done", "for you"),
        ("surrogate", "done", "a�b"),
        ("is error", "failed", "it went wrong"),
        ("garbage", "done", "after all"),
    ],
)
async def test_odd_answers(what, status, text, tmp_path):
    async with hub(tmp_path, {"bad": bad()}) as made:
        outcome = await call(made, "bad__odd", what=what)
        assert (outcome.status, outcome.text) == (status, text)


async def test_answers_that_are_none(tmp_path):
    async with hub(tmp_path, {"bad": bad()}) as made:
        with pytest.raises(ToolFailure, match=r"no\[0m way"):
            await call(made, "bad__odd", what="error")
        with pytest.raises(ToolFailure, match=r"the protocol does not know.*effect is unknown"):
            await call(made, "bad__odd", what="no result")
        with pytest.raises(ToolFailure, match=r"closed its output.*effect is unknown"):
            await call(made, "bad__odd", what="close")


async def test_names_are_clean_unique_and_short(tmp_path):
    async with hub(tmp_path, {"bad": bad("names")}) as made:
        found = names(made)
        assert len(set(found)) == len(found)
        assert all(
            len(name) <= 64 and name.replace("_", "").replace("-", "").isalnum() and name.isascii() for name in found
        )
        assert "bad__a_b" in found
        assert "two tools of this name" in made.connections["bad"].offers.refused["ping"]
        evil = tool_of(made, "bad__evil").spec.description
        assert evil.startswith("(MCP server bad) [31mredlong")
        assert len(evil) < 2_100
        for offer in made.connections["bad"].offers.tools:
            assert (await tool_of(made, offer.spec.name).facts({})).title


async def test_only_so_many_tools_are_taken(tmp_path):
    async with hub(tmp_path, {"bad": bad("many")}) as made:
        assert len(names(made)) == 400
        assert "more than 400 tools" in made.connections["bad"].offers.refused["t999"]


async def test_changed_lists_are_read_again_once_for_many_words(tmp_path):
    async with hub(tmp_path, {"bad": bad("changes")}) as made:
        await call(made, "bad__ping")
        await until(lambda: "bad__renamed" in names(made))
        assert "bad__ping" not in names(made)


async def test_schemas_with_references_booleans_and_nulls_are_taken_as_they_are(tmp_path):
    async with hub(tmp_path, {"bad": bad("schemas")}) as made:
        rows = [
            ("defs", {"p": {"x": None}}, {"p": {}}),
            ("definitions", {"p": {"x": 1}}, {"p": {"x": "no"}}),
            ("rootref", {"x": 3}, {}),
            ("booleans", {"any": [1]}, {"never": 1}),
            ("nullable", {"n": None}, {"n": 5.5}),
            ("const", {"k": "only"}, {"k": "other"}),
            ("circle", {"t": {"t": {}}}, {"t": {"t": 1}}),
        ]
        for name, right, wrong in rows:
            schema = tool_of(made, f"bad__{name}").spec.parameters
            assert validate(schema, right).problem == "", name
            assert validate(schema, wrong).problem, name
            assert (await call(made, f"bad__{name}", **right)).text == f"pong 1 {json.dumps(right, sort_keys=True)}"


async def test_a_server_gets_no_secrets_but_its_own_and_leaves_nothing_running(tmp_path):
    from gongfu.workspace.environment import child_env

    env = child_env({**ENV, "GITHUB_TOKEN": "ghp_secret", "PLAIN": "1"})
    async with hub(tmp_path, {"bad": bad(env={"MY_TOKEN": "mine"})}, env=env) as made:
        seen = json.loads((await call(made, "bad__odd", what="env")).text)
        assert seen["MY_TOKEN"] == "mine"
        assert seen["PLAIN"] == "1"
        assert "GITHUB_TOKEN" not in seen
        child = int((await call(made, "bad__odd", what="child")).text)
        assert not snapshot()[child].dead
    assert child not in (left := snapshot()) or left[child].dead


async def test_a_disconnected_server_comes_back_when_it_is_needed(tmp_path):
    async with hub(tmp_path, {"bad": bad("plain", tmp_path / "starts")}) as made:
        connection = made.connections["bad"]
        connection.stop()
        await until(lambda: connection.state == "idle")
        assert (await call(made, "bad__ping", Ctx())).text.startswith("pong 2")
        connection.stop()  # and at once, while the old connection is still being closed
        assert (await call(made, "bad__ping", Ctx())).text.startswith("pong 3")
