"""The history of a session by the names that its parts have: calls, units, turns and spilled outputs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.core.messages import CallPart, ImagePart, Message, ResultPart
from gongfu.toolkit.transcript import decode_line, decode_output, live_text
from gongfu.tools.output import clean_terminal, rows

_NAME = r"(?i)^\W*(?:(artifact|output|call|unit|message|turn|pair)s?[\s:#=-]*)?([acut]?)(\d{1,9})\W*$"
_KINDS = {"artifact": "a", "output": "a", "call": "c", "unit": "u", "message": "u", "turn": "t", "pair": "t"}
_WORDS = {"a": "output", "c": "call", "u": "unit", "t": "turn"}
FORMS = "ids look like a3 (an output), c12 (a call), u12 (a unit of the history) or turn:3"
_CLEANED = 1 << 20  # bytes of terminal output up to which it is drawn as it was shown at first
_SHORT = 100
_LINE = 300


class Place(Base, frozen=True):
    """A part of the history: what it is, in words, and its rows, opened anew for each reading.

    Rows are bytes, so that those nobody looks at cost little; `decode` makes text of one. `file` is a large output.
    """

    id: str
    about: str
    open: Callable[[], Iterator[bytes]]
    decode: Callable[[bytes], str]
    file: Path | None = None

    def lines(self) -> Iterator[str]:
        """The rows as text."""
        return map(self.decode, self.open())


class Past:
    """One look at the raw history. `outputs` are the spilled ones by id, `labels` short names by call id."""

    def __init__(
        self,
        messages: Sequence[Message],
        outputs: Mapping[str, Path],
        labels: Mapping[str, str],
        turns: Sequence[int] | None = None,
    ) -> None:
        self.messages = tuple(messages)
        self._turns = turns
        self.outputs = outputs
        self.labels = labels

    # --- indexes, made when they are first asked for ---

    @cached_property
    def calls(self) -> dict[str, tuple[int, CallPart]]:
        """Every call with the index of its message."""
        return {call.id: (at, call) for at, m in enumerate(self.messages) for call in m.calls}

    @cached_property
    def results(self) -> dict[str, ResultPart]:
        """Every result by the id of its call."""
        return {result.call_id: result for m in self.messages for result in m.results}

    @cached_property
    def turns(self) -> list[int]:
        """The index of the words that began each turn."""
        if self._turns is not None:
            return list(self._turns)
        return [at for at, m in enumerate(self.messages) if m.role == "user" and not m.kind]

    @cached_property
    def makers(self) -> dict[str, CallPart]:
        """The call that each spilled output is of."""
        found = {r.artifact: self.calls.get(r.call_id) for r in self.results.values() if r.artifact}
        return {name: known[1] for name, known in found.items() if known is not None}

    def turn_of(self, index: int) -> int:
        """The number of the turn that a message belongs to; -1 before the first."""
        return bisect_right(self.turns, index) - 1

    # --- by name ---

    def find(self, id: str) -> Place:
        """The place that `id` names. ToolFailure, with ids that there are, when there is none."""
        match = re.match(_NAME, id.strip())
        kind = (match[2].lower() or _KINDS.get((match[1] or "").lower(), "")) if match else ""
        if match is None or not kind:
            raise ToolFailure(f"{id[:80]!r} is no id of the history: {FORMS}. To search by words give query instead")
        number = int(match[3])
        match kind:
            case "a":
                return self._output(f"a{number}")
            case "c":
                return self._call(f"c{number}")
            case "u":
                return self._unit(number)
            case _:
                return self._turn(number)

    def _output(self, id: str) -> Place:
        path = self.outputs.get(id)
        if path is None:
            raise _unknown("a", id, list(self.outputs))
        maker = self.makers.get(id)
        about = f"output {id}{f' of {self.brief(maker.id)}' if maker else ''}"
        large = path if _size(path) > _CLEANED else None
        return Place(id=id, about=about, open=lambda: _rows_of(path, maker), decode=_decoder(path, maker), file=large)

    def _call(self, id: str) -> Place:
        if id not in self.calls:
            raise _unknown("c", id, list(self.calls))
        _, call = self.calls[id]
        result = self.results.get(id)

        path = self.outputs.get(result.artifact) if result is not None else None

        def lines() -> Iterator[bytes]:
            yield from _text(f"arguments: {arguments(call)}")
            yield from _text(f"result ({result.status}):" if result else "no result yet")
            if result is not None:
                yield from _text(result.text) if path is None else _rows_of(path, call)
                yield from _pictures(result.images)

        return Place(id=id, about=self.brief(id), open=lines, decode=_utf8 if path is None else _decoder(path, call))

    def _unit(self, number: int) -> Place:
        if number >= len(self.messages):
            raise _unknown("u", f"u{number}", [f"u{at}" for at in range(len(self.messages))])
        start = number - (self.messages[number].role == "tool" and number > 0)
        message = self.messages[start]

        def lines() -> Iterator[bytes]:
            if message.text:
                yield from _text(message.text)
            yield from _pictures(_images(message))
            for call in message.calls:
                result = self.results.get(call.id)
                yield from _text(f"--- {call.id} {call.name}\narguments: {arguments(call)}")
                yield from _text(f"result ({result.status}):" if result else "no result yet")
                if result is not None:
                    yield from _text(result.text)
                    yield from _pictures(result.images)

        about = f"unit u{start}, {self.sender(start)}{self._when(start)}"
        return Place(id=f"u{start}", about=about, open=lines, decode=_utf8)

    def _turn(self, number: int) -> Place:
        if number >= len(self.turns):
            raise _unknown("turn:", f"turn:{number}", [f"turn:{n}" for n in range(len(self.turns))])
        start = self.turns[number]
        end = self.turns[number + 1] if number + 1 < len(self.turns) else len(self.messages)
        turn = self.messages[start:end]

        def lines() -> Iterator[bytes]:
            final = next((m for m in reversed(turn) if m.role == "assistant" and not m.calls), None)
            for message in turn:
                if message.role == "user" and message.kind != "note":
                    yield from _text(f"user{' (while it ran)' if message.kind else ''}: {message.text}")
                    yield from _pictures(_images(message))
                for call in message.calls:
                    result = self.results.get(call.id)
                    label = f" ({self.labels[call.id]})" if call.id in self.labels else ""
                    yield from _text(f"{call.id} {short(call)}: {result.status if result else 'no result yet'}{label}")
            yield from _text(f"answer: {final.text}" if final else "no final answer")

        about = f"turn {number} in short (a call's whole text: its id)"
        return Place(id=f"turn:{number}", about=about, open=lines, decode=_utf8)

    # --- words on it ---

    def brief(self, id: str) -> str:
        """One line on a call: its id, tool and first argument, and the turn."""
        at, call = self.calls[id]
        return f"call {id} {short(call)}{self._when(at)}"

    def sender(self, index: int) -> str:
        """Whose words a message holds."""
        message = self.messages[index]
        if message.agent:
            return f"of the agent {message.agent}"
        if message.role == "assistant":
            return "your words and calls" if message.calls else "your words"
        return "a note" if message.kind == "note" else "the user's words"

    def _when(self, index: int) -> str:
        turn = self.turn_of(index)
        return f" in turn {turn}" if turn >= 0 else ""


def arguments(call: CallPart) -> str:
    """The arguments of a call: in one line when they are short, else a line or a block for each."""
    try:
        values: dict[str, Any] = msgspec.json.decode(call.arguments, type=dict[str, Any])
    except msgspec.DecodeError:
        return call.raw or call.arguments
    if call.problem and call.raw:
        return call.raw
    if len(call.arguments) <= _LINE:
        return msgspec.json.encode(values).decode()
    return "".join(f"\n{name}:{_block(value)}" for name, value in values.items())


def _block(value: Any) -> str:
    if not isinstance(value, str):
        return f" {msgspec.json.encode(value).decode()}"
    return f"\n{value}" if "\n" in value else f" {value}"


def short(call: CallPart) -> str:
    """A call in a few words: the tool and what stands first in its arguments."""
    try:
        values: dict[str, Any] = msgspec.json.decode(call.arguments, type=dict[str, Any])
    except msgspec.DecodeError:
        values = {}
    first = next((v for v in values.values() if isinstance(v, str) and v.strip()), "")
    line = " ".join(first.split())
    line = f"{line[: _SHORT - 1]}…" if len(line) > _SHORT else line
    return f"{call.name} {line}".rstrip()


def _pictures(images: Iterable[ImagePart]) -> Iterator[bytes]:
    """A line for each image, which a text cannot bring back."""
    for image in images:
        size = f" {image.width}x{image.height}" if image.width else ""
        yield from _text(f"[an image was here: {image.media_type or image.url or 'unknown kind'}{size}]")


def _images(message: Message) -> list[ImagePart]:
    return [part for part in message.parts if isinstance(part, ImagePart)]


def _text(text: str) -> Iterator[bytes]:
    return rows(BytesIO(text.encode("utf-8", "surrogatepass")))


def _utf8(row: bytes) -> str:
    return row.decode("utf-8", "replace")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # opening it will tell


def _drawn(maker: CallPart | None) -> bool:
    return maker is None or maker.name in ("shell", "shell_job")


def _rows_of(path: Path, maker: CallPart | None) -> Iterator[bytes]:
    """The output as it was shown: that of a command as a terminal draws it, while it is no larger than that."""
    try:
        with path.open("rb") as file:
            if _drawn(maker) and _size(path) <= _CLEANED:
                yield from _text(clean_terminal(decode_output(file.read())))
            else:
                yield from rows(file)
    except OSError as error:
        raise ToolFailure(f"the output could not be read: {error.strerror or error}") from error


def _decoder(path: Path, maker: CallPart | None) -> Callable[[bytes], str]:
    if _drawn(maker) and _size(path) > _CLEANED:
        return lambda row: live_text(decode_line(row))
    return decode_line


def _unknown(kind: str, id: str, known: Sequence[str]) -> ToolFailure:
    name = _WORDS.get(kind, "turn")
    if not known:
        return ToolFailure(f"there is no {name} {id}: this session has none yet")
    wanted = int(id.removeprefix(kind))
    numbers = sorted(known, key=lambda other: abs(int(other.removeprefix(kind)) - wanted))[:3]
    near = ", ".join(sorted(numbers, key=lambda other: int(other.removeprefix(kind))))
    return ToolFailure(f"there is no {name} {id}; the nearest: {near}. A query finds text by words")
