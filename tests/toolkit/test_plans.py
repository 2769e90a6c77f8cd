"""Plans: data with dependencies and checks; a step is done only when its check passes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gongfu.core.errors import ToolFailure
from gongfu.toolkit import planning
from gongfu.toolkit.planning import Plan, StepSpec
from tests.app.cast import workplace
from tests.toolkit.loop import play

pytestmark = pytest.mark.anyio
STEPS = [
    {"text": "Write the code", "check": "test -e code.txt"},
    {"text": "测试", "check": "grep -q ok code.txt"},
    {"text": "Tell the team", "after": ["s1"]},
]
CIRCLE = [{"text": "a", "id": "p", "after": ["q"]}, {"text": "b", "id": "q"}]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return workplace(tmp_path)


def step(**more: Any) -> tuple[str, dict[str, Any]]:
    return ("plan", more)


CREATE = step(action="create", name="ship", goal="Ship it", steps=STEPS)


async def test_a_step_is_done_only_when_its_check_passes(work: Path) -> None:
    played = await play(work, CREATE, step(action="run", step="s1"))
    assert played.results[0].text.splitlines()[1:] == [
        "[ ] s1: Write the code  (check: test -e code.txt)",
        "[ ] s2: 测试  (waits for s1; check: grep -q ok code.txt)",
        "[ ] s3: Tell the team  (waits for s1)",
    ]
    assert played.status == "failed"
    assert "[failed: exit 1]" in played.text
    assert "[!] s1" in played.text
    assert played.finished[-1].display["items"][0]["text"] == "s1: Write the code ✗ check failed: exit 1"
    (work / "code.txt").write_text("ok\n")
    played = await play(work, step(action="run"), step(action="resume"), step(action="run"))
    assert "[passed]" in played.results[0].text
    assert "[x] s1: Write the code  (check: test -e code.txt; checked)" in played.results[0].text
    assert played.results[1].text.endswith("Next: s2, s3")
    assert "[x] s2" in played.text
    played = await play(
        work,
        step(action="run", step="s3"),
        step(action="run", step="s3", evidence="mail of today"),
        step(action="resume"),
    )
    assert [r.status for r in played.results] == ["failed", "done", "done"]
    assert "has no check" in played.results[0].text
    assert "unchecked: mail of today" in played.results[1].text
    assert played.text.endswith("All steps are done.")


async def test_steps_wait_for_those_before(work: Path) -> None:
    played = await play(work, CREATE, step(action="run", step="s2"), step(action="start", step="s2"))
    assert [r.status for r in played.results[1:]] == ["failed", "failed"]
    assert "step s2 waits for s1" in played.text


async def test_a_check_is_judged_as_a_command_is(work: Path) -> None:
    steps = [{"text": "Danger", "check": "touch made.txt"}]
    create = step(action="create", goal="x", steps=steps)
    played = await play(work, create, step(action="run"), permission="ask")
    assert [r.status for r in played.results] == ["done", "refused"]
    assert not (work / "made.txt").exists()
    played = await play(work, step(action="run"), permission="plan")
    assert played.status == "refused"
    steps = [{"text": "Far", "check": f"touch {work.parent}/far.txt"}]
    played = await play(
        work, step(action="create", name="far", goal="y", steps=steps), step(action="run"), permission="edits"
    )
    assert played.status == "refused"
    assert not (work.parent / "far.txt").exists()


async def test_a_plan_is_changed_step_by_step(work: Path) -> None:
    played = await play(
        work,
        CREATE,
        step(action="insert", step="s1", steps=[{"text": "Review"}, {"text": "Fix", "id": "fix"}]),
        step(action="replace", step="s3", steps=[{"text": "Tell everyone", "after": ["s2", "fix"]}]),
        step(action="delete_step", step="fix"),
        step(action="review"),
        step(action="list"),
    )
    assert [r.status for r in played.results] == ["done"] * 6
    text = played.results[3].text
    assert re.findall(r"\] (\w+): ", text) == ["s1", "s4", "s2", "s3"]
    assert "s3: Tell everyone  (waits for s2, s4)" in text
    assert "s2: 测试  (waits for s4; " in text
    review = played.results[4].text
    assert "```mermaid\nflowchart TD\n" in review
    assert "  s4 --> s2" in review
    assert "- [ ] **s1** Write the code" in review
    assert played.text == "ship: Ship it (0 of 4 done)"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"action": "show"}, "there is no plan yet"),
        ({"action": "create", "goal": " ", "steps": STEPS}, "goal is empty"),
        ({"action": "create", "goal": "x"}, "steps is empty"),
        ({"action": "create", "goal": "x", "steps": [{"text": "a", "after": ["zz"]}]}, "waits for zz"),
        ({"action": "create", "goal": "x", "steps": CIRCLE}, "wait for each other"),
        ({"action": "create", "goal": "x", "steps": [{"text": "a", "id": "p"}, {"text": "b", "id": "p"}]}, "two steps"),
        ({"action": "create", "goal": "x", "steps": [{"text": "a", "id": "p q"}]}, "cannot be called"),
        ({"action": "create", "goal": "x", "steps": [{"text": ""}]}, "text"),
        ({"action": "create", "goal": "x", "steps": [{"text": "a"}] * 101}, "100 steps"),
    ],
)  # fmt: skip
async def test_what_makes_no_plan_is_said_and_nothing_is_kept(work: Path, arguments: dict[str, Any], said: str) -> None:
    played = await play(work, ("plan", arguments), step(action="list"))
    assert played.results[0].status == "failed"
    assert said in played.results[0].text
    assert played.text == "There is no plan yet."


async def test_work_is_taken_up_again_in_another_session(work: Path) -> None:
    items = [{"text": "写文档", "status": "in_progress"}, {"text": "old", "status": "done"}]
    nothing = await play(work, ("resume_work", {}))
    assert nothing.text == "Nothing was left open here."
    await play(work, CREATE, ("todo", {"items": items}))
    played = await play(work, ("resume_work", {}))
    assert "写文档 (begun)" in played.text
    assert "Plan ship: Ship it (0 of 3 done)" in played.text
    assert "Next: s1" in played.text
    assert "old" not in played.text


NAMES = st.sampled_from(["a", "b", "c", "d"])
CHANGES = st.one_of(
    st.tuples(st.just("insert"), NAMES, st.lists(NAMES, max_size=2)),
    st.tuples(st.just("change"), NAMES, st.lists(NAMES, max_size=2)),
    st.tuples(st.just("remove"), NAMES, st.just([])),
)


@given(st.lists(CHANGES, max_size=12))
@settings(max_examples=150)
def test_whatever_changes_a_plan_can_always_be_finished(changes: list[tuple[str, str, list[str]]]) -> None:
    plan = planning.create("p", "goal", [StepSpec(text="a", id="a"), StepSpec(text="b", id="b")])
    for what, name, after in changes:
        try:
            if what == "insert":
                plan = planning.insert(plan, [StepSpec(text="x", after=after or None)], name if len(after) < 2 else "")
            elif what == "change":
                plan = planning.change(plan, name, StepSpec(text="y", after=after))
            else:
                plan = planning.remove(plan, name)
        except ToolFailure:
            continue
    assert msgspec.json.decode(msgspec.json.encode(plan), type=Plan) == plan
    while plan.done < len(plan.steps):
        assert plan.ready, planning.outline(plan)
        plan = planning.with_step(plan, msgspec.structs.replace(plan.ready[0], status="done"))


@given(st.text(max_size=120))
@settings(max_examples=100)
def test_no_text_of_a_step_ends_its_label(text: str) -> None:
    plan = planning.create("p", "goal", [StepSpec(text=f"x{text}")])
    line = next(line for line in planning.review(plan).split("\n") if line.startswith("  s1["))
    assert re.fullmatch(r'  s1\["s1: [^"\[\]{}<>`|]*"\]:::pending', line)
