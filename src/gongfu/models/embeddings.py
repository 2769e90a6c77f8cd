"""Vectors for texts, from an endpoint that speaks OpenAI's `/embeddings`."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, cast

import msgspec

from gongfu.core.base import Base
from gongfu.core.errors import BadRequest, Overflow, ProviderFault, Refused, StreamCut
from gongfu.core.jsonfix import scrub_text
from gongfu.core.specs import ModelInfo, Usage
from gongfu.core.tokens import text_tokens
from gongfu.models.faults import fault_in_stream, fault_of
from gongfu.models.retry import DEFAULT, Failed, RetryPolicy, retrying
from gongfu.models.transport import Transport
from gongfu.models.usage import usage_of
from gongfu.models.wire import dict_at, dicts_at

Vector: TypeAlias = tuple[float, ...]

_PATH = "/embeddings"
_MOST = 32  # texts in one request: more is refused by some servers
_TOKENS = 16_000  # of all texts in one request
_WINDOW = 8_000  # tokens of one text where the window is not known: a little less than OpenAI's and bge-m3's
_LEAST = 64  # tokens: a text is not cut further than that
_MOST_BYTES = 8  # of one estimated token: no text has more
_NAMED = 3  # times in one call that the server's own numbers are believed
_MARGIN = 0.97  # a beginning may be denser than the whole
_WHOLE = 64 << 20
_ERROR = 1 << 20
_TOO_LARGE = ("too large to process", "physical batch size")  # llama.cpp's words, sent with HTTP 500
_NUMBER = re.compile(r"(?<![\w.-])\d{2,}(?:,\d{3})*(?![\w-]|\.\d)")


class Embedded(Base, frozen=True):
    """Vectors in the order of their texts, all of one length and one model (`tag`), and what they cost.

    `empty` are the indexes of texts without a word, whose vectors are `()`; nothing was sent of them. `cut` are those
    of texts that were too long for the model: their vectors stand for their beginning.
    """

    vectors: tuple[Vector, ...]
    tag: str
    usage: Usage = Usage()
    empty: tuple[int, ...] = ()
    cut: tuple[int, ...] = ()


class _Batch(Base, frozen=True):
    vectors: list[Vector]
    usage: Usage


class Embedder:
    """One embedding model behind one endpoint.

    `dimension` is the length of its vectors, 0 before the first came; `usage` is all that was spent through this.
    """

    def __init__(self, info: ModelInfo, transport: Transport, *, policy: RetryPolicy = DEFAULT) -> None:
        self.info = info
        self.dimension = 0
        self.usage = Usage()
        self._transport = transport
        self._policy = policy
        self._most = _MOST
        self._limit = info.window or _WINDOW

    @property
    def tag(self) -> str:
        """What may be compared with each other: "provider/model", and "@" with the length once it is known."""
        return f"{self.info.ref}@{self.dimension}" if self.dimension else self.info.ref

    async def embed(self, texts: Sequence[str], *, tell: Callable[[Failed], None] | None = None) -> list[Vector]:
        """The vectors of `texts` in their order, see `encode`."""
        return list((await self.encode(texts, tell=tell)).vectors)

    async def encode(
        self, texts: Sequence[str], *, policy: RetryPolicy | None = None, tell: Callable[[Failed], None] | None = None
    ) -> Embedded:
        """The vectors of `texts`, asked for in requests of a bounded size.

        Passing trouble is waited out as `policy` (else that of the embedder) says, and told through `tell`; any other
        fault is raised, and then there are no vectors at all. A server that takes fewer or shorter texts than it was
        sent is sent less.
        """
        job = _Job(texts)
        while batch := job.next(self._most, self._limit):
            got = await retrying(partial(self._ask, batch), policy or self._policy, tell=tell)
            if isinstance(got, _Batch):
                if job.most and len(batch) > 1:  # fewer texts were the cure, not shorter ones
                    self._most = len(batch)
                job.take(got)
                self.usage += got.usage
            elif len(batch) > 1:
                job.most = len(batch) // 2
            else:
                self._limit = job.shorter(text_tokens(batch[0]), got.detail)
        return job.done(self.tag)

    async def _ask(self, texts: list[str]) -> _Batch | ProviderFault:
        """The vectors, or the fault of a request that can be made smaller."""
        body = msgspec.json.encode({"model": self.info.name, "input": texts, "encoding_format": "float"})
        try:
            async with self._transport.stream(_PATH, body) as reply:
                if not 200 <= reply.status < 300:
                    raise fault_of(reply.status, reply.headers, await reply.read(_ERROR), self.info.ref)
                return self._read(await reply.read(_WHOLE), len(texts))
        except ProviderFault as fault:
            fault.model = self.info.ref
            if _may_shrink(fault, texts):
                return fault
            raise

    def _read(self, body: bytes, count: int) -> _Batch:
        fields = _object(body)
        error: Any = fields.get("error")
        if error and "data" not in fields:
            raise fault_in_stream(error, self.info.ref)
        vectors = _in_order(dicts_at(fields, "data"), count)
        sizes = {len(v) for v in vectors} | ({self.dimension} if self.dimension else set[int]())
        if len(sizes) != 1:
            shown = " and ".join(str(n) for n in sorted(sizes))
            raise Refused(f"one model gave vectors of {shown} numbers: they cannot be compared")
        self.dimension = sizes.pop()
        return _Batch(vectors=vectors, usage=usage_of(dict_at(fields, "usage")))

    async def aclose(self) -> None:
        """Close the kept connections. May be called more than once."""
        await self._transport.aclose()


class _Job:
    """The texts of one call: which are done, and which come next. `most` bounds the next request further, if not 0."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.most = 0
        self._named = 0
        self._texts = [scrub_text(t) for t in texts]
        self._waiting = [n for n, t in enumerate(self._texts) if t.strip()]
        self._vectors: dict[int, Vector] = {}
        self._cut: dict[int, None] = {}
        self._usage = Usage()

    def next(self, most: int, limit: int) -> list[str]:
        """The next texts, each of at most `limit` tokens; none when all are done."""
        batch: list[str] = []
        tokens = 0
        for number in self._waiting[: min(most, self.most or most)]:
            text = _bounded(self._texts[number], limit)
            tokens += text_tokens(text)
            if batch and tokens > _TOKENS:
                break
            batch.append(text)
            if len(text) < len(self._texts[number]):
                self._cut[number] = None
        return batch

    def shorter(self, tokens: int, detail: str) -> int:
        """How long a text may be, in estimated tokens, when one of `tokens` was refused with the words `detail`.

        Where they name what was sent and what may be, it is that share of it; else a half.
        """
        self._named += 1
        share = _share_named(detail, tokens) if self._named <= _NAMED else 0.0
        return int(tokens * share * _MARGIN) or tokens // 2

    def take(self, got: _Batch) -> None:
        """Keep the vectors of the texts that came last."""
        done = len(got.vectors)
        self._vectors.update(zip(self._waiting[:done], got.vectors, strict=True))
        del self._waiting[:done]
        self._usage += got.usage
        self.most = 0

    def done(self, tag: str) -> Embedded:
        """All of them."""
        vectors = tuple(self._vectors.get(n, ()) for n in range(len(self._texts)))
        empty = tuple(n for n, v in enumerate(vectors) if not v)
        return Embedded(vectors=vectors, tag=tag, usage=self._usage, empty=empty, cut=tuple(sorted(self._cut)))


def _may_shrink(fault: ProviderFault, texts: list[str]) -> bool:
    """Whether fewer texts, or a shorter one, may be taken where these were not."""
    too_large = isinstance(fault, Overflow) or any(words in fault.detail for words in _TOO_LARGE)
    if len(texts) > 1:
        return too_large or isinstance(fault, BadRequest)  # servers word a limit on the number of texts in many ways
    return too_large and text_tokens(texts[0]) > _LEAST


def _share_named(detail: str, tokens: int) -> float:
    """The limit by what was sent, both as the server counts and names them; 0 when it does not.

    What was sent is the number nearest to the estimate, the limit the largest below that.
    """
    numbers = {int(n.replace(",", "")) for n in _NUMBER.findall(detail)}
    given = min((n for n in numbers if tokens / 4 < n < tokens * 4), key=lambda n: abs(math.log(n / tokens)), default=0)
    limit = max((n for n in numbers if n < given), default=0)
    return limit / given if given else 0.0


def _bounded(text: str, limit: int) -> str:
    """The longest beginning of `text` that is at most `limit` tokens long."""
    head = text[: limit * _MOST_BYTES]
    if text_tokens(head) <= limit:
        return head
    return head[: bisect_right(range(1, len(head)), limit, key=lambda size: text_tokens(head[:size]))]


def _object(body: bytes) -> dict[str, Any]:
    try:
        answer: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        if body.lstrip()[:1] == b"<":
            raise Refused("no model endpoint is at this address: it answered with a web page") from None
        raise StreamCut(f"the answer is no whole JSON ({len(body)} bytes)") from None
    return cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}


def _in_order(rows: list[dict[str, Any]], count: int) -> list[Vector]:
    """The vectors by `index`; a server that leaves that out is taken to keep the order."""
    vectors: dict[int, Vector] = {}
    for place, row in enumerate(rows):
        index: Any = row.get("index", place)
        vectors[index if isinstance(index, int) else place] = _vector(row.get("embedding"))
    if len(rows) != count or sorted(vectors) != list(range(count)):
        raise Refused(f"{count} texts were sent, and {len(rows)} vectors came: this model makes none, or not in order")
    return [vectors[n] for n in range(count)]


def _vector(value: Any) -> Vector:
    try:
        numbers = _packed(value) if isinstance(value, str) else tuple(map(float, value))
    except (TypeError, ValueError):
        raise Refused("what came is no vector of numbers") from None
    if not numbers or not all(map(math.isfinite, numbers)):
        raise Refused("a vector is empty, or holds what is no number")
    return numbers


def _packed(text: str) -> Vector:
    """Base64 of little-endian 32-bit floats, as some servers answer whatever they are asked for."""
    import base64
    from array import array
    from sys import byteorder

    numbers = array("f", base64.b64decode(text, validate=True))
    if byteorder == "big":
        numbers.byteswap()
    return tuple(numbers)


def nearness(one: Vector, other: Vector) -> float:
    """The cosine of the angle between two vectors, from -1 to 1; 0 when one of them is empty."""
    size = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=False)) / size if size else 0.0
