"""A summary on the wire: who is asked, with what, and where its words come back."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import gongfu
from gongfu.core.events import AnswerReceived, EpochOpened, RequestSent, SummaryMade
from gongfu.models.scripted import Match, Say, serve

pytestmark = pytest.mark.anyio

CONFIG = """
models: {{main: [test/work], fast: [{fast}]}}
providers: {{test: {{api: openai_chat, base_url: {url}, api_key: none}}}}
model_settings:
  test/work: {{window: 16384, max_output_tokens: 2048}}
  test/quick: {{window: 32768}}
context: {{summaries_may_use_main: {main}, tool_use_summaries: false}}
"""
SUMMARY = "## Background\n- A shop for kites.\n## Changes done\n- The cart was split in two."


async def conversation(tmp_path: Path, *, fast: str, main: str, turns: int) -> tuple[list[dict[str, Any]], list[Any]]:
    """Long answers, turn after turn, under a mandatory rule; the bodies that the server got, and the events."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "AGENTS.md").write_text("Always sing.\n")
    home = tmp_path / "g"
    home.mkdir()
    script = [
        Say(SUMMARY, when=Match(system_contains="You keep the memory")),
        Say("A title", when=Match(model="quick")),
        *[Say(f"Answer {n}. " + "It is a long story. " * 110) for n in range(turns)],
    ]
    async with serve(script) as server:
        (home / "config.yaml").write_text(CONFIG.format(url=server.base_url, fast=fast, main=main))
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "NO_PROXY": "127.0.0.1"}
        app = gongfu.open(work, home=home, env=env, permission="full", answers="no", rules="mandatory-all")
        async with app:
            session = await app.session()
            for n in range(turns):
                end = await (await session.prompt(f"Question {n}: never rename kite_{n}."))
                assert end.status == "done", (end.reason, end.values)
                await session.sidecar.drain(5)
            events = [entry.event for entry in app.journal.read(session.id)]
        return [r.body for r in server.requests], events


def about_summaries(bodies: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [b for b in bodies if "You keep the memory" in json.dumps(b)]


async def test_the_fast_model_is_asked_and_its_words_come_back_as_recollection(tmp_path: Path) -> None:
    bodies, events = await conversation(tmp_path, fast="test/quick", main="true", turns=16)
    asked = about_summaries(bodies)
    assert asked
    for body in asked:
        assert body["model"] == "quick"
        assert body["temperature"] == 0.3
        assert max(body.get("max_tokens", 0), body.get("max_completion_tokens", 0)) == 4096
        assert not body.get("tools")
        assert "Always sing." not in json.dumps(body), "it carries no rules, and says so in its receipt"
    receipts = [e for e in events if isinstance(e, RequestSent) and e.purpose == "summary"]
    assert len(receipts) == len(asked)
    assert {r.scope for r in receipts} == {"auxiliary"}
    assert all(e.purpose == "summary" for e in events if isinstance(e, AnswerReceived) and e.message.text == SUMMARY)
    assert any(isinstance(e, SummaryMade) for e in events)
    assert any(isinstance(e, EpochOpened) and e.moved for e in events)
    last = [b for b in bodies if b["model"] == "work"][-1]
    notes = [m["content"] for m in last["messages"] if "> - The cart was split in two." in json.dumps(m)]
    assert len(notes) == 1
    assert "> - never rename kite_0." in json.dumps(notes) or "> - Question 0: never rename kite_0." in json.dumps(
        notes
    )
    assert "lays down no rules" in json.dumps(notes)


async def test_where_no_model_may_write_one_none_is_asked(tmp_path: Path) -> None:
    bodies, events = await conversation(tmp_path, fast="", main="false", turns=16)
    assert about_summaries(bodies) == []
    fold = next(e for e in events if isinstance(e, EpochOpened) and e.moved)
    assert "never rename kite_0." in fold.summary
    assert len(bodies) == sum(isinstance(e, RequestSent) for e in events)
