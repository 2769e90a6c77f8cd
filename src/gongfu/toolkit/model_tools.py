"""Models, for the model: which there are, what a provider offers, whether one works, how much it thinks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from anyio import to_thread

from gongfu.config import edit
from gongfu.config.paths import Places
from gongfu.config.settings import Settings
from gongfu.core.errors import ProviderFault, ToolFailure, UserError
from gongfu.core.specs import ModelInfo
from gongfu.models.router import Router
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome, Tool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gongfu.engine.session import Session

_MOST = 300
Action = Literal["configured", "list", "test"]
Effort = Literal["", "auto", "on", "off", "low", "medium", "high"]


class ModelTools:
    """The tools `models` and `reasoning` of one session."""

    def __init__(
        self, session: Session, router: Router, settings: Settings, places: Places, env: Mapping[str, str]
    ) -> None:
        self._session = session
        self._router = router
        self._settings = settings
        self._places = places
        self._env = env

    def __iter__(self) -> Iterator[Tool]:
        yield self.models
        yield self.reasoning

    # --- models ---

    async def _facts(self, args: dict[str, Any]) -> Facts:
        action = str(args.get("action", "configured"))
        name = str(args.get("provider" if action == "list" else "model", "")).strip()
        title = f"{action} {name}".strip()[:120]
        if action == "configured":
            return Facts(access=("read",), title=title)
        provider = self._provider(name) if action == "list" else self._target(name)
        host = self._host(provider)
        return Facts(access=("network",) if host else ("read",), hosts=(host,) if host else (), title=title)

    def _claims(self, _args: dict[str, Any]) -> tuple[Claim, ...]:
        return ()

    def _provider(self, name: str) -> str:
        if not name:
            raise ToolFailure(f"provider is empty; configured are: {', '.join(self._settings.providers) or 'none'}")
        return name

    def _target(self, ref: str) -> str:
        try:
            wanted = ref or self._session.model
            return "" if wanted.startswith("scripted/") else self._router.resolve(wanted).provider
        except UserError as error:
            raise ToolFailure(str(error)) from None

    def _host(self, provider: str) -> str:
        """Host and port of a provider; "" for one that is part of this program."""
        given = self._settings.providers.get(provider)
        if provider in ("", "local", "scripted") or (given is not None and given.api in ("local", "scripted")):
            return ""
        try:
            at = urlsplit(self._router.endpoint(provider).base_url)
            port = at.port or (80 if at.scheme == "http" else 443)
        except (UserError, ValueError) as error:
            raise ToolFailure(str(error)) from None
        return f"{at.hostname or ''}:{port}"

    @tool(access=("read", "network"), facts=_facts, claims=_claims)
    async def models(
        self, ctx: CallContext, action: Action = "configured", provider: str = "", model: str = ""
    ) -> Outcome:
        try:
            match action:
                case "configured":
                    return self._configured()
                case "list":
                    return await self._offered(self._provider(provider.strip()))
                case "test":
                    return await self._tested(model.strip() or self._session.model, ctx)
        except (UserError, ProviderFault) as error:
            raise ToolFailure(str(error)) from None

    def _configured(self) -> Outcome:
        named = self._settings.models
        rows = [("main", ref) for ref in named.main] + [("fast", ref) for ref in named.fast]
        rows += [("embedding", named.embedding)] if named.embedding else []
        lines = [f"this session: {self._session.model or 'none yet'}"]
        for role, ref in rows:
            try:
                lines.append(f"{role}: {_told(self._router.info(ref, 'fast' if role == 'fast' else 'main'))}")
            except UserError as error:
                lines.append(f"{role}: {ref} cannot be used: {error}")
        lines += [f"provider {name}: {p.base_url or p.api}" for name, p in self._settings.providers.items()]
        return _lines(lines, f"{len(rows)} configured")

    async def _offered(self, provider: str) -> Outcome:
        if not self._host(provider):
            raise ToolFailure(f"{provider} is part of this program and lists nothing")
        from gongfu.models.detect import ask_models  # only when a list is wanted

        endpoint = self._router.endpoint(provider)
        listing = await ask_models(endpoint.base_url, self._env, key=endpoint.key, patience=15.0)
        if listing is None:
            raise ToolFailure(f"{provider} gave no list of models; its address, its key or the network may be wrong")
        names = sorted(listing.models)
        more = [f"… {len(names) - _MOST} more"] if len(names) > _MOST else []
        return _lines([*(f"{provider}/{name}" for name in names[:_MOST]), *more], f"{len(names)} models")

    async def _tested(self, ref: str, ctx: CallContext) -> Outcome:
        from gongfu.models.probe import probe  # only when one is tested

        provider = (await self._router.chain("main", ref))[0]
        lines = [provider.info.ref]
        failed: list[str] = []
        async with aclosing(probe(provider, deep=False)) as findings:
            async for finding in findings:
                failed += [finding.label("en")] if finding.level == "fail" else []
                advice = finding.advice("en")
                line = (
                    f"{finding.level} {finding.label('en')}: {finding.detail('en')}{f' ({advice})' if advice else ''}"
                )
                ctx.output(f"{line}\n")
                lines.append(line)
        outcome = _lines(lines, f"{', '.join(failed)} failed" if failed else "works")
        return Outcome(text=outcome.text, display=outcome.display, status="failed" if failed else "done")

    # --- reasoning ---

    async def _reasoning_facts(self, args: dict[str, Any]) -> Facts:
        effort = str(args.get("effort", ""))
        if not (effort and args.get("lasting")):
            return Facts(access=("read",), title=effort)
        file = str(self._places.config.resolve())
        text = f"{self._setting()}: {_effort(effort)}"
        return Facts(
            access=("write",), paths=(file,), writes=(file,), title=f"{effort}, lasting",
            preview={"kind": "text", "text": text, "summary": effort},
        )  # fmt: skip

    def _reasoning_claims(self, _args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource="settings", write=True),)

    def _setting(self) -> str:
        if not self._session.model:
            raise ToolFailure("no model was asked in this session yet, so nothing lasting can be set for it")
        return f'model_settings."{self._session.model}".reasoning'

    @tool(access=("read", "write"), facts=_reasoning_facts, claims=_reasoning_claims)
    async def reasoning(self, effort: Effort = "", lasting: bool = False) -> Outcome:
        session = self._session
        if not effort:
            own = session.state.reasoning
            now = own or (session.mode and session.overlay.agent.reasoning) or self._configured_effort()
            where = "for this session" if own else "by the settings or the work mode"
            return Outcome(text=f"reasoning: {now} ({where}); it can be auto, off, on, low, medium, high")
        wanted = _effort(effort)
        if lasting:
            change = partial(edit.set_value, self._places, self._setting(), wanted)
            try:
                await to_thread.run_sync(change)
            except UserError as error:
                raise ToolFailure(str(error)) from None
        session.overlay.think(wanted)
        told = "in the settings, and for this session from the next request on" if lasting else "for this session"
        return Outcome(
            text=f"reasoning: {wanted} {told}",
            display={"kind": "text", "text": wanted, "summary": wanted},
        )

    def _configured_effort(self) -> str:
        try:
            info = self._router.info(self._session.model)
        except UserError:
            return "auto"
        return self._session.kit.agent.tuning(info).reasoning


def _effort(word: str) -> str:
    return "medium" if word == "on" else word


def _told(info: ModelInfo) -> str:
    price = info.price
    known = price.input is not None and price.output is not None
    cost = f", ${price.input:g}/${price.output:g} for a million tokens in/out" if known else ""
    window = f", window {info.window:,}" if info.window else ""
    able = [word for word, there in (("images", info.images), ("reasoning", info.reasoning)) if there]
    return f"{info.ref}{window}{cost}{', ' + ', '.join(able) if able else ''}"


def _lines(lines: list[str], summary: str) -> Outcome:
    return Outcome(
        text="\n".join(lines), display={"kind": "list", "items": lines, "total": len(lines), "summary": summary}
    )
