"""What adapters share on the wire: bodies, events of an answer, and the way from events to one answer."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import aclosing
from typing import Any, Protocol, cast

import msgspec

from gongfu.core.errors import ContentFilter, ProviderFault, Refused, StreamCut
from gongfu.core.jsonfix import scrub_text
from gongfu.core.messages import ImagePart, Message
from gongfu.core.tokens import bytes_tokens, image_tokens
from gongfu.models.faults import fault_in_stream, fault_of, redact
from gongfu.models.finish import is_broken
from gongfu.models.protocol import Answer, CallProgress, Delta, Prepared, Reasoning, Text
from gongfu.models.sse import ServerEvent, SSEDecoder
from gongfu.models.transport import Reply, Transport

_WHOLE = 64 << 20
_STREAM = 256 << 20  # pieces that repeat all before them add up
_SHOWN = 200
_SILENCES = 3  # how often the longest silence may pass with comments only, which servers send to keep a connection
_ANSWERS = ("choices", "output", "content")
_ERROR = 1 << 20

PLAIN = "plain"
"""Name of the one event that an answer without a stream is."""


class Reader(Protocol):
    """Reads the events of one dialect. `done` once the answer is known to be whole."""

    @property
    def done(self) -> bool: ...

    def event(self, event: ServerEvent) -> list[Delta]:
        """What an event adds. Raises a ProviderFault for an error told in the stream."""
        ...

    def flush(self) -> list[Delta]:
        """What was held back when the stream ended."""
        ...

    def answer(self) -> Answer | None:
        """The whole answer, or None when the stream ended too early for one."""
        ...

    def partial(self) -> Answer | None:
        """What had arrived when the stream broke, or None when that was nothing."""
        ...


async def exchange(
    transport: Transport, path: str, body: bytes, headers: Mapping[str, str], reader: Reader, ref: str
) -> AsyncGenerator[Delta, None]:
    """Send `body` and yield the deltas of its answer, as `ModelProvider.complete` must.

    A broken stream, and passing trouble told in the middle of one, is a `StreamCut` with what had arrived.
    """
    yield Prepared(body=body)
    first: ServerEvent | None = None
    try:
        async with transport.stream(path, body, headers) as reply:
            if not 200 <= reply.status < 300:
                raise fault_of(reply.status, reply.headers, await reply.read(_ERROR), ref)
            try:
                async with aclosing(server_events(reply)) as batches:
                    async for events in batches:
                        first = first or events[0]
                        for delta in _deltas(reader, events):
                            yield delta
                        if reader.done:
                            break
            except StreamCut:
                if reader.answer() is None:  # an answer that said its end is whole, however the connection ends
                    raise
        for delta in reader.flush():
            yield delta
        yield _judged(reader, first, ref)
    except ProviderFault as fault:
        fault.model = ref
        fault.detail, fault.said = transport.hide(fault.detail), transport.hide(fault.said)
        partial = reader.partial() if fault.retryable else None
        if isinstance(fault, StreamCut):
            fault.partial = fault.partial or partial
        elif partial is not None:
            raise StreamCut(f"{fault.kind}: {fault.detail}", partial=partial, model=ref) from None
        raise


def _deltas(reader: Reader, events: Iterable[ServerEvent]) -> Iterator[Delta]:
    """What events that came together add, up to the end of the answer. Pieces of one text are joined, and how far a
    call has come is told once, since whoever follows an answer pays for each delta.
    """
    held: Delta | None = None
    for event in events:
        try:
            new = reader.event(event)
        except ProviderFault:
            if held is not None:
                yield held
            raise
        for delta in new:
            joined = _joined(held, delta)
            if held is not None and joined is None:
                yield held
            held = joined or delta
        if reader.done:
            break
    if held is not None:
        yield held


def _joined(one: Delta | None, other: Delta) -> Delta | None:
    """Both as one delta; None where they are of different kinds."""
    match one, other:
        case Text(text=text), Text(text=more):
            return Text(text=text + more)
        case Reasoning(text=text), Reasoning(text=more):
            return Reasoning(text=text + more)
        case CallProgress(name=name), CallProgress(name=again) if name == again:
            return other
        case _:
            return None


def _judged(reader: Reader, first: ServerEvent | None, ref: str) -> Answer:
    answer = reader.answer()
    if first is None:
        raise StreamCut("the server answered with nothing", model=ref)
    if first.event == PLAIN and (answer is None or not answer.message.parts):
        _check_plain(first.data, ref)
    if answer is None:
        raise StreamCut("the stream ended early", partial=reader.partial(), model=ref)
    if is_broken(answer.raw_finish):
        raise StreamCut(f"the server ended the answer with {answer.raw_finish!r}", partial=reader.partial(), model=ref)
    if answer.finish == "filter" and not answer.message.parts:
        raise ContentFilter(f"the answer was withheld ({answer.raw_finish})", model=ref)
    return answer


def _check_plain(data: str, ref: str) -> None:
    """Raise what is said in a body that is no answer, although its status is that of one."""
    fields = decode(data)
    if fields is None:
        raise StreamCut(f"the server answered with what is no answer: {redact(data[:_SHOWN])}", model=ref)
    if any(fields.get(name) == [] for name in _ANSWERS):
        return  # an empty answer
    fault = fault_in_stream(fields, ref)
    if fault.said:
        raise fault
    raise Refused(f"the server answered with what is no answer: {redact(data[:_SHOWN])}", model=ref)


async def server_events(reply: Reply) -> AsyncGenerator[list[ServerEvent], None]:
    """The events of an answer, those that came together as one list, which is never empty. An answer that is plain
    JSON, although a stream was asked for, is one `PLAIN` event.

    Raises `StreamCut` when it breaks off, and `Refused` for a web page, which no model endpoint sends.
    """
    decoder: SSEDecoder | None = None
    first = b""
    whole: list[bytes] = []
    size = 0
    last = time.monotonic()
    async with aclosing(reply.chunks()) as chunks:
        async for chunk in chunks:
            size += len(chunk)
            if size > (_WHOLE if decoder is None else _STREAM):
                raise Refused(f"the answer is larger than {size >> 20} MB", status=reply.status)
            if decoder is None:
                whole.append(chunk)
                first = first or chunk.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
                if first in (b"", b"{", b"[", b"<"):  # servers are careless with the content type
                    continue
                decoder, chunk = SSEDecoder(), b"".join(whole)  # noqa: PLW2901 - all that was looked at
            events = decoder.feed(chunk)
            now = time.monotonic()
            if not events and now - last > _SILENCES * reply.idle_seconds:
                raise StreamCut(f"nothing but signs of life came for {now - last:.0f} s", status=reply.status)
            last = now if events else last
            if events:
                yield events
    if decoder is not None:
        if events := decoder.flush():
            yield events
        if not decoder.count:
            said = " ".join(redact(b"".join(whole)[:_SHOWN].decode("utf-8", "replace")).split())
            raise StreamCut(f"the server answered with what is no stream of events: {said}", status=reply.status)
        return
    if events := _plain(b"".join(whole).strip(), reply):
        yield events


def _plain(body: bytes, reply: Reply) -> list[ServerEvent]:
    if body.startswith(b"<"):
        page = fault_of(404, reply.headers, body[:_ERROR], "").detail
        raise Refused(f"no model endpoint is at this address: it answered with {page}", status=reply.status)
    text = body.decode("utf-8-sig", "replace")
    if "\n" in text and not _is_json(text):
        lines = SSEDecoder()  # a line of JSON for each event
        return [*lines.feed(body), *lines.flush()]
    return [ServerEvent(event=PLAIN, data=text)] if text else []


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def encode(fields: Mapping[str, Any]) -> bytes:
    """The canonical JSON of a body: keys in the order given, no spaces, UTF-8; lone surrogates are replaced."""
    try:
        return msgspec.json.encode(fields)
    except UnicodeEncodeError:
        return msgspec.json.encode(_scrubbed(fields))


def _scrubbed(value: Any) -> Any:
    if isinstance(value, str):
        return scrub_text(value)
    if isinstance(value, dict):
        return {scrub_text(str(k)): _scrubbed(v) for k, v in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_scrubbed(v) for v in cast("list[Any]", value)]
    return value


def raw_json(text: str) -> msgspec.Raw:
    """JSON text that goes into a body exactly as it is."""
    return msgspec.Raw(text.encode("utf-8", "replace"))


def image_surcharge(message: Message) -> int:
    """Tokens of a message's images less what their bytes are counted for in a body (`bytes_tokens`)."""
    images = [p for p in message.parts if isinstance(p, ImagePart)]
    images += [image for result in message.results for image in result.images]
    return sum(image_tokens(i.width, i.height) - bytes_tokens(len(i.data or i.url)) for i in images)


def decode(data: str) -> dict[str, Any] | None:
    """The object that the data of an event is, or None."""
    value = read_json(data)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def read_json(data: str) -> Any:
    """The value that the data of an event is; None for what is no JSON.

    Some servers tell halves of surrogate pairs, control characters, NaN and numbers beyond all bounds: they are taken.
    Raises StreamCut for an object that is damaged: what stood in it is missing from the answer.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, ValueError):
        pass
    import json  # only for an event that is not strict JSON

    try:
        return json.loads(data, strict=False)
    except (ValueError, RecursionError):
        if data.lstrip().startswith("{"):
            raise StreamCut("an event of the answer arrived damaged") from None
        return None


def text_at(fields: Mapping[str, Any], key: str) -> str:
    """The string at `key`, or ""."""
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def dict_at(fields: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The object at `key`, or an empty one."""
    value = fields.get(key)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def dicts_at(fields: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The objects in the list at `key`."""
    value = fields.get(key)
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


def count_at(fields: Mapping[str, Any], key: str) -> int:
    """The count at `key`, or 0 for what is no count."""
    value = fields.get(key)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12 else 0
