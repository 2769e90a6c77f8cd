"""Notes and earlier sessions, found in two languages."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.app.cast import workplace
from tests.toolkit.loop import play

pytestmark = pytest.mark.anyio


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


def kb(**more: Any) -> tuple[str, dict[str, Any]]:
    return ("kb", more)


async def test_notes_outlive_the_session_and_are_found_in_both_languages(work: Path) -> None:
    await play(
        work,
        kb(action="add", title="部署步骤", text="先构建镜像，再推送到仓库。", tags=["运维", "deploy"]),
        kb(action="add", title="Code style", text="Tabs, never spaces. Lines of 100."),
        kb(action="add", title="Mine", text="I like short answers.", shared=True),
    )
    played = await play(
        work,
        kb(action="search", query="镜像 怎么 推送"),
        kb(action="search", query="spaces or tabs"),
        kb(action="search", query="zebra"),
        kb(action="read", title=" Code  style"),
        kb(action="index"),
        kb(action="index", shared=True),
    )
    texts = [r.text for r in played.results]
    assert texts[0].startswith("部署步骤 [运维, deploy]")
    assert texts[1].startswith("Code style")
    assert texts[2] == "No note fits."
    assert texts[3].endswith("Tabs, never spaces. Lines of 100.")
    assert [line.split(" (")[0] for line in texts[4].splitlines()] == ["Code style", "部署步骤 [运维, deploy]"]
    assert texts[5].startswith("Mine (")


async def test_an_update_keeps_what_was_and_a_deletion_takes_all(work: Path) -> None:
    played = await play(
        work,
        kb(action="add", title="t", text="one", tags=["x"]),
        kb(action="update", title="t", text="two", append=True),
        kb(action="update", title="t", text="three"),
        kb(action="history", title="t"),
        kb(action="delete", title="t"),
        kb(action="read", title="t"),
    )
    assert "version 2" in played.results[3].text
    assert "one two" in played.results[3].text
    assert played.results[3].text.count("version") == 3
    assert played.results[2].text.startswith("Updated note: t [x]")
    assert (played.status, "there is no note 't'" in played.text) == ("failed", True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"action": "add", "title": " ", "text": "x"}, "title is empty"),
        ({"action": "add", "title": "x", "text": " "}, "text is empty"),
        ({"action": "add", "title": "x" * 201, "text": "x"}, "longer than 200"),
        ({"action": "add", "title": "x", "text": "y" * 200_001}, "200,000 characters"),
        ({"action": "add", "title": "there", "text": "x"}, "already"),
        ({"action": "update", "title": "ther", "text": "x"}, "Near: there"),
        ({"action": "search"}, "query is empty"),
        ({"action": "burn"}, "action"),
    ],
)
async def test_a_wrong_note_is_refused(work: Path, arguments: dict[str, Any], said: str) -> None:
    played = await play(
        work, kb(action="add", title="there", text="kept"), ("kb", arguments), kb(action="read", title="there")
    )
    assert played.results[1].status == "failed"
    assert said in played.results[1].text
    assert played.text.endswith("kept")


async def test_earlier_sessions_are_found_by_words_and_dates_and_read(work: Path) -> None:
    await play(work, ("history", {}))
    first = await play(
        work, ("history", {"query": "Go"}), ("history", {"since": "2999-01-01"}), ("history", {"until": "2000-01-01"})
    )
    assert first.results[0].text.startswith("s_")
    assert first.results[1].text == first.results[2].text == "No earlier session fits."
    id = first.results[0].text.split()[0]
    day = time.strftime("%Y-%m-%d")
    played = await play(work, ("history", {"session": id}), ("history", {"since": day, "until": day, "limit": 1}))
    assert "[1, user] Go" in played.results[0].text
    assert "[1, answer] Done." in played.results[0].text
    assert len(played.text.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [{"since": "yesterday"}, {"until": "2026-02-30"}, {"session": "s_nothing"}, {"limit": 0}]
)
async def test_a_wrong_question_about_history_is_refused(work: Path, arguments: dict[str, Any]) -> None:
    assert (await play(work, ("history", arguments))).status == "failed"
