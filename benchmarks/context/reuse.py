#!/usr/bin/env python3
"""How much of each request a provider's cache can reuse, over a coding session of 80 turns and about 390 requests.

    python benchmarks/context/reuse.py [WINDOW ...]

Gongfu runs whole (`gongfu.open`, its tools on real files) against a scripted model over HTTP on loopback, which counts tokens with the
o200k table; everything is measured on the bytes that the server received. Beside it the same history under the window algorithm that
the context engine replaces, which selects anew for each request: the newest 20 units, then groups of exempt tools, then 35% of the rest
for the person's words, 25% for the model's, 40% for tools, and what is left for the newest that did not fit.

Reuse of a request: the bytes of system prompt and messages that it shares with the beginning of the request before, as a share of
that request's. Targets: mean at least .90 at 32k, .95 at 100k, .98 at 200k; no request over its budget.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import coding
import msgspec
from coding import Turn

import gongfu
from gongfu.context.tiers import KEY, USER, call_tier, message_tier
from gongfu.core.events import EpochOpened, RequestSent
from gongfu.core.messages import Message
from gongfu.core.specs import Usage
from gongfu.core.tokens import PER_MESSAGE, text_tokens
from gongfu.models.scripted import Call, Calls, Say, serve

TARGETS = {32_768: 0.90, 100_000: 0.95, 200_000: 0.98}
OUTPUT = 8192
CONFIG = """
models: {{main: [bench/m]}}
providers: {{bench: {{api: openai_chat, base_url: {url}, api_key: none}}}}
model_settings:
  bench/m: {{window: {window}, max_output_tokens: {output}, max_context_tokens: 0}}
context: {{summaries_may_use_main: false, tool_use_summaries: false}}
"""


class Counter:
    """Tokens of a request as the o200k table counts them (as we estimate them, without that table)."""

    def __init__(self) -> None:
        try:
            from rs_bpe.bpe import openai

            self._count: Callable[[str], int] = openai.o200k_base().count
            self.name = "o200k"
        except ImportError:
            self._count = text_tokens
            self.name = "our estimate"
        self._known: dict[str, int] = {}

    def text(self, text: str) -> int:
        if text not in self._known:
            self._known[text] = self._count(text)
        return self._known[text]

    def body(self, body: dict[str, Any]) -> int:
        total = self.text(json.dumps(body.get("tools", []), ensure_ascii=False))
        for message in body["messages"]:
            total += PER_MESSAGE + self.text(message.get("content") or "")
            for call in message.get("tool_calls", ()):
                total += PER_MESSAGE + self.text(call["function"]["name"]) + self.text(call["function"]["arguments"])
        return total


class Run:
    """What one session left behind."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.tokens: list[int] = []
        self.messages: list[Message] = []
        self.sent: list[RequestSent] = []
        self.folds: list[EpochOpened] = []
        self.seconds = 0.0
        self.troubles: list[str] = []


def counted(step: Call | Calls | Say, counter: Counter, run: Run) -> Callable[[Any], Call | Calls | Say]:
    """The step, with the real number of tokens in its usage."""

    def answer(received: Any) -> Call | Calls | Say:
        tokens = counter.body(received.body)
        run.tokens.append(tokens)
        return msgspec.structs.replace(step, usage=Usage(input=tokens, output=50))

    return answer


async def play(turns: Sequence[Turn], top: Path, home: Path, window: int, counter: Counter) -> Run:
    """Let the agent live through the turns."""
    run = Run()
    home.mkdir()
    started = time.monotonic()
    async with serve([counted(s, counter, run) for t in turns for s in t.steps], strict=False) as server:
        (home / "config.yaml").write_text(CONFIG.format(url=server.base_url, window=window, output=OUTPUT))
        env = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "NO_PROXY": "127.0.0.1"}
        async with gongfu.open(top, home=home, env=env, permission="full", answers="no") as app:
            session = await app.session()
            for turn in turns:
                end = await (await session.prompt(turn.prompt))
                if end.status != "done":
                    run.troubles.append(f"{turn.prompt[:40]}: {end.status} {end.reason} {end.values}")
                    break
            run.messages = list(session.state.transcript.messages)
            events = [entry.event for entry in app.journal.read(session.id)]
        run.bodies = [r.raw for r in server.requests]
    run.sent = [e for e in events if isinstance(e, RequestSent)]
    run.folds = [e for e in events if isinstance(e, EpochOpened)]
    run.seconds = time.monotonic() - started
    return run


def shown(body: bytes) -> bytes:
    """The part of a request that holds system prompt and messages."""
    return body[body.index(b'"messages":[') : body.rindex(b"]")]


def shared(one: bytes, two: bytes) -> int:
    """Bytes at the beginning that are the same."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == two[low:middle] else (low, middle - 1)
    return low


class Reuse:
    """Reuse over a session: per request, and weighted by size."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self.shares: list[float] = []
        self.same = self.size = self.largest = 0
        before = b""
        for part in parts:
            if before:
                same = shared(before, part)
                self.shares.append(same / len(before))
                self.same += same
                self.size += len(before)
            self.largest = max(self.largest, len(part))
            before = part

    def __str__(self) -> str:
        return (
            f"reuse {mean(self.shares):.4f} (by bytes {self.same / self.size:.4f}, lowest {min(self.shares):.3f}, "
            f"whole in {sum(s > 0.999 for s in self.shares) / len(self.shares):.0%}), largest {self.largest / 1000:.0f} kB"
        )


# --- the window algorithm of old ----------------------------------------------------------------------------------------


class Piece:
    """A unit of the old algorithm: a text or a tool group, on the wire and in tokens."""

    def __init__(self, at: int, messages: Sequence[Message]) -> None:
        self.at = at
        self.wire = b",".join(msgspec.json.encode(m) for m in messages)
        self.tokens = sum(PER_MESSAGE + text_tokens(msgspec.json.encode(m.parts).decode()) for m in messages)
        head = messages[0]
        results = {r.call_id: r for m in messages[1:] for r in m.results}
        self.tier = min((call_tier(c, results.get(c.id)) for c in head.calls), default=message_tier(head))


def pieces(messages: Sequence[Message]) -> list[Piece]:
    found, at = [], 0
    while at < len(messages):
        size = 2 if messages[at].calls and at + 1 < len(messages) else 1
        found.append(Piece(at, messages[at : at + size]))
        at += size
    return found


def selected(history: Sequence[Piece], total: int) -> list[Piece]:
    """What the old algorithm sends of a history."""
    if sum(p.tokens for p in history) <= total:
        return list(history)
    kept: dict[int, Piece] = {}

    def take(wanted: Iterable[Piece], room: int) -> int:
        for piece in wanted:
            if piece.at not in kept and piece.tokens <= room:
                kept[piece.at] = piece
                room -= piece.tokens
        return room

    left = take(reversed(history[-20:]), total)
    left = take((p for p in reversed(history) if p.tier == KEY), left)
    rest = list(reversed(history[:-20]))
    user = [p for p in rest if p.tier == USER]
    said = [p for p in rest if p.tier not in (USER, KEY) and b'"call' not in p.wire]
    tools = [p for p in rest if p.tier not in (USER, KEY) and b'"call' in p.wire]
    over = sum(
        take(group, left * share // 100) - left * share // 100 for group, share in ((user, 35), (said, 25), (tools, 40))
    )
    take(rest, left + over)
    return [kept[at] for at in sorted(kept)]


def replayed(run: Run, total: int) -> tuple[Reuse, int]:
    """The same session under the old algorithm: its reuse, and how many requests had to leave something out."""
    answers = [at for at, m in enumerate(run.messages) if m.role == "assistant"]
    everything = pieces(run.messages)
    system = shown(run.bodies[0]).split(b"},{", 1)[0]
    fixed = text_tokens(system.decode()) + 1300
    parts, cut = [], 0
    for answer in answers:
        history = [p for p in everything if p.at < answer]
        chosen = selected(history, total - fixed)
        cut += len(chosen) < len(history)
        parts.append(system + b",".join(p.wire for p in chosen))
    return Reuse(parts), cut


async def main() -> int:
    windows = [int(a) for a in sys.argv[1:]] or list(TARGETS)
    counter = Counter()
    missed = 0
    for window in windows:
        with tempfile.TemporaryDirectory(prefix="gongfu-bench-") as folder:
            top = Path(folder, "work")
            turns = list(coding.session(coding.workspace(top)))
            run = await play(turns, top, Path(folder, "home"), window, counter)
        ours = Reuse(map(shown, run.bodies))
        over = sum(s.estimate > s.budget for s in run.sent)
        past = sum(tokens > window - OUTPUT for tokens in run.tokens)
        results = [len(r.text.encode()) for m in run.messages for r in m.results]
        target = TARGETS.get(window, 0.0)
        old, cut = replayed(run, run.sent[0].budget)
        print(
            f"window {window}: {len(turns)} turns, {len(run.bodies)} requests, {len(results)} results of {min(results)} to {max(results)} bytes "
            f"(mean {mean(results):.0f}), {run.seconds:.0f} s, load {os.getloadavg()[0]:.1f}"
        )
        print(f"  Gongfu          {ours}; target {target:.2f}")
        print(
            f"                  {len(run.folds)} folds ({', '.join(f'{n} on rung {r}' for r, n in rungs(run.folds))}), largest {max(run.tokens)} tokens "
            f"({counter.name}); {over} requests estimated over the budget of {run.sent[0].budget}, {past} really beyond the window less the answer"
        )
        print(f"  window of old   {old}; {cut} requests left something out")
        for trouble in run.troubles:
            print(f"  {trouble}")
        missed += mean(ours.shares) < target or over > 0 or past > 0 or bool(run.troubles)
    return 1 if missed else 0


def rungs(folds: Iterable[EpochOpened]) -> list[tuple[int, int]]:
    found: dict[int, int] = {}
    for fold in folds:
        found[fold.rung] = found.get(fold.rung, 0) + 1
    return sorted(found.items())


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
