"""Commands that a person runs by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from gongfu.models.scripted import Fault, Say
from gongfu.surfaces.cli.style import Style
from gongfu.surfaces.cli.talk.hand import LIVING, ByHand
from tests.app.cast import Cast, workplace

from .faces import Conversation, Stub, conversation

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of a shell"),
]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


async def told(talk: Conversation, cast: Cast) -> str:
    await talk.say("What was that?")
    return "\n".join(m.text for m in cast.asked[""][-1].messages if m.kind == "note" and "by hand" in m.text)


async def test_it_is_shown_and_told_with_its_code(work: Path) -> None:
    cast = Cast([Say("x")])
    async with conversation(work, cast) as talk:
        shown = await talk.do("!pwd; echo wrong >&2; cat; exit 3")
        assert str(work) in shown
        assert "wrong" in shown
        assert "exit code 3" in shown
        assert talk.by_hand == []
        note = await told(talk, cast)
        assert "exit code 3" in note
        assert "exit 3`" in note
        assert "wrong" in note
        assert talk.session.messages  # the note itself is in the log
        assert "by hand" not in "".join(m.text for m in cast.asked[""][-1].messages if m.kind == "")


async def test_secrets_and_floods_do_not_reach_the_model(work: Path) -> None:
    cast = Cast([Say("x")])
    key = "ghp_" + "a1B2c3D4e5F6" * 3
    async with conversation(work, cast) as talk:
        shown = await talk.do(f"!echo {key}; seq 1 200000")
        assert "200000" in shown
        assert len(shown.splitlines()) < 500
        note = await told(talk, cast)
        assert key not in note
        assert "200000" in note
        assert len(note) < 18_000


async def test_it_runs_beside_a_turn_and_is_told_to_it(work: Path) -> None:
    cast = Cast([Fault("hang", after=0), Say("y")])
    async with conversation(work, cast) as talk:
        await talk.do("Begin.")
        await talk.asking()
        assert "beside" in await talk.do("!echo beside")
        await talk.interrupt()
        await talk.idle()
        assert "beside" in await told(talk, cast)


async def test_esc_stops_it_with_all_its_children_and_not_the_turn(work: Path) -> None:
    face = Stub()
    cast = Cast([Fault("hang", after=0), Say("y")])
    async with conversation(work, cast, face=face) as talk:
        await talk.do("Begin.")
        await talk.asking()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(talk.do, "!(sleep 30; touch late) & echo begun; wait")
            with anyio.fail_after(10):
                while not (talk.by_hand and talk.by_hand[0].lines):
                    await anyio.sleep(0.01)
            assert any("begun" in line for line in talk.living(0.0, 80, 24))
            await talk.interrupt()
        assert "stopped" in face.text
        assert talk.session.running
        await talk.interrupt()
        await talk.idle()
        assert "stopped by the user" in await told(talk, cast)


async def test_what_cannot_work_is_said(work: Path) -> None:
    cast = Cast([Say("x")])
    async with conversation(work, cast) as talk:
        assert "git status" in await talk.do("!")
        assert "terminal" in await talk.do("!vim a.txt")
        assert "cd counts" in await talk.do("!cd /")
        assert str(work) in await talk.do("!pwd")
        assert "could not be started" in await talk.do("!echo \0")
        assert talk.by_hand == []


async def test_lines_come_as_they_are_printed_where_nothing_is_alive(work: Path) -> None:
    face = Stub(drawn=False)
    async with conversation(work, Cast([Say("x")]), face=face) as talk:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(talk.do, "!echo first; while [ ! -e go ]; do sleep 0.01; done; echo second")
            await face.until(lambda: "  first" in face.shown)
            assert not any("  second" in shown for shown in face.shown)
            (work / "go").touch()
        assert face.text.count("  first") == 1
        assert "  second" in face.shown[-1]


def test_only_the_first_and_the_last_lines_are_held() -> None:
    hand = ByHand("x", Style(), 0.0)
    for at in range(20_000):
        hand.add(f"{at}\n".encode())
    hand.add("10%\r50%\r\x1b[31m100% 界".encode()[:-1])
    assert hand.living(1.0, 40)[-1] == "  100% "
    hand.add("界".encode()[-1:], final=True)
    head, left_out, tail = hand.kept()
    assert (head[0], tail[-1]) == ("0", "100% 界")
    assert len(head) + left_out + len(tail) == hand.lines == 20_001
    assert len(hand.living(1.0, 40)) == LIVING + 1
