"""A stored session, as it is read again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from gongfu.core import events as ev
from gongfu.core.messages import ImagePart, Message, ReasoningPart
from gongfu.surfaces.cli.render.agents import Agents
from gongfu.surfaces.cli.render.asked import Asked
from gongfu.surfaces.cli.render.calls import Calls
from gongfu.surfaces.cli.render.groups import Groups, labels_of
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.render.prompts import prompt_block, typed_text
from gongfu.surfaces.cli.render.spent import Spent
from gongfu.surfaces.cli.style import clean


class History:
    """Turns stored entries into blocks of text. `markdown` draws what the model said (or leaves it as it is).

    `compact` makes one line of a batch of calls. With `talking` the end of a turn tells less, and prompts are bounded.
    """

    def __init__(
        self, lines: Lines, markdown: Callable[[str], str], *, compact: bool = False, talking: bool = False
    ) -> None:
        self._lines = lines
        self._markdown = markdown
        self._talking = talking
        self._queued: dict[str, Message] = {}
        self._calls = Calls(lines)
        self._compact = compact
        self._groups = Groups(lines, compact=compact)
        self._spent = Spent()
        self._agents = Agents(lines)
        self._asked = Asked(lines, live=False)
        self._children: dict[str, ev.AgentStarted] = {}

    def blocks(self, entries: Sequence[ev.Entry]) -> Iterator[str]:
        """The blocks of all entries: words with an empty line around them, notes line by line."""
        self._groups = Groups(self._lines, compact=self._compact, known=labels_of(entries))
        before = ""
        for kind, text in self._pieces(entries):
            if not text:
                continue
            gap = "\n" if before and (kind, before) != ("line", "line") else ""
            before = kind
            yield f"{gap}{text}\n"

    def _pieces(self, entries: Iterable[ev.Entry]) -> Iterator[tuple[str, str]]:
        for entry in entries:
            kind, text = self._block(entry)
            if kind == "text" and text:
                yield "line", "\n".join(self._groups.close())
            yield kind, text
            if isinstance(entry.event, ev.AnswerReceived):
                self._groups.follow(entry)
        yield "line", "\n".join(self._groups.close())

    def _block(self, entry: ev.Entry) -> tuple[str, str]:
        lines, event = self._lines, entry.event
        match event:
            case ev.PromptQueued():
                self._queued[event.prompt] = typed_text(event, self._lines)
                return "", ""
            case ev.TurnStarted():
                message = self._queued.pop(event.prompt, None)
                return "text", self._said(message) if message else lines.style.dim(lines.speech("turn_resumed"))
            case ev.MessageAdded():
                return "text", self._said(event.message)
            case ev.AnswerReceived() if event.purpose == "main":
                self._calls.follow(entry)
                return "text", self._answer(event.message)
            case ev.TurnFinished():
                beside = self._spent.take()
                return "text", "\n".join(lines.closing(event, "", {} if self._brief else beside).all)
            case _:
                return "line", self._line(entry)

    @property
    def _brief(self) -> bool:
        return self._talking and not self._lines.verbose

    def _said(self, message: Message) -> str:
        if message.kind == "note" and not self._lines.verbose:
            return ""
        if self._talking and message.kind != "note":
            return prompt_block(message, self._lines, mark="»" if message.kind == "steer" else "›")
        style = self._lines.style
        mark = {"note": "·", "steer": "»"}.get(message.kind, "›")
        images = sum(isinstance(part, ImagePart) for part in message.parts)
        text = clean(message.text).strip() + (f"\n[{self._lines.speech('images', count=images)}]" if images else "")
        paint = style.dim if message.kind == "note" else style.bold
        return "\n".join(paint(f"{mark if not at else ' '} {line}") for at, line in enumerate(text.split("\n")))

    def _answer(self, message: Message) -> str:
        blocks: list[str] = []
        if self._lines.verbose:
            thinking = "\n".join(p.text for p in message.parts if isinstance(p, ReasoningPart) and p.text)
            if thinking:
                blocks.append("\n".join(self._lines.style.dim(f"│ {line}") for line in clean(thinking).split("\n")))
        if message.text.strip():
            blocks.append(self._markdown(message.text.strip()))
        return "\n\n".join(blocks)

    def _line(self, entry: ev.Entry) -> str:
        ended, event = self._calls.follow(entry), entry.event
        match event:
            case ev.ToolFinished():
                return "\n".join(self._groups.shown(entry, self._with_session(event, ended)))
            case ev.AnswerReceived():
                self._spent.follow(event)
                return ""
            case ev.QuestionAsked() | ev.QuestionAnswered():
                return self._asked.follow(event)
            case ev.AgentStarted():
                self._children[event.call] = event
                return ""
            case ev.AgentFinished():
                return self._agent_ended(event)
            case _:
                return self._lines.note(event)

    def _with_session(self, event: ev.ToolFinished, lines: list[str]) -> list[str]:
        """The line of a call that started a sub-agent names the session of that one."""
        child = self._children.get(event.call)
        if child is None or not lines or self._brief:
            return lines
        return [f"{lines[0]}{self._lines.style.dim(f'  {child.session}')}", *lines[1:]]

    def _agent_ended(self, event: ev.AgentFinished) -> str:
        """Of one that was waited for, the line of its call tells all, unless the view has none."""
        child = self._children.get(event.call)
        ended = self._agents.ended(event)
        if child is None or self._compact:
            return f"{ended}{self._lines.style.dim(f'  {event.session}')}"
        return ended if child.background else ""
