"""The single checks of an endpoint: tools, structured output, images, and the window that is really served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import msgspec

from gongfu.core.errors import Overflow, ProviderFault
from gongfu.core.messages import ImagePart, Message, ResultPart
from gongfu.core.specs import ToolSpec
from gongfu.core.tokens import text_tokens
from gongfu.models.finding import Finding, Probe, failed
from gongfu.models.protocol import Answer

_SIZES = (3_000, 6_000, 12_000)
_NEEDLE = "MAROON-7341"
_WORDS = (
    "river stone lamp garden window copper bridge winter letter market forest candle harbour silver engine pocket "
    "meadow ribbon hammer island violin basket thunder pepper castle mirror ladder button saddle orchard feather anchor"
)


ADD = ToolSpec(
    name="add_numbers",
    description="Add two whole numbers and return their sum.",
    parameters={
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
)


async def tools(asked: Probe) -> Finding | None:
    """A small tool is called with the right arguments, and its result is taken."""
    if not asked.info.tools or asked.info.small:
        return Finding(name="tools", level="warn", key="tools_off", todo="do_tools_off")
    question = "Use the tool add_numbers to add 17 and 25, then tell me the sum."
    try:
        answer = (await asked.ask(question, tools=(ADD,))).answer
        if not answer.message.calls:
            return Finding(name="tools", level="fail", key="tools_none", todo="do_tools")
        if not called_right(answer):
            call = answer.message.calls[0]
            sent = f"{call.name} {call.raw or call.arguments}"
            return Finding(name="tools", level="fail", key="tools_wrong", values={"sent": sent[:200]}, todo="do_tools")
        after = (await asked.ask(question, *with_result(answer, "42"), tools=(ADD,))).answer
    except ProviderFault as fault:
        return failed("tools", fault, "do_tools")
    if "42" not in after.message.text:
        return Finding(name="tools", level="warn", key="tools_unread", todo="do_tools")
    if answer.message.calls[0].recovered:
        return Finding(name="tools", level="warn", key="tools_recovered", todo="do_recovered")
    return Finding(name="tools", level="ok", key="tools_ok")


def called_right(answer: Answer) -> bool:
    """Whether the answer is the one call that was asked for."""
    calls = answer.message.calls
    if len(calls) != 1 or calls[0].name != ADD.name or calls[0].problem:
        return False
    arguments = cast("dict[str, Any]", msgspec.json.decode(calls[0].arguments))
    return {k: str(v) for k, v in arguments.items()} == {"a": "17", "b": "25"}


def with_result(answer: Answer, text: str) -> tuple[Message, Message]:
    """The call of an answer with an id of ours, and its result."""
    call = msgspec.structs.replace(answer.message.calls[0], id="call_probe_1")
    parts = tuple(call if p is answer.message.calls[0] else p for p in answer.message.parts)
    said = msgspec.structs.replace(answer.message, parts=parts)
    return said, Message(role="tool", parts=(ResultPart(call_id=call.id, text=text),))


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "digits": {"type": "array", "items": {"type": "integer"}}},
    "required": ["city", "digits"],
    "additionalProperties": False,
}


async def structured(asked: Probe) -> Finding | None:
    """An answer that follows a JSON Schema."""
    question = 'Answer as JSON with "city" (the capital of France) and "digits" (the list of the numbers 1, 2, 3).'
    try:
        answer = (await asked.ask(question, schema=SCHEMA)).answer
    except ProviderFault as fault:
        return msgspec.structs.replace(failed("structured", fault, "do_structured"), level="warn")
    if _follows(answer.message.text):
        return Finding(name="structured", level="ok", key="structured_ok")
    values = {"sent": answer.message.text[:120]}
    return Finding(name="structured", level="warn", key="structured_wrong", values=values, todo="do_structured")


def _follows(text: str) -> bool:
    try:
        value: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return fields.get("digits") == [1, 2, 3] and isinstance(fields.get("city"), str)


async def images(asked: Probe) -> Finding | None:
    """A red picture is recognised; None for a model that claims no eyes."""
    if not asked.info.images:
        return None
    question = "Which colour is this picture? Answer with one English word."
    try:
        answer = (await asked.ask(question, images=(red_square(),))).answer
    except ProviderFault as fault:
        return failed("images", fault, "do_images")
    said = answer.message.text.strip()
    if "red" in said.lower():
        return Finding(name="images", level="ok", key="images_ok")
    return Finding(name="images", level="warn", key="images_wrong", values={"sent": said[:80]}, todo="do_images")


def red_square(size: int = 64) -> ImagePart:
    """A red picture as PNG."""
    import base64  # only for models that see
    import struct
    import zlib

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\x00" + b"\xff\x00\x00" * size) * size
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0))
    png = b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return ImagePart(media_type="image/png", data=base64.b64encode(png).decode(), width=size, height=size)


# --- the window --------------------------------------------------------------------------------------------------


def sizes_for(claimed: int, *, deep: bool, sizes: Sequence[int]) -> list[int]:
    """The prompt lengths to try, ascending, as far as they leave room for an answer in the claimed window (0: any)."""
    wanted = list(sizes) or [*_SIZES]
    if deep and claimed:
        wanted += [claimed // 2, claimed]
    room = claimed - 512 - max(2048, claimed // 20) if claimed else max(wanted)
    return sorted({min(size, room) for size in wanted if size > 0 and room > 0})


async def window(asked: Probe, sizes: Sequence[int]) -> Finding | None:
    """Prompts of growing length with a word at their beginning that must be known at their end.

    The first that is cut or refused decides; else one where the word was not found; else the longest that was read.
    """
    found: Finding | None = None
    for size in sizes:
        finding = await _window(asked, size)
        if finding.level == "fail":
            return finding
        if found is None or found.level == "ok":
            found = finding
    return found


async def _window(asked: Probe, size: int) -> Finding:
    values: dict[str, Any] = {"size": size, "claimed": asked.info.window}
    prompt = haystack(size)
    try:
        answer = (await asked.ask(prompt)).answer
    except Overflow as fault:
        values["detail"] = fault.detail
        return Finding(name="window", level="fail", key="window_over", values=values, todo="do_window")
    except ProviderFault as fault:
        return failed("window", fault, "do_wait")
    counted = answer.usage.input
    values["counted"] = counted
    found = _NEEDLE in answer.message.text
    share = counted / text_tokens(prompt)
    if 0 < share < (0.5 if found else 0.75):
        return Finding(name="window", level="fail", key="window_cut", values=values, todo="do_window")
    if found:
        return Finding(name="window", level="ok", key="window_ok", values=values)
    level = "warn" if counted else "fail"  # what was counted whole was seen: the model only did not find it
    return Finding(name="window", level=level, key="window_lost", values=values, todo="do_window")


def haystack(size: int) -> str:
    """About `size` tokens of text that begins with a code word and ends with the question for it.

    Sentences do not repeat, so that nothing is gained by packing or by a model's habits.
    """
    question = "\n\nWhat is the code word that was given at the very beginning? Answer with the code word only."
    lines = [f"The code word is {_NEEDLE}. Remember it.\n"]
    left = size - text_tokens(lines[0]) - text_tokens(question)
    known = _WORDS.split()
    n = 0
    while left > 0:
        words = [known[((n + 1) * step + n // 7) % len(known)] for step in (1, 3, 5, 7, 11, 13)]
        lines.append(f"Note {n}: the {words[0]} and the {words[1]} of the {words[2]}, {' '.join(words[3:])}.\n")
        left -= text_tokens(lines[-1]) - 1  # each was rounded up
        n += 1
    return "".join(lines) + question
