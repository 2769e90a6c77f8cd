"""What is alive above the input: the open block, calls, sub-agents, what is awaited, the todo list, words that wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gongfu.core import events as ev
from gongfu.core.base import Base
from gongfu.surfaces.cli.render.calls import Running
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.render.numbers import elapsed
from gongfu.surfaces.cli.render.open_block import standing
from gongfu.surfaces.cli.render.painted import clipped
from gongfu.surfaces.cli.render.terminal import Terminal
from gongfu.surfaces.cli.style import clean, one_line
from gongfu.surfaces.cli.talk.tree import Tree
from gongfu.surfaces.cli.width import clip, width

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_FRAMES = "|/-\\"
_AIRY = 6  # rows from which on there are empty ones
_TAIL = 3  # lines of the output of a running call
_QUEUE = 3  # prompts of the queue that are shown


class Awaited:
    """What the turn waits for, since when, as the events tell."""

    def __init__(self) -> None:
        self.began: float | None = None  # when the turn did; None: none runs
        self._key = "begins"
        self._values: dict[str, object] = {}
        self._since = 0.0
        self._model = ""
        self._stopping = False

    def stopping(self) -> None:
        """From now on, and until the turn has ended, it waits for that."""
        self._stopping = True

    def follow(self, entry: ev.Entry) -> None:
        """Take in an entry."""
        event = entry.event
        match event:
            case ev.TextDelta() | ev.ToolOutput():
                if isinstance(event, ev.TextDelta) and self._key != "answers":
                    self._set("answers", entry.time, model=self._model)
            case ev.ReasoningDelta():
                if self._key != "thinks":
                    self._set("thinks", self._since, model=self._model)
            case ev.CallDelta(name=name, size=size):
                since = self._since if self._key == "writes" else entry.time
                self._set("writes", since, model=self._model, name=one_line(name, 40), size=f"{size:,}")
            case ev.TurnStarted():
                self.began, self._stopping = entry.time, False
                self._set("begins", entry.time)
            case ev.TurnFinished():
                self.began = None
            case ev.RequestSent(purpose="main"):
                self._model = one_line(event.model.rpartition("/")[2], 40)
                self._set("waits", entry.time, model=self._model)
            case ev.RequestFailed(purpose="main"):
                self._set("tries", entry.time)
            case ev.AnswerReceived(purpose="main") | ev.QuestionAnswered():
                self._set("works", self.began or entry.time)
            case ev.QuestionAsked():
                self._set("asks", entry.time)
            case _:
                pass

    def _set(self, key: str, since: float, **values: object) -> None:
        self._key, self._since, self._values = key, since, values

    def line(self, now: float, frame: str, lines: Lines, columns: int) -> str:
        """`⠋ deepseek-chat is thinking · 4s · Esc stops`; "" when no turn runs."""
        if self.began is None:
            return ""
        asks = self._key == "asks"  # then Esc says no to the question
        what = lines.speech("talk.stopping" if self._stopping else f"talk_view.{self._key}", **self._values)
        time, stops = elapsed(now - self._since), lines.speech("talk_view.stops")
        room = columns - width(frame) - 1 - width(time) - 3
        if not asks and not self._stopping and room - width(what) >= width(stops) + 3:
            time = f"{time} · {stops}"
        return clipped(f"{lines.style.cyan(frame)} {lines.style.dim(f'{clip(what, max(8, room))} · {time}')}", columns)


class Waiting(Base, frozen=True):
    """What waits beside the turn: the todo list (all of it when `unfolded`), words for the turn, and the queue."""

    todo: Sequence[ev.TodoItem] = ()
    unfolded: bool = False
    steering: Sequence[str] = ()
    queue: Sequence[str] = ()


class Alive:
    """Draws what is alive. The newest stays when there is little room."""

    def __init__(self, terminal: Terminal, awaited: Awaited, tree: Tree, *, symbols: bool) -> None:
        self._terminal = terminal
        self._awaited = awaited
        self._tree = tree
        self._symbols = symbols

    def rows(self, now: float, columns: int, most: int, lines: Lines, waiting: Waiting) -> list[str]:
        """At most `most` painted lines, none wider than `columns`."""
        frames = _FRAMES if self._symbols else _PLAIN_FRAMES
        turn = self._awaited.line(now, frames[int(now * 10) % len(frames)], lines, columns)
        airy, left = most >= _AIRY, most - bool(turn)
        words = _words(waiting, max(0, left - 2 if turn else left), columns, lines)
        left -= len(words) + airy
        todo = _todo(waiting, min(max(1, left - 2), left), columns, lines, running=bool(turn))
        left -= len(todo)
        goes_on = airy and self._terminal.markdown.further  # no gap inside a fence of which a part stands above
        text = standing(self._open, columns, left - airy + goes_on, lines.style, symbols=self._symbols)
        body = text or self._working(now, columns, left, lines)
        if not (body or turn or todo or words):
            return []
        middle = [""] if airy and text and turn else []
        return (
            ([""] if airy and not (text and goes_on) else []) + body + middle + ([turn] if turn else []) + todo + words
        )

    @property
    def _open(self) -> str:
        return self._terminal.markdown.open

    def _working(self, now: float, columns: int, most: int, lines: Lines) -> list[str]:
        """Running calls with the end of their output, and sub-agents."""
        style, speech = lines.style, lines.speech
        running = [run for run in self._terminal.calls.running.values() if run.started.name != "ask_user"]
        header = self._terminal.groups.header
        top = [clipped(f"{style.cyan('●')} {one_line(header)}", columns)] if header else []
        beside = self._tree.beside(now, columns, style, speech)
        below = [self._tree.of_call(run.started.call, now, columns, style, speech) for run in running]
        fixed = len(top) + len(beside) + len(running) + sum(map(len, below))
        each = max(0, min(_TAIL, (most - fixed) // max(1, len(running))))
        rows = top
        for run, agents in zip(running, below, strict=True):
            rows.append(_call(run, now, columns, lines))
            rows += agents or (_tail(run.tail, each, columns, lines) if not header else [])
        rows += beside
        if len(rows) <= most:
            return rows
        if most < 2:
            return rows[-most:] if most > 0 else []
        more = style.dim(speech("talk_view.more", count=len(rows) - most + 1))
        return [clipped(f"  {more}", columns), *rows[len(rows) - most + 1 :]]


def _call(run: Running, now: float, columns: int, lines: Lines) -> str:
    style, time = lines.style, elapsed(now - run.since)
    name, title = one_line(run.started.name, 40), one_line(run.started.title)
    room = columns - width(name) - width(time) - 6
    title = f"  {clip(title, room)}" if title and title != name and room > 4 else ""
    return clipped(f"{style.cyan('●')} {style.bold(name)}{title}  {style.dim(time)}", columns)


def _tail(text: str, most: int, columns: int, lines: Lines) -> list[str]:
    """The last lines of what was printed; of a line that was written over, what stands there now."""
    if most <= 0 or not text:
        return []
    rows = [line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n")]
    rows = [clean(row).expandtabs(4) for row in rows if row.strip()][-most:]
    return [lines.style.dim("  │ " + clip(row, columns - 4)) for row in rows]


def _todo(waiting: Waiting, most: int, columns: int, lines: Lines, *, running: bool) -> list[str]:
    items, speech, style = waiting.todo, lines.speech, lines.style
    if not items or most <= 0:
        return []
    done = sum(item.status in ("done", "cancelled") for item in items)
    count = speech("talk_view.todo", done=done, all=len(items))
    now = next((at for at, item in enumerate(items) if item.status == "in_progress"), None)
    if waiting.unfolded and most > 1:
        head = style.dim(clip(f"{count} · {speech('talk_view.todo_hides')}", columns))
        room = most - 1
        newest = now if now is not None else min(done, len(items) - 1)
        start = max(0, min(newest - room // 2, len(items) - room))
        shown = items[start : start + room]
        rows = lines.todo([{"text": item.text, "status": item.status} for item in shown])
        paint = {"in_progress": style.bold, "done": style.dim, "cancelled": style.dim}
        return [head, *(_painted(row, item.status, paint, columns) for row, item in zip(rows, shown, strict=True))]
    if not running or done == len(items):
        return []
    item = items[now] if now is not None else next(i for i in items if i.status not in ("done", "cancelled"))
    hint = f"{count} · {speech('talk_view.todo_keys')}"
    room = columns - width(hint) - 6
    if room < 12:
        return [clipped(f"  {one_line(item.text)}", columns)]
    return [f"  {clip(one_line(item.text), room)}  {style.dim(hint)}"]


def _painted(row: str, status: str, paint: Mapping[str, Callable[[str], str]], columns: int) -> str:
    row, how = clip(f"  {row}", columns), paint.get(status)
    return how(row) if how else row


def _words(waiting: Waiting, most: int, columns: int, lines: Lines) -> list[str]:
    """Words for the next step, then the queue: the first few, and how many more there are."""
    speech, style = lines.speech, lines.style
    steering = [speech("talk.steering", text=one_line(text)) for text in waiting.steering]
    queue = [speech("talk.queued", number=at, text=one_line(text)) for at, text in enumerate(waiting.queue, 1)]
    most = min(most, _QUEUE * 2 + 1)
    if len(steering) > _QUEUE:  # the newest stay
        steering = [speech("talk_view.more", count=len(steering) - _QUEUE + 1), *steering[1 - _QUEUE :]]
    if len(queue) > _QUEUE + 1:
        queue = [*queue[:_QUEUE], speech("talk_view.more", count=len(queue) - _QUEUE)]
    rows = steering + queue
    if len(rows) > most > 0:
        hidden = len(waiting.steering) + len(waiting.queue) - most + 1
        rows = [*rows[: most - 1], speech("talk_view.more", count=hidden)]
    return [style.dim(clip(f"  {row}", columns)) for row in rows[:most]] if most > 0 else []
