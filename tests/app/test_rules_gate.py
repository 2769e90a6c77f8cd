"""The gate stands at the bytes: what an endpoint would write otherwise than planned is not sent."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

import anyio
import msgspec
import pytest

import gongfu
from gongfu.context.rules.envelope import envelopes
from gongfu.core.events import RequestSent
from gongfu.core.messages import CallPart, Message, TextPart
from gongfu.core.specs import ModelInfo
from gongfu.core.told import RulesPinned
from gongfu.models.protocol import Answer, Delta, Prepared, Request, whole_system

from .ruled import events, project, say, snapshot

pytestmark = pytest.mark.anyio
Body = Callable[[Request, RulesPinned], object]


class Endpoint:
    """Writes whatever `body` makes of a request; `sent` are those that got past the gate."""

    def __init__(self, body: Body) -> None:
        self.info = ModelInfo(ref="own/model", provider="own", name="model", window=64_000, max_output=1000, tools=True)
        self.sent: list[Request] = []
        self.pinned: Callable[[], RulesPinned] | None = None
        self._body = body

    async def complete(self, request: Request, /) -> AsyncGenerator[Delta, None]:
        assert self.pinned is not None
        yield Prepared(body=msgspec.json.encode(self._body(request, self.pinned())))
        self.sent.append(request)
        yield Answer(message=Message(role="assistant", parts=(TextPart(text="Done."),)), finish="stop")

    async def aclose(self) -> None:
        pass


def faithful(request: Request, _: RulesPinned) -> object:
    return {"system": whole_system(request)}


def lacking(request: Request, _: RulesPinned) -> object:
    return {"system": request.system}


def doubled(request: Request, _: RulesPinned) -> object:
    return {"system": whole_system(request), "again": request.standing}


def altered(request: Request, _: RulesPinned) -> object:
    return {"system": whole_system(request).replace("tabs", "spaces")}


def smuggling(request: Request, pinned: RulesPinned) -> object:
    excluded = next(e for e in envelopes(pinned) if e.duty == "excluded")
    return {"system": whole_system(request), "more": excluded.text}


class Looking(Endpoint):
    """Looks at the folder first, which needs no request, as small models are made to."""

    async def complete(self, request: Request, /) -> AsyncGenerator[Delta, None]:
        if self.sent or request.messages[-1].results:
            async with aclosing(super().complete(request)) as deltas:
                async for delta in deltas:
                    yield delta
            return
        yield Prepared(body=b"")
        call = CallPart(id="x", name="list_files", arguments='{"path": "."}')
        yield Answer(message=Message(role="assistant", parts=(call,)), finish="calls")


async def test_what_no_request_was_sent_for_goes_under_the_rules_that_hold(tmp_path: Path) -> None:
    work = project(tmp_path, {"AGENTS.md": "Use tabs.\n"})
    endpoint = Looking(faithful)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    async with gongfu.open(
        work, home=tmp_path / "home", env=env, model="own/model", providers={"own/model": endpoint}, yes=True
    ) as app:
        say(app, AGENTS_md="mandatory")
        session = await app.session()
        endpoint.pinned = lambda: snapshot(app, session.id)
        finished = await (await session.prompt("Look."))
        assert [r.status for m in session.messages for r in m.results] == ["done"]
    assert finished.status == "done"
    assert len(endpoint.sent) == 1


@pytest.mark.parametrize("body", [faithful, lacking, doubled, altered, smuggling])
async def test_a_body_that_does_not_carry_the_rules_as_it_must_never_leaves(tmp_path: Path, body: Body) -> None:
    work = project(tmp_path, {"AGENTS.md": "Use tabs.\n", "CLAUDE.md": "Old.\n"})
    endpoint = Endpoint(body)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    async with gongfu.open(
        work, home=tmp_path / "home", env=env, model="own/model", providers={"own/model": endpoint}, yes=True
    ) as app:
        say(app, AGENTS_md="mandatory", CLAUDE_md="excluded")
        session = await app.session()
        endpoint.pinned = lambda: snapshot(app, session.id)
        with anyio.fail_after(20):
            finished = await (await session.prompt("Go."))
        sent = [e for e in events(app, session.id) if isinstance(e, RequestSent)]
    if body is faithful:
        assert finished.status == "done"
        assert len(endpoint.sent) == len(sent) == 1
        return
    assert (finished.status, finished.reason) == ("refused", "rules.not_delivered")
    assert finished.values["rule"] == ("CLAUDE.md" if body is smuggling else "AGENTS.md")
    assert endpoint.sent == []
    assert sent == []  # no receipt of what was never sent
    assert session.messages[-1].text == "Go."
