"""The receipts are the requests: through the real App, against what a server on loopback received."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

import gongfu
from gongfu.app import App
from gongfu.context.receipt import Receipt
from gongfu.context.xray import totals
from gongfu.core.events import EpochOpened, RequestSent, encode_event
from gongfu.core.messages import Message
from gongfu.engine.state import SessionState
from gongfu.models.scripted import SCRIPTED, Call, Calls, Fault, Match, Say, Scripted, Server, serve
from gongfu.models.scripted.server import Received

from .wire import check_receipt, covers, system_text, tool_names, units_of, wire_messages

pytestmark = pytest.mark.anyio
APIS = ("openai_chat", "openai_responses", "anthropic")
FILES = 40
LABEL = "tool_use_summary_generation"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    for n in range(FILES):
        (folder / f"f{n}.txt").write_text(f"mark-{n:03d} " + f"text of file {n}\n" * 150)
    return folder


@asynccontextmanager
async def opened(
    work: Path,
    server: Server,
    api: str = "openai_chat",
    *,
    window: int = 24_000,
    fast: bool = False,
    main: str = "mine/m",
    **options: Any,
) -> AsyncGenerator[App, None]:
    home = work.parent / "home"
    home.mkdir(exist_ok=True)
    base = server.root_url if api == "anthropic" else server.base_url
    lines = [
        "context: {summaries_may_use_main: false}",  # one beside the turn would play a step of the script
        "models:", f"  main: [{main}]", *(["  fast: [mine/quick]"] if fast else []),
        "providers:", "  mine:", f"    api: {api}", f"    base_url: {base}", "    api_key: sk-none",
        "model_settings:", "  mine/m:", f"    window: {window}", "    max_output_tokens: 2000",
        "  mine/m1:", "    window: 32000",
        "  mine/quick:", "    window: 16000", "    max_output_tokens: 500",
    ]  # fmt: skip
    (home / "config.yaml").write_text("\n".join(lines) + "\n")
    env = {"PATH": os.environ["PATH"], "HOME": str(work.parent), "NO_PROXY": "127.0.0.1"}
    async with gongfu.open(work, home=home, env=env, yes=True, **options) as app:
        yield app


def reads(count: int, start: int = 0) -> list[Any]:
    steps = range(start, start + count)
    return [Call("read_file", {"path": f"f{n % FILES}.txt"}, text=f"Step {n}.") for n in steps]


async def prompt(app: App, text: str, id: str = "") -> str:
    session = await app.session(id)
    with anyio.fail_after(60):
        assert (await (await session.prompt(text))).status == "done"
    return session.id


def transcript(app: App, id: str) -> Sequence[Message]:
    state = SessionState()
    for entry in app.journal.read(id):
        state.apply(entry.event)
    return state.transcript.messages


def matched(app: App, ids: Sequence[str], requests: Sequence[Received]) -> list[tuple[str, Receipt, Received]]:
    """Each receipt with its request on the wire; there must be as many, one for each."""
    all_receipts = [(id, receipt) for id in ids for receipt in app.receipts(id)]
    assert len(all_receipts) == len(requests)
    left = list(requests)
    pairs: list[tuple[str, Receipt, Received]] = []
    for id, receipt in sorted(all_receipts, key=lambda pair: pair[1].time):
        found = next(r for r in left if hashlib.sha256(r.raw).hexdigest()[:16] == receipt.prefix)
        left.remove(found)
        pairs.append((id, receipt, found))
    assert not left
    return pairs


@pytest.mark.parametrize("api", APIS)
async def test_each_receipt_is_its_request_over_folds(work: Path, api: str) -> None:
    (work / "AGENTS.md").write_text("# Style\nWrite short functions.\n")
    async with serve([*reads(24), Say("Half."), *reads(12, 24), Say("Done.")]) as server:
        async with opened(work, server, api, rules="mandatory-all") as app:
            id = await prompt(app, "Read the first files.")
            await prompt(app, "Read on.", id)
            seen = app.xray(id)
            pairs = matched(app, [id], server.requests)
            words = transcript(app, id)
        server.finish()
    assert seen.folds
    assert len(pairs) == 38
    for _, receipt, request in pairs:
        check_receipt(receipt, request.raw, request.body, words)
        assert [line.state for line in seen.rules_of(receipt)] == ["delivered"]


async def test_what_was_folded_is_not_in_the_request_and_what_is_masked_is_not_in_full(work: Path) -> None:
    async with (
        serve([*reads(24), Say("Half."), *reads(12, 24), Say("Done.")]) as server,
        opened(work, server, window=13_000) as app,
    ):
        id = await prompt(app, "Read the first files.")
        await prompt(app, "Read on.", id)
        pairs = matched(app, [id], server.requests)
        words = transcript(app, id)
    absent = masked = 0
    for _, receipt, request in pairs:
        held = {int(item.id[1:]): item for item in units_of(receipt.included)}
        for at in (n for n, message in enumerate(words) if message.role == "tool"):
            text = words[at].results[0].text
            shown = text.strip().encode() in request.raw.replace(b"\\n", b"\n").replace(b"\\t", b"\t")
            item = held.get(at - 1)
            if item is not None and item.level == "full":
                continue  # seen by check_receipt; it may have been shortened
            assert not shown, (receipt.number, at)
            masked += item is not None
            gone = any(covers(o.id, at - 1) for o in receipt.omitted)
            absent += gone
            assert gone or item is not None or at >= max(held), (receipt.number, at)
    assert absent
    assert masked


@pytest.mark.parametrize("api", APIS)
async def test_a_cache_that_is_not_broken_begins_with_the_same_bytes(work: Path, api: str) -> None:
    async with serve([*reads(30), Say("Done.")]) as server, opened(work, server, api) as app:
        id = await prompt(app, "Read.")
        pairs = matched(app, [id], server.requests)
        summed = totals(app.receipts(id))
    broken = 0
    for (_, before, first), (_, receipt, second) in pairwise(pairs):
        old, new = wire_messages(first.body), wire_messages(second.body)
        assert tool_names(first.body) == tool_names(second.body)
        assert system_text(first.body) == system_text(second.body)
        if receipt.broke:
            broken += 1
            assert new[: len(old)] != old
            assert (receipt.broke, receipt.fold) == ("epoch", "high")
            assert receipt.reused < before.raw
        else:
            assert new[: len(old)] == old
            assert receipt.reused == before.raw
    assert broken == len(summed.breaks) > 0
    assert summed.main.share is not None
    assert summed.main.share > 0.6


async def test_a_retry_has_a_receipt_of_its_own(work: Path) -> None:
    steps = [*reads(2), Fault("status", status=529, retry_after=0.0), Say("Done.")]
    async with serve(steps) as server, opened(work, server) as app:
        id = await prompt(app, "Read.")
        pairs = matched(app, [id], server.requests)
        words = transcript(app, id)
    failed, again = [receipt for _, receipt, _ in pairs[2:]]
    assert (failed.attempt, bool(failed.fault), failed.status) == (1, True, 529)
    assert (again.attempt, again.fault, again.finish) == (2, "", "stop")
    assert (again.included, again.reused, again.broke) == (failed.included, failed.raw, "")
    for _, receipt, request in pairs:
        check_receipt(receipt, request.raw, request.body, words)


@pytest.mark.parametrize(
    ("fault", "count"),
    [
        (Fault("drop", after=2, answer=Say("A first half of the answer, and then nothing.")), 2),
        (Fault("stop_short", after=2, answer=Say("A first half of the answer, and then nothing.")), 2),
        (Fault("status", status=500, retry_after=0.0), 2),
        (Fault("status", status=400, message="no such thing"), 1),
    ],
    ids=["drop", "stop_short", "500", "400"],
)
async def test_whatever_goes_wrong_there_is_one_receipt_for_each_request(work: Path, fault: Fault, count: int) -> None:
    async with serve([*reads(1), fault, *[Say("Done.")] * (count - 1)]) as server, opened(work, server) as app:
        session = await app.session()
        with anyio.fail_after(30):
            finished = await (await session.prompt("Read."))
        pairs = matched(app, [session.id], server.requests)
        words = transcript(app, session.id)
    assert len(pairs) == 1 + count
    assert (finished.status == "done") == (count == 2)
    assert [bool(receipt.fault) for _, receipt, _ in pairs] == [False, True, *[False] * (count - 1)]
    for _, receipt, request in pairs:
        check_receipt(receipt, request.raw, request.body, words)


async def test_a_turn_that_is_cancelled_in_the_middle_of_an_answer_keeps_its_receipt(work: Path) -> None:
    slow = Fault("hang", after=3, answer=Say("This will never come to its end."))
    async with serve([slow]) as server, opened(work, server) as app:
        session = await app.session()
        turn = await session.prompt("Go.")
        with anyio.fail_after(30):
            await server.received(1)
            await session.cancel()
            assert (await turn).status == "cancelled"
        ((_, receipt, request),) = matched(app, [session.id], server.requests)
        check_receipt(receipt, request.raw, request.body, transcript(app, session.id))
    assert receipt.usage is None


async def test_another_model_begins_without_a_cache_and_says_so(work: Path) -> None:
    gone = Fault("status", status=404, message="gone", when=Match(model="m1"), times=0)
    steps = [gone, *reads(1), Say("Done.")]
    async with serve(steps) as server, opened(work, server, main="mine/m1, mine/m") as app:
        id = await prompt(app, "Read.")
        pairs = matched(app, [id], server.requests)
        words = transcript(app, id)
    first, second, third = [receipt for _, receipt, _ in pairs]
    assert (first.model, first.broke, bool(first.fault)) == ("mine/m1", "first", True)
    assert (second.model, second.broke, second.reused, second.after) == ("mine/m", "model", 0, first.request)
    assert (third.model, third.broke, third.reused) == ("mine/m", "", second.raw)
    for _, receipt, request in pairs:
        check_receipt(receipt, request.raw, request.body, words)


async def test_an_overflow_is_told_with_its_fold(work: Path) -> None:
    steps = [*reads(8), Fault("overflow"), Say("Done.")]
    async with serve(steps) as server, opened(work, server, window=60_000) as app:
        id = await prompt(app, "Read.")
        pairs = matched(app, [id], server.requests)
        words = transcript(app, id)
        seen = app.xray(id)
    assert [f.event.reason for f in seen.folds] == ["overflow"]
    refused, after = [receipt for _, receipt, _ in pairs[-2:]]
    assert refused.fault
    assert (after.fold, after.epoch, after.broke) == ("overflow", 1, "epoch")
    assert after.raw < refused.raw
    for _, receipt, request in pairs:
        check_receipt(receipt, request.raw, request.body, words)


async def test_requests_beside_the_turn_have_receipts_too(work: Path) -> None:
    calls = [Calls((Call("read_file", {"path": f"f{n}.txt"}), Call("list_files", {}))) for n in range(3)]
    beside = Say("Read some files", when=Match(model="quick"), times=0)
    async with serve([beside, *calls, Say("Done.")]) as server, opened(work, server, fast=True) as app:
        id = await prompt(app, "Read.")
        session = await app.session(id)
        assert await session.sidecar.drain(30)  # one that closing cuts off has a receipt and may not have left
        await session.close()
        pairs = matched(app, [id], server.requests)
    aside = [receipt for _, receipt, _ in pairs if receipt.purpose != "main"]
    assert {receipt.model for receipt in aside} == {"mine/quick"}
    assert {receipt.scope for receipt in aside} == {"auxiliary"}
    for _, receipt, request in pairs:
        if receipt.purpose != "main":
            check_receipt(receipt, request.raw, request.body, [])
            assert [item.id for item in receipt.included] == ["system", "input"]
    labels = [receipt for receipt in aside if receipt.purpose == LABEL]
    assert len(labels) == 3
    assert [receipt.reused for receipt in labels] == [0, *[labels[0].included[0].tokens] * (len(labels) - 1)]
    assert LABEL in {receipt.purpose for receipt in aside}
    assert [receipt.purpose for _, receipt, request in pairs if request.body["model"] == "m"] == ["main"] * 4


async def test_a_sub_agent_has_receipts_in_its_own_session(work: Path) -> None:
    (work / "AGENTS.md").write_text("# Style\nWrite short functions.\n")
    inner = [
        Call("read_file", {"path": "f1.txt"}, when=Match(contains="LOOK-AT-IT", lacks=("mark-001", "Find out"))),
        Say("It is a file.", when=Match(contains=("LOOK-AT-IT", "mark-001"), lacks="Find out")),
    ]
    outer = [Call("task", {"task": "LOOK-AT-IT and tell."}), Say("Found.")]
    async with serve([*inner, *outer]) as server, opened(work, server, rules="mandatory-all") as app:
        id = await prompt(app, "Find out.")
        seen = app.xray(id)
        child = seen.children[0].started.session
        pairs = matched(app, [id, child], server.requests)
        words = {name: transcript(app, name) for name in (id, child)}
        inner_seen = app.xray(child)
    assert [name == child for name, _, _ in pairs] == [False, True, True, False]
    for name, receipt, request in pairs:
        check_receipt(receipt, request.raw, request.body, words[name])
        x = inner_seen if name == child else seen
        assert [line.state for line in x.rules_of(receipt)] == ["delivered"]
    assert inner_seen.parent == id
    assert seen.children[0].finished is not None
    assert seen.children[0].finished.requests == 2


async def test_receipts_are_the_same_after_the_session_is_opened_again(work: Path) -> None:
    async with serve([*reads(14), Say("Half."), *reads(3, 14), Say("Done.")]) as server:
        async with opened(work, server) as app:
            id = await prompt(app, "Read.")
        async with opened(work, server) as app:
            await prompt(app, "Read on.", id)
            pairs = matched(app, [id], server.requests)
            words = transcript(app, id)
            epochs = [e.event for e in app.journal.read(id) if isinstance(e.event, EpochOpened)]
    for _, receipt, request in pairs:
        check_receipt(receipt, request.raw, request.body, words)
    before, after = [receipt for _, receipt, _ in pairs[14:16]]
    assert len(epochs) >= 1
    assert after.after == before.request
    assert (after.broke, after.reused) == ("", before.raw)


async def test_a_nested_rule_is_delivered_from_the_request_after_its_folder_was_touched(work: Path) -> None:
    (work / "AGENTS.md").write_text("# Style\nWrite short functions.\n")
    (work / "sub").mkdir()
    (work / "sub/AGENTS.md").write_text("# Here\nUse tabs.\n")
    (work / "sub/x.txt").write_text("text\n")
    steps = [*reads(1), Call("read_file", {"path": "sub/x.txt"}), *reads(20, 1), Say("Done.")]
    async with serve(steps) as server, opened(work, server, window=15_000, rules="mandatory-all") as app:
        id = await prompt(app, "Read.")
        pairs = matched(app, [id], server.requests)
        words, seen = transcript(app, id), app.xray(id)
    for _, receipt, request in pairs:
        check_receipt(receipt, request.raw, request.body, words)
    states = [[line.state for line in seen.rules_of(receipt)] for _, receipt, _ in pairs]
    assert states == [["delivered", "waiting"]] * 2 + [["delivered", "delivered"]] * (len(pairs) - 2)
    assert seen.folds
    assert not [receipt.number for _, receipt, _ in pairs[1:] if receipt.broke and not receipt.fold]


async def test_a_receipt_in_the_log_is_small_however_long_the_request_is(work: Path) -> None:
    async with serve([*reads(30), Say("Done.")]) as server, opened(work, server, window=100_000) as app:
        id = await prompt(app, "Read.")
        stored = [e.event for e in app.journal.read(id) if isinstance(e.event, RequestSent)]
        last = app.receipts(id)[-1]
    assert max(len(encode_event(sent)) for sent in stored[1:]) < 700
    assert len(last.included) == 2 + 2 + 30  # tools, system prompt, where it works, the task, a batch each


async def test_a_small_model_is_told_each_rule_once_also_one_that_joined(work: Path) -> None:
    (work / "AGENTS.md").write_text("# Style\nWrite short functions.\n")
    (work / "sub").mkdir()
    (work / "sub/AGENTS.md").write_text("# Here\nUse tabs.\n")
    (work / "sub/x.txt").write_text("text\n")
    small = replace(SCRIPTED, small=True, max_output=1024)
    model = Scripted([*reads(1), Call("read_file", {"path": "sub/x.txt"}), *reads(2, 1), Say("Done.")], info=small)
    home = work.parent / "home"
    env = {"PATH": os.environ["PATH"], "HOME": str(work.parent)}
    options = {"home": home, "env": env, "yes": True, "rules": "mandatory-all", "providers": {small.ref: model}}
    async with gongfu.open(work, **options) as app:
        id = await prompt(app, "Read.")
        told = app.receipts(id)
    assert len(told) == len(model.bodies) == 5
    for receipt, body in zip(told, model.bodies, strict=True):
        assert receipt.raw == sum(item.tokens for item in receipt.included)
        names = [item.id for item in receipt.included if item.id.startswith("rule:")]
        assert len(names) == len(set(names))
        assert [body.count(f'path=\\"{name.removeprefix("rule:")}\\"'.encode()) for name in names] == [1] * len(names)
    assert len(names) == 2


async def test_a_request_with_a_receipt_is_on_the_wire_though_the_session_closes_at_once(work: Path) -> None:
    beside = Say("A name.", when=Match(model="quick"), times=0)
    async with serve([beside, Say("Done.")]) as server:
        async with opened(work, server) as app:
            id = await prompt(app, "Go.")
            before = len(app.receipts(id))
        async with opened(work, server, fast=True) as app:  # no connection is open yet
            session = await app.session(id)

            async def job() -> None:
                await session.sidecar.complete(purpose="title", system="Be brief.", text="Name it", max_output=60)

            session.sidecar.start(job)
            with anyio.fail_after(20):
                while len(app.receipts(id)) == before:
                    await anyio.lowlevel.checkpoint()
                await session.close()
            assert len(app.receipts(id)) == before + 1
            matched(app, [id], server.requests)
