"""Plans as data: steps that wait for each other, each with the command that proves it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta
from msgspec.structs import replace

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure

Status: TypeAlias = Literal["pending", "in_progress", "done", "failed"]
MOST = 100
_TEXT = 2_000


class StepSpec(Base, frozen=True):
    """A step as it is asked for. `after` names the steps it waits for (none: the one before), `check` a command."""

    text: Annotated[str, Meta(min_length=1, max_length=_TEXT)]
    id: str = ""
    after: list[str] | None = None
    check: str = ""


class Step(Base, frozen=True):
    """A step of a plan. `note` says what came of its check, or on whose word it counts as done."""

    id: str
    text: str
    after: tuple[str, ...] = ()
    check: str = ""
    status: Status = "pending"
    note: str = ""


class Plan(Base, frozen=True):
    """A goal and the steps to it, in an order that respects what waits for what."""

    name: str
    goal: str
    steps: tuple[Step, ...] = ()

    def step(self, id: str) -> Step:
        """The step of that id. ToolFailure when there is none."""
        for one in self.steps:
            if one.id == id:
                return one
        known = ", ".join(step.id for step in self.steps) or "none"
        raise ToolFailure(f"plan {self.name} has no step {id!r}; its steps are: {known}")

    def waits(self, step: Step) -> tuple[str, ...]:
        """The steps that must be done before `step` can begin, and are not."""
        done = {one.id for one in self.steps if one.status == "done"}
        return tuple(one for one in step.after if one not in done)

    @property
    def ready(self) -> tuple[Step, ...]:
        """Steps that may begin or go on now."""
        return tuple(step for step in self.steps if step.status != "done" and not self.waits(step))

    @property
    def done(self) -> int:
        """How many steps are done."""
        return sum(step.status == "done" for step in self.steps)


def create(name: str, goal: str, steps: Sequence[StepSpec]) -> Plan:
    """A new plan. ToolFailure for names that are there twice, unknown ones, circles, or too many steps."""
    if not goal.strip():
        raise ToolFailure("goal is empty; say what the plan is for")
    plan = Plan(name=name, goal=goal.strip())
    return _checked(replace(plan, steps=tuple(_steps(steps, (), ""))))


def insert(plan: Plan, steps: Sequence[StepSpec], after: str) -> Plan:
    """New steps behind step `after` ("": at the end). What waited for that step waits for the last new one."""
    if not steps:
        raise ToolFailure("steps is empty; nothing was inserted")
    at = len(plan.steps)
    if after:
        at = plan.steps.index(plan.step(after)) + 1
    before = plan.steps[at - 1].id if at else ""
    new = list(_steps(steps, plan.steps, before))
    rest = plan.steps[at:]
    if after:
        rest = tuple(
            replace(step, after=tuple(new[-1].id if one == after else one for one in step.after)) for step in rest
        )
    return _checked(replace(plan, steps=(*plan.steps[:at], *new, *rest)))


def change(plan: Plan, id: str, spec: StepSpec) -> Plan:
    """Another text, check or order for a step; it must be proved anew."""
    old = plan.step(id)
    after = old.after if spec.after is None else tuple(dict.fromkeys(spec.after))
    new = Step(id=id, text=spec.text.strip(), after=after, check=spec.check.strip())
    return _checked(with_step(plan, new))


def remove(plan: Plan, id: str) -> Plan:
    """The plan without a step; what waited for it waits for what it waited for."""
    gone = plan.step(id)

    def without(step: Step) -> Step:
        after = [one for before in step.after for one in (gone.after if before == id else (before,))]
        return replace(step, after=tuple(dict.fromkeys(after)))

    return _checked(replace(plan, steps=tuple(without(step) for step in plan.steps if step.id != id)))


def with_step(plan: Plan, step: Step) -> Plan:
    """The plan with `step` in the place of the one of its id."""
    return replace(plan, steps=tuple(step if one.id == step.id else one for one in plan.steps))


def _steps(specs: Iterable[StepSpec], there: Sequence[Step], before: str) -> Iterable[Step]:
    taken = {step.id for step in there} | {spec.id.strip() for spec in specs if spec.id.strip()}
    number = len(there)
    for spec in specs:
        name = spec.id.strip()
        while not name:
            number += 1
            name = f"s{number}" if f"s{number}" not in taken else ""
        taken.add(name)
        after = ((before,) if before else ()) if spec.after is None else tuple(dict.fromkeys(spec.after))
        before = name
        yield Step(id=name, text=spec.text.strip(), after=after, check=spec.check.strip())


def _checked(plan: Plan) -> Plan:
    ids = [step.id for step in plan.steps]
    twice = next((one for one in ids if ids.count(one) > 1), "")
    if twice:
        raise ToolFailure(f"two steps are called {twice!r}; the plan was not changed")
    if len(ids) > MOST:
        raise ToolFailure(f"a plan may have {MOST} steps, not {len(ids)}; the plan was not changed")
    odd = next((one for one in ids if not one.isidentifier()), "")
    if odd:
        raise ToolFailure(f"a step cannot be called {odd!r}: letters, digits and _ only; the plan was not changed")
    empty = next((step.id for step in plan.steps if not step.text), "")
    if empty:
        raise ToolFailure(f"step {empty} has no text; the plan was not changed")
    for step in plan.steps:
        unknown = [one for one in step.after if one not in ids]
        if unknown:
            raise ToolFailure(f"step {step.id} waits for {', '.join(unknown)}, which is no step of this plan")
    try:
        TopologicalSorter({step.id: step.after for step in plan.steps}).prepare()
    except CycleError as error:
        circle = " → ".join(error.args[1])
        raise ToolFailure(f"these steps wait for each other: {circle}; the plan was not changed") from None
    return plan


# --- how it is shown --------------------------------------------------------------------------------------------------

_MARKS: dict[Status, str] = {"pending": " ", "in_progress": ">", "done": "x", "failed": "!"}


def outline(plan: Plan) -> str:
    """The plan for the model: a line a step."""
    lines = [f"[{_MARKS[step.status]}] {step.id}: {step.text}{_more(plan, step)}" for step in plan.steps]
    return "\n".join([f"Plan {plan.name}: {plan.goal} ({plan.done} of {len(plan.steps)} done)", *lines])


def _more(plan: Plan, step: Step) -> str:
    more: list[str] = []
    if step.status != "done" and (waits := plan.waits(step)):
        more.append(f"waits for {', '.join(waits)}")
    if step.check:
        more.append(f"check: {step.check}")
    if step.note:
        more.append(step.note)
    return f"  ({'; '.join(more)})" if more else ""


def review(plan: Plan) -> str:
    """The plan for people: Markdown with a Mermaid graph."""
    lines = [f"# {plan.goal}", "", f"{plan.done} of {len(plan.steps)} steps done.", "", "```mermaid", "flowchart TD"]
    lines += [f'  {step.id}["{step.id}: {_label(step.text)}"]:::{step.status}' for step in plan.steps]
    lines += [f"  {before} --> {step.id}" for step in plan.steps for before in step.after]
    lines += [
        "  classDef pending fill:#f6f8fa,stroke:#8c959f", "  classDef in_progress fill:#ddf4ff,stroke:#0969da",
        "  classDef done fill:#dafbe1,stroke:#1a7f37", "  classDef failed fill:#ffebe9,stroke:#cf222e", "```", "",
    ]  # fmt: skip
    return "\n".join([*lines, listed(plan)])


def listed(plan: Plan) -> str:
    """The steps as a list of Markdown."""
    lines: list[str] = []
    for step in plan.steps:
        box = "x" if step.status == "done" else " "
        lines.append(f"- [{box}] **{step.id}** {step.text}")
        if step.check:
            lines.append(f"  - check: `{step.check.replace('`', chr(39))}`")
        if step.note:
            lines.append(f"  - {step.note}")
    return "\n".join(lines)


def _label(text: str) -> str:
    """A text inside the quotes of a node: Mermaid reads entities, and nothing in it may end the quotes."""
    line = " ".join(text.split())
    line = line if len(line) <= 80 else f"{line[:79]}…"
    return "".join(f"#{ord(c)};" if c in '"#;<>&`[]{}|\\' else c for c in line)
