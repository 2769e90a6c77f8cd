"""A process that reads files: what hangs, crashes or eats the memory while it is parsed ends this process only.

It reads a list of (path, name, language) and writes, for each in order, its number, digest and facts.
"""

from __future__ import annotations

import os
import sys
from typing import Any, TypeAlias, cast

import msgspec

from gongfu.knowledge.model import Facts
from gongfu.knowledge.parse import content_key, parse
from gongfu.knowledge.reading import read_source

SECONDS = 10.0
"""What one file may take."""
_MEMORY = 3 << 30
Order: TypeAlias = list[tuple[bytes, str, str]]
Frame: TypeAlias = tuple[int, bytes, Facts]


def main() -> None:
    """The process."""
    import faulthandler  # ends the process from a thread of its own, whatever the parser does

    _limit_memory()
    order = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Order)
    out, encoder = sys.stdout.buffer, msgspec.msgpack.Encoder()
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123
        for number, (path, name, language) in enumerate(order):
            faulthandler.dump_traceback_later(SECONDS, exit=True, file=nowhere)
            found = read_source(os.fsdecode(path))
            raw = found[0] if found is not None else b""
            frame: Frame = (number, content_key(name, language, raw) if found else b"", parse(name, language, raw))
            faulthandler.cancel_dump_traceback_later()
            data = encoder.encode(frame)
            out.write(len(data).to_bytes(4, "big") + data)
            out.flush()


def _limit_memory() -> None:
    try:
        import resource  # not on Windows
    except ImportError:
        return
    limit = cast("Any", resource)
    limit.setrlimit(limit.RLIMIT_AS, (_MEMORY, _MEMORY))


if __name__ == "__main__":
    main()
