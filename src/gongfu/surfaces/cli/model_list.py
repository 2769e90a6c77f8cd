"""`gongfu models list`: what is configured, found and embedded."""

from __future__ import annotations

from typing import Any, Literal

from gongfu.app import App
from gongfu.core.base import Base
from gongfu.core.errors import UserError
from gongfu.core.specs import ModelInfo
from gongfu.models.detect import survey
from gongfu.models.keys import find_key
from gongfu.models.known import CLOUD, model_in
from gongfu.models.router import Role
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.opening import opened, run_async
from gongfu.surfaces.cli.options import Opening
from gongfu.surfaces.cli.render.numbers import size, tokens
from gongfu.surfaces.cli.render.table import table
from gongfu.surfaces.cli.result import to_json


class Row(Base, frozen=True):
    """One model. `source` is settings, key, server or embedded; `place` says where exactly it was found."""

    ref: str
    source: str
    place: str
    role: str = ""
    info: ModelInfo | None = None
    problem: str = ""


def list_models(cli: Cli, *, as_json: bool, config: str | None, root: str | None) -> int:
    """Print them. Local servers are asked what they have; nothing is sent to anybody else."""

    async def work() -> list[Row]:
        async with opened(cli, Opening(config=config or "", root=root)) as app:
            return await rows_of(cli, app)

    rows = run_async(work)
    if as_json:
        cli.out.line(to_json({"type": "models", "models": [_fields(row) for row in rows]}))
        return 0
    head = [cli.say(f"setup.head_{name}") for name in ("model", "role", "window", "price", "found")]
    lines = [[row.ref, row.role, window_of(row), price_of(row), row.problem or row.place] for row in rows]
    shown = table([head, *lines], columns=cli.size()[0] if cli.out.tty else 0, right=(2,))
    cli.out.line("\n".join([cli.out_style.dim(shown[0]), *shown[1:]]))
    if not any(row.source != "embedded" or not row.problem for row in rows):
        cli.note(cli.say("router.nothing"))
    return 0


async def rows_of(cli: Cli, app: App) -> list[Row]:
    """All models that there are: of the settings, by key, on local servers (which are asked), and embedded."""
    return [*_configured(cli, app), *_by_key(app), *await _served(app), *_embedded(cli, app)]


def _configured(cli: Cli, app: App) -> list[Row]:
    models = app.settings.models
    place = cli.say("setup.found_settings")
    rows = [row_of(app, ref, "settings", place, "main") for ref in models.main]
    rows += [row_of(app, ref, "settings", place, "fast") for ref in models.fast]
    if models.embedding:
        rows.append(row_of(app, models.embedding, "settings", place, "embedding"))
    return rows


def row_of(app: App, ref: str, source: str, place: str, role: Role | Literal[""] = "") -> Row:
    """What is known of a reference, or what is wrong with it."""
    try:
        info = app.router.info(ref, role or "main")
    except UserError as error:
        return Row(ref=ref, source=source, place=place, role=role, problem=str(error))
    return Row(ref=ref, source=source, place=place, role=role, info=info)


def _by_key(app: App) -> list[Row]:
    rows: list[Row] = []
    for provider in CLOUD:
        given = app.settings.providers.get(provider.name)
        key = find_key(provider.name, given, app.options.env, app.places, keyring=False)
        if key:
            name = model_in(app.options.env, provider)
            rows.append(row_of(app, f"{provider.name}/{name}", "key", key.place))
    return rows


async def _served(app: App) -> list[Row]:
    rows: list[Row] = []
    for server, listing in (await survey(app.options.env)).items():
        for name in listing.models:
            row = row_of(app, f"{server}/{name}", "server", server)
            if row.info and listing.window and not row.info.window:
                row = Row(ref=row.ref, source=row.source, place=row.place, info=_with_window(row.info, listing.window))
            rows.append(row)
    return rows


def _with_window(info: ModelInfo, window: int) -> ModelInfo:
    import msgspec

    return msgspec.structs.replace(info, window=window)


def _embedded(cli: Cli, app: App) -> list[Row]:
    from gongfu.models.local.download import model_path
    from gongfu.models.local.models import DEFAULT, KNOWN, WINDOW

    rows: list[Row] = []
    for model in KNOWN:
        ref = "local" if model.name == DEFAULT else f"local/{model.name}"
        path = model_path(app.places, model.name)
        info = ModelInfo(ref=ref, provider="local", name=model.name, window=WINDOW, small=True, tools=False)
        problem = "" if path else cli.say("setup.not_pulled", size=size(model.size), name=model.name)
        rows.append(Row(ref=ref, source="embedded", place=str(path or ""), info=info, problem=problem))
    return rows


def window_of(row: Row) -> str:
    """Its window in tokens, "-" where nobody knows."""
    return tokens(row.info.window) if row.info and row.info.window else "-"


def price_of(row: Row) -> str:
    """What a million tokens cost, in and out: "-" for nothing, "?" where nobody knows."""
    if row.source in ("embedded", "server"):
        return "-"
    price = row.info.price if row.info else None
    if price is None or price.input is None or price.output is None:
        return "?"
    return f"${price.input:g} / ${price.output:g}"


def _fields(row: Row) -> dict[str, Any]:
    info = row.info
    return {
        "ref": row.ref,
        "role": row.role,
        "source": row.source,
        "place": row.place,
        "window": info.window if info else 0,
        "max_output": info.max_output if info else 0,
        "input_price": info.price.input if info else None,
        "output_price": info.price.output if info else None,
        "images": bool(info and info.images),
        "tools": bool(info and info.tools),
        "problem": row.problem,
    }
