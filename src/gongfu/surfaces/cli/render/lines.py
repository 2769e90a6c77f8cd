"""Single events as lines of text, the same in a terminal and without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from gongfu.core import events as ev
from gongfu.core.base import Base
from gongfu.engine.state import UsageLine
from gongfu.surfaces.cli.render.diff import diff_lines
from gongfu.surfaces.cli.render.numbers import duration, money, tokens
from gongfu.surfaces.cli.render.summary import singular, told
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import Style, clean, laid_open, one_line
from gongfu.surfaces.cli.width import NARROW, clip, width, wrap

_ITEM_MARKS = {"pending": "☐", "in_progress": "▶", "done": "☑", "cancelled": "✗"}
_INDENT = "  "
_TITLE = 20  # cells that the title of a call gets at least


class Closing(Base, frozen=True):
    """The last lines of a turn: why it ended, and what it took."""

    reason: list[str]
    figures: list[str]

    @property
    def all(self) -> list[str]:
        """Both."""
        return self.reason + self.figures


class Lines(Base, frozen=True):
    """Turns one event into lines. `verbose` adds what is left out otherwise; `columns` bounds single lines (0: 200).

    Of a command that failed the last `tail` lines of its output are shown, and the reason of any other failure whole.
    In a conversation (`talking`) the ways to go on are its own commands.
    """

    style: Style
    speech: Speech
    verbose: bool = False
    columns: int = 0
    tail: int = 0
    talking: bool = False

    def tool(
        self, started: ev.ToolStarted | None, finished: ev.ToolFinished, *, seconds: float = 0.0, body: bool = True
    ) -> list[str]:
        """The line of a finished call, and under it what its display shows: a diff, a list, the output with verbose.

        `seconds` is how long it ran (0: as the event says); `body` False leaves the line alone.
        """
        why = self._too_long(finished)
        below = self._display(finished) if body else []
        apart = bool(why) or bool(below and not self.verbose and self._reason_below(finished))
        return [self._tool_line(started, finished, seconds or finished.seconds, apart=apart), *why, *below]

    def _too_long(self, finished: ev.ToolFinished) -> list[str]:
        """Why a call was refused, in lines of its own where it does not fit beside the call: it is never cut."""
        why = self._refusal(finished.display) if finished.result.status == "refused" else ""
        if not (why and self.columns) or width(why) <= self._room(finished, self.speech("status_refused")):
            return []
        return [self.style.red(f"    {row}") for row in wrap(clean(why), max(20, self.columns - 5))]

    def _room(self, finished: ev.ToolFinished, word: str) -> int:
        """Cells for words beside a call, when its title takes few."""
        return self.columns - width(one_line(finished.name, 60)) - width(word) - _TITLE - 10

    def _tool_line(
        self, started: ev.ToolStarted | None, finished: ev.ToolFinished, seconds: float, *, apart: bool
    ) -> str:
        style, status, name = self.style, finished.result.status, one_line(finished.name, 60)
        exited = status in ("done", "failed") and finished.display.get("code") is not None
        paint = style.green if status == "done" and not finished.display.get("code") else style.red
        outcome = self.speech(f"status_{status}") if apart else self._outcome(finished, exited=exited)
        outcome = f"  → {outcome}" if outcome else ""
        time = f"  {duration(seconds)}" if seconds >= 0.05 else ""
        used = width(name) + width(outcome) + width(time) + 2
        title = self._title(started, (self.columns or 200) - used) if started else ""
        word = outcome if status == "done" or exited else style.red(outcome)
        return f"{paint('●' if status == 'done' or exited else '✗')} {style.bold(name)}{title}{word}{style.dim(time)}"

    def _title(self, started: ev.ToolStarted, cells: int) -> str:
        text = one_line(started.title or _arguments(started.arguments))
        if started.name == "todo":
            text = told(text, self.speech)
        least = _TITLE if not self.columns or self.columns >= NARROW else _TITLE // 2
        return f"  {clip(text, max(least, cells - 3))}" if text and text != started.name else ""

    def _outcome(self, finished: ev.ToolFinished, *, exited: bool) -> str:
        status = finished.result.status
        summary = one_line(str(finished.display.get("summary", "")), 120)
        if finished.display.get("kind") == "agent":
            summary = self._agent(finished.display)
        elif finished.result.agent and status == "done":
            summary = self.speech("agents.in_background", agent=finished.result.agent)
        elif finished.name != "ask_user":
            summary = told(summary, self.speech)
        if status == "done" or (exited and summary):
            return summary
        word = self.speech(f"status_{status}")
        room = self._room(finished, word) if self.columns else 160
        detail = clip(summary or self._refusal(finished.display) or one_line(finished.result.text), max(20, room))
        if not detail or status not in ("failed", "refused"):
            return word
        return self.speech("because", what=word, why=detail)

    def _agent(self, display: dict[str, Any]) -> str:
        """What a sub-agent did, in figures; why it stopped when it did not come to its end."""
        figures = self.speech(
            "agents.counts", agent=display.get("agent"), calls=display.get("calls"), requests=display.get("requests"),
            tokens=tokens(int(display.get("tokens") or 0)),
        )  # fmt: skip
        figures, reason = singular(figures), str(display.get("reason") or "")
        return f"{figures}: {one_line(self.speech.told(reason, display.get('values') or {}))}" if reason else figures

    def _refusal(self, display: dict[str, Any]) -> str:
        """Why a call was not let through, in the person's words; "" when that is not what is shown."""
        if display.get("kind") != "refusal":
            return ""
        by, said = display.get("by"), one_line(str(display.get("said", "")))
        if by == "person":
            return self.speech("refused_person_why", said=said) if said else self.speech("refused_person")
        if by == "before":
            return self.speech("refused_before")
        why = one_line(self.speech.told(str(display.get("why")), {"about": str(display.get("about", ""))}))
        return self.speech("refused_nobody", why=why) if by == "nobody" else why

    def _display(self, finished: ev.ToolFinished) -> list[str]:
        display = finished.display
        kind = display.get("kind")
        if kind == "diff" and finished.result.status == "done":
            lines = diff_lines(str(display.get("diff", "")), self.style, self.speech, limit=400 if self.verbose else 40)
        elif kind == "todo":
            lines = self.todo(display.get("items"))
        elif self.verbose:
            lines = self._output(display, finished.result.text)
        elif self.tail:
            lines = self._failure(finished)
        else:
            lines = []
        return [_INDENT + line for line in lines]

    def _failure(self, finished: ev.ToolFinished) -> list[str]:
        """The end of what a failed command printed, or a reason that has no room beside the call."""
        display, status = finished.display, finished.result.status
        if display.get("kind") == "command" and (status == "failed" or display.get("code")):
            rows = [row for row in clean(str(display.get("output", ""))).split("\n") if row.strip()]
            more = [self.speech("more_before", count=len(rows) - self.tail)] if len(rows) > self.tail else []
            shown = [clip(row, max(20, self.columns - 4)) for row in rows[-self.tail :]] if self.columns else rows
            return [self.style.dim(f"│ {row}") for row in more + shown]
        if not self._reason_below(finished):
            return []
        reason = clean(finished.result.text).strip()
        rows = wrap(reason, max(20, self.columns - 5)) if self.columns else reason.split("\n")
        more = [self.speech("more_lines", count=len(rows) - self.tail)] if len(rows) > self.tail else []
        return [self.style.dim(f"│ {row}") for row in rows[: self.tail] + more]

    def _reason_below(self, finished: ev.ToolFinished) -> bool:
        """Whether the reason of a failure has no room beside the call, and stands in lines below it."""
        display, reason = finished.display, clean(finished.result.text).strip()
        if not self.tail or finished.result.status != "failed" or display.get("summary"):
            return False
        if display.get("kind") in ("command", "todo"):
            return False
        room = self._room(finished, self.speech("status_failed")) if self.columns else 160
        return "\n" in reason or width(reason) > max(20, room)

    def _output(self, display: dict[str, Any], text: str) -> list[str]:
        shown = str(display.get("output") or display.get("text") or text)
        lines = clean(shown).rstrip("\n").split("\n")
        extra = [self.speech("more_lines", count=len(lines) - 200)] if len(lines) > 200 else []
        return [self.style.dim(line) for line in lines[:200] + extra if line or len(lines) > 1]

    def preview(self, display: dict[str, Any], *, limit: int = 60) -> list[str]:
        """What a question is about: the diff of an edit (its title names the file), the command of a run, or text."""
        match display.get("kind"):
            case "diff":
                lines = diff_lines(str(display.get("diff", "")), self.style, self.speech, limit=limit)
            case "command":
                where = one_line(str(display.get("cwd", "")))
                rows = laid_open(str(display.get("command", ""))).split("\n")
                lines = [f"  {row}" if at else f"$ {row}" for at, row in enumerate(rows)]
                limit = max(limit, 400)  # who consents to it should see it
                lines += [self.style.dim(self.speech("in_folder", path=where))] if where else []
            case "list":
                lines = [one_line(laid_open(str(item))) for item in cast("list[object]", display.get("items") or [])]
            case _:
                text = laid_open(str(display.get("text", "")))
                lines = text.split("\n") if text else []
        if len(lines) > limit + 2:
            lines = [*lines[:limit], self.style.dim(self.speech("more_lines", count=len(lines) - limit))]
        return [_INDENT + line for line in lines]

    def needs(self, needs: list[dict[str, Any]]) -> list[str]:
        """What consent is asked for, one by one with the reason, when it is more than one thing."""
        if len(needs) < 2:
            return []
        rows = list[str]()
        for number, need in enumerate(needs, 1):
            text = one_line(laid_open(str(need.get("text", ""))), 160)
            reason = self.speech.told(str(need.get("reason", "")), {"about": str(need.get("about", ""))})
            reason = one_line(reason, 160)
            if text and reason.startswith(text):  # it begins with what it is about
                text, reason = reason, ""
            first, *more = self._need(f"{number}. ", text, reason)
            rows += [self.style.yellow("!") + first[1:] if need.get("grave") else first, *more]
        return rows

    def _need(self, number: str, text: str, reason: str) -> list[str]:
        """A part and why it is asked for: in one line, or where that is too long the reason below the part."""
        line = f"{_INDENT}{number}{text}  "
        if not self.columns or width(line) + width(reason) < self.columns:
            return [(line + self.style.dim(reason)).rstrip()]
        margin = _INDENT + " " * len(number)
        room = max(20, self.columns - len(margin) - 1)
        first, *more = wrap(text, room)
        below = [margin + self.style.dim(row) for row in wrap(reason, room)]
        return [f"{_INDENT}{number}{first}", *(margin + row for row in more), *below]

    def todo(self, items: object) -> list[str]:
        """A todo list; `items` as in a display of kind "todo"."""
        rows = cast("list[dict[str, Any]]", items) if isinstance(items, list) else []
        return [
            f"{_ITEM_MARKS.get(str(row.get('status')), '☐')} {one_line(str(row.get('text', '')), 160)}" for row in rows
        ]

    def note(self, event: ev.AnyEvent, *, quiet: bool = False) -> str:
        """The line of an event that stands by itself; "" for one that has none (or is not worth it when `quiet`)."""
        match event:
            case ev.WarningRaised():
                text = self.warning(event)
            case ev.WindowObserved():
                text = self.window(event)
            case ev.HistoryRepaired():
                text = self.repaired(event)
            case ev.EpochOpened(reason=reason) if not quiet and not (self.talking and reason == "manual"):
                text = self.folded(event)
            case ev.RequestFailed(purpose="main"):
                last = event.retry_in is None and not event.next_model
                text = self.retry(event) if last or not quiet else ""
            case ev.JobChanged(state=state) if not quiet and not (self.talking and state == "running"):
                text = self.job(event)
            case ev.RequestSent() if self.verbose:
                text = self.request(event)
            case ev.HookRan() if not quiet:
                text = self.hook(event)
            case ev.FilesRestored():
                text = self.restored(event)
            case ev.ModeChanged(by="model"):
                text = self.style.dim(self.speech("modes.now", name=one_line(event.mode, 40) or "-"))
            case _:
                text = ""
        return text

    def restored(self, event: ev.FilesRestored) -> str:
        """Files that an undo, a redo or a rewind gave back; "" when it touched none and left none."""
        if not (event.paths or event.kept):
            return ""
        named, count = ", ".join(one_line(path, 80) for path in event.paths[:5]), event.written + event.deleted
        if len(event.paths) > 5 or count > len(event.paths):
            named += f", … ({max(count, len(event.paths))})"
        text = self.speech(f"undo.line_{event.action}", paths=named or self.speech("undo.line_nothing"))
        left = self.speech("undo.line_kept", count=len(event.kept)) if event.kept else ""
        return self.style.yellow(f"↶ {text}{left}")

    def hook(self, event: ev.HookRan) -> str:
        """A hook that decided something; of one that failed a warning tells."""
        failed = event.code not in (0, 2)
        if failed or not (event.decision or event.changed or self.verbose):
            return ""
        command, reason = one_line(event.command, 80), one_line(event.reason, 160)
        text = self.speech("hooks.line", event=event.event, command=command)
        late = event.decision == "block" and event.event in ("after_tool", "turn_end")  # it is done: nothing is refused
        decided = "objects" if late else event.decision
        said = self.speech(f"hooks.said_{decided}") if decided else ""
        said = self.speech("because", what=said, why=reason) if said and reason else said
        changed = self.speech("hooks.said_changed") if event.changed else ""
        said = self.speech("permissions.and").join(filter(None, (changed, said)))
        return self.style.dim(f"{text} → {said}" if said else text)

    def retry(self, event: ev.RequestFailed) -> str:
        """What a model endpoint did, and what happens next."""
        fault = self.fault(event.fault)
        status = f" (HTTP {event.status})" if event.status else ""
        detail = one_line(event.detail, 300)
        happened = f"{fault}{status}{f': {detail}' if detail else ''}"
        if event.next_model:
            return self.style.yellow(self.speech("retry_other", what=happened, model=one_line(event.next_model, 80)))
        if event.retry_in is not None:
            return self.style.yellow(self.speech("retry_in", what=happened, seconds=f"{event.retry_in:.1f}"))
        return self.style.red(self.speech("retry_none", what=happened))

    def fault(self, kind: str) -> str:
        """The kind of a fault in words; a kind that is not known stays as it is."""
        try:
            return self.speech(f"fault_{kind}")
        except KeyError:
            return one_line(kind, 40)

    def warning(self, event: ev.WarningRaised) -> str:
        """Something the person should know."""
        return self.style.yellow(f"⚠ {clean(self.speech.told(event.key, event.values))}")

    def window(self, event: ev.WindowObserved) -> str:
        """The server reads less than was sent."""
        model, sent, served = one_line(event.model, 80), tokens(event.sent), tokens(event.served)
        text = self.speech("window_observed", model=model, sent=sent, served=served)
        return self.style.yellow(f"⚠ {text}")

    def repaired(self, event: ev.HistoryRepaired) -> str:
        """Broken pairs in the history were mended."""
        text = self.speech("history_repaired", added=len(event.added), dropped=len(event.dropped))
        return self.style.yellow(f"⚠ {text}")

    def folded(self, event: ev.EpochOpened) -> str:
        """The context was folded."""
        reason = self.speech.told(f"xray.fold_{event.reason}", {}).removeprefix("xray.fold_")
        text = self.speech("context_folded", before=tokens(event.before), after=tokens(event.after), reason=reason)
        return self.style.dim(f"· {text}")

    def job(self, event: ev.JobChanged) -> str:
        """A background command started or ended."""
        job, command, code = one_line(event.job, 40), one_line(event.command, 100), event.code
        text = self.speech(f"job_{event.state}", job=job, command=command, code="" if code is None else code)
        return self.style.dim(f"● {text}")

    def request(self, event: ev.RequestSent) -> str:
        """A request that leaves (shown with verbose)."""
        text = self.speech(
            "request_sent", purpose=event.purpose, model=one_line(event.model, 80), estimate=tokens(event.estimate),
            budget=tokens(event.budget), messages=event.messages, attempt=event.attempt,
        )  # fmt: skip
        return self.style.dim(f"↑ {text}")

    def closing(self, event: ev.TurnFinished, session: str, beside: Mapping[str, UsageLine] = {}) -> Closing:
        """How the turn ended (a reason when it was not by the model's last word), then its figures in one line.

        `beside` is what was asked beside the turn, by purpose: a line for each.
        """
        lines: list[str] = []
        if event.reason:
            paint = self.style.red if event.status in ("failed", "refused") else self.style.yellow
            values = event.values
            if event.reason == "engine.fault":
                values = {**values, "kind": self.fault(str(values.get("kind", "")))}
            text = clean(self.speech.told(event.reason, values))
            lines.append(paint(in_talk(text) if self.talking else text))
        figures = "\n".join(map(self.style.dim, self._figures(event, session)))
        return Closing(reason=lines, figures=[figures, *(self._beside(p, line) for p, line in beside.items())])

    def _beside(self, purpose: str, line: UsageLine) -> str:
        cached = self.speech("cached", tokens=tokens(line.usage.cached)) if line.usage.cached else ""
        parts = [
            purpose,
            self.speech("tokens_in", tokens=tokens(line.usage.input), cached=cached),
            self.speech("tokens_out", tokens=tokens(line.usage.output)),
            self.speech("price_unknown") if line.cost is None else money(line.cost),
        ]
        packed = _packed(parts, max(20, self.columns - 2) if self.columns else 0)
        return "\n".join(self.style.dim(f"  {row}") for row in packed)

    def _figures(self, event: ev.TurnFinished, session: str) -> list[str]:
        speech, usage = self.speech, event.usage
        parts = [speech(f"turn_{event.status}", time=duration(event.seconds))]
        parts += [speech("steps", count=event.steps)] if event.steps else []
        if usage.input or usage.output:
            cached = speech("cached", tokens=tokens(usage.cached)) if usage.cached else ""
            parts += [speech("tokens_in", tokens=tokens(usage.input), cached=cached)]
            parts += [speech("tokens_out", tokens=tokens(usage.output))]
            parts += [speech("price_unknown") if event.cost is None else money(event.cost)]
        return _packed([*parts, *([session] if session else [])], self.columns)


def in_talk(text: str) -> str:
    """A sentence that names ways to go on, for who is in a conversation already."""
    return text.replace("`gongfu --continue`", "`/continue`")


def _packed(parts: list[str], columns: int) -> list[str]:
    """The parts in as few lines as they fit in; one line when `columns` is 0."""
    lines = [parts[0]]
    for part in parts[1:]:
        longer = f"{lines[-1]} · {part}"
        if columns and width(longer) >= columns:
            lines.append(part)
        else:
            lines[-1] = longer
    return lines


def _arguments(arguments: dict[str, Any]) -> str:
    """A short line for a call without a title: the path or the command, else everything that is short."""
    for name in ("path", "command"):
        if isinstance(arguments.get(name), str):
            return str(arguments[name])
    return " ".join(f"{key}={value}" for key, value in arguments.items() if not isinstance(value, dict | list))
