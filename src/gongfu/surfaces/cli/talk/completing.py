"""What may follow what was typed: commands and their arguments, files and folders, resources of servers."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from anyio import to_thread
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from gongfu.plugins.mentions import Mention, unfinished, written
from gongfu.surfaces.cli.talk.offers import Offer, Offers, best

if TYPE_CHECKING:
    from gongfu.surfaces.cli.talk.files import Files, Found
    from gongfu.surfaces.cli.talk.talk import Talk

Kind: TypeAlias = Literal["command", "argument", "hint", "path"]

MOST: Final = 100  # rows of a menu
_WAIT: Final = 0.3  # seconds that the first look at the files may take before what there is so far is offered
_NAME: Final = re.compile(r"/([^\s/]*)\Z")
_ARGUMENTS: Final = re.compile(r"/([^\s/]+) +([^\n]*)\Z")
_WORD: Final = re.compile(r"(?:\\.|[^\s'\"|;&<>()=\\]|'[^']*'|\"(?:\\.|[^\"\\])*\")*(?:['\"][^'\"]*)?\Z")


class Row(Completion):
    """One line of the menu: what is put in, how it is shown, and more about it. A hint puts nothing in."""

    def __init__(self, text: str, start: int, label: str, about: str = "", *, kind: Kind) -> None:
        super().__init__(text, start, display=[("", label)], display_meta=[("", about)] if about else None)
        self.label = label
        self.about = about
        self.kind: Kind = kind


class Completions(Completer):
    """Offers what may follow, best first: nothing but for a slash at the start, and for words behind an `@`; for the
    words of a `!` line when it is asked.
    """

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.note = ""
        """What is to be said below what was offered last; "" for nothing."""
        self.news: Callable[[], None] = lambda: None
        """Called in any thread when more can be offered than was."""
        self._offers = Offers(talk, self._tell)
        self._files: Files | None = None

    def _tell(self) -> None:
        self.news()  # whoever listens now

    def wanted(self, document: Document, *, asked: bool = False) -> bool:
        """Whether anything may be offered here; looks at the text only."""
        before = document.text_before_cursor
        if before.startswith("!"):
            return asked
        return before.startswith("/") or unfinished(before) is not None

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Nothing: see `get_completions_async`."""
        del document, complete_event
        return ()

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """The rows for what stands before the cursor."""
        for row in await self.rows(document, asked=complete_event.completion_requested):
            yield row

    async def rows(self, document: Document, *, asked: bool = False) -> list[Row]:
        """The rows for what stands before the cursor. A single one that would change nothing is left out."""
        now = self.rows_now(document)
        if now is not None:
            return now
        self.note = ""
        before = document.text_before_cursor
        return _but_same(await self._rows(before, document.text_after_cursor, asked), before)

    def rows_now(self, document: Document) -> list[Row] | None:
        """The same where it takes no time; None where it may."""
        before = document.text_before_cursor
        found = _NAME.match(before)
        if found is None:
            return None if self.wanted(document, asked=True) else []
        self.note = ""
        return _but_same(self._commands(found[1]), before)

    async def _rows(self, before: str, after: str, asked: bool) -> list[Row]:
        if before.startswith("!"):
            return await self._shell(before[1:]) if asked else []
        mention = unfinished(before)
        if mention is not None:
            return await self._mentioned(mention, "" if after[:1].isspace() else " ")
        if (found := _ARGUMENTS.match(before)) is not None:
            return await self._arguments(found[1], found[2])
        return []

    # --- commands ---

    def _commands(self, typed: str) -> list[Row]:
        offers = best(self._offers.commands(), typed, MOST)
        start = -len(typed) - 1
        return [Row(f"/{o.value}{' ' * o.needs}", start, f"/{o.label}", o.about, kind="command") for o in offers]

    async def _arguments(self, name: str, args: str) -> list[Row]:
        offers = await self._offers.arguments(name, args)
        if offers is None:
            return []
        if isinstance(offers, Offer):  # what is expected, not what there is
            return [Row("", 0, offers.label, offers.about, kind="hint")]
        chosen = best(offers, args, MOST, labels=True)
        return [Row(offer.value, -len(args), offer.label, offer.about, kind="argument") for offer in chosen]

    # --- files ---

    @property
    def files(self) -> Files | None:
        """The index of the workspace's files; None until there is a workspace."""
        if self._files is None and self.talk.ready.is_set():
            from gongfu.surfaces.cli.talk.files import Files

            self._files = Files(self.talk.app.workspace, news=self._tell)
        return self._files

    async def _mentioned(self, mention: Mention, space: str) -> list[Row]:
        files = self.files
        if files is None:
            return []
        start = mention.start - mention.end
        resources = [
            Row(f"@{o.value}{'' if o.value.endswith(':') else space}", start, f"@{o.label}", o.about, kind="path")
            for o in self._offers.resources(mention.path)
        ]
        if ":" in mention.path and resources:
            return resources[:MOST]
        found, paths = await to_thread.run_sync(self._look, files, mention.path, abandon_on_cancel=True)
        self._remark(found)
        rows = [row for path in paths if (row := _path_row(path, start, space)) is not None]
        return [*rows, *resources][:MOST] if len(rows) < MOST else [*rows[: MOST - len(resources)], *resources]

    def _look(self, files: Files, typed: str) -> tuple[Found, list[str]]:
        from gongfu.surfaces.cli.talk.files import beside, leads_out

        found = files.now(_WAIT)
        if leads_out(self.talk.app.workspace, typed):
            return found, beside(self.talk.app.workspace, typed, MOST)
        return found, files.find(typed, MOST)

    def _remark(self, found: Found) -> None:
        if found.more:
            self.note = self.talk.cli.say("talk_menu.more_files", count=f"{found.count:,}")
        elif not found.whole:
            self.note = self.talk.cli.say("talk_menu.looking")

    # --- commands by hand ---

    async def _shell(self, line: str) -> list[Row]:
        match = _WORD.search(line)
        typed = match[0] if match else ""
        if not self.talk.ready.is_set() or (not line[: len(line) - len(typed)].strip() and "/" not in typed):
            return []
        from gongfu.surfaces.cli.talk.files import beside

        quote = typed[:1] if typed[:1] in ("'", '"') else ""
        plain = typed[1:] if quote else re.sub(r"\\(.)", r"\1", typed)
        paths = await to_thread.run_sync(beside, self.talk.app.workspace, plain, MOST, abandon_on_cancel=True)
        return [Row(_shell_word(path, quote), -len(typed), path, kind="path") for path in paths]


def _path_row(path: str, start: int, space: str) -> Row | None:
    folder = path.endswith("/")
    text = written(path, closed=not folder)
    return Row(text if folder else text + space, start, path, kind="path") if text else None


def _but_same(rows: list[Row], before: str) -> list[Row]:
    """No rows where there is but one that would change nothing."""
    if len(rows) == 1 and rows[0].kind != "hint":
        typed = before[len(before) + rows[0].start_position :]
        return [] if typed.rstrip() == rows[0].text.rstrip() else rows
    return rows


def _shell_word(path: str, quote: str) -> str:
    if quote:
        return f"{quote}{path}{'' if path.endswith('/') else quote}"
    head = "~/" if path.startswith("~/") else ""
    return head + re.sub(r"([^\w./\-+:,@%])", r"\\\1", path[len(head) :])
