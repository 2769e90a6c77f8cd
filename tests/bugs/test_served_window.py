"""Row 29: a server that reports a few thousand prompt tokens for a much longer prompt."""

from __future__ import annotations

import pytest

from gongfu.core.specs import Usage
from gongfu.models.window import served_window


@pytest.mark.parametrize(
    ("sent", "usage", "served"),
    [
        (30_000, Usage(input=4096, output=200), 4096),
        (30_000, Usage(input=3_871), 3_871),
        (9_000, Usage(input=4_095), 4_095),
        (5_000, Usage(input=2_048), 2_048),
        (180_000, Usage(input=32_768, cached=20_000), 32_768),
    ],
)
def test_a_silent_cut_is_seen(sent: int, usage: Usage, served: int) -> None:
    assert served_window(sent, usage) == served


@pytest.mark.parametrize(
    ("sent", "usage"),
    [
        (30_000, Usage(input=29_000)),
        (30_000, Usage(input=41_000)),
        (30_000, Usage(input=19_000)),  # an estimate that is far too high
        (30_000, Usage(input=3_000, cached=27_000)),  # a count without what came from the cache
        (30_000, Usage(input=1_200, cache_write=29_000)),
        (30_000, Usage(input=30_000, cached=29_000)),
        (30_000, Usage()),  # no usage at all
        (30_000, Usage(input=26)),  # only the end was evaluated, the rest was in the server's cache
        (3_000, Usage(input=1_100)),  # too short to say
        (0, Usage(input=5_000)),
    ],
)
def test_no_false_alarm(sent: int, usage: Usage) -> None:
    assert served_window(sent, usage) is None
