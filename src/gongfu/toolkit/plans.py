"""The tools plan and resume_work."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any, Literal, Protocol, TypeAlias

import msgspec
from msgspec.structs import replace

from gongfu.core.display import Display, text_display
from gongfu.core.errors import ToolFailure
from gongfu.store.versions import Versions
from gongfu.toolkit import planning
from gongfu.toolkit.planning import Plan, Step, StepSpec, outline
from gongfu.toolkit.programs import Programs
from gongfu.toolkit.proposing import Desk, Proposal, check, propose
from gongfu.tools.decorator import tool
from gongfu.tools.output import bound
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome, Tool
from gongfu.workspace.shells import find_shell

Action: TypeAlias = Literal[
    "create", "show", "list", "insert", "replace", "delete_step", "start", "run", "resume", "review", "propose",
    "delete",
]  # fmt: skip
_OUTPUT = 1_500
_NAMES = r"[^\w-]+"


class Opener(Protocol):
    """Opens the plans of this project when they are first needed."""

    def __call__(self) -> Versions: ...


class PlanTools:
    """plan and resume_work of one session. `unfinished` tells what earlier sessions left open, `desk` is the session
    in whose name a plan is proposed.
    """

    def __init__(
        self, shelf: Opener, programs: Programs, unfinished: Callable[[], str], desk: Desk | None = None
    ) -> None:
        self._shelf = shelf
        self._programs = programs
        self._unfinished = unfinished
        self._desk = desk
        self._judged: dict[tuple[str, str], list[str]] = {}

    def __iter__(self) -> Iterator[Tool]:
        yield self.plan
        yield self.resume_work

    async def _facts(self, args: dict[str, Any]) -> Facts:
        action, name = str(args["action"]), str(args.get("name") or "")
        title = " ".join(part for part in (action, name, str(args.get("step") or "")) if part)
        if action == "propose":
            proposal = self._proposal(name, str(args.get("goal") or ""), str(args.get("markdown") or ""))
            check(self._desk, proposal)
            return Facts(access=("read",), title=f"propose {proposal.title}")
        if action != "run":
            return Facts(access=("read",), title=title)
        checks = [step.check for step in self._to_run(self._find(name), str(args.get("step") or "")) if step.check]
        self._judged[name, str(args.get("step") or "")] = checks
        if not checks:
            return Facts(access=("read",), title=title)
        cwd, command = str(self._programs.directory), "\n".join(checks)
        preview: Display = {"kind": "command", "command": command, "cwd": cwd, "code": None, "output": ""}
        return Facts(access=("execute",), command=command, cwd=cwd, title=title, preview=preview)

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource="*" if args["action"] in ("run", "propose") else "plan", write=True),)

    @tool(access="execute", key=True, facts=_facts, claims=_claims)
    async def plan(  # noqa: PLR0917  (the model's arguments)
        self,
        action: Action,
        ctx: CallContext,
        name: str = "",
        goal: str = "",
        steps: list[StepSpec] | None = None,
        step: str = "",
        evidence: str = "",
        markdown: str = "",
    ) -> Outcome:
        given = steps or []
        match action:
            case "create":
                return self._create(name, goal, given)
            case "list":
                return self._list()
            case "delete":
                plan = self._find(name)
                self._shelf().delete(plan.name)
                return Outcome(text=f"Deleted plan {plan.name}.", display=text_display("", f"{plan.name} deleted"))
            case "propose":
                return await propose(self._desk, self._proposal(name, goal, markdown), ctx)
            case "run":
                plan = self._find(name)
                self._as_judged(name, step, plan)
                return await self._run(plan, step, evidence.strip(), ctx)
            case "review":
                plan = self._find(name)
                text = planning.review(plan)
                return Outcome(text=text, display=text_display(text, _summary(plan)))
            case "show" | "resume":
                plan = self._find(name)
                return _shown(plan, _next(plan) if action == "resume" else "")
            case _:
                return self._change(action, self._find(name), given, step)

    @tool(access="read")
    async def resume_work(self) -> Outcome:
        open_plans = [plan for plan in self._plans() if plan.done < len(plan.steps)]
        parts = [self._unfinished(), *(f"{outline(plan)}\n{_next(plan)}" for plan in open_plans[:3])]
        text = "\n\n".join(part for part in parts if part)
        return Outcome(
            text=text or "Nothing was left open here.", display=text_display(text, f"{len(open_plans)} plans")
        )

    def _proposal(self, name: str, goal: str, markdown: str) -> Proposal:
        """What the person is shown: the text of the call, else the plan of that name."""
        if markdown.strip() or not (name or self._plans()):
            heading = markdown.strip().partition("\n")[0].lstrip("# ")
            title = " ".join((goal.strip() or heading or "plan").split())[:200]
            return Proposal(title=title, markdown=markdown.strip())
        plan = self._find(name)
        return Proposal(title=goal.strip() or plan.goal, markdown=planning.listed(plan))

    # --- changes ---

    def _create(self, name: str, goal: str, steps: list[StepSpec]) -> Outcome:
        if not steps:
            raise ToolFailure("steps is empty; a plan needs at least one")
        named = re.sub(_NAMES, "-", name or goal).strip("-")[:60] or "plan"
        if self._shelf().get(named) is not None:
            if name:
                raise ToolFailure(f"there is a plan {named!r} already; change it, delete it, or take another name")
            named = f"{named[:50]}-{time.strftime('%m%d%H%M%S')}"
        return self._keep(planning.create(named, goal, steps))

    def _change(self, action: str, plan: Plan, steps: list[StepSpec], step: str) -> Outcome:
        match action:
            case "insert":
                return self._keep(planning.insert(plan, steps, step))
            case "replace":
                if len(steps) != 1:
                    raise ToolFailure(f"replace takes exactly one step in steps, not {len(steps)}; nothing was changed")
                return self._keep(planning.change(plan, plan.step(step).id, steps[0]))
            case "delete_step":
                return self._keep(planning.remove(plan, step))
            case _:
                found = self._startable(plan, step)
                return self._keep(planning.with_step(plan, replace(found, status="in_progress", note="")))

    def _startable(self, plan: Plan, id: str) -> Step:
        step = plan.step(id)
        if waits := plan.waits(step):
            raise ToolFailure(f"step {id} waits for {', '.join(waits)}; nothing was changed")
        return step

    # --- checks ---

    def _to_run(self, plan: Plan, step: str) -> tuple[Step, ...]:
        if step:
            return (self._startable(plan, step),)
        found = tuple(one for one in plan.ready if one.check)
        if not found:
            raise ToolFailure(f"no step of plan {plan.name} is ready and has a check; name a step and give evidence")
        return found

    def _as_judged(self, name: str, step: str, plan: Plan) -> None:
        """ToolFailure when the plan has other checks than those that were agreed to: it may have changed since."""
        checks = [one.check for one in self._to_run(plan, step) if one.check]
        if checks != self._judged.pop((name, step), checks):
            raise ToolFailure(f"the checks of plan {plan.name} changed since the call was judged; nothing was run")

    async def _run(self, plan: Plan, step: str, evidence: str, ctx: CallContext) -> Outcome:
        outputs: list[str] = []
        failed = False
        for one in self._to_run(plan, step):
            if not one.check and not evidence:
                raise ToolFailure(
                    f"step {one.id} has no check; give it one with replace, or say in evidence what shows it"
                )
            if not one.check:
                plan = planning.with_step(plan, replace(one, status="done", note=f"unchecked: {evidence[:500]}"))
                continue
            proved, said = await self._prove(one, ctx)
            failed |= proved.status != "done"
            outputs.append(said)
            plan = planning.with_step(plan, proved)
        kept = self._keep(plan)
        return replace(kept, text="\n\n".join([*outputs, kept.text]), status="failed" if failed else "done")

    async def _prove(self, step: Step, ctx: CallContext) -> tuple[Step, str]:
        argv = find_shell(self._programs.env).argv(step.check)
        ran = await self._programs.run(argv, ctx, show=True, keep=64 * 1024)
        output = bound(ran.text.strip(), _OUTPUT).text("")
        head = f"{step.id}: {step.check}\n" + (f"{output}\n" if output else "")
        if ran.ok:
            return replace(step, status="done", note="checked"), f"{head}[passed]"
        why = f"exit {ran.code}" if ran.how.why_ended == "exit" else "stopped at its time limit"
        note = f"\n[{ran.note}]" if ran.note else ""
        return replace(step, status="failed", note=f"check failed: {why}"), f"{head}[failed: {why}]{note}"

    # --- the shelf ---

    def _plans(self) -> list[Plan]:
        return [msgspec.json.decode(document.body, type=Plan) for document in self._shelf().all()]

    def _find(self, name: str) -> Plan:
        plans = self._plans()
        found = next((plan for plan in plans if name in ("", plan.name)), None)
        if found is None:
            known = ", ".join(plan.name for plan in plans)
            raise ToolFailure(f"there is no plan {name!r}; plans are: {known}" if known else "there is no plan yet")
        return found

    def _keep(self, plan: Plan) -> Outcome:
        self._shelf().put(plan.name, msgspec.json.encode(plan).decode(), at=time.time())
        return _shown(plan)

    def _list(self) -> Outcome:
        lines = [f"{plan.name}: {plan.goal} ({_summary(plan)})" for plan in self._plans()]
        return Outcome(
            text="\n".join(lines) or "There is no plan yet.",
            display={"kind": "list", "items": lines, "total": len(lines), "summary": f"{len(lines)} plans"},
        )


def _summary(plan: Plan) -> str:
    return f"{plan.done} of {len(plan.steps)} done"


def _next(plan: Plan) -> str:
    if plan.done == len(plan.steps):
        return "All steps are done."
    return f"Next: {', '.join(step.id for step in plan.ready)}"


def _shown(plan: Plan, more: str = "") -> Outcome:
    items = [{"text": f"{step.id}: {step.text}{_trouble(step)}", "status": _shown_status(step)} for step in plan.steps]
    text = outline(plan)
    return Outcome(
        text=f"{text}\n{more}" if more else text,
        display={"kind": "todo", "items": items, "summary": f"{plan.name}, {_summary(plan)}"},
    )


def _trouble(step: Step) -> str:
    return f" ✗ {step.note}" if step.status == "failed" else ""


def _shown_status(step: Step) -> str:
    return "pending" if step.status == "failed" else step.status
