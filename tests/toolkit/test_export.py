"""The export tools through the agent loop, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from gongfu.core.events import SessionTitled
from tests.app.cast import workplace
from tests.app.export.test_export import ENV, png
from tests.toolkit.loop import play

pytestmark = pytest.mark.anyio


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


@pytest.mark.parametrize("suffix", ["md", "html", "json"])
async def test_a_session_is_exported_from_inside_of_it(work: Path, suffix: str) -> None:
    asked = {"path": f"out/talk.{suffix}", "everything": True}
    played = await play(work, ("read_file", {"path": "a.txt"}), ("export_session", asked))
    assert played.status == "done"
    assert played.text.startswith(f"Wrote out/talk.{suffix} (")
    text = (work / "out" / f"talk.{suffix}").read_text()
    assert "alpha" in text
    assert ("<html" in text, text.startswith("{")) == (suffix == "html", suffix == "json")


async def test_an_export_overwrites_nothing_unasked_and_can_be_undone(work: Path) -> None:
    (work / "talk.md").write_text("mine")
    played = await play(work, ("export_session", {"path": "talk.md"}))
    assert (played.status, "exists already" in played.text) == ("failed", True)
    assert (work / "talk.md").read_text() == "mine"
    played = await play(work, ("export_session", {"path": "talk.md", "overwrite": True}))
    assert played.status == "done"
    assert "> Go" in (work / "talk.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"path": "talk.txt"}, "must end in one of"),
        ({"path": "talk"}, "must end in one of"),
        ({"path": "folder.md"}, "is a folder"),
        ({"path": "talk.md", "session": "s_nothing"}, "s_nothing"),
        ({"path": "a\0b.md"}, "NUL"),
    ],
)
async def test_a_wrong_export_writes_nothing(work: Path, arguments: dict[str, str], said: str) -> None:
    (work / "folder.md").mkdir()
    before = sorted(work.rglob("*"))
    played = await play(work, ("export_session", arguments))
    assert played.status == "failed"
    assert said in played.text
    assert sorted(work.rglob("*")) == before


async def test_an_export_is_a_write_that_a_mode_may_refuse(work: Path) -> None:
    played = await play(work, ("export_session", {"path": "talk.md"}), permission="plan")
    assert played.status == "refused"
    assert not (work / "talk.md").exists()
    played = await play(work, ("export_session", {"path": "../talk.md"}), permission="edits")
    assert played.status == "refused"
    assert not (work.parent / "talk.md").exists()


async def test_a_document_becomes_a_page_with_the_pictures_of_the_workspace(work: Path) -> None:
    (work / "pic 1.png").write_bytes(png())
    (work / "x.png").symlink_to("/etc/hostname")
    (work / "doc.md").write_text("# 报告\n\n![a](pic%201.png) ![b](../b.png) ![c](https://h/c.png) ![d](x.png)\n")
    played = await play(work, ("publish_doc", {"path": "doc.md", "output": "doc.html"}))
    assert played.status == "done"
    page = (work / "doc.html").read_text()
    assert "<title>报告</title>" in page
    assert page.count("data:image/png;base64,") == 1
    assert "Pictures that were left out: ../b.png, https://h/c.png, x.png." in played.text
    played = await play(work, ("publish_doc", {"path": "none.md", "output": "n.html"}))
    assert (played.status, "none.md does not exist" in played.text) == ("failed", True)


async def test_a_document_becomes_a_pdf(work: Path) -> None:
    (work / "doc.md").write_text("# 报告\n\n正文\n")
    played = await play(work, ("publish_doc", {"path": "doc.md", "output": "doc.pdf"}), env=ENV)
    assert played.status == "done", played.text
    assert (work / "doc.pdf").read_bytes().startswith(b"%PDF")


async def test_a_session_is_renamed_and_shows_what_it_tells(work: Path) -> None:
    (work / "AGENTS.md").write_text("Always use tabs.\n")
    played = await play(
        work,
        ("set_title", {"title": "  新的\n标题 "}),
        ("session_prompt", {}),
        ("session_prompt", {"part": "prompts"}),
        ("session_prompt", {"part": "rules"}),
        ("session_prompt", {"part": "tools"}),
        ("set_title", {"title": " "}),
    )
    assert [e.title for e in played.events if isinstance(e, SessionTitled)][-1] == "新的 标题"
    texts = [r.text for r in played.results]
    assert texts[1].startswith("You are Gongfu")
    assert texts[2] == "1. Go"
    assert "Always use tabs." in texts[3]
    assert "## find_tools" in texts[4]
    assert played.status == "failed"
    assert "title is empty" in texts[5]
