"""The output of a command as text: decoded whatever its encoding, bounded, whole in an artifact when it is long."""

from __future__ import annotations

import codecs
import re
import time
from collections.abc import Callable

from gongfu.core.base import Base
from gongfu.core.errors import UserError
from gongfu.tools.output import bound, clean_terminal
from gongfu.workspace.jobs import Sink

HELD = 512 * 1024  # bytes of a long output that are held at most
HEAD = 128 * 1024
# Patterns are texts: `re` compiles and keeps them when they are first needed, not at import.
_OVERWRITTEN = rb"(?:^|(?<=[\r\n]))[^\r\n]*+\r(?=[^\r\n])"
_CONTROL = rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]"
_HIGH_PAIR = rb"[\x81-\xfe][\x40-\x7e\x80-\xfe]"
_CHINESE_PAIR = rb"[\xa1-\xf7][\xa1-\xfe]"
_ESCAPE = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])?"
_OPEN_ESCAPE = rb"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*|[ -/]*)\Z"
_UNSEEN = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
_REDRAWN = r"(?:^|(?<=[\r\n]))(?:[^\r\n]*+\r)++(?=[^\r\n])"


# --- decoding -------------------------------------------------------------------------------------------------------


def decode_output(data: bytes) -> str:
    """Bytes of a program as text. UTF-8, UTF-16 and, line by line, GBK or Latin-1; binary lines become a note."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = ""
    if text and "\0" not in text:
        return text
    wide = _utf16(data)
    if wide is not None:
        return wide
    return _by_line(data)


def _utf16(data: bytes) -> str | None:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    sample = data[:4096]
    zeros = sample[1::2].count(0)
    plain = len(sample) >= 8 and zeros * 2 > len(sample[1::2]) and sample[::2].count(0) * 10 < zeros
    if not plain or re.search(_CONTROL, sample[::2]):
        return None
    return data.decode("utf-16-le", "replace")


def _by_line(data: bytes) -> str:
    parts: list[str] = []
    binary = 0
    for line in data.splitlines(keepends=True):
        if _is_binary(line):
            binary += len(line)
            continue
        if binary:
            parts.append(_note(binary))
            binary = 0
        parts.append(decode_line(line))
    if binary:
        parts.append(_note(binary))
    return "".join(parts)


def _note(size: int) -> str:
    return f"[{size:,} bytes that are no text]\n"


def _is_binary(line: bytes) -> bool:
    strange = len(re.findall(_CONTROL, line))
    return b"\0" in line or strange * 10 > len(line)


def decode_line(line: bytes) -> str:
    """One line: UTF-8, else GBK when its pairs look like Chinese, else Latin-1 as Windows knows it."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        pass
    pairs = len(re.findall(_HIGH_PAIR, line))
    if pairs and len(re.findall(_CHINESE_PAIR, line)) * 10 >= pairs * 7:
        try:
            return line.decode("gb18030")
        except UnicodeDecodeError:
            pass
    repaired = line.decode(errors="replace")
    if repaired.count("\ufffd") * 2 <= len(re.findall(rb"[\x80-\xff]", line)) // 2:
        return repaired  # UTF-8 cut or damaged in a few places
    return line.decode("cp1252", "replace")


# --- for the model --------------------------------------------------------------------------------------------------


class Shown(Base, frozen=True):
    """Output as the model sees it; `artifact` and `path` name the place of the whole when this is not all."""

    text: str
    lines: int = 0
    artifact: str = ""
    path: str = ""
    problem: str = ""


class Transcript:
    """Takes in the output of one command in bounded memory. `artifact` is opened once it does not fit any more."""

    def __init__(self, artifact: Callable[[], Sink]) -> None:
        self._artifact = artifact
        self._sink: Sink | None = None
        self._problem = ""
        self._head = b""
        self._held = bytearray()
        self._whole = True
        self._lines = 0
        self.total = 0

    def add(self, data: bytes) -> None:
        """More output."""
        self.total += len(data)
        self._lines += data.count(b"\n")
        if self._sink is not None:
            self._write(data)
        self._held += data
        if len(self._held) > HELD:
            self._shrink()

    def _shrink(self) -> None:
        self._keep_whole()
        if b"\r" in self._held:  # a progress bar: only its last state is worth keeping
            self._held = bytearray(re.sub(_OVERWRITTEN, b"", bytes(self._held)))
        if len(self._held) <= HELD // 2:
            return
        if not self._head:
            self._head = bytes(self._held[:HEAD])
            del self._held[:HEAD]
        if len(self._held) > HELD // 2:
            self._whole = False
            del self._held[: -(HELD // 2)]

    def _keep_whole(self) -> None:
        if self._sink is None and not self._problem:
            try:
                self._sink = self._artifact()
            except (OSError, UserError) as error:
                self._problem = str(error)
            else:
                self._write(bytes(self._held))

    def _write(self, data: bytes) -> None:
        if self._sink is not None and not self._problem:
            try:
                self._sink.write(data)
            except (OSError, UserError) as error:  # the disk is full: the command goes on, its output is not kept whole
                self._problem = str(error)

    def close(self) -> None:
        """Close the artifact; closing twice is no error."""
        if self._sink is not None:
            try:
                self._sink.close()
            except (OSError, UserError) as error:
                self._problem = self._problem or str(error)

    def show(self, limit: int) -> Shown:
        """The text for the model, at most about `limit` bytes of UTF-8; the artifact is closed."""
        if self._whole:
            shown = bound(clean_terminal(decode_output(self._head + bytes(self._held))), limit)
            if shown.cut:
                self._keep_whole()
            text = shown.text(self._id())
        else:
            text = self._two_ends(limit)
        self.close()
        path = str(self._sink.path) if self._sink is not None else ""
        return Shown(text=text, lines=self._lines, artifact=self._id(), path=path, problem=self._problem)

    def _two_ends(self, limit: int) -> str:
        head = bound(clean_terminal(decode_output(_to_line_end(self._head))), limit).head
        tail = clean_terminal(decode_output(_from_line_start(bytes(self._held))))
        head = head.encode()[: limit // 2].decode(errors="ignore")
        tail = tail.encode()[-(limit // 2) :].decode(errors="ignore")
        at = head.count("\n") + 1
        where = f"; recall id={self._id()} offset={at} shows them" if self._id() else ""
        gap = f"[... most of {self._lines:,} lines ({self.total:,} bytes) left out{where} ...]"
        return "\n".join((head.removesuffix("\n"), gap, tail))

    def _id(self) -> str:
        return self._sink.id if self._sink is not None else ""


def _to_line_end(data: bytes) -> bytes:
    end = data.rfind(b"\n") + 1
    return data[:end] if end > len(data) // 2 else data


def _from_line_start(data: bytes) -> bytes:
    start = data.find(b"\n") + 1
    return data[start:] if start < len(data) // 2 else data


# --- for the person -------------------------------------------------------------------------------------------------


class LiveText:
    """Shows output as it comes: at most `rate` times a second; of a flood the beginning and the end of each stretch.

    Escape sequences are removed; a carriage return stays where a line is drawn anew. `flush` shows the rest.
    """

    STRETCH = 8 * 1024

    def __init__(self, show: Callable[[str], None], *, rate: float = 10.0) -> None:
        self._show = show
        self._pause = 1 / rate
        self._shown_at = 0.0
        self._waiting = bytearray()

    def add(self, data: bytes) -> float:
        """More output. Gives the seconds after which `flush` is due; 0 when all is shown."""
        if not self._shown_at and len(data) > self.STRETCH:
            head = _to_line_end(data[: self.STRETCH])
            self._show(live_text(decode_output(head)))
            data = data[len(head) :]
        self._waiting += data
        if len(self._waiting) > 4 * self.STRETCH:
            self._waiting = bytearray(_last_of(bytes(self._waiting), self.STRETCH))
        return self.flush()

    def flush(self, *, last: bool = False) -> float:
        """Show what waits if it is time, or the `last`; else, and for a character that is not whole, as `add`."""
        wait = self._shown_at + self._pause - time.monotonic()
        if wait <= 0 or last:
            self._emit(last=last)
            wait = self._pause
        return wait if self._waiting else 0.0

    def _emit(self, *, last: bool) -> None:
        data = bytes(self._waiting)
        end = len(data) if last else _whole_signs(data, _whole_characters(data))
        if end:
            self._shown_at = time.monotonic()
            del self._waiting[:end]
            self._show(live_text(decode_output(_last_of(data[:end], self.STRETCH))))


def live_text(text: str) -> str:
    """Text without escape sequences and control characters; of a line drawn several times the last state."""
    plain = re.sub(_ESCAPE, "", text).replace("\r\n", "\n")
    return re.sub(_UNSEEN, "", re.sub(_REDRAWN, "\r", plain) if "\r" in plain else plain)


def _last_of(data: bytes, size: int) -> bytes:
    """At most the last `size` bytes, from the start of a line if there is one."""
    return data if len(data) <= size else _from_line_start(data[-size:])


def _whole_signs(data: bytes, end: int) -> int:
    """The same `end`, or the place before it where an escape sequence or a line end begins that is not whole yet."""
    escape = data.rfind(b"\x1b", max(0, end - 256), end)
    if escape >= 0 and re.match(_OPEN_ESCAPE, data[escape:end]):
        end = escape
    return end - (len(data[:end]) - len(data[:end].rstrip(b"\r")))


def _whole_characters(data: bytes) -> int:
    """Where the last whole character ends: after the last line end when bytes beyond ASCII follow it."""
    if data.isascii():
        return len(data)
    end = data.rfind(b"\n") + 1
    if data[end:].isascii():
        return len(data)
    try:
        data[end:].decode()
    except UnicodeDecodeError as error:
        return end + error.start if error.reason == "unexpected end of data" else end
    return len(data)
