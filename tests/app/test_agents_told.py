"""Sub-agents through the App: rules, models, folds, and their sessions as files of a family."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

import gongfu
from gongfu.core.errors import UserError
from gongfu.core.events import (
    AgentEvent,
    AgentFinished,
    AgentStarted,
    EpochOpened,
    RequestSent,
    RulesPinned,
    ToolFinished,
    TurnFinished,
)
from gongfu.core.specs import Price
from gongfu.models.scripted import Call, Calls, Say, Scripted
from gongfu.models.scripted.provider import SCRIPTED
from gongfu.models.scripted.script import Step

from .cast import REF, Cast, notes, opened, results, run, workplace

pytestmark = pytest.mark.anyio


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


async def test_no_session_of_a_family_is_deleted_while_one_of_them_is_open_elsewhere(work: Path) -> None:
    cast = Cast([Call("task", {"task": "look"}), Say("ok")], look=[Say("seen")])
    async with opened(work, cast) as app:
        ran = await run(app)
        parent, child = ran.session.id, ran.children[0]
    async with opened(work, cast) as other:
        await other.session(child)
        async with opened(work, cast) as app:
            with pytest.raises(UserError) as refused:
                await app.delete(parent)
            assert refused.value.key == "engine.session_busy"
            assert {row.id for row in app.sessions(children=True)} == {parent, child}
            await app.session(parent)  # its lock was given back
        assert await other.delete(parent) == [parent, child]  # those that are open here are closed first
        assert other.sessions(children=True) == []


async def test_mandatory_rules_stand_in_each_request_of_a_sub_agent_with_receipts_of_its_own(work: Path) -> None:
    (work / "AGENTS.md").write_text("# House rules\n\nNever speak of 橙子.\n")
    cast = Cast(
        [Call("task", {"task": "look"}), Say("ok")],
        look=[Call("shell", {"command": "echo changed > AGENTS.md"}), Call("task", {"task": "below"}), Say("seen")],
        below=[Call("read_file", {"path": "a.txt"}), Say("deep")],
    )
    async with opened(work, cast, yes=True, rules="mandatory-all") as app:
        ran = await run(app)
        assert ran.finished.status == "done"
        pins = [ran.of(RulesPinned, id) for id in (ran.session.id, *ran.children)]
        assert len(pins) == 3
        assert len({p.fingerprint for (p,) in pins}) == 1  # also below, after the file had been changed on disk
        for child in ran.children:
            kinds = [type(e.event).__name__ for e in app.journal.read(child)]
            assert kinds[:2] == ["SessionCreated", "RulesPinned"]
            sent = ran.of(RequestSent, child)
            assert [e.rules for e in sent] == [pins[0][0].fingerprint] * len(sent)
            assert [r.request for r in app.receipts(child)] == [e.request for e in sent]
        bodies = cast.model.bodies
        assert len(bodies) == sum(len(ran.of(RequestSent, id)) for id in (ran.session.id, *ran.children))
        assert [b.decode().count("Never speak of 橙子.") for b in bodies] == [1] * len(bodies)


async def test_rules_that_do_not_fit_refuse_the_sub_agent_and_nothing_is_sent_for_it(work: Path) -> None:
    small = Scripted([Say("never")], info=replace(SCRIPTED, ref="small/small", name="small", window=8_000))
    (work / "AGENTS.md").write_text("Keep this in mind, always and everywhere. " * 600)
    cast = Cast([Call("task", {"task": "look", "model": "small/small"}), Say("ok")], look=[Say("never")])
    env = {"PATH": os.environ["PATH"], "HOME": str(work.parent)}
    app = gongfu.open(
        work, home=work.parent / "home", env=env, yes=True, rules="mandatory-all",
        providers={REF: cast.model, "small/small": small},
    )  # fmt: skip
    async with app:
        ran = await run(app)
        assert ran.finished.status == "done"
        (finished,) = ran.of(AgentFinished)
        assert (finished.status, finished.requests) == ("refused", 0)
    assert small.requests == []
    (result,) = results(cast.asked[""][1])
    assert result.status == "failed"
    assert "did not finish (refused)" in result.text


async def test_a_sub_agent_works_with_the_model_it_was_given(work: Path) -> None:
    other = Scripted([Say("by the other")], info=replace(SCRIPTED, ref="other/模型", name="模型"))
    cast = Cast([Call("task", {"task": "look", "model": "other/模型"}), Say("ok")], look=[Say("never")])
    env = {"PATH": os.environ["PATH"], "HOME": str(work.parent)}
    providers = {REF: cast.model, "other/模型": other}
    async with gongfu.open(work, home=work.parent / "home", env=env, providers=providers) as app:
        ran = await run(app)
        assert ran.of(AgentStarted)[0].model == "other/模型"
    assert results(cast.asked[""][1])[0].text.startswith("by the other\n")
    assert len(other.requests) == 1


async def test_a_fork_of_a_sub_agents_session_is_no_freer_than_it_was(work: Path) -> None:
    cast = Cast(
        [Call("task", {"task": "look", "tools": ["read_file"]}), Say("ok")],
        look=[Call("read_file", {"path": "a.txt"}), Say("alpha"), Call("shell", {"command": "touch made"}), Say("no")],
    )
    async with opened(work, cast, permission="full") as app:
        ran = await run(app)
        fork = await (await app.session(ran.children[0])).fork()
        assert (await (await fork.prompt("And now?"))).text == "no"
        assert {m.agent for m in fork.messages} == {""}
        assert fork.id in {row.id for row in app.sessions()}
    assert [t.name for t in cast.asked["look"][-1].tools] == ["read_file", "recall"]
    assert not (work / "made").exists()


@pytest.mark.parametrize("background", [False, True])
async def test_time_that_is_up_ends_the_sub_agents_too(work: Path, background: bool) -> None:
    cast = Cast(
        [Call("task", {"task": "sleep", "background": background}), Say("I wait.")],
        sleep=[Call("shell", {"command": "sleep 60"}), Say("never")],
    )
    async with opened(work, cast, yes=True, max_minutes=0.01) as app:
        ran = await run(app)
        assert (ran.finished.status, ran.finished.reason) == ("budget", "engine.limit_minutes")
        (finished,) = ran.of(AgentFinished)
        assert finished.status in ("budget", "cancelled")
        assert ran.of(ToolFinished, ran.children[0])[0].result.status == "cancelled"


async def test_a_limit_of_money_that_cannot_be_kept_starts_nothing(work: Path) -> None:
    unpriced = Scripted([Say("never")], info=replace(SCRIPTED, ref="other/x", name="x", price=Price()))
    cast = Cast([Call("task", {"task": "look", "model": "other/x"}), Say("ok")], look=[Say("never")])
    env = {"PATH": os.environ["PATH"], "HOME": str(work.parent)}
    app = gongfu.open(
        work, home=work.parent / "home", env=env, max_cost=1.0, providers={REF: cast.model, "other/x": unpriced}
    )
    async with app:
        ran = await run(app)
        assert ran.finished.status == "done"
        assert ran.children == []
        assert ran.of(AgentStarted) == []
    assert unpriced.requests == []
    (result,) = results(cast.asked[""][1])
    assert result.status == "failed"
    assert "price of other/x is not known" in result.text


def _ordinary(work: Path, count: int, lines: int) -> list[Step]:
    """Calls that read `count` files of so many lines."""
    steps: list[Step] = []
    for n in range(count):
        (work / f"big{n}.txt").write_text("".join(f"{n}: an ordinary line {i} of this file\n" for i in range(lines)))
        steps.append(Call("read_file", {"path": f"big{n}.txt"}))
    return steps


@pytest.mark.parametrize("window", [12_000, 32_000, 100_000])
@pytest.mark.parametrize("background", [False, True])
async def test_a_report_outlives_the_results_of_ordinary_calls(work: Path, window: int, background: bool) -> None:
    report = "\n".join(f"finding {n}: module {n} holds 问题 {n}" for n in range(6))
    first = Call("task", {"task": "look", "background": background})
    cast = Cast([first, *_ordinary(work, 30, window // 160), Say("Done.")], look=[Say(report)])
    cast.model.info = replace(SCRIPTED, window=window, max_output=1_000)
    async with opened(work, cast, yes=True) as app:
        ran = await run(app)
        assert ran.finished.status == "done", ran.finished
        assert ran.of(EpochOpened)
    last = cast.asked[""][-1]
    told = {r.call_id: r.text for r in results(last)}
    assert [text for text in told.values() if "0: an ordinary line" in text] == []
    if background:
        assert any(report in note.text for note in notes(last))
    else:  # where a fold has no room for it at full text it stays as a label, and recall brings it back
        assert report in told["c1"] or (window < 16_000 and "recall id=c1" in told["c1"])


async def test_in_its_own_session_a_sub_agents_calls_are_ordinary_ones(work: Path) -> None:
    cast = Cast([Call("task", {"task": "look"}), Say("ok")], look=[*_ordinary(work, 30, 100), Say("seen")])
    cast.model.info = replace(SCRIPTED, window=16_000, max_output=1_000)
    async with opened(work, cast, yes=True) as app:
        ran = await run(app)
        assert results(cast.asked[""][1])[0].text.startswith("seen\n")
        assert ran.of(EpochOpened, ran.children[0])
        included = ran.of(RequestSent, ran.children[0])[-1].included
        assert {i.tier for i in included if i.id.startswith("u")} <= {1, 3, 4}


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("how", ["leave", "cancel"])
async def test_leaving_the_app_ends_its_sub_agents_cleanly(work: Path, background: bool, how: str) -> None:
    inner = [Call("task", {"task": "deep"}), Say("never")]
    cast = Cast(
        [Call("task", {"task": "sleep", "background": background}), Say("I wait.")],
        sleep=inner,
        deep=[Call("shell", {"command": "touch began; sleep 60"}), Say("never")],
    )
    with anyio.fail_after(20), anyio.CancelScope() as scope:
        async with opened(work, cast, yes=True) as app:
            session = await app.session()
            await session.prompt("Go")
            async with session.stream.subscribe(0) as entries:
                async for entry in entries:
                    if isinstance(entry.event, AgentEvent) and entry.event.event.get("name") == "shell":
                        break
            if how == "cancel":
                scope.cancel()
                await anyio.sleep_forever()
    async with opened(work, cast, yes=True) as app:
        family = app.sessions(children=True)
        assert len(family) == 3
        for row in family:
            events = [e.event for e in app.journal.read(row.id)]
            assert isinstance(events[-1], TurnFinished)
            assert events[-1].status == "cancelled"
            begun = [e.agent for e in events if isinstance(e, AgentStarted)]
            assert begun == [e.agent for e in events if isinstance(e, AgentFinished)]
            (await app.session(row.id)).state  # noqa: B018  (it opens: no lock is held)


async def test_one_sub_agent_cannot_overwrite_unseen_what_another_has_changed(work: Path) -> None:
    change = {"path": "a.txt", "edits": [{"old": "alpha", "new": "changed by two"}]}
    cast = Cast(
        [Calls((Call("task", {"task": "one"}), Call("task", {"task": "two"}))), Say("ok")],
        one=[
            Call("read_file", {"path": "a.txt"}),
            Call("shell", {"command": "touch read; until grep -q two a.txt; do sleep 0.02; done"}),
            Call("write_file", {"path": "a.txt", "content": "changed by one\n"}),
            Say("could not"),
        ],
        two=[
            Calls(
                (
                    Call("read_file", {"path": "a.txt"}),
                    Call("shell", {"command": "until [ -e read ]; do sleep 0.02; done"}),
                )
            ),
            Call("edit_file", change),
            Say("changed"),
        ],
    )
    async with opened(work, cast, yes=True) as app:
        await run(app)
    assert (work / "a.txt").read_text() == "changed by two\n"
    assert [r.status for r in results(cast.asked["one"][3])] == ["done", "done", "failed"]
