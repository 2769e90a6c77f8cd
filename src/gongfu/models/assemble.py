"""From the pieces of a stream to one answer. No I/O: adapters of every dialect feed it.

    assembler = Assembler(request.tools, model=info.ref, limit=max_output_that_was_sent)
    for each event of the stream:
        deltas = assembler.text("…") | .reasoning("…") | .call(id=…, index=…, name=…, arguments=…)
        assembler.signature("…"); assembler.finish("tool_calls"); assembler.count(Usage(…))
    deltas = assembler.flush()       # what was held back because it could have been a marker of a call
    answer = assembler.answer()      # or assembler.partial() when the stream broke off

The order of blocks is kept (thinking, text, calls, thinking …), as dialects with signed thinking need it.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from gongfu.core.jsonfix import parse_arguments, scrub_text
from gongfu.core.messages import CallPart, Message, Part, ReasoningPart, TextPart
from gongfu.core.specs import ToolSpec, Usage
from gongfu.models.finish import finish_of, is_cut
from gongfu.models.halves import Halves
from gongfu.models.markers import Found, meant_name
from gongfu.models.protocol import Answer, CallProgress, Delta, Reasoning, Text
from gongfu.models.recover import MarkerFilter, Style

_CUT = (
    "This call was not run: the answer was cut off at the output limit{limit}, so the call may be incomplete. "
    "Send less at once: split the work into several smaller calls, and a long file into parts."
)
_HALF = "This call was not run: it breaks off in the middle. Send the whole call again, smaller if it is long."
_NAMELESS = "This call came without the name of a tool and was not run. Send it again with a name."


class _Block(msgspec.Struct):
    """A block that is being written."""

    kind: Literal["text", "reasoning", "call"]
    pieces: list[str] = []
    size: int = 0
    closed: bool = False
    signature: str = ""
    data: str = ""
    id: str = ""
    index: int | None = None
    name: str = ""
    whole: dict[str, Any] | None = None
    found: Found | None = None

    def add(self, piece: str) -> None:
        self.pieces.append(piece)
        self.size += len(piece)

    @property
    def joined(self) -> str:
        if len(self.pieces) > 1:
            self.pieces[:] = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    @property
    def complete(self) -> bool:
        """Whether the arguments are a whole JSON object already."""
        if self.whole is not None:
            return True
        if not self.pieces or not self.pieces[-1].rstrip().endswith("}"):
            return False
        try:
            return isinstance(msgspec.json.decode(self.joined), dict)
        except (msgspec.DecodeError, RecursionError, ValueError):
            return False


class Assembler:
    """Puts one answer together.

    `tools` are those offered; `model` the reference that signs the parts. `limit` is the output limit that was really
    sent, in tokens (0: none): calls of an answer that used it up are taken as cut, whatever `finish` says.
    `style` says where calls written into the text are looked for (see `models.recover`).
    """

    def __init__(self, tools: tuple[ToolSpec, ...], *, model: str, limit: int = 0, style: Style = "markers") -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._model = model
        self._limit = limit
        self._blocks: list[_Block] = []
        self._ids: dict[str, _Block] = {}
        self._indexes: dict[int, _Block] = {}
        self._current: _Block | None = None
        self._raw_finish = ""
        self._usage = Usage()
        self._served = ""
        self._in_text = MarkerFilter(tuple(self._tools), style)
        self._in_thought = MarkerFilter(tuple(self._tools), "off" if style == "off" else "markers")
        self._text_halves, self._thought_halves = Halves(), Halves()
        self._thought: list[Found] = []
        self._thought_ends = False  # the thinking ends with a call

    # --- pieces in ---------------------------------------------------------------------------------------------

    def text(self, piece: str) -> list[Delta]:
        """More text. What may be the start of a written call, and half a letter, is held back."""
        piece = self._text_halves.feed(piece)
        return self._take_text(self._in_text.feed(piece)) if piece else []

    def reasoning(self, piece: str) -> list[Delta]:
        """More thinking, signed or not. Kept byte for byte; only what is shown is filtered."""
        piece = self._thought_halves.feed(piece)
        if not piece:
            return []
        self._open("reasoning").add(piece)
        return self._take_thought(self._in_thought.feed(piece))

    def signature(self, signature: str = "", *, data: str = "", id: str = "") -> None:
        """Sign the thinking that is being written, or open a block of encrypted thinking (`data`) without text.

        Signatures that come in pieces are joined. `id` is the provider's name of the block, if it has one.
        """
        block = self._open("reasoning")
        block.signature += signature
        block.data += data
        block.id = block.id or id

    def close(self) -> None:
        """The block of text or thinking ends; the next piece starts a new one even if it is of the same kind."""
        if self._blocks:
            self._blocks[-1].closed = True

    def call(
        self, *, id: str = "", index: int | None = None, name: str = "", arguments: str | dict[str, Any] | None = ""
    ) -> list[Delta]:
        """A piece of a tool call, or a whole one. Found by id first, by index second, else it is the current call.

        `arguments` is a fragment of text, or a whole object; None is nothing.
        """
        block = self._block_of(id, index, name)
        if block is None or self._starts_another(block, index, name, arguments):
            block = _Block(kind="call", id=id, index=index)
            self._blocks.append(block)
            self._ids.pop(id, None)
        self._current = block
        block.id = block.id or id
        block.index = index if block.index is None else block.index
        if id:
            self._ids.setdefault(id, block)
        if index is not None:
            self._indexes[index] = block
        if name:
            block.name = self._merged_name(block.name, name)
        if isinstance(arguments, dict):
            block.whole = arguments
        elif arguments and not (block.size == len(arguments) > 1 and block.complete and block.joined == arguments):
            block.add(arguments)
        return [CallProgress(name=block.name, size=block.size)]

    def call_signature(self, signature: str, data: str = "") -> None:
        """A signature of thinking that belongs to the current call; it becomes a part right before the call."""
        if self._current is not None and signature:
            self._current.signature, self._current.data = signature, data

    def finish(self, reason: str | None) -> None:
        """The provider's word for why the answer ended; the last one that is not empty counts."""
        self._raw_finish = reason or self._raw_finish

    def count(self, usage: Usage) -> None:
        """Usage so far. Servers that send it with every chunk repeat or raise it; the last record counts."""
        self._usage = usage

    def served_by(self, model: str) -> None:
        """The name of the model that the server says it used."""
        self._served = model or self._served

    @property
    def usage(self) -> Usage:
        """The last usage that was counted."""
        return self._usage

    @property
    def raw_finish(self) -> str:
        """The provider's last word on the end; empty while there was none."""
        return self._raw_finish

    @property
    def empty(self) -> bool:
        """Whether nothing has arrived yet."""
        return not self._blocks

    def flush(self) -> list[Delta]:
        """The stream has ended: show what was held back and turned out to be plain text."""
        thought, text = self._thought_halves.flush(), self._text_halves.flush()
        return [
            *self.reasoning(thought), *self.text(text),
            *self._take_thought(self._in_thought.flush()), *self._take_text(self._in_text.flush()),
        ]  # fmt: skip

    # --- the answer out ----------------------------------------------------------------------------------------

    def answer(self) -> Answer:
        """The whole answer. Call `flush` first; what is still held back is taken in without being shown."""
        self.flush()
        self._recover_from_thought()
        blocks = self._kept()
        calls = any(b.kind == "call" for b in blocks)
        cut = is_cut(self._raw_finish) or (calls and self._at_limit())
        read = [p for b in blocks for p in self._parts(b, cut=cut)]
        return Answer(
            message=Message(role="assistant", parts=tuple(p for p, _ in read), model=self._model),
            finish=finish_of(self._raw_finish, calls=calls, cut=cut),
            usage=self._usage,
            raw_finish=self._raw_finish,
            model=self._served,
            dropped=sum(dropped for _, dropped in read),
        )

    def _at_limit(self) -> bool:
        """Whether the output stops at the limit, give or take how servers count; far beyond it, none was kept."""
        return bool(self._limit) and 0 <= self._usage.output - self._limit <= max(8, self._limit // 50)

    def partial(self) -> Answer:
        """What had arrived when the stream broke off: text and thinking; no call, for none is known to be whole."""
        held = self._in_text.drop_half()
        if held:
            self._open("text").add(held)
        parts = tuple(self._parts(b, cut=False)[0][0] for b in self._kept() if b.kind != "call")
        return Answer(
            message=Message(role="assistant", parts=parts, model=self._model),
            finish="unknown",
            usage=self._usage,
            raw_finish=self._raw_finish,
            model=self._served,
        )

    # --- text and thinking -------------------------------------------------------------------------------------

    def _open(self, kind: Literal["text", "reasoning"]) -> _Block:
        last = self._blocks[-1] if self._blocks else None
        if last is None or last.kind != kind or last.closed:
            last = _Block(kind=kind)
            self._blocks.append(last)
        return last

    def _take_text(self, pieces: list[str | Found]) -> list[Delta]:
        deltas: list[Delta] = []
        for piece in pieces:
            if isinstance(piece, str):
                self._open("text").add(piece)
                deltas.append(Text(text=piece))
            else:
                self._blocks.append(_Block(kind="call", name=piece.name, found=piece))
                deltas.append(CallProgress(name=piece.name, size=len(piece.source)))
        return deltas

    def _take_thought(self, pieces: list[str | Found]) -> list[Delta]:
        shown = "".join(p for p in pieces if isinstance(p, str))
        for piece in pieces:
            if not isinstance(piece, str):
                self._thought.append(piece)
                self._thought_ends = True
            elif piece.strip():
                self._thought_ends = False
        return [Reasoning(text=shown)] if shown else []

    def _recover_from_thought(self) -> None:
        """Take calls out of the thinking when the model made no other and did not go on to answer."""
        found, self._thought = self._thought, []
        if not found or any(b.kind == "call" for b in self._blocks):
            return
        silent = not any(b.kind == "text" and b.joined.strip() for b in self._blocks)
        if not (silent or self._thought_ends or "call" in self._raw_finish or self._raw_finish == "tool_use"):
            return
        for call in found:
            for block in self._blocks:
                if block.kind == "reasoning" and call.source and not block.signature:
                    block.pieces[:] = [block.joined.replace(call.source, "", 1)]
            self._blocks.append(_Block(kind="call", name=call.name, found=call))

    # --- calls -------------------------------------------------------------------------------------------------

    def _block_of(self, id: str, index: int | None, name: str) -> _Block | None:
        """The call that a piece belongs to; None for a new one. Servers repeat ids, send index 0 for every call,
        a fresh id with every piece, or leave all of it out."""
        by_id = self._ids.get(id) if id else None
        if by_id is not None:
            return by_id
        at = self._indexes.get(index) if index is not None else None
        if at is not None:
            late_or_fresh = not id or not at.id or not name
            return at if late_or_fresh or (name == at.name and not at.complete) else None
        current = self._current
        if not name:
            return None if index is not None and id else current
        if index is not None or current is None or (id and current.id) or current.complete:
            return None
        return current if self._merged_name(current.name, name) != current.name or current.name == name else None

    def _starts_another(
        self, known: _Block, index: int | None, name: str, arguments: str | dict[str, Any] | None
    ) -> bool:
        """Whether a piece that was matched to `known` is the start of a call of its own all the same."""
        if not name:
            return False
        other_place = known.index is not None and index is not None and known.index != index
        if not known.complete:
            return other_place and name != known.name
        same = arguments == (known.joined if known.whole is None else known.whole) and name == known.name
        return other_place or (bool(arguments) and not same)

    def _merged_name(self, known: str, piece: str) -> str:
        """Names come whole, repeated with every piece, in pieces, or growing."""
        if not known or piece == known or piece.startswith(known):
            return piece
        joined = known + piece
        if any(n.startswith(joined) for n in self._tools):
            return joined
        return piece if piece in self._tools and known not in self._tools else known

    def _kept(self) -> list[_Block]:
        """The blocks that become parts: no empty ones, and no written call that was made properly as well."""
        made = [self._call_part(b)[0] for b in self._blocks if b.kind == "call" and b.found is None]
        return [b for b in self._blocks if self._counts(b, made)]

    def _counts(self, block: _Block, made: list[CallPart]) -> bool:
        if block.kind == "text":
            return bool(block.joined.strip())
        if block.kind == "reasoning":
            return bool(block.joined or block.signature or block.data)
        if block.found is None and (block.size or block.whole is not None):
            return True
        if block.found is None:  # a name without arguments, which is no call of its own where it repeats another's id
            return bool(block.name) and not (block.id and self._made_before(block))
        part = self._call_part(block)[0]
        value = _value(part.arguments)
        return not any(c.name == part.name and _value(c.arguments) == value for c in made)

    def _made_before(self, block: _Block) -> bool:
        twins = (b for b in self._blocks if b is not block and b.kind == "call" and b.id == block.id)
        return any(b.name == block.name and (b.size or b.whole is not None) for b in twins)

    def _parts(self, block: _Block, *, cut: bool) -> list[tuple[Part, int]]:
        """The parts of a block, each with the bytes of garbage that were thrown away for it."""
        if block.kind == "text":
            return [(TextPart(text=scrub_text(block.joined)), 0)]
        thought = ReasoningPart(signature=block.signature, data=block.data, id=block.id, model=self._model)
        if block.kind == "reasoning":
            text = block.joined if block.signature else scrub_text(block.joined)
            return [(msgspec.structs.replace(thought, text=text), 0)]
        part, dropped = self._call_part(block)
        if cut:
            limit = f" of {self._limit} tokens" if self._limit else ""
            part = msgspec.structs.replace(part, problem=_CUT.format(limit=limit))
        if not block.signature:
            return [(part, dropped)]
        return [(msgspec.structs.replace(thought, id=block.id or "call"), 0), (part, dropped)]

    def _call_part(self, block: _Block) -> tuple[CallPart, int]:
        found = block.found
        name = meant_name(block.name, self._tools)
        tool = self._tools.get(name)
        schema = tool.parameters if tool else {}
        if found is not None and tool is not None:
            from gongfu.models.written import typed  # loaded already: it read the call

            read = parse_arguments(typed(found, tool), schema)
        else:
            read = parse_arguments(block.joined if block.whole is None else block.whole, schema)
        problem = read.problem or (_HALF if found is not None and found.cut else "")
        return CallPart(
            id="",
            name=name,
            arguments=read.text,
            wire_id=block.id,
            raw=scrub_text(read.raw),
            recovered=found is not None,
            problem=problem if block.name else _NAMELESS,
        ), read.dropped


def _value(arguments: str) -> Any:
    return msgspec.json.decode(arguments)
