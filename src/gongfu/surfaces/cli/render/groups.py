"""Batches of calls under their labels: a line after each, or in the compact view one line instead of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gongfu.core import events as ev
from gongfu.surfaces.cli.render.label_words import told
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.speech import Speech
from gongfu.surfaces.cli.style import one_line
from gongfu.surfaces.cli.width import clip

Labels = Mapping[tuple[str, ...], ev.BatchLabelled]


def labels_of(entries: Iterable[ev.Entry]) -> Labels:
    """All labels among stored entries, by the calls that they name."""
    return {e.event.calls: e.event for e in entries if isinstance(e.event, ev.BatchLabelled)}


class _Group:
    """One batch: what was called, what has not ended yet, whether something failed, and its label once there is one."""

    def __init__(self, calls: tuple[str, ...], names: tuple[str, ...], label: ev.BatchLabelled | None = None) -> None:
        self.calls = calls
        self.names = names
        self.open = set(calls)
        self.failed = False
        self.label = label

    @property
    def tools(self) -> str:
        """The names of what was called, each once: "shell, read_file ×2"."""
        counts = {name: self.names.count(name) for name in self.names}
        return ", ".join(f"{one_line(n, 60)} ×{c}" if c > 1 else one_line(n, 60) for n, c in counts.items())

    def title(self, speech: Speech) -> str:
        """Its label, or the names of its tools while there is none."""
        if self.label is None:
            return self.tools
        return one_line(told(self.label.text, speech) if self.label.by == "plain" else self.label.text)


class Groups:
    """Follows batches. `known` are the labels of a session that is read again; live ones come when they come.

    In the full view the label stands after its batch, and says whose it is when it comes late. In the compact view
    batches that follow each other without words between them are one line: the first label there is, and `+n`.
    """

    def __init__(self, lines: Lines, *, compact: bool = False, known: Labels | None = None) -> None:
        self.lines = lines
        self.compact = compact
        self._known = known
        self._groups: dict[tuple[str, ...], _Group] = {}
        self._by_call: dict[str, _Group] = {}
        self._run: list[_Group] = []
        self._newest: _Group | None = None
        self._turn: tuple[tuple[str, ...], ...] = ()  # batches of the turn before

    def follow(self, entry: ev.Entry) -> list[str]:
        """Take in an entry; the lines to show below what there is."""
        event = entry.event
        match event:
            case ev.AnswerReceived(purpose="main") if event.message.calls:
                self._begin(event)
            case ev.AnswerReceived(purpose="main"):
                self._newest = None  # a label that comes now is no neighbour of its batch any more
            case ev.ToolFinished():
                return self._ended(event)
            case ev.TurnStarted():
                self._forget()
            case ev.BatchLabelled() if self._known is None:
                return self._named(event)
            case _:
                pass
        return []

    def shown(self, entry: ev.Entry, lines: list[str]) -> list[str]:
        """Take in an entry of which `lines` would be shown; what is shown of it under this view."""
        named = self.follow(entry)
        return named if self.compact else lines + named

    def _forget(self) -> None:
        """A turn begins: of what came before only the newest turn's labels may still come."""
        kept, self._turn = self._turn, ()
        for calls in kept:
            group = self._groups.pop(calls, None)
            for call in group.calls if group else ():
                self._by_call.pop(call, None)
        self._turn = tuple(self._groups)

    def _begin(self, event: ev.AnswerReceived) -> None:
        calls = event.message.calls
        ids = tuple(call.id for call in calls)
        known = self._known.get(ids) if self._known else None
        self._add(_Group(ids, tuple(call.name for call in calls), known))

    def _add(self, group: _Group) -> None:
        self._groups[group.calls] = self._newest = group
        self._by_call.update((call, group) for call in group.calls)
        self._run.append(group)

    def _ended(self, event: ev.ToolFinished) -> list[str]:
        group = self._by_call.get(event.call)
        if group is None:
            return []
        group.open.discard(event.call)
        group.failed = group.failed or event.result.status != "done"
        return self._line(group) if not group.open and group.label else []

    def _named(self, event: ev.BatchLabelled) -> list[str]:
        group = self._groups.get(event.calls)
        if group is None:  # it belongs to a turn that went on from before
            group = _Group(event.calls, (), event)
            group.open.clear()
            self._add(group)
        group.label = event
        return self._line(group)

    def _line(self, group: _Group) -> list[str]:
        label = group.label
        if self.compact or label is None or (label.by == "plain" and len(group.calls) == 1):
            return []  # of one call its own line says the same
        style = self.lines.style
        late = self._known is None and group is not self._newest and group.names
        whose = style.dim(f"  ← {group.tools}") if late else ""
        return [f"{style.cyan('●')} {style.dim(self._clipped(group.title(self.lines.speech)))}{whose}"]

    def _clipped(self, text: str) -> str:
        return clip(text, max(20, self.lines.columns - 3)) if self.lines.columns else text

    @property
    def header(self) -> str:
        """Compact view: the line of the batches that are still being gathered; "" for none."""
        if not self.compact or not self._run:
            return ""
        more = f" +{len(self._run) - 1}" if len(self._run) > 1 else ""
        first = next((group for group in self._run if group.label), self._run[0])
        title = first.title(self.lines.speech)
        return (clip(title, max(20, self.lines.columns - 8)) if self.lines.columns else title) + more

    def close(self) -> list[str]:
        """Compact view: the line of what was gathered, for good, since words or the end follow."""
        header, run, self._run = self.header, self._run, []
        if not header:
            return []
        style = self.lines.style
        failed = any(group.failed for group in run)
        return [f"{style.red('✗') if failed else style.green('●')} {header}"]
