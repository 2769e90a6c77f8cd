"""The project rules of this session: shown, refreshed after a review, classified."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from gongfu.core.errors import Refusal, UsageError
from gongfu.surfaces.cli.style import one_line
from gongfu.surfaces.cli.talk.commands.paper import apart, columns_of, give, wrapped
from gongfu.surfaces.cli.talk.face import Option, Pick

if TYPE_CHECKING:
    from gongfu.app import App
    from gongfu.app.rule_view import Seen
    from gongfu.app.rule_words import Review
    from gongfu.context.rules.found import Found
    from gongfu.core.duties import Word
    from gongfu.core.told import Duty
    from gongfu.surfaces.cli.talk.talk import Talk

_VERBS = ("refresh", "classify")
_DUTIES: tuple[Duty, ...] = ("mandatory", "optional", "excluded")
_HASH = 12


async def rules(talk: Talk, args: str) -> None:
    """Show them; or refresh them, or classify one."""
    match args:
        case "":
            await _show(talk)
        case "refresh":
            await _refresh(talk)
        case "classify":
            await _classify(talk)
        case _:
            raise UsageError("talk_tell.unknown_word", given=one_line(args, 40), known=", ".join(_VERBS))


def complete_rules(talk: Talk, args: str) -> Sequence[Option]:
    """What can be done with them."""
    del args
    return tuple(Option(value=verb, label=verb, detail=talk.cli.say(f"talk_tell.rules_{verb}")) for verb in _VERBS)


# --- shown ---


async def _show(talk: Talk) -> None:
    from gongfu.surfaces.cli.rules_show import drawn

    session = talk.session.id if talk.session.state.created is not None else ""
    seen = await apart(talk, partial(_look, session))
    await give(talk, list(drawn(talk.cli, seen, columns_of(talk), area="talk_tell")))


def _look(session: str, app: App) -> Seen:
    from gongfu.app.rule_view import Seen, look
    from gongfu.app.rules import find_rules, outgrown_of, snapshot, words_of

    if session:
        return look(app, session)
    now = snapshot(app, "", find_rules(app), words_of(app), policy=app.options.rules)
    return Seen(session="", snapshot=now, outgrown=outgrown_of(app, now), live=now.fingerprint)


# --- refreshed ---


async def _refresh(talk: Talk) -> None:
    from gongfu.app.rule_words import take
    from gongfu.surfaces.cli.rules_refresh import reviewed

    session, say = talk.session, talk.cli.say
    if session.running:
        raise Refusal("rules.changed_running")
    if session.state.created is None:
        talk.note(say("talk_tell.refresh_early"))
        return
    seen = await apart(talk, partial(_review, talk, keep=False))
    await give(talk, list(reviewed(talk.cli, session.id, seen, area="talk_tell")))
    if not seen.due:
        return
    keep = await _agreed(talk, seen)
    if keep is None:
        talk.note(say("talk_tell.unchanged"))
        return
    again = await apart(talk, partial(_review, talk, keep=keep))
    if _texts(again) != _texts(seen) or session is not talk.session:
        named, live = seen.live.fingerprint[:_HASH], again.live.fingerprint[:_HASH]
        raise Refusal("rules.refresh_stale_live", named=named, live=live)
    take(talk.app, session, again)
    new = again.live.fingerprint[:_HASH]
    talk.note(say("talk_tell.refreshed", new=new, revision=again.live.revision))


def _review(talk: Talk, app: App, *, keep: bool) -> Review:
    from gongfu.app.rule_words import review

    return review(app, talk.session, keep=keep)


def _texts(seen: Review) -> tuple[str, dict[str, str]]:
    """What was reviewed: the snapshot that gives way, and the text of each file that takes its place."""
    return seen.pinned.fingerprint, {source.path: source.sha256 for source in seen.live.sources}


async def _agreed(talk: Talk, seen: Review) -> bool | None:
    """Whether changed texts keep their duty; None when nothing shall be pinned."""
    say = talk.cli.say
    options = [Option(value="yes", label=say("talk_tell.refresh_yes"), key="y")]
    if seen.outgrown:
        from gongfu.surfaces.cli.rules_refresh import outgrown_in

        detail = one_line(outgrown_in(seen), 60)
        options.insert(0, Option(value="keep", label=say("talk_tell.refresh_keep"), detail=detail, key="k"))
    options.append(Option(value="no", label=say("talk_tell.refresh_no"), key="n"))
    old, new = seen.pinned.fingerprint[:_HASH], seen.live.fingerprint[:_HASH]
    picked = await talk.face.pick(Pick(title=say("rules.refresh_sure", old=old, new=new), options=tuple(options)))
    if picked is None or picked.value not in ("yes", "keep"):
        return None
    return picked.value == "keep"


# --- classified ---


async def _classify(talk: Talk) -> None:
    from gongfu.app.rules import rulebook
    from gongfu.context.rules.wording import words_for

    say = talk.cli.say
    found, words = await apart(talk, _found)
    options = _sources(talk, found, words)
    if not options:
        talk.note(say("rules.none"))
        return
    picked = await talk.face.pick(Pick(title=say("talk_tell.classify_which"), options=options, search=True))
    if picked is None or not picked.value:
        return
    path = picked.value
    duties = tuple(
        Option(value=duty, label=say(f"rules.duty_{duty}"), detail=say(f"talk_tell.duty_{duty}")) for duty in _DUTIES
    )
    title = say("talk_tell.classify_as", rule=one_line(path, 60))
    chosen = await talk.face.pick(Pick(title=title, options=duties))
    if chosen is None or not chosen.value:
        return
    duty = cast("Duty", chosen.value)
    why = "not_applicable" if duty == "excluded" else ""
    said = words_for(found, [path], "", duty, why=why, at=time.time(), by="classify")
    rulebook(talk.app).say(str(talk.app.workspace.root), said)
    lines = [
        say("rules.classified", rule=one_line(word.path), duty=say(f"rules.duty_{duty}"), hash=word.sha256[:_HASH])
        for word in said
    ]
    rows = [row for line in lines for row in wrapped(talk, line)]
    await give(talk, [*rows, *wrapped(talk, say("talk_tell.classified_note"), talk.cli.out_style.dim)])


def _found(app: App) -> tuple[Found, list[Word]]:
    from gongfu.app.rules import find_rules, words_of

    return find_rules(app), words_of(app)


def _sources(talk: Talk, found: Found, words: Sequence[Word]) -> tuple[Option, ...]:
    """The files, each with what is said of it now."""
    from gongfu.core.tokens import text_tokens

    say = talk.cli.say
    said = {(word.path, word.sha256): word.duty for word in words if not word.heading}
    options: list[Option] = []
    for draft in found.drafts:
        duty = said.get((draft.path, draft.sha256))
        told = say(f"rules.duty_{duty}") if duty else say("rules.unclassified")
        size = say("talk_tell.tokens", count=text_tokens(draft.text))
        options.append(Option(value=draft.path, label=one_line(draft.path, 60), detail=f"{told}, {size}"))
    for misfit in found.misfits:
        detail = say("talk_tell.rule_unfit")
        options.append(Option(value=misfit.path, label=one_line(misfit.path, 60), detail=detail))
    return tuple(options)
