"""What a session holds and costs: the last request, the usage, and how everything stands."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from gongfu.core.errors import UserError
from gongfu.core.events import RequestSent
from gongfu.core.version import __version__
from gongfu.surfaces.cli.context_view import View
from gongfu.surfaces.cli.output import encodable
from gongfu.surfaces.cli.render.numbers import money, tokens
from gongfu.surfaces.cli.render.table import table
from gongfu.surfaces.cli.style import one_line
from gongfu.surfaces.cli.talk.commands.paper import apart, columns_of, facts, give, wrapped
from gongfu.surfaces.cli.talk.face import Option

if TYPE_CHECKING:
    from gongfu.app import App
    from gongfu.context.xray import Xray
    from gongfu.core.told import RulesPinned
    from gongfu.engine.state import UsageLine
    from gongfu.models.protocol import ModelProvider
    from gongfu.surfaces.cli.talk.talk import Talk

_HASH = 12
_SYMBOLS = "█▁═─·"
_OWN = ("list_hint", "all_hint")
_ORDER = ("main", "sub-agent", "tool_use_summary_generation", "title", "summary")
_RECENT = 400  # events in which the newest request is looked for


# --- /context ---


class _View(View, frozen=True):
    """Names the commands of the conversation instead of those of the command line."""

    def _tell(self, key: str, **values: object) -> str:
        return self.speech(f"talk_tell.{key}" if key in _OWN else f"xray.{key}", **values)


async def context(talk: Talk, args: str) -> None:
    """What the last request carried, or another one by its number; "all" lists them."""
    session = talk.session.id
    seen: Xray | None = None
    if talk.session.state.created is not None:
        seen = await apart(talk, lambda app: app.xray(session))
    if seen is None or not seen.receipts:
        await give(talk, await _before(talk))
        return
    from gongfu.surfaces.cli.context import choose

    view = _View(
        style=talk.cli.out_style,
        speech=talk.cli.say,
        columns=columns_of(talk),
        symbols=encodable(_SYMBOLS, talk.cli.out.encoding) == _SYMBOLS,
        verbose=talk.view.verbose,
    )
    if args == "all":
        await give(talk, view.listing(seen))
        return
    try:
        chosen = choose(seen, args or None)
    except UserError as error:
        raise UserError("talk_tell.no_request", wanted=one_line(args, 40), count=len(seen.receipts)) from error
    await give(talk, view.request(seen, chosen))


def complete_context(talk: Talk, args: str) -> Sequence[Option]:
    """The list of all requests."""
    del args
    return (Option(value="all", label="all", detail=talk.cli.say("talk_tell.context_all")),)


async def _before(talk: Talk) -> list[str]:
    """What the first request would carry."""
    from gongfu.context.ledger import tool_tokens
    from gongfu.context.rules.envelope import envelopes
    from gongfu.core.tokens import text_tokens

    say = talk.cli.say
    overlay = talk.session.overlay
    pinned = await apart(talk, _on_disk)
    rules = sum(e.tokens for e in envelopes(pinned, set()) if e.duty != "excluded" and e.joined)
    parts = {
        "system": text_tokens(overlay.agent.system),
        "tools": tool_tokens(overlay.registry.specs),
        "rules": rules,
    }
    window = 0
    with suppress(UserError):  # no model yet: that is told where one is needed
        window = (await talk.session.models())[0].info.window
    rows = [(say(f"xray.part_{name}"), tokens(count)) for name, count in parts.items() if count]
    rows.append((say("talk_tell.sum"), tokens(sum(parts.values()))))
    if window:
        rows.append((say("talk_tell.window"), tokens(window)))
    drawn = table(rows, columns=columns_of(talk) - 2, right=(1,))
    return [*wrapped(talk, say("talk_tell.context_before")), *(f"  {line}" for line in drawn)]


def _on_disk(app: App) -> RulesPinned:
    from gongfu.app.rules import find_rules, snapshot, words_of

    return snapshot(app, "", find_rules(app, seconds=2.0), words_of(app), policy=app.options.rules)


# --- /cost ---


async def cost(talk: Talk, args: str) -> None:
    """Requests, tokens and money by purpose: of the newest turn, and of the session."""
    del args
    say, style, state = talk.cli.say, talk.cli.out_style, talk.session.state
    if not state.usage:
        talk.note(say("talk_tell.cost_none"))
        return
    own, below, _ = state.spent()
    turn = {name: line for name, line in (("main", own), ("sub-agent", below)) if line.requests}
    lines: list[str] = []
    if turn:
        key = "talk_tell.cost_turn_now" if talk.session.running else "talk_tell.cost_turn"
        lines += [style.bold(say(key)), *_usage(talk, turn), ""]
    lines += [style.bold(say("talk_tell.cost_session")), *_usage(talk, state.usage)]
    limits = talk.session.kit.agent.limits
    if limits.cost is not None:
        lines += ["", *wrapped(talk, say("talk_tell.cost_limit", most=money(limits.cost)), style.dim)]
    if any(line.cost is None for line in state.usage.values()):
        lines += ["", *wrapped(talk, say("talk_tell.cost_unknown"), style.dim)]
    await give(talk, lines)


def _usage(talk: Talk, usage: dict[str, UsageLine]) -> list[str]:
    """A line a purpose, and their sum where there are several."""
    say, columns = talk.cli.say, columns_of(talk) - 2
    names = sorted(usage, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))
    rows = [[say(f"cli.head_{name}") for name in ("purpose", "requests", "input", "cached", "output", "cost")]]
    rows += [[_purpose(talk, name), *_figures(talk, usage[name])] for name in names]
    if len(names) > 1:
        rows.append([say("talk_tell.sum"), *_figures(talk, _summed([usage[name] for name in names]))])
    head, *drawn = table(rows, columns=columns, right=(1, 2, 3, 4, 5), spare=(1, 3))
    last = len(drawn) - 1 if len(names) > 1 else -1
    style = talk.cli.out_style
    painted = [style.bold(line) if at == last else line for at, line in enumerate(drawn)]
    return [f"  {style.dim(head)}", *(f"  {line}" for line in painted)]


def _purpose(talk: Talk, name: str) -> str:
    try:
        return talk.cli.say(f"talk_tell.purpose_{name.replace('-', '_')}")
    except KeyError:
        return one_line(name)


def _figures(talk: Talk, line: UsageLine) -> list[str]:
    used = line.usage
    price = talk.cli.say("cli.unknown") if line.cost is None else money(line.cost)
    return [f"{line.requests:,}", tokens(used.input), tokens(used.cached), tokens(used.output), price]


def _summed(lines: Sequence[UsageLine]) -> UsageLine:
    whole = lines[0]
    for line in lines[1:]:
        whole = whole.plus(line.usage, line.cost, requests=line.requests)
    return whole


# --- /status ---


async def status(talk: Talk, args: str) -> None:
    """How everything stands, a line each."""
    del args
    say, app, session = talk.cli.say, talk.app, talk.session
    from gongfu.surfaces.cli.sandboxed import status as sandbox_of
    from gongfu.workspace.names import show_name

    try:
        provider = (await session.models())[0]
        model = _model(talk, provider)
    except UserError as error:
        model = say.told(error.key, error.values)
    pinned = session.state.context.pinned
    permission = session.permission
    pairs = [
        ("version", f"Gongfu {__version__}"),
        ("session", "  ".join(filter(None, (session.id, one_line(session.title, 60))))),
        ("folder", show_name(str(app.workspace.root))),
        ("model", model),
        (
            "permission",
            say("talk_tell.permission_line", name=permission, about=say(f"talk_tell.permission_{permission}")),
        ),
        ("mode", session.mode or say("talk_tell.none")),
        ("sandbox", sandbox_of(talk.cli, app, mode=permission)),
        ("trust", _trust(talk)),
        ("rules", pinned.fingerprint[:_HASH] if pinned is not None else say("talk_tell.rules_none_yet")),
        ("mcp", _servers(talk)),
        ("settings", ", ".join(_files(talk)) or say("talk_tell.defaults")),
        ("context", _used(talk)),
        ("agents", ", ".join(session.children.running)),
        ("queue", str(len(session.queue)) if session.queue else ""),
    ]
    await give(talk, facts(talk, [(say(f"talk_tell.status_{name}"), value) for name, value in pairs]))


def _model(talk: Talk, provider: ModelProvider) -> str:
    info = provider.info
    where = talk.cli.say("talk_tell.model_embedded")
    if info.provider not in ("local", "scripted"):
        try:
            where = talk.app.router.endpoint(info.provider).base_url
        except UserError:
            where = ""
    elif info.provider == "scripted":
        where = ""
    window = talk.cli.say("talk_tell.model_window", window=tokens(info.window)) if info.window else ""
    return " · ".join(filter(None, (info.ref, where, window)))


def _trust(talk: Talk) -> str:
    state = talk.app.options.trust.state
    if state in ("", "nothing"):
        return talk.cli.say("talk_tell.trust_nothing")
    return talk.cli.say(f"trust.state_{state}")


def _servers(talk: Talk) -> str:
    hub = talk.app.hub
    if hub is None:
        return ""
    say = talk.cli.say
    return ", ".join(
        one_line(name, 40) + say("labels.in_brackets", what=say(f"talk_tell.server_{one.state}"))
        for name, one in hub.connections.items()
    )


def _files(talk: Talk) -> list[str]:
    """The settings files that count."""
    from gongfu.config.load import PROJECT_FILE, settings_file
    from gongfu.workspace.names import show_name

    app = talk.app
    files = [settings_file(app.places, talk.opening.config)]
    if app.options.trusted:
        files.append(app.workspace.root / PROJECT_FILE)
    return [show_name(str(file)) for file in files if file.is_file()]


def _used(talk: Talk) -> str:
    """How full the context was at the last request."""
    sent: RequestSent | None = None
    if talk.session.state.created is not None:
        after = max(0, talk.session.stream.last - _RECENT)
        for entry in talk.app.journal.read(talk.session.id, after=after):
            if isinstance(entry.event, RequestSent) and entry.event.purpose == "main":
                sent = entry.event
    if sent is None:
        return talk.cli.say("talk_tell.context_none")
    from gongfu.surfaces.cli.context_page import percent

    budget = sent.budget or sent.window
    if not budget:
        return tokens(sent.estimate)
    share = percent(sent.estimate, budget)
    return talk.cli.say("talk_tell.context_used", used=tokens(sent.estimate), budget=tokens(budget), share=share)
