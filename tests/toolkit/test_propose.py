"""A plan is put before the person, who says what may run from then on; the model knows when it may only read."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import anyio
import pytest

from gongfu.core.events import EpochOpened, MessageAdded, PermissionSet, QuestionAsked
from gongfu.models.protocol import Request
from gongfu.models.scripted import Call, Calls, Say
from tests.app.cast import Cast, opened, results, run, workplace
from tests.toolkit.loop import Played, play

pytestmark = pytest.mark.anyio
PLAN = ("plan", {"action": "propose", "goal": "Greet in French", "markdown": "1. Change `a.txt`\n2. Test"})
WRITE = ("write_file", {"path": "new.txt", "content": "x\n"})


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


class Person:
    """Gives the answers in order, each to one question; the questions are kept."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[QuestionAsked] = []
        self.session: Any = None

    async def see(self, event: Any) -> None:
        if isinstance(event, QuestionAsked):
            self.asked.append(event)
            await self.session.answer(event.question, self.answers.pop(0))


async def proposed(work: Path, *answers: str, permission: str = "plan", calls: Any = (PLAN, WRITE)) -> tuple[Any, ...]:
    """The proposal, then a write that only the approval can allow: the person, the run, the session."""
    person = Person(*answers)
    cast = Cast([*(Call("use_tool", {"name": n, "arguments": a}) for n, a in calls), Say("Done.")])
    async with opened(work, cast, permission=permission) as app:
        person.session = await app.session()
        turn = await _run(app, person)
        return person, turn, cast.asked[""], person.session.permission, turn.of(PermissionSet)


async def _run(app: Any, person: Person) -> Any:
    class Same:
        journal, rows = app.journal, app.rows

        async def session(self) -> Any:
            return person.session

    return await run(Same(), during=person.see)  # pyright: ignore[reportArgumentType]


def notes(request: Request) -> list[str]:
    return [m.text for m in request.messages if m.kind == "note" and "<environment>" not in m.text]


async def test_a_person_who_approves_says_what_may_run_from_then_on(work: Path) -> None:
    person, _turn, requests, permission, changes = await proposed(work, "edits")
    (asked,) = person.asked
    assert (asked.about, asked.options, asked.default, asked.tool) == ("question", ("edits", "ask", "no"), "no", "plan")
    assert asked.text == "Greet in French"
    assert asked.preview == {"kind": "plan", "title": "Greet in French", "markdown": "1. Change `a.txt`\n2. Test"}
    assert [r.status for r in results(requests[-1])] == ["done", "done"]
    assert "approved" in results(requests[-1])[0].text
    assert (permission, [e.mode for e in changes]) == ("edits", ["edits"])
    assert (work / "new.txt").exists()
    assert len(notes(requests[0])) == 1
    assert '"action": "propose"' in notes(requests[0])[0]
    assert "Changes are allowed again" in notes(requests[1])[1]
    assert len(notes(requests[-1])) == 2


@pytest.mark.parametrize("answer", ["ask", "yes", "ask: start with the tests"])
async def test_whoever_wants_to_be_asked_is(work: Path, answer: str) -> None:
    person, _, requests, permission, _ = await proposed(work, answer, "deny")
    assert permission == "ask"
    assert [q.about for q in person.asked] == ["question", "permission"]
    assert [r.status for r in results(requests[-1])] == ["done", "refused"]
    assert ("They add: start with the tests" in results(requests[-1])[0].text) == (":" in answer)
    assert not (work / "new.txt").exists()


@pytest.mark.parametrize("answer", ["no", "no: use German", "edits are fine but test first", "ask Ann", "full", ""])
async def test_anything_else_leaves_the_model_planning(work: Path, answer: str) -> None:
    _, _, requests, permission, changes = await proposed(work, answer)
    assert (permission, changes) == ("plan", [])
    proposal, write = results(requests[-1])
    assert "did not approve" in proposal.text
    assert answer.removeprefix("no: ") in proposal.text
    assert write.status == "refused"
    assert not (work / "new.txt").exists()
    assert len(notes(requests[-1])) == 1


@pytest.mark.parametrize("permission", ["ask", "edits", "full"])
async def test_elsewhere_approval_changes_no_permission(work: Path, permission: str) -> None:
    person, _, requests, after, changes = await proposed(work, "approve", permission=permission, calls=(PLAN,))
    assert person.asked[0].options == ("approve", "no")
    assert "approved" in results(requests[-1])[0].text
    assert (after, changes, notes(requests[-1])) == (permission, [], [])


async def test_a_plan_that_is_kept_is_shown_step_by_step(work: Path) -> None:
    steps = [{"text": "Write", "check": "true"}, {"text": "测试"}]
    create = ("plan", {"action": "create", "name": "ship", "goal": "Ship it", "steps": steps})
    person, *_ = await proposed(work, "no", calls=(create, ("plan", {"action": "propose", "name": "ship"})))
    preview = person.asked[0].preview
    assert preview["title"] == "Ship it"
    assert preview["markdown"].splitlines() == ["- [ ] **s1** Write", "  - check: `true`", "- [ ] **s2** 测试"]


async def test_with_nobody_there_the_plan_is_the_answer(work: Path) -> None:
    played: Played = await play(work, PLAN, WRITE, permission="plan")
    assert "Present the plan as your answer" in played.results[0].text
    assert played.results[1].status == "refused"
    (note,) = notes(played.requests[0])
    assert "propose" not in note
    assert "as your answer" in note
    assert [e for e in played.events if isinstance(e, PermissionSet)] == []


@pytest.mark.parametrize("args", [{"action": "propose"}, {"action": "propose", "markdown": "x" * 40_001}])
async def test_what_cannot_be_shown_is_not_asked(work: Path, args: dict[str, Any]) -> None:
    played = await play(work, ("plan", args), permission="plan", answers="ask")
    assert played.status == "failed"
    assert [e for e in played.events if isinstance(e, QuestionAsked)] == []


async def test_a_sub_agent_cannot_propose(work: Path) -> None:
    task = Call("task", {"task": "Sub: look", "role": "explore"})
    cast = Cast(
        [task, Say("Done.")], **{"Sub:": [Call("use_tool", {"name": PLAN[0], "arguments": PLAN[1]}), Say("ok")]}
    )
    async with opened(work, cast, permission="plan") as app:
        turn = await run(app)
    sub = cast.asked["Sub:"]
    assert notes(sub[0]) == ["[Only reading is allowed now. Say in your report what should be changed.]"]
    assert results(sub[1])[0].status == "failed"
    assert turn.session.permission == "plan"


async def test_a_cancelled_proposal_changes_nothing(work: Path) -> None:
    cast = Cast([Call("use_tool", {"name": PLAN[0], "arguments": PLAN[1]}), Say("Done.")])
    async with opened(work, cast, permission="plan") as app:
        person = Person()
        person.session = session = await app.session()

        async def see(event: Any) -> None:
            if isinstance(event, QuestionAsked):
                await session.prompt("And then?")  # waits its turn
                await session.cancel()

        person.see = see  # type: ignore[method-assign]
        turn = await _run(app, person)
        assert turn.finished.status == "cancelled"
        assert session.permission == "plan"
        assert [r.status for m in session.messages for r in m.results] == ["cancelled"]
        with anyio.fail_after(5):
            while session.running or session.queue:
                await anyio.lowlevel.checkpoint()
    assert len(notes(cast.asked[""][-1])) == 1


async def test_the_model_is_told_only_when_it_changed_and_so_after_a_reload(work: Path) -> None:
    cast = Cast([Say("Done.")])
    async with opened(work, cast) as app:
        session = await app.session()
        for permission in ("ask", "plan", "plan", "full", "ask", "plan"):
            session.set_permission(permission)
            await (await session.prompt(permission))
        id = session.id
    told = [len(notes(request)) for request in cast.asked[""]]
    assert told == [0, 1, 1, 2, 2, 3]
    bodies = [[(m.role, m.text) for m in request.messages] for request in cast.asked[""]]
    assert all(later[: len(sooner)] == sooner for sooner, later in itertools.pairwise(bodies))
    async with opened(work, cast, permission="plan") as app:
        again = await app.session(id)
        await (await again.prompt("More"))
    assert len(notes(cast.asked[""][-1])) == 3
    async with opened(work, cast) as app:  # opened again, it begins as the settings say: the model must hear of it
        again = await app.session(id)
        await (await again.prompt("Go"))
        stored = [e.event for e in app.journal.read(id) if isinstance(e.event, MessageAdded)]
    assert [n.startswith("[Only") for n in notes(cast.asked[""][-1])] == [True, False, True, False]
    assert sum(e.message.id.startswith("reading") for e in stored) == 4


async def test_what_is_called_beside_the_proposal_waits_for_the_answer(work: Path) -> None:
    both = Calls((Call("use_tool", {"name": PLAN[0], "arguments": PLAN[1]}), Call(*WRITE)))
    for answer, status in (("no", "refused"), ("edits", "done")):
        cast, person = Cast([both, Say("Done.")]), Person(answer)
        async with opened(work, cast, permission="plan") as app:
            person.session = await app.session()
            await _run(app, person)
        assert [r.status for r in results(cast.asked[""][-1])] == ["done", status]


async def test_after_a_fold_the_model_is_told_again(work: Path) -> None:
    cast = Cast([Say("Done.")])
    async with opened(work, cast, permission="plan") as app:
        session = await app.session()
        await (await session.prompt("One"))
        session.set_mode("review")  # opens an epoch with the next request
        await (await session.prompt("Two"))
        await (await session.prompt("Three"))
        await (await session.prompt("Four"))
        assert [e for e in app.journal.read(session.id) if isinstance(e.event, EpochOpened)]
        assert [len(notes(request)) for request in cast.asked[""]] == [1, 1, 2, 2]
        session.set_mode("")
        await (await session.prompt("Five"))
        session.set_permission("edits")
        await (await session.prompt("Six"))
    assert notes(cast.asked[""][-1])[-1].startswith("[Changes are allowed again")
