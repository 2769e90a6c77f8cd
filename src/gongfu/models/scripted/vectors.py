"""Vectors that are always the same for the same text, and nearer for texts that share words."""

from __future__ import annotations

import base64
import math
import re
import struct
from hashlib import blake2b
from itertools import pairwise
from typing import Any, cast

from gongfu.models.scripted.wire import Fields, openai_error

DIMENSION = 64
_WORDS = re.compile(r"[a-z0-9]+|[^\W\da-z_]", re.IGNORECASE)


def vector_of(text: str, dimension: int = DIMENSION) -> list[float]:
    """A unit vector: each word and each pair of neighbours adds one hashed direction (Weinberger et al., 2009)."""
    words = _WORDS.findall(text.lower())
    numbers = [0.0] * dimension
    for word in [*words, *map(" ".join, pairwise(words))] or [text]:
        value = int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
        numbers[value // 2 % dimension] += 1.0 if value % 2 else -1.0
    size = math.hypot(*numbers)
    if not size:  # the words took each other out
        return [1.0, *numbers[1:]]
    return [n / size for n in numbers]


def answer(body: Fields, dimension: int = DIMENSION) -> tuple[int, dict[str, Any]]:
    """Status and answer of a request for embeddings, as OpenAI writes them."""
    given: Any = body.get("input")
    texts = cast("list[Any]", given) if isinstance(given, list) else [given]
    if not texts or not all(isinstance(t, str) and t for t in texts):
        return 400, openai_error(400, "'$.input' is invalid: texts that are not empty are expected", "invalid_input")
    size = body.get("dimensions")
    size = size if isinstance(size, int) and size > 0 else dimension
    rows: list[Fields] = []
    for index, text in enumerate(texts):
        vector: Any = vector_of(text, size)
        if body.get("encoding_format") == "base64":
            vector = base64.b64encode(struct.pack(f"<{size}f", *vector)).decode()
        rows.append({"object": "embedding", "index": index, "embedding": vector})
    tokens = sum(len(t) // 4 + 1 for t in texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return 200, {"object": "list", "data": rows, "model": body.get("model", ""), "usage": usage}
