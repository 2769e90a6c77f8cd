"""Projects with rules, a real App against a server on loopback, and envelopes counted in the bytes that it received."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

import gongfu
from gongfu.app import App
from gongfu.app.rule_words import refresh, review
from gongfu.app.rules import find_rules, root_of, rulebook
from gongfu.context.receipt import Receipt, receipts
from gongfu.context.rules.envelope import Envelope, envelopes
from gongfu.core.duties import Word
from gongfu.core.events import AnyEvent
from gongfu.core.told import Duty, RulesPinned
from gongfu.models.scripted import Server
from gongfu.models.scripted.server import Received

from .wire import body_texts


def project(tmp_path: Path, files: dict[str, str | bytes]) -> Path:
    """A repository with these files."""
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    write(folder, files)
    return folder


def write(folder: Path, files: dict[str, str | bytes]) -> None:
    """Put files there."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


@asynccontextmanager
async def opened(
    work: Path, server: Server, *, rules: str = "", api: str = "openai_chat", window: int = 64_000, fast: bool = False,
    directory: str = "", **options: Any,
) -> AsyncGenerator[App, None]:  # fmt: skip
    """An app in the project that talks to `server`."""
    home = work.parent / "home"
    home.mkdir(exist_ok=True)
    base = server.root_url if api == "anthropic" else server.base_url
    lines = [
        "models:", "  main: [mine/m]", *(["  fast: [mine/quick]"] if fast else []),
        "providers:", "  mine:", f"    api: {api}", f"    base_url: {base}", "    api_key: sk-none",
        "model_settings:", "  mine/m:", f"    window: {window}", "    max_output_tokens: 2000",
        "  mine/quick:", "    window: 16000", "    max_output_tokens: 500",
        "context:", "  summaries_may_use_main: false",
    ]  # fmt: skip
    (home / "config.yaml").write_text("\n".join(lines) + "\n")
    env = {"PATH": os.environ["PATH"], "HOME": str(work.parent), "NO_PROXY": "127.0.0.1"}
    given = {"home": home, "env": env, "yes": True, "rules": rules} | options
    async with gongfu.open(work / directory, **given) as app:
        yield app


def say(app: App, **duties: Duty) -> None:
    """The operator's word on files; a slash in a path is written as two underscores."""
    found = find_rules(app)
    for name, duty in duties.items():
        path = name.replace("__", "/").replace("_md", ".md")
        words = [Word(path=d.path, heading="", sha256=d.sha256, duty=duty) for d in found.drafts if d.path == path]
        assert words, (path, found)
        rulebook(app).say(root_of(app), words)


async def ask(app: App, text: str, id: str = "", status: str = "done") -> str:
    """One turn; the session."""
    session = await app.session(id)
    with anyio.fail_after(60):
        finished = await (await session.prompt(text))
    assert finished.status == status, finished
    return session.id


async def refreshed(app: App, id: str, *, keep: bool = False) -> RulesPinned:
    """Pin what is on disk, as after a review."""
    session = await app.session(id)
    seen = review(app, session, keep=keep)
    return refresh(app, session, old=seen.pinned.fingerprint, new=seen.live.fingerprint, keep=keep)


def events(app: App, id: str) -> list[AnyEvent]:
    """All that happened in a session."""
    return [entry.event for entry in app.journal.read(id)]


def snapshot(app: App, id: str) -> RulesPinned:
    """The snapshot that holds in a session."""
    return [e for e in events(app, id) if isinstance(e, RulesPinned)][-1]


def receipts_of(app: App, id: str) -> list[Receipt]:
    """The receipts of a session."""
    return receipts(app.journal.read(id))


def count(request: Received, envelope: Envelope) -> int:
    """How often an envelope is in the bytes of a request: the whole of it, and its first line."""
    texts = list(body_texts(request.body))
    whole = sum(t.count(envelope.text) for t in texts)
    begun = sum(t.count(envelope.opening) for t in texts)
    assert whole == begun, (whole, begun, envelope.id)
    return whole


def counts(pinned: RulesPinned, requests: Sequence[Received]) -> dict[str, list[int]]:
    """Of each envelope how often it is in each request."""
    joined = [s.path for s in pinned.sources]
    return {e.id.removeprefix("rule:"): [count(r, e) for r in requests] for e in envelopes(pinned, joined)}


def main_requests(requests: Sequence[Received]) -> list[Received]:
    """Those of the main model."""
    return [r for r in requests if r.body.get("model") == "m"]
