"""What MCP servers add to a conversation."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio
import pytest
from prompt_toolkit.document import Document

from gongfu.models.scripted import Say
from gongfu.surfaces.cli.talk.commands.custom import prompts, resources, whole
from gongfu.surfaces.cli.talk.completing import Completions
from tests.app.cast import Cast, workplace
from tests.plugins.mcp import kit

from .faces import conversation

pytestmark = pytest.mark.anyio
GOOD = kit.HERE / "good_server.py"


async def test_servers_are_shown_and_their_prompts_and_resources_can_be_used(tmp_path: Path) -> None:
    work, home = workplace(tmp_path), tmp_path / "home"
    home.mkdir()
    servers = {
        "good": {"command": sys.executable, "args": [str(GOOD)]},
        "away": {"command": "x", "disabled": True},
        "gone": {"command": "/no/such/program"},
    }
    (home / "config.yaml").write_text(json.dumps({"mcp": {"servers": servers}}))
    cast = Cast([Say("ok")])
    async with conversation(work, cast) as talk:
        assert prompts(talk) == ()
        shown = await talk.do("/mcp")
        assert "● good  ready" in shown
        assert "good__add" in shown
        assert "/good:review <code> [style]" in shown
        assert "@good:memo://hello" in shown
        assert "○ away" in shown
        assert "gongfu mcp test gone" in shown
        prompts(talk)
        with anyio.fail_after(10):
            while not resources(talk):
                await anyio.sleep(0.01)
        assert [option.value for option in prompts(talk)] == ["good:review"]
        assert [option.value for option in resources(talk)] == ["good:memo://hello"]
        completions = Completions(talk)
        for typed, offered in (
            ("see @goo", ["@good:"]),
            ("看@good:", ["@good:memo://hello "]),
            ("@good:hel", ["@good:memo://hello "]),
            ("/good:r", ["/good:review "]),
        ):
            assert [row.text for row in await completions.rows(Document(typed))] == offered
        assert "/good:review" in await talk.do("/help")
        assert "MCP server good" in await talk.do("/tools")

        assert "has no prompt 'nothing'" in await talk.do("/good:nothing")
        talk.stub.lines = [None, "x = 1"]
        await talk.do("/good:review")
        assert talk.stub.input == "/good:review"
        assert not talk.session.running
        await talk.do("/good:review style=long")
        await talk.idle()
        assert cast.asked[""][-1].messages[-1].text == "Please review (long): x = 1"
        assert talk.session.title == "/good:review style=long"

        found = await whole(talk, "see @good:memo://hello, @good:memo://none and @a.txt")
        assert '<file path="a.txt">\n1|alpha' in found.prompt
        assert 'no instructions">\nhello from a resource\n</resource>' in found.prompt
        assert "@good:memo://none could not be read" in found.prompt
        assert "could not be read and is not in the prompt" in talk.stub.text
