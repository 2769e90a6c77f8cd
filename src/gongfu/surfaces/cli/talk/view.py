"""What is shown of a session: finished lines, what is alive, and the facts of the status line."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gongfu.app import App, Session
from gongfu.core import events as ev
from gongfu.core.messages import Message
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.output import encodable
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.render.painted import fitted
from gongfu.surfaces.cli.render.prompts import prompt_block, typed_text
from gongfu.surfaces.cli.render.terminal import Terminal
from gongfu.surfaces.cli.talk.alive import Alive, Awaited, Waiting
from gongfu.surfaces.cli.talk.status import Facts, status
from gongfu.surfaces.cli.talk.tree import Tree

if TYPE_CHECKING:
    from gongfu.surfaces.cli.talk.opened import Opened

_TAIL = 6  # lines of the output of a command that failed
_LARGE = 300  # characters of a block whose drawing takes longer than a key may wait
_SOON = 0.4  # seconds that a prompt may wait before it is shown as one that waits


class View:
    """Follows the events of one session. Its switches may be turned at any time.

    `feed` of an entry that is `heavy` may be called in a thread, while nothing else is fed; `living` and `status` may
    be asked meanwhile.
    """

    def __init__(self, cli: Cli, app: App, session: Session) -> None:
        self._cli = cli
        self._app = app
        self._session = session
        self.compact = False
        self.verbose = cli.verbose
        self.todo_shown = False
        self._symbols = encodable("⠋●", cli.out.encoding) == "⠋●"
        self._lines = self._make_lines(cli.size()[0])
        self._terminal = Terminal(self._lines, symbols=self._symbols, talking=True)
        self._awaited = Awaited()
        self._tree = Tree()
        self._alive = Alive(self._terminal, self._awaited, self._tree, symbols=self._symbols)
        self._steered: list[str] = []
        self._prompts = {queued.prompt: (0.0, queued) for queued in session.queue}
        self._context = (0, 0)  # tokens of the newest request, and its budget
        self._model = ""

    def _make_lines(self, columns: int) -> Lines:
        return lines_for(self._cli, columns, verbose=self.verbose)

    # --- switches ---

    def set_view(self, *, compact: bool | None = None, verbose: bool | None = None) -> None:
        """From now on show batches of calls as one line each, or everything in detail; None leaves a switch."""
        self.compact = self.compact if compact is None else compact
        self.verbose = self.verbose if verbose is None else verbose
        self._use(self._lines.columns)

    def steered(self, text: str) -> None:
        """Words for the turn that runs were sent; it has not read them yet."""
        self._steered.append(text)

    def _use(self, columns: int) -> None:
        self._lines = self._make_lines(columns)
        self._terminal.use(self._lines, compact=self.compact)

    def aside(self) -> None:
        """Something that is no event of the session was shown."""
        self._terminal.aside()

    def stopping(self) -> None:
        """The person stops the turn; it has not ended yet."""
        self._awaited.stopping()

    # --- finished lines ---

    def opening(self, columns: int) -> str:
        """What is shown of a session that is opened again: its last turns; "" for a new one."""
        if self._session.state.created is None or not self._session.state.transcript.messages:
            return ""
        from gongfu.surfaces.cli.talk.opened import opened  # only where there is something to show

        lines = replace(self._lines, columns=columns)
        shown = opened(self._cli, self._app, self._session.id, lines, compact=self.compact)
        self.follow_on(shown)
        return shown.text

    def follow_on(self, shown: Opened) -> None:
        """Tell in the status line what was read of the session before this view was there."""
        self._context, self._model = shown.context, shown.model

    def heavy(self, entry: ev.Entry) -> bool:
        """Whether `feed` may take long with this entry, so that it is better done in a thread."""
        event, waiting = entry.event, len(self._terminal.markdown.open)
        match event:
            case ev.TextDelta(text=text):
                return "\n" in text and waiting + len(text) > _LARGE
            case ev.AnswerReceived(purpose="main"):
                return waiting > _LARGE
            case ev.MessagePartial(text=text) | ev.TurnFinished(text=text):
                return waiting + len(text) > _LARGE
            case ev.ToolFinished(display=display):
                return len(str(display.get("diff", ""))) + len(str(display.get("output", ""))) > _LARGE * 30
            case _:
                return False

    def feed(self, entry: ev.Entry, columns: int) -> str:
        """Finished lines that an entry brings, none wider than `columns`; "" for none."""
        if columns != self._lines.columns or self._cli.say != self._lines.speech:
            self._use(columns)
        self._awaited.follow(entry)
        event = entry.event
        if isinstance(event, ev.TextDelta | ev.ToolOutput | ev.ReasoningDelta | ev.CallDelta):
            text = self._terminal.feed(entry, columns)
        else:
            self._tree.follow(entry)
            text = self._said(entry) + self._terminal.feed(entry, columns)
        return fitted(text, columns) if text else ""

    def _said(self, entry: ev.Entry) -> str:
        """What a person said, when the model is told it; everything else that this view keeps in mind."""
        event = entry.event
        match event:
            case ev.PromptQueued():
                self._prompts[event.prompt] = (entry.time, event)
            case ev.PromptDropped():
                self._prompts.pop(event.prompt, None)
            case ev.TurnStarted():
                return self._terminal.block(self._begun(event))
            case ev.MessageAdded() if event.message.kind == "steer":
                self._read(event.message.text)
                return self._terminal.block(prompt_block(event.message, self._lines, mark="»"))
            case ev.RequestSent(purpose="main"):
                self._context, self._model = (event.estimate, event.budget), event.model
            case ev.AnswerReceived(purpose="main") if event.usage.input:
                self._context = (event.usage.input + event.usage.output, self._context[1])
            case ev.EpochOpened() if event.after:
                self._context = (event.after, self._context[1])
            case _:
                pass
        return ""

    def _begun(self, event: ev.TurnStarted) -> str:
        queued = self._prompts.pop(event.prompt, None)
        if queued is not None:
            return prompt_block(typed_text(queued[1], self._lines), self._lines)
        message = self._message(event.prompt) if event.prompt else None
        if message is not None:
            return prompt_block(message, self._lines)
        return self._lines.style.dim(f"· {self._cli.say('talk_view.going_on')}")

    def _message(self, prompt: str) -> Message | None:
        """A prompt that was queued before this view began, from the end of the transcript."""
        return next((m for m in reversed(self._session.state.transcript.messages) if m.id == prompt), None)

    def _read(self, text: str) -> None:
        """The model reads words that were sent for it."""
        if text in self._steered:
            self._steered.remove(text)
        elif self._steered:
            self._steered.pop(0)

    # --- what is alive ---

    def living(self, now: float, columns: int, rows: int) -> Sequence[str]:
        """What is alive, painted, no line wider than `columns`, at most a third of `rows`."""
        running = self._awaited.began is not None
        queue = [text for since, text in self._waiting() if running or now - since > _SOON]
        waiting = Waiting(
            todo=self._session.state.todo, unfolded=self.todo_shown, steering=tuple(self._steered), queue=queue
        )
        return self._alive.rows(now, columns, max(1, rows // 3), self._lines, waiting)

    def _waiting(self) -> list[tuple[float, str]]:
        """Since when which prompts wait, as they were typed."""
        rows: list[tuple[float, str]] = []
        for queued in self._session.queue:
            since = self._prompts.get(queued.prompt, (0.0, queued))[0]
            rows.append((since, typed_text(queued, self._lines).text))
        return rows

    def status(self, now: float, columns: int) -> Sequence[str]:
        """The status line."""
        del now
        return [status(self.facts, columns, self._cli.out_style, self._cli.say)]

    @property
    def facts(self) -> Facts:
        """What the status line tells, as it is now."""
        session, lines = self._session, self._session.state.usage.values()
        used, budget = self._context
        costs = [line.cost for line in lines]
        return Facts(
            model=self._model_now,
            mode=session.mode,
            permission=session.permission,
            sandbox="none" if session.permission == "full" else self._sandbox[0],
            online=self._sandbox[1],
            context=used,
            budget=budget,
            read=sum(line.usage.input for line in lines),
            cached=sum(line.usage.cached for line in lines),
            written=sum(line.usage.output for line in lines),
            cost=None if None in costs else sum(cost for cost in costs if cost is not None),
            title=session.title,
            queued=len(session.queue),
            compact=self.compact,
            verbose=self.verbose,
        )

    @property
    def _model_now(self) -> str:
        """The model of the newest request while a turn runs, else the one that the next request goes to."""
        session, chosen = self._session, self._session.state.model.partition(",")[0]
        if session.running:
            return session.model or self._model or chosen or self._usual
        return chosen or session.model or self._model or self._usual

    @cached_property
    def _sandbox(self) -> tuple[str, bool]:
        """What confines commands, and whether they reach the network."""
        return self._app.sandbox.likely, self._app.sandbox.network == "on"

    @property
    def _usual(self) -> str:
        return next(iter(self._app.settings.models.main), "")

    @property
    def moving(self) -> bool:
        """Whether what is alive changes by itself: time is counted."""
        return self._session.running or self._tree.alive or bool(self._session.queue)


def lines_for(cli: Cli, columns: int, *, verbose: bool | None = None) -> Lines:
    """What turns events into lines for a conversation."""
    detailed = cli.verbose if verbose is None else verbose
    return Lines(style=cli.out_style, speech=cli.say, verbose=detailed, columns=columns, tail=_TAIL, talking=True)
