"""Questions of the engine as dialogues: permissions with what would happen, questions, and plans."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from gongfu.core.events import QuestionAsked
from gongfu.surfaces.cli.answers import WORDS, Asked, allowed, asked, decided, named, plan_answers, plan_of
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.render.painted import bare
from gongfu.surfaces.cli.style import clean, one_line
from gongfu.surfaces.cli.talk.face import Option
from gongfu.surfaces.cli.talk.picking import Chosen, Form
from gongfu.surfaces.cli.talk.picking_stage import PATIENCE, held
from gongfu.surfaces.cli.talk.picking_text import fitted
from gongfu.surfaces.cli.width import clip, width, wrap

if TYPE_CHECKING:
    from gongfu.surfaces.cli.cli import Cli
    from gongfu.surfaces.cli.talk.screen import Screen

_KEYS = {"allow": "y", "session": "s", "project": "p", "deny": "n"}
_EVERY_LINE = 10_000_000
_LARGE = 20_000  # characters of a preview that is drawn in a thread


async def answering(screen: Screen, question: QuestionAsked) -> str:
    """The answer in the words that `Session.answer` takes; turning away is the default, or no."""
    if question.preview.get("kind") == "plan":
        return await _plan(screen, question)
    if question.about == "permission":
        return await _permission(screen, question)
    make = partial(question_form, screen.cli, question)
    chosen = await held(screen, make(screen.size[0]), patience=PATIENCE, refit=make)
    return question.default if chosen is None else chosen.value or chosen.text or question.default


# --- may this run? ---


async def _permission(screen: Screen, question: QuestionAsked) -> str:
    make = partial(permission_form, screen.cli, question)
    large = sum(len(str(value)) for value in question.preview.values()) > _LARGE
    columns = screen.size[0]
    form = await to_thread.run_sync(make, columns) if large else make(columns)
    chosen = await held(screen, form, patience=PATIENCE, refit=make)
    return "deny" if chosen is None else decision(chosen, question.options, len(form.parts))


def decision(chosen: Chosen, options: tuple[str, ...], parts: int) -> str:
    """What was chosen as if it had been typed."""
    if not chosen.value:
        return decided(f"n {chosen.text}", options, parts)
    numbers = ",".join(map(str, chosen.parts))
    return decided(f"{_KEYS[chosen.value]} {numbers}", options, parts) or "deny"


def permission_form(cli: Cli, question: QuestionAsked, columns: int) -> Form:
    """The dialogue of a permission. What does not fit into its title stands whole in the lines that scroll."""
    style, say = cli.out_style, cli.say
    lines = Lines(style=style, speech=say, columns=columns)
    about = asked(question, lines, columns, limit=_EVERY_LINE)
    parts = _parts(lines, about, columns) if about.needs else ()
    room = max(10, columns - 4)
    blocks = [[style.dim(f"  {row}") for row in wrap(about.reason, room)] if about.reason else []]
    if width(about.title) < columns - 2:
        blocks.append([*about.preview])
    else:
        command = question.preview.get("kind") == "command"
        blocks[:0] = [] if command else [[f"  {row}" for row in wrap(about.title, room)]]
        blocks.append(lines.preview(question.preview, limit=_EVERY_LINE))
    if not about.parts:  # all or nothing
        blocks.append([row for part in parts for row in part])
    if about.grave and "project" in question.options:
        blocks.append([style.dim(f"  {row}") for row in wrap(say("permission_grave"), room)])
    options = allowed(question.options)
    return Form(
        head=(clip(about.title, columns - 3),),
        mark="?",
        body=tuple(fitted([row for block in blocks if block for row in ("", *block)][1:], max(10, columns - 1))),
        columns=columns,
        parts=parts if about.parts else (),
        partial=frozenset(("session", "project")),
        numbered=False,
        options=tuple(Option(value=one, label=say(f"talk_ask.{one}"), key=_KEYS[one]) for one in options),
        free=say("talk_ask.why"),
        free_key="w",
        empty=say("talk_ask.why_empty"),
        out="hint_no",
        aliases={word: value for word, value in WORDS.items() if len(word) == 1 and not word.isascii()},
    )


def _parts(lines: Lines, about: Asked, columns: int) -> tuple[tuple[str, ...], ...]:
    """The rows of each part."""
    box = 6 if about.parts else 0
    narrower = Lines(style=lines.style, speech=lines.speech, columns=max(24, columns - box))
    parts = list[list[str]]()
    for row in narrower.needs(list(about.needs)):
        if bare(row)[2:].startswith(f"{len(parts) + 1}. "):
            parts.append([row])
        elif parts:
            parts[-1].append(row)
    return tuple(map(tuple, parts))


# --- what the model wants to know ---


def question_form(cli: Cli, question: QuestionAsked, columns: int) -> Form:
    """The dialogue of a question: an own answer can always be given, but to one of ours."""
    say, style = cli.say, cli.out_style
    default, options = question.default, question.options
    text = named(question, clean(question.text).replace("\t", "    "))
    rows = wrap(text, max(10, columns - 3))
    short = len(rows) <= 3 and "\n" not in text
    body = (
        () if short else tuple(f"{' ' if at else style.yellow('?')} {style.bold(row)}" for at, row in enumerate(rows))
    )
    marked = say("talk_ask.default")
    ours = not question.call and bool(options)
    other = say("talk_ask.default_is", default=one_line(default, 80)) if default and default not in options else ""
    return Form(
        head=(text,) if short else (),
        mark="?",
        body=body,
        options=tuple(Option(value=one, label=one, detail=marked if one == default else "") for one in options),
        start=options.index(default) if default in options else 0,
        free="" if ours else say("talk_ask.own" if options else "talk_ask.own_only"),
        empty=other or say("talk_ask.own_empty"),
        out="hint_default" if default else "hint_leave",
        seconds=question.seconds,
    )


# --- a plan ---


async def _plan(screen: Screen, question: QuestionAsked) -> str:
    make = partial(plan_form, screen.cli, question)
    form = await to_thread.run_sync(make, screen.size[0])
    chosen = await held(screen, form, patience=PATIENCE, refit=make)
    title = screen.cli.out_style.bold(form.head[0])
    screen.show("\n".join(("", title, "", *form.body, "")))  # it can still be read while it is carried out
    if chosen is None:
        return question.default or "no"
    return chosen.value or (f"no: {chosen.text}" if chosen.text else "no")


def plan_form(cli: Cli, question: QuestionAsked, columns: int) -> Form:
    """The dialogue of a plan to approve."""
    say = cli.say
    title, lines = plan_of(question, say, columns - 4, color=cli.out_style.color)
    answers = plan_answers(question, say)
    return Form(
        head=(title,),
        mark="?",
        body=tuple(f"  {row}" for row in lines),
        options=tuple(
            Option(value=one, label=label, key=str(at)) for at, (one, label) in enumerate(answers.items(), 1)
        ),
        free=say("talk_ask.plan_no"),
        free_key=str(len(answers) + 1),
        empty=say("talk_ask.plan_no_empty"),
        out="hint_no",
    )
