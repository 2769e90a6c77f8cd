"""Folds through the real loop: what requests hold before and after, in bytes, and after a restart."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from gongfu.core.events import AnswerReceived, EpochOpened, RequestSent
from gongfu.models.protocol import Request
from gongfu.models.scripted.provider import SCRIPTED, Scripted
from gongfu.models.scripted.script import Call, Say
from gongfu.tools.protocol import Outcome

from .conftest import Desk, Plain, done

pytestmark = pytest.mark.anyio

WORDS = (
    "the", "file", "reads", "a", "line", "and", "writes", "it", "back", "when", "nothing", "is", "wrong",
    "功夫", "文件",
)  # fmt: skip


def prose(seed: int, size: int) -> str:
    """Words that look like output, the same for the same seed."""
    dice = random.Random(seed)
    lines: list[str] = []
    while sum(map(len, lines)) < size:
        lines.append(f"{len(lines)}: " + " ".join(dice.choice(WORDS) for _ in range(12)))
    return "\n".join(lines)


async def look(args: dict[str, Any], ctx: object) -> Outcome:
    return Outcome(text=prose(len(args["text"]) * 7 + hash(args["text"][:0]), 3000) + f"\n{args['text']}")


def steps(turns: int, calls: int) -> list[Any]:
    found: list[Any] = []
    for turn in range(turns):
        found += [Call("look", {"text": f"place {turn}-{n} " + "x" * n}) for n in range(calls)]
        found.append(Say(f"Turn {turn} is done: the answer is {turn * 7}."))
    return found


async def play(desk: Desk, *, turns: int, calls: int, window: int, id: str = "s_test") -> Scripted:
    desk.tools.append(Plain("look", look))
    model = Scripted(steps(turns, calls), info=msgspec.structs.replace(SCRIPTED, window=window))
    async with desk.session(model, id=id) as session:
        for turn in range(turns):
            end = await done(session, f"Task {turn}: always keep the value {turn} in mind.")
            assert end.status == "done", (end.reason, end.values)
    return model


def plain(request: Request) -> bytes:
    """The request without the random ids of prompts, which no provider is sent."""
    messages = tuple(msgspec.structs.replace(m, id="") for m in request.messages)
    return msgspec.json.encode(msgspec.structs.replace(request, messages=messages))


async def test_a_long_session_goes_on_within_its_budget(desk: Desk) -> None:
    model = await play(desk, turns=12, calls=5, window=32_768)
    epochs = desk.of(EpochOpened)
    sent = [e for e in desk.of(RequestSent) if e.purpose == "main"]
    assert len(epochs) >= 2
    assert [e.epoch for e in epochs] == list(range(1, len(epochs) + 1))
    assert all(e.estimate <= e.budget for e in sent)
    assert len(sent) == len(model.requests)
    for epoch in epochs:
        assert epoch.before - epoch.after >= epoch.least or epoch.forced
        assert epoch.visits <= 5 * epoch.at


async def test_between_epochs_requests_only_grow(desk: Desk) -> None:
    model = await play(desk, turns=12, calls=5, window=32_768)
    sent = [e for e in desk.of(RequestSent) if e.purpose == "main"]
    for (one, two), (before, after) in zip(pairwise(model.requests), pairwise(sent), strict=True):
        if before.epoch == after.epoch:
            assert two.messages[: len(one.messages)] == one.messages
            assert after.broke == ""
        else:
            assert after.broke == "epoch"
            assert after.fold == "high"


async def test_the_first_task_and_the_newest_words_are_always_there(desk: Desk) -> None:
    model = await play(desk, turns=12, calls=5, window=32_768)
    for request in model.requests:
        people = [m.text for m in request.messages if m.role == "user" and m.kind != "note"]
        assert people[0].startswith("Task 0")
        newest = max(int(t.split()[1].rstrip(":")) for t in people)
        assert people[-1].startswith(f"Task {newest}:")
        groups = [m for m in request.messages if m.role == "tool"]
        if groups and request.messages[-1].role == "tool":
            assert "left out" not in groups[-1].results[-1].text


async def test_resumed_requests_are_the_same_bytes_after_a_fold(desk: Desk) -> None:
    """The program is started again before every turn."""
    whole = await play(desk, turns=10, calls=5, window=32_768)
    parts: list[Request] = []
    info = msgspec.structs.replace(SCRIPTED, window=32_768)
    for turn in range(10):
        model = Scripted(steps(10, 5)[turn * 6 : turn * 6 + 6], info=info)
        async with desk.session(model, id="s_again") as session:
            await done(session, f"Task {turn}: always keep the value {turn} in mind.")
        parts += model.requests
    assert len(desk.of(EpochOpened, "s_again")) >= 2
    assert [plain(r) for r in parts] == [plain(r) for r in whole.requests]


async def test_answers_are_recorded_once(desk: Desk) -> None:
    await play(desk, turns=3, calls=2, window=32_768)
    assert len(desk.of(AnswerReceived)) == 9
