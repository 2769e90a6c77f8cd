"""`gongfu rules refresh`: shows what changed since the rules were pinned, and pins it after a yes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gongfu.core.errors import Refusal, UsageError, UserError
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.options import Opening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gongfu.app import App, Session
    from gongfu.app.rule_words import Review


def refresh_rules(
    cli: Cli,
    *,
    session: str | None,
    yes_fingerprints: str | None,
    keep_duties: bool,
    as_json: bool,
    config: str | None,
    root: str | None,
) -> int:
    """Compare, ask, pin. With `yes_fingerprints` nothing is asked: it names what was seen before."""
    from gongfu.surfaces.cli.opening import opened, run_async

    named = _named(yes_fingerprints)

    async def work() -> int:
        async with opened(cli, Opening(config=config or "", root=root)) as app:
            found = await _session(app, session)
            return _refresh(cli, app, found, named, keep=keep_duties, as_json=as_json)

    return run_async(work)


def _named(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    old, colon, new = text.strip().lower().partition(":")
    if not colon or not old or not new:
        raise UsageError("rules.bad_fingerprints", given=text)
    return old, new


async def _session(app: App, id: str | None) -> Session:
    """The session that is meant. Raises Refusal RULES_CHANGED when another process works on it."""
    try:
        return await app.session(id or "", latest=not id)
    except UserError as error:
        if error.key == "engine.session_busy":
            raise Refusal("rules.changed_running") from error
        raise


def _refresh(cli: Cli, app: App, session: Session, named: tuple[str, str] | None, *, keep: bool, as_json: bool) -> int:
    from gongfu.app.rule_words import refresh, review
    from gongfu.surfaces.cli.confirm import can_ask, confirm

    seen = review(app, session, keep=keep)
    pair = seen.pinned.fingerprint, seen.live.fingerprint
    applied = False
    if not as_json:
        _print(cli, session.id, seen)
    if named is not None:
        refresh(app, session, old=named[0], new=named[1], keep=keep)
        applied = seen.due
    elif seen.due and not as_json and can_ask(cli):
        if not confirm(cli, cli.say("rules.refresh_sure", old=pair[0][:12], new=pair[1][:12])):
            raise UserError("cli.not_confirmed")
        refresh(app, session, old=pair[0], new=pair[1], keep=keep)
        applied = True
    if as_json:
        from gongfu.surfaces.cli.result import to_json

        cli.out.line(to_json(_fields(session.id, seen, applied=applied)))
    elif applied:
        cli.out.line(cli.say("rules.refreshed", session=session.id, new=pair[1][:12], revision=seen.live.revision))
    elif seen.due:
        kept = " --keep-duties" if keep else ""
        command = f"gongfu rules refresh {session.id} --yes-fingerprints {pair[0][:12]}:{pair[1][:12]}{kept}"
        cli.out.line(cli.say("rules.refresh_how", command=command))
    return 0


def _print(cli: Cli, session: str, seen: Review) -> None:
    for line in reviewed(cli, session, seen):
        cli.out.line(line)
    if seen.outgrown and not seen.words and seen.due:
        cli.out.line(cli.say("rules.keep_hint", rules=outgrown_in(seen)))


def outgrown_in(seen: Review) -> str:
    """The rules that were classified before their text changed."""
    return ", ".join(dict.fromkeys(o.path for o in seen.outgrown))


def reviewed(cli: Cli, session: str, seen: Review, *, area: str = "rules") -> Iterator[str]:
    """What a refresh would change, as painted lines. `area` as in `rules_show.drawn`."""
    from gongfu.surfaces.cli.style import clean

    say, style = cli.say, cli.out_style
    if seen.corrupt:
        yield style.yellow(say(f"{area}.corrupt", session=session))
    elif not seen.changes:
        yield say("rules.refresh_same", session=session, fingerprint=seen.pinned.fingerprint[:12])
        return
    yield say("rules.refresh_title", session=session, old=seen.pinned.fingerprint[:12], new=seen.live.fingerprint[:12])
    for change in seen.changes:
        duties = [_duties(cli, text) for text in (change.before, change.after) if text]
        arrow = " → ".join(dict.fromkeys(duties))
        yield f"{style.bold(clean(change.path))}  {say(f'rules.change_{change.kind}')}  {style.dim(arrow)}"
        for line in change.diff[2:]:
            paint = style.green if line.startswith("+") else style.red if line.startswith("-") else style.dim
            yield paint(clean(line))


def _duties(cli: Cli, text: str) -> str:
    return "+".join(cli.say(f"rules.duty_{duty}") for duty in text.split("+"))


def _fields(session: str, seen: Review, *, applied: bool) -> dict[str, Any]:
    return {
        "type": "rules_refresh",
        "session": session,
        "pinned": seen.pinned.fingerprint,
        "live": seen.live.fingerprint,
        "revision": seen.live.revision if applied else seen.pinned.revision,
        "applied": applied,
        "corrupt": seen.corrupt,
        "changes": [
            {"path": c.path, "kind": c.kind, "before": c.before, "after": c.after, "diff": list(c.diff)}
            for c in seen.changes
        ],
        "outgrown": [{"path": o.path, "heading": o.heading, "duty": o.duty} for o in seen.outgrown],
    }
