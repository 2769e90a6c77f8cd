"""The place where a person types: many lines, history, pasted pieces and pictures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from anyio import to_thread
from prompt_toolkit.application import get_app
from prompt_toolkit.application.run_in_terminal import run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.layout import BufferControl, Dimension, FormattedTextControl, HSplit, Window
from prompt_toolkit.layout.containers import AnyContainer, ConditionalContainer
from prompt_toolkit.layout.processors import AfterInput, ConditionalProcessor, TabsProcessor

from gongfu.core.errors import UserError
from gongfu.core.words import Language
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.output import encodable
from gongfu.surfaces.cli.talk.edit_keys import bind
from gongfu.surfaces.cli.talk.face import How, Typed
from gongfu.surfaces.cli.talk.full_width import halve
from gongfu.surfaces.cli.talk.outer_editor import Outside, edit_outside
from gongfu.surfaces.cli.talk.past_lines import PIECE, PastLine, PastLines, Walk
from gongfu.surfaces.cli.talk.past_search import Search
from gongfu.surfaces.cli.talk.pasting import Piece, Pieces, cleaned, image_paths, is_long, read_piece, without_marks
from gongfu.surfaces.cli.talk.typed_looks import DIM, SHELL, Looks
from gongfu.surfaces.cli.talk.typed_rows import Rows
from gongfu.surfaces.cli.width import clip, wrap

T = TypeVar("T")

_TOLD = 4  # rows of what is told
_ROWS = 12  # at most so many rows are typed in, and at most half the screen


class Editor:
    """Takes what is typed and hands it to `submit`.

    `completer` offers what may follow, `menu` shows it. `running` says whether a turn is under way: then Tab queues.
    `past` is what was typed before. `face` gives the terminal away to an editor of the person.
    """

    def __init__(
        self,
        cli: Cli,
        submit: Callable[[Typed], None],
        completer: Completer | None = None,
        menu: AnyContainer | None = None,
        running: Callable[[], bool] = lambda: False,
        *,
        past: PastLines | None = None,
        face: Callable[[], Outside] | None = None,
    ) -> None:
        self._cli = cli
        self._submit = submit
        self._face = face or _Terminal
        self.running = running
        self.past = past or PastLines(None)
        self._walk = Walk(self.past)
        self._recalled = ""
        self.pieces = Pieces()
        self._looks = Looks(self.pieces)
        self._waits: How | None = None  # what is sent as soon as its images are read
        self._told = ""
        self.keys = KeyBindings()
        self.buffer = Buffer(
            multiline=True,
            completer=completer,
            complete_while_typing=completer is not None,
            on_text_changed=lambda _: self._changed(),
            on_text_insert=halve,
            accept_handler=lambda _: self.send("steer") or True,
        )
        self.rows = Rows(self.buffer, self._looks.drawn, _columns)
        self.menu_open = Condition(lambda: self.buffer.complete_state is not None and self._offers > 0)
        self.window = Window(
            BufferControl(self.buffer, key_bindings=self.keys, input_processors=self._processors()),
            height=lambda: Dimension(min=1, max=_rows()),
            dont_extend_height=True,
            wrap_lines=True,
            get_line_prefix=self._prefix,
        )
        self.search = Search(cli, self.past, show=self._recall, restore=self._restore, leave=self._focus)
        hint = Window(FormattedTextControl(self._hint), height=lambda: len(self._hint_rows()), dont_extend_height=True)
        self.container: AnyContainer = HSplit([
            self.window,
            self.search.container,
            *(() if menu is None else (menu,)),
            ConditionalContainer(hint, Condition(lambda: bool(self._hint_words()))),
        ])  # fmt: skip
        bind(self)

    # --- how it looks ---

    def _processors(self) -> list[Any]:
        empty = Condition(lambda: not self.buffer.text)
        placeholder = AfterInput(lambda: [(DIM, clip(self._placeholder(), _columns() - 3))])
        tabs = TabsProcessor(tabstop=4, char1=" ", char2=" ", style="")
        return [self._looks, tabs, ConditionalProcessor(placeholder, empty)]

    def _placeholder(self) -> str:
        return self._cli.say("talk_edit.while_running" if self.running() else "talk.placeholder")

    def _prefix(self, line: int, wrapped: int) -> StyleAndTextTuples:
        if line or wrapped:
            return [("", "  ")]
        if self.buffer.text.startswith("!"):
            return [(SHELL, "! ")]
        return [("class:prompt", encodable("›", self._cli.out.encoding) + " ")]

    def _hint(self) -> StyleAndTextTuples:
        return [(DIM, "\n".join(f"  {row}" for row in self._hint_rows()))]

    def _hint_rows(self) -> list[str]:
        words, room = self._hint_words(), _columns() - 3
        return wrap(words, room)[:_TOLD] if words == self._told else [clip(words, room)]

    def _hint_words(self) -> str:
        if self.search.active():
            return self.search.state
        if self._told:
            return self._told
        if self.buffer.text == "!":
            return self._cli.say("talk_edit.shell")
        if self.buffer.text and self.running() and not self.menu_open():
            return self._cli.say("talk_edit.while_running")
        return ""

    def tell(self, text: str) -> None:
        """Say something in one line below the input, until more is typed."""
        self._told = text
        get_app().invalidate()

    def complain(self, error: UserError) -> None:
        """Tell what went wrong."""
        self.tell(self._cli.say.told(error.key, error.values))

    @property
    def language(self) -> Language:
        """The language of labels."""
        return self._cli.say.language

    # --- what is typed ---

    @property
    def text(self) -> str:
        """What is typed so far, as it looks."""
        return self.pieces.shown(self.buffer.text)

    def put(self, text: str) -> None:
        """Replace what is typed; the cursor is behind it. Labels of pieces become the pieces again."""
        self.replace(self.pieces.taken_back(cleaned(without_marks(text))))

    def take_back(self, text: str) -> None:
        """Lay `text` in front of what is typed."""
        now = self.buffer.text
        back = self.pieces.taken_back(cleaned(without_marks(text)))
        self.replace(f"{back}\n{now}" if now.strip() else back)

    def replace(self, text: str, cursor: int | None = None) -> None:
        """Another text with pieces in it; what was there can be brought back with undo."""
        self.buffer.save_to_undo_stack()
        self.buffer.document = Document(text, len(text) if cursor is None else cursor)

    def clear(self) -> None:
        """Nothing is typed any more; undo brings it back."""
        self._walk.end()
        if self.buffer.text:
            self.replace("")
            self.tell(self._cli.say("talk_edit.cleared"))

    def send(self, how: How) -> None:
        """Hand over what is typed; once its images are read, if they are not yet."""
        text = self.buffer.text
        if not text.strip():
            return
        used = list(self.pieces.used(text))
        if any(piece.is_image and piece.image is None for piece in used):
            self._waits = how
            self.tell(self._cli.say("talk_edit.reading_image"))
            return
        images = tuple(piece.image for piece in used if piece.image is not None)
        typed = Typed(
            text=self.pieces.expanded(cleaned(text)),
            images=images,
            shown=self.pieces.shown(text),
            how=how,
        )
        self._remember(text)
        self._waits = None
        self._walk.end()
        self.buffer.reset()
        self.pieces.forget(text)
        self._submit(typed)

    def _changed(self) -> None:
        self._told = ""
        self._waits = None

    def _remember(self, text: str) -> None:
        pasted: list[str] = []
        kept: list[str] = []
        for char in text.replace(PIECE, ""):
            piece = self.pieces.get(char)
            if piece is None:
                kept.append(char)
            elif not piece.is_image:
                kept.append(PIECE)
                pasted.append(piece.text)
        self.past.add("".join(kept).strip(), pasted)

    # --- completion ---

    @property
    def _offers(self) -> int:
        state = self.buffer.complete_state
        return sum(bool(one.text) for one in state.completions) if state is not None else 0

    def mark(self, by: int) -> None:
        """Move the mark in the menu."""
        state = self.buffer.complete_state
        if state is not None and state.completions:
            now = state.complete_index
            last = len(state.completions)
            state.go_to_index((now + by) % last if now is not None else (1 % last if by > 0 else last - 1))

    def accept(self, *, send: bool) -> None:
        """Take what is marked in the menu, the first if nothing is. With `send` a command that is whole now is sent."""
        state = self.buffer.complete_state
        if state is None or not state.completions:
            return
        chosen = state.current_completion or state.completions[0]
        before, start = self.buffer.text, self.buffer.cursor_position + chosen.start_position
        state.go_to_index(None)
        self.buffer.apply_completion(chosen)
        same = self.buffer.text.rstrip() == before.rstrip()
        whole = before.startswith("/") and start <= 1 and not chosen.text.endswith((" ", "/"))
        if send and (same or (whole and self.buffer.document.is_cursor_at_the_end)):
            self.buffer.complete_state = None
            self.send("steer")

    # --- what was typed before ---

    @property
    def walking(self) -> bool:
        """Whether a past line is shown as it was brought, with the cursor behind it: Up and Down go on from it."""
        text = self.buffer.text
        return self._walk.away and text == self._recalled and self.buffer.cursor_position == len(text)

    def older(self) -> None:
        """Show what was typed before this."""
        if not self.past.loaded:
            self.later(self._load(self.older))
            return
        if self._walk.away and self.buffer.text != self._recalled:
            self._walk.end()  # it was changed: a draft of its own
        line = self._walk.older(self.buffer.text)
        if line is not None:
            self._recall(line)

    def newer(self) -> None:
        """Show what was typed after this, in the end the draft."""
        if not self._walk.away:
            return
        if self.buffer.text != self._recalled:
            self._walk.end()
            return
        line = self._walk.newer()
        if line is not None:
            self._recall(line)
        else:
            self.replace(self._walk.draft)
            self._walk.end()

    def find(self) -> None:
        """Look for words in what was typed before."""
        self._walk.end()
        self.search.begin(self.buffer.document)
        if not self.past.loaded:
            self.later(self._load(self.search.refresh))

    async def _load(self, then: Callable[[], None]) -> None:
        await to_thread.run_sync(self.past.load)
        then()
        get_app().invalidate()

    def _recall(self, line: PastLine) -> None:
        first, *rest = line.text.split(PIECE)
        pieces = (self.pieces.add_text(text, self.language) for text in line.pasted)
        self._recalled = first + "".join(piece + part for piece, part in zip(pieces, rest, strict=False))
        self.replace(self._recalled)

    def _restore(self, draft: Document) -> None:
        if self.buffer.document != draft:
            self.replace(draft.text, draft.cursor_position)

    def _focus(self) -> None:
        get_app().layout.focus(self.window)

    # --- pasting ---

    def paste(self, data: str) -> None:
        """Take in what was pasted: images by their paths, long texts as pieces; nothing is sent."""
        text = cleaned(data)
        paths = image_paths(text)
        if paths:
            for path in paths:
                self._insert_image(self.pieces.add_image(path, self.language))
        elif is_long(text):
            self.buffer.insert_text(self.pieces.add_text(text, self.language))
        else:
            self.buffer.insert_text(text)

    def _insert_image(self, piece: Piece) -> None:
        self.buffer.insert_text(piece.char + " ")
        self.later(self._read(piece))

    async def _read(self, piece: Piece) -> None:
        try:
            await to_thread.run_sync(read_piece, piece)
        except UserError as error:
            self._swap(piece, piece.path)
            self.complain(error)
            return
        if piece.image is None:
            self._swap(piece, piece.path)  # there is no such file: just words
            return
        how, self._waits = self._waits, None
        if how is not None:
            self._told = ""
            self.send(how)
        get_app().invalidate()

    def _swap(self, piece: Piece, text: str) -> None:
        document = self.buffer.document
        before = document.text_before_cursor.replace(piece.char, text)
        self.replace(before + document.text_after_cursor.replace(piece.char, text), len(before))

    async def paste_clipboard(self) -> None:
        """Take the image in the clipboard, or else the text in it."""
        from gongfu.surfaces.cli.talk.clip_piece import from_clipboard  # only for this key

        self.tell(self._cli.say("talk_edit.reading_clipboard"))
        try:
            image, text = await to_thread.run_sync(from_clipboard)
        except UserError as error:
            self.complain(error)
            return
        self._told = ""
        if image is not None:
            piece = self.pieces.add_image("", self.language)
            piece.image = image
            self.buffer.insert_text(piece.char + " ")
        elif text:
            self.paste(text)
        else:
            self.tell(self._cli.say("talk_edit.clipboard_empty"))
        get_app().invalidate()

    # --- the editor of the person ---

    async def edit(self) -> None:
        """Edit what is typed in the editor of the person; what comes back takes its place."""
        before = self.buffer.text
        try:
            text = await edit_outside(self._face(), self.pieces.expanded(before), self._cli.env)
        except UserError as error:
            self.complain(error)
            return
        if text is not None:
            self.replace(self.pieces.taken_back(cleaned(without_marks(text)), whole=True))
        get_app().invalidate()

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside the keys."""
        get_app().create_background_task(work)


class _Terminal:
    """Gives the terminal of the application away."""

    def outside(self, work: Callable[[], T]) -> Awaitable[T]:
        return run_in_terminal(work, in_executor=True)


def _rows() -> int:
    return max(1, min(_ROWS, get_app().output.get_size().rows // 2))


def _columns() -> int:
    return get_app().output.get_size().columns
