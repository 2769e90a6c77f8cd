"""The work itself: the todo list and the plans, sub-agents, background commands, changes, and earlier sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec

from gongfu.core.errors import ToolFailure, UsageError, UserError
from gongfu.surfaces.cli.output import encodable
from gongfu.surfaces.cli.render.numbers import duration, money, tokens
from gongfu.surfaces.cli.style import Style, clean, one_line
from gongfu.surfaces.cli.talk.commands.paper import apart, columns_of, give, wrapped
from gongfu.surfaces.cli.talk.face import Option
from gongfu.surfaces.cli.width import clip, wrap

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gongfu.app import App
    from gongfu.core.events import AgentFinished, AgentStarted
    from gongfu.retrieval.history import Found
    from gongfu.surfaces.cli.talk.talk import Talk
    from gongfu.toolkit.planning import Plan

_PLANS = 5
_FOUND = 15
_DIFF = 400  # lines that are shown of all changes
_FILES = 200
_MARKS = {"pending": "☐", "in_progress": "▶", "done": "☑", "cancelled": "-", "failed": "✗"}


# --- /todo ---


async def todo(talk: Talk, args: str) -> None:
    """The todo list of the session, and the plans of the project; with a name one plan, done or not."""
    plans = await apart(talk, _plans)
    if args:
        plan = next((plan for plan in plans if plan.name == args), None)
        if plan is None:
            known = ", ".join(plan.name for plan in plans[:8]) or "-"
            raise UsageError("talk_tell.no_plan", name=one_line(args, 60), known=known)
        await give(talk, _plan(talk, plan))
        return
    say, style = talk.cli.say, talk.cli.out_style
    items, blocks = talk.session.state.todo, list[list[str]]()
    if items:
        done = sum(item.status == "done" for item in items)
        title = say("talk_tell.todo_title", done=done, count=len(items))
        block = [style.bold(title)]
        for item in items:
            block += _step(talk, item.status, item.text)
        blocks.append(block)
    unfinished = [plan for plan in plans if plan.done < len(plan.steps)]
    blocks += [_plan(talk, plan) for plan in unfinished[:_PLANS]]
    others = [plan for plan in plans if plan not in unfinished[:_PLANS]]
    if others:
        names = ", ".join(one_line(plan.name, 40) for plan in others[:20])
        blocks.append(wrapped(talk, say("talk_tell.plans_other", names=names), style.dim))
    if not blocks:
        talk.note(say("talk_tell.todo_none"))
        return
    await give(talk, [line for block in blocks for line in ("", *block)][1:])


def complete_todo(talk: Talk, args: str) -> Sequence[Option]:
    """The plans by name."""
    del args
    return tuple(Option(value=plan.name, label=plan.name, detail=one_line(plan.goal, 80)) for plan in _plans(talk.app))


def _plans(app: App) -> list[Plan]:
    from gongfu.store.versions import Versions
    from gongfu.toolkit.planning import Plan

    documents = Versions(app.database, "plan", str(app.workspace.root)).all()
    return [msgspec.json.decode(document.body, type=Plan) for document in documents]


def _plan(talk: Talk, plan: Plan) -> list[str]:
    say, style = talk.cli.say, talk.cli.out_style
    head = say("talk_tell.plan_title", name=one_line(plan.name, 40), done=plan.done, count=len(plan.steps))
    lines = [*wrapped(talk, head, style.bold), *wrapped(talk, clean(plan.goal), style.dim, indent=2)]
    for step in plan.steps:
        waits = plan.waits(step) if step.status == "pending" else ()
        more = say("talk_tell.step_waits", steps=", ".join(waits)) if waits else step.note
        lines += _step(talk, step.status, f"{step.id}: {step.text}", more)
    return lines


def _step(talk: Talk, status: str, text: str, more: str = "") -> list[str]:
    style = talk.cli.out_style
    mark = encodable(_MARKS.get(status, "?"), talk.cli.out.encoding)
    paint = {"done": style.dim, "cancelled": style.dim, "in_progress": style.cyan, "failed": style.red}.get(status, str)
    rows = wrapped(talk, " ".join(clean(text).split()), paint, indent=4)
    rows[0] = f"  {paint(mark)} {rows[0].lstrip()}"
    return rows + (wrapped(talk, one_line(more), style.dim, indent=4) if more else [])


# --- /agents ---


async def agents(talk: Talk, args: str) -> None:
    """The sub-agents of the session with those below them, and what each used."""
    del args
    state = talk.session.state
    if not state.agents:
        talk.note(talk.cli.say("talk_tell.agents_none"))
        return
    from gongfu.context.xray import Xray

    def below(app: App) -> dict[str, Xray]:
        found: dict[str, Xray] = {}
        waiting = [started.session for started in state.agents.values()]
        while waiting:
            name = waiting.pop()
            try:
                found[name] = app.xray(name)
            except UserError:
                continue  # it was deleted
            waiting += [child.started.session for child in found[name].children if child.started.session not in found]
        return found

    known = await apart(talk, below)
    lines: list[str] = []
    tree = [(started, state.reports.get(name)) for name, started in state.agents.items()]

    def draw(rows: Sequence[tuple[AgentStarted, AgentFinished | None]], depth: int) -> None:
        for started, finished in rows:
            lines.extend(_agent(talk, started, finished, depth))
            seen = known.get(started.session)
            draw([(child.started, child.finished) for child in seen.children] if seen else [], depth + 1)

    draw(tree, 0)
    await give(talk, lines)


def _agent(talk: Talk, started: AgentStarted, finished: AgentFinished | None, depth: int) -> list[str]:
    say, style = talk.cli.say, talk.cli.out_style
    room = columns_of(talk) - 2 - depth * 2
    role = one_line(started.role, 30)
    name = one_line(started.agent, 30) + (f" ({role})" if role else "")
    if finished is None:
        running = talk.session.running
        mark = style.cyan("●") if running else style.dim("○")
        figures = [say("talk_tell.agent_running" if running else "talk_tell.agent_lost")]
    else:
        mark = style.green("✓") if finished.status == "done" else style.red("✗")
        used = tokens(finished.usage.input + finished.usage.output)
        figures = [
            say(f"cli.status_{finished.status}") if finished.status != "done" else "",
            say("agents.figures", calls=finished.calls, requests=finished.requests, tokens=used),
            duration(finished.seconds),
            "" if finished.cost is None else money(finished.cost),
        ]
    indent = "  " * depth
    head = f"{indent}{mark} {style.bold(name)}  {clip(one_line(started.task), max(10, room - len(name) - 4))}"
    told = " · ".join(filter(None, [*figures, started.session]))
    return [head, *wrapped(talk, told, style.dim, indent=len(indent) + 2)]


# --- /jobs ---


async def jobs(talk: Talk, args: str) -> None:
    """The commands in the background; "stop ID" ends one."""
    verb, _, job = args.partition(" ")
    if args and verb not in ("stop", "output"):
        raise UsageError("talk_tell.unknown_word", given=one_line(args, 40), known="stop ID, output ID")
    if verb and not job.strip():
        raise UsageError("talk_tell.job_which")
    done = await _jobs(talk, {"action": verb or "list", "job": job.strip()})
    if verb:
        text = clean(done.text).strip()
        rows = [row for line in text.split("\n") for row in wrapped(talk, line)]
        await give(talk, rows)
        return
    items = _items(done.display)
    if not items:
        talk.note(talk.cli.say("talk_tell.jobs_none"))
        return
    columns, style = columns_of(talk) - 1, talk.cli.out_style
    lines = [clip(one_line(item), columns) for item in items]
    await give(talk, [*lines, *wrapped(talk, talk.cli.say("talk_tell.jobs_how"), style.dim)])


def complete_jobs(talk: Talk, args: str) -> Sequence[Option]:
    """What can be done with them."""
    del args
    say = talk.cli.say
    return (
        Option(value="stop ", label="stop ID", detail=say("talk_tell.jobs_stop")),
        Option(value="output ", label="output ID", detail=say("talk_tell.jobs_output")),
    )


async def _jobs(talk: Talk, args: dict[str, Any]) -> Any:
    from gongfu.engine.aside import run_aside
    from gongfu.engine.attempt import Refused

    done = await run_aside(talk.session, "shell_job", args)
    if isinstance(done, Refused):
        raise UserError("talk_tell.job_refused", why=done.text)
    if done.status == "failed":
        raise UserError("talk_tell.job_failed", why=done.text)
    return done


def _items(display: Mapping[str, Any] | None) -> list[str]:
    return [str(item) for item in cast("list[Any]", (display or {}).get("items", []))]


# --- /diff ---


async def diff(talk: Talk, args: str) -> None:
    """What the files have become since the session's first change; a checkpoint's id: since then."""
    from gongfu.app.kept_list import changes_since
    from gongfu.surfaces.cli.render.diff import diff_lines

    say, style = talk.cli.say, talk.cli.out_style
    if talk.session.state.created is None:
        talk.note(say("talk_tell.diff_none"))
        return
    try:
        since, changes = await changes_since(talk.app, talk.session.id, args)
    except ToolFailure as failure:
        raise UserError("talk_tell.diff_failed", why=str(failure)) from failure
    folders = {change.path.rpartition("/")[0] for change in changes}
    changes = [change for change in changes if change.path not in folders]  # what is in them tells of them
    if not changes:
        talk.note(say("talk_tell.diff_none"))
        return
    columns, left = columns_of(talk) - 1, _DIFF
    added, removed = sum(c.lines_added for c in changes), sum(c.lines_removed for c in changes)
    title = say("talk_tell.diff_title", count=len(changes), added=added, removed=removed, since=since)
    lines = wrapped(talk, title, style.dim)
    for change in changes[:_FILES]:
        stat = f"  +{change.lines_added} -{change.lines_removed}" if change.lines_added or change.lines_removed else ""
        lines += ["", f"{change.mark} {style.bold(clip(one_line(change.path), columns - 14))}{style.dim(stat)}"]
        if change.diff and left > 0:
            rows = diff_lines(change.diff, _Folding(color=style.color, cells=columns), talk.cli.say, limit=left)
            left -= len(rows)
            lines += rows
    if len(changes) > _FILES:
        lines.append(style.dim(say("talk_tell.and_more", count=len(changes) - _FILES)))
    await give(talk, lines)


class _Folding(Style, frozen=True):
    """Breaks what is painted into rows of `cells`."""

    cells: int = 80

    def _sgr(self, code: str, text: str) -> str:
        first, *more = wrap(text, self.cells)
        rows = [first, *(row for line in more for row in wrap(f"      {line.strip()}", self.cells))]
        return "\n".join(super(_Folding, self)._sgr(code, row) for row in rows)


# --- /history ---


async def history(talk: Talk, args: str) -> None:
    """Sessions of all folders in which the words were said, the best first."""
    say, style, columns = talk.cli.say, talk.cli.out_style, columns_of(talk) - 1
    if not args:
        raise UsageError("talk_tell.history_words")

    def search(app: App) -> Sequence[Found]:
        return app.search(args, everywhere=True, limit=_FOUND)

    found = await apart(talk, search)
    if not found:
        talk.note(say("history.nothing"))
        return
    from gongfu.surfaces.cli.sessions import when

    lines: list[str] = []
    here = str(talk.app.workspace.root)
    for one in found:
        head = f"{one.row.id}  {style.dim(when(one.at))}"
        lines += ["", head] if lines else [head]
        lines.append(f"  {style.bold(clip(one_line(one.row.title) or '-', columns - 2))}")
        if one.row.root != here:
            lines.append(f"  {style.dim(clip(one_line(one.row.directory), columns - 2))}")
        if one.where != "title":
            said = f"{say(f'history.{one.where}')}: {one_line(one.snippet)}"
            lines += wrapped(talk, said, style.dim, indent=2)
    await give(talk, [*lines, "", *wrapped(talk, say("talk_tell.history_how"), style.dim)])
