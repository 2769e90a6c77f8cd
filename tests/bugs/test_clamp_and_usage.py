"""Rows 28 and 32: the output limit that fits, and one record of usage for every way of counting."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gongfu.core.messages import ImagePart, user
from gongfu.core.specs import ModelInfo, Price, Usage
from gongfu.models.chat_body import BodyWriter
from gongfu.models.protocol import Request
from gongfu.models.quirks import load_quirks
from gongfu.models.usage import usage_of


def limit(
    prompt_tokens: int, *, window: int = 200_000, wanted: int = 0, most: int = 32_000, quirks: str = "default"
) -> Any:
    info = ModelInfo(ref="v/a", provider="v", name="a", window=window, max_output=most)
    request = Request(model="v/a", system="", messages=(user("x" * 4 * prompt_tokens),), max_output=wanted)
    body = BodyWriter(info, load_quirks(quirks)).write(request)
    sent = json.loads(body.data)
    found = sent.get("max_tokens", sent.get("max_completion_tokens"))
    assert found == (body.limit or None)
    return found


# --- 28 ---------------------------------------------------------------------------------------------------------------


def test_the_limit_is_clamped_to_what_the_window_leaves() -> None:
    assert 19_000 < limit(180_000) < 20_000
    assert limit(100_000) == 32_000
    assert limit(100_000, wanted=8_000) == 8_000
    assert 19_000 < limit(180_000, wanted=64_000) < 20_000
    assert limit(180_000, window=0) == 32_000
    assert limit(10, most=0) is None
    assert limit(250_000) > 0  # the server will say how it is


def test_the_field_is_the_servers_own() -> None:
    for name, field in (("openai", "max_completion_tokens"), ("deepseek", "max_tokens")):
        info = ModelInfo(ref="v/a", provider="v", name="a", max_output=100)
        body = json.loads(BodyWriter(info, load_quirks(name)).write(Request(model="v/a", system="", messages=())).data)
        assert body[field] == 100


def test_images_are_priced_by_their_size_and_not_by_their_bytes() -> None:
    info = ModelInfo(ref="v/a", provider="v", name="a", window=100_000, max_output=90_000, images=True)
    image = ImagePart(media_type="image/png", data="A" * 400_000, width=1000, height=750)
    request = Request(model="v/a", system="", messages=(user("look", images=(image,)),))
    assert BodyWriter(info, load_quirks("default")).write(request).limit == 90_000


# --- 32 ---------------------------------------------------------------------------------------------------------------

WANTED = Usage(input=1000, cached=800, output=50)
WAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "openai": ({"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050,
                "prompt_tokens_details": {"cached_tokens": 800}}, {}),
    "deepseek": ({"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050, "prompt_cache_hit_tokens": 800,
                  "prompt_cache_miss_tokens": 200}, {}),
    "hit and miss only": ({"completion_tokens": 50, "prompt_cache_hit_tokens": 800, "prompt_cache_miss_tokens": 200},
                          {}),
    "kimi": ({"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050, "cached_tokens": 800}, {}),
    "responses": ({"input_tokens": 1000, "output_tokens": 50, "input_tokens_details": {"cached_tokens": 800}}, {}),
    "outside, by the total": ({"prompt_tokens": 200, "completion_tokens": 50, "total_tokens": 1050,
                               "prompt_tokens_details": {"cached_tokens": 800}}, {}),
    "outside, by size": ({"prompt_tokens": 200, "completion_tokens": 50,
                          "prompt_tokens_details": {"cached_tokens": 800}}, {}),
    "outside, by the table": ({"prompt_tokens": 200, "completion_tokens": 50, "cached_tokens": 800},
                              {"cached_outside": True}),
    "messages": ({"input_tokens": 200, "output_tokens": 50, "cache_read_input_tokens": 800,
                  "cache_creation_input_tokens": 0}, {}),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_the_same_record_and_the_same_cost(way: str) -> None:
    fields, options = WAYS[way]
    found = usage_of(fields, **options)
    assert found == WANTED
    price = Price(input=1.0, cached=0.1, output=2.0)
    assert price.cost(found) == pytest.approx((200 * 1.0 + 800 * 0.1 + 50 * 2.0) / 1e6)


@pytest.mark.parametrize(
    ("fields", "options", "wanted"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 30, "completion_tokens_details": {"reasoning_tokens": 20}}, {},
         Usage(input=10, output=30, reasoning=20)),
        ({"prompt_tokens": 10, "completion_tokens": 30, "total_tokens": 60,
          "completion_tokens_details": {"reasoning_tokens": 20}}, {}, Usage(input=10, output=50, reasoning=20)),
        ({"prompt_tokens": 10, "completion_tokens": 30, "total_tokens": 60}, {"output_from_total": True},
         Usage(input=10, output=50, reasoning=20)),
        ({"prompt_tokens": 10, "completion_tokens": 30, "total_tokens": 40}, {"output_from_total": True},
         Usage(input=10, output=30)),
        ({"prompt_tokens": None, "completion_tokens": "x", "prompt_tokens_details": None}, {}, Usage()),
        ({"prompt_tokens": 10.0, "completion_tokens": -1}, {}, Usage(input=10)),
        ({"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 2}, {},
         Usage(input=10, cached=3, cache_write=2, output=1)),
    ],
)  # fmt: skip
def test_other_ways_of_counting(fields: dict[str, Any], options: dict[str, Any], wanted: Usage) -> None:
    assert usage_of(fields, **options) == wanted
