"""The models to choose from, each with what is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from gongfu.core.errors import UserError
from gongfu.surfaces.cli.model_list import Row, price_of, row_of, rows_of, window_of
from gongfu.surfaces.cli.style import one_line
from gongfu.surfaces.cli.talk.face import Option

if TYPE_CHECKING:
    from gongfu.surfaces.cli.talk.talk import Talk

_PATIENCE = 2.5  # seconds for local servers; each is bounded by itself


async def options_of(talk: Talk, now: str) -> list[Option]:
    """The model `now` first, then those of the settings, by key, on local servers, and embedded ones that are there."""
    cli, app = talk.cli, talk.app
    rows: list[Row] = [row_of(app, ref, "settings", cli.say("setup.found_settings")) for ref in (now,) if ref]
    with anyio.move_on_after(_PATIENCE):
        rows += await rows_of(cli, app)
    known = [ref for ref in app.settings.model_settings if ref != "*"]
    rows += [row_of(app, ref, "settings", cli.say("setup.found_settings")) for ref in known]
    options: dict[str, Option] = {}
    for row in rows:
        if row.role == "embedding" or (row.source == "embedded" and row.problem):
            continue
        ref = row.info.ref if row.info else row.ref
        options.setdefault(ref, Option(value=ref, label=one_line(ref, 60), detail=_detail(talk, row, now)))
    return list(options.values())


def _detail(talk: Talk, row: Row, now: str) -> str:
    say = talk.cli.say
    problem = row.problem or _missing(talk, row)
    window, price = window_of(row), price_of(row)
    parts = [
        say("talk_do.current") if row.info and row.info.ref == now else "",
        say("talk_do.model_window", window=window) if window != "-" else "",
        say("talk_do.model_price", price=price) if price not in ("-", "?") else "",
        row.place if row.source in ("key", "server") else "",
        one_line(problem, 100),
    ]
    return " · ".join(filter(None, parts))


def _missing(talk: Talk, row: Row) -> str:
    """What is missing before it can be asked, such as a key."""
    if row.info is None or row.info.provider in ("local", "scripted") or row.ref in talk.app.options.providers:
        return ""
    try:
        talk.app.router.endpoint(row.info.provider)
    except UserError as error:
        return talk.cli.say.told(error.key, error.values)
    return ""
