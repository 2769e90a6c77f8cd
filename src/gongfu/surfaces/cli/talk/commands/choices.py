"""What a person chooses for the session: its model, how hard that thinks, its work mode, and what runs unasked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio

from gongfu.core.errors import UsageError, UserError
from gongfu.engine.chosen import PERMISSIONS
from gongfu.surfaces.cli.style import one_line
from gongfu.surfaces.cli.talk.commands.paper import wrapped
from gongfu.surfaces.cli.talk.face import Option, Pick

if TYPE_CHECKING:
    from gongfu.app import App
    from gongfu.permissions.policy import Mode
    from gongfu.surfaces.cli.talk.talk import Talk

EFFORTS = ("auto", "off", "low", "medium", "high")
CYCLE: tuple[Mode, ...] = ("ask", "edits", "plan", "auto")
DEFAULT = "default"
"""The word that goes back to what the settings say."""
_NONE = "none"
_SAVE = "--save"
_SOON = 0.4  # seconds after which it is said what takes so long


# --- /model ---


async def model(talk: Talk, args: str) -> None:
    """Ask another model from the next turn on; with `--save` it is the default of new sessions, too."""
    words = args.split()
    save = _SAVE in words
    refs = " ".join(word for word in words if word != _SAVE)
    if refs.startswith("-"):
        raise UsageError("talk_do.unknown_word", given=one_line(refs, 40), known=f"REF, {_SAVE}")
    if refs or not save:
        wanted = refs or await _pick_model(talk)
        if not wanted:
            return
        await _take_model(talk, "" if wanted == DEFAULT else wanted)
    if save:
        await _save_model(talk)


def complete_model(talk: Talk, args: str) -> Sequence[Option]:
    """The models of the settings and those found last; nobody is asked for this."""
    del args
    models, settings = talk.app.settings.models, talk.app.settings.model_settings
    refs = dict.fromkeys([*models.main, *models.fast, *(ref for ref in settings if ref != "*")])
    return tuple(Option(value=ref, label=ref) for ref in refs)


async def _pick_model(talk: Talk) -> str:
    from gongfu.surfaces.cli.talk.commands.model_pick import options_of

    options, now, scope = list[Option](), "", anyio.CancelScope()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_say_looking, talk)
        with talk.stoppable(scope.cancel), scope:
            now = await _model_now(talk)
            options = await options_of(talk, now)
        tasks.cancel_scope.cancel()
    if scope.cancelled_caught:
        talk.note(talk.cli.say("talk_do.unchanged"))
        return ""
    say = talk.cli.say
    start = next((at for at, one in enumerate(options) if one.value == now), 0)
    pick = Pick(
        title=say("talk_do.which_model"),
        options=tuple(options),
        start=start,
        search=True,
        free=say("talk_do.own_model"),
    )
    picked = await talk.face.pick(pick)
    return "" if picked is None else picked.value or picked.text.strip()


async def _say_looking(talk: Talk) -> None:
    await anyio.sleep(_SOON)
    talk.note(talk.cli.say("talk_do.looking"))


async def _model_now(talk: Talk) -> str:
    """The reference that the session asks; "" when none can be had."""
    try:
        return (await talk.session.models())[0].info.ref
    except UserError:
        return ""


async def _take_model(talk: Talk, ref: str) -> None:
    say, session = talk.cli.say, talk.session
    before = await _model_now(talk)
    changed = await session.set_model(ref)
    provider = (await session.models())[0]
    info = provider.info
    if not changed or info.ref == before:
        talk.note(say("talk_do.model_same", model=info.ref))
        return
    from gongfu.surfaces.cli.render.numbers import tokens

    window = say("talk_do.model_window", window=tokens(info.window)) if info.window else ""
    others = say("talk_do.model_then", models=", ".join(ref.split(",")[1:])) if "," in ref else ""
    when = say("talk_do.from_next_turn") if session.running else ""
    head = say("talk_do.model_now", model=info.ref)
    told = [" · ".join(filter(None, (head, window, others, when)))]
    if info.window and session.messages:
        told.append(say("talk_do.model_folds"))
    if not info.tools:
        told.append(say("talk_do.model_led"))
    _show(talk, told)


async def _save_model(talk: Talk) -> None:
    from gongfu.config.edit import set_value

    say, app = talk.cli.say, talk.app
    ref = talk.session.state.model or await _model_now(talk)
    if not ref:
        raise UserError("router.nothing")
    await anyio.to_thread.run_sync(lambda: set_value(app.places, "models.main", ref, config=talk.opening.config))
    told = [say("talk_do.model_saved", model=ref)]
    if app.options.env.get("GONGFU_MODEL", "").strip():
        told.append(say("talk_do.model_variable"))
    _show(talk, told)


# --- /think ---


async def think(talk: Talk, args: str) -> None:
    """How much the model thinks in this session, from its next request on."""
    say, session = talk.cli.say, talk.session
    level = args.lower()
    now = session.state.reasoning
    if not level:
        levels = (DEFAULT, *EFFORTS)
        options = tuple(_effort(talk, one, now) for one in levels)
        start = levels.index(now) if now in levels else 0
        picked = await talk.face.pick(Pick(title=say("talk_do.which_effort"), options=options, start=start))
        if picked is None or not picked.value:
            return
        level = picked.value
    if level not in (DEFAULT, *EFFORTS):
        raise UsageError("talk_do.unknown_word", given=one_line(args, 40), known=", ".join((DEFAULT, *EFFORTS)))
    session.begin()
    session.overlay.think("" if level == DEFAULT else level)
    _show(talk, [say("talk_do.effort_now", effort=say(f"talk_do.effort_{level}"))])


def complete_think(talk: Talk, args: str) -> Sequence[Option]:
    """The levels."""
    del args
    return tuple(_effort(talk, one, talk.session.state.reasoning) for one in (DEFAULT, *EFFORTS))


def _effort(talk: Talk, level: str, now: str) -> Option:
    current = level == (now or DEFAULT)
    detail = talk.cli.say(f"talk_do.effort_{level}")
    return Option(
        value=level, label=level, detail=f"{detail} · {talk.cli.say('talk_do.current')}" if current else detail
    )


# --- /mode ---


async def mode(talk: Talk, args: str) -> None:
    """Work in another mode from the next request on, or in none."""
    say, session = talk.cli.say, talk.session
    name = args.strip()
    if not name:
        options = _modes(talk)
        start = next((at for at, one in enumerate(options) if one.value == (session.mode or _NONE)), 0)
        picked = await talk.face.pick(
            Pick(title=say("talk_do.which_mode"), options=options, start=start, search=len(options) > 9)
        )
        if picked is None or not picked.value:
            return
        name = picked.value
    wanted = "" if name.lower() == _NONE and _NONE not in talk.app.modes.names() else name
    changed = session.set_mode(wanted)
    if not wanted:
        _show(talk, [say("talk_do.mode_none" if changed else "talk_do.mode_none_already")])
        return
    from gongfu.surfaces.cli.modes import holds, told

    found = talk.app.modes.get(wanted)
    head = say("talk_do.mode_now" if changed else "talk_do.mode_same", mode=found.name)
    _show(talk, [f"{head} · {one_line(told(talk.cli, found))}", *holds(talk.cli, found)])


def complete_mode(talk: Talk, args: str) -> Sequence[Option]:
    """The modes that there are, and none."""
    del args
    return _modes(talk)


def _modes(talk: Talk) -> tuple[Option, ...]:
    from gongfu.surfaces.cli.modes import told

    cli, now = talk.cli, talk.session.mode
    options = [Option(value=_NONE, label=_NONE, detail=cli.say("talk_do.mode_none_detail"))]
    for name in talk.app.modes.names():
        try:
            detail = one_line(told(cli, talk.app.modes.get(name)), 120)
        except UserError as error:  # its file is wrong: the others can be chosen all the same
            detail = one_line(cli.say.told(error.key, error.values), 120)
        if name == now:
            detail = f"{cli.say('talk_do.current')} · {detail}"
        options.append(Option(value=name, label=name, detail=detail))
    return tuple(options)


# --- /permission ---


async def permission(talk: Talk, args: str) -> None:
    """What runs without asking from the next call on; `grants` shows what was allowed for good, `revoke` takes back."""
    verb, _, rest = args.partition(" ")
    if verb in ("grants", "revoke"):
        from gongfu.surfaces.cli.talk.commands.granted import grants, revoke

        await (grants(talk) if verb == "grants" else revoke(talk, rest.strip()))
        return
    wanted = args.lower()
    if not wanted:
        options = tuple(_permission(talk, one) for one in PERMISSIONS)
        start = PERMISSIONS.index(talk.session.permission)
        lines = (talk.cli.out_style.dim(f"  {sandbox_line(talk, talk.session.permission)}"),)
        picked = await talk.face.pick(
            Pick(title=talk.cli.say("talk_do.which_permission"), options=options, start=start, lines=lines)
        )
        if picked is None or not picked.value:
            return
        wanted = picked.value
    found: Mode | None = next((one for one in PERMISSIONS if one == wanted), None)
    if found is None:
        raise UsageError(
            "talk_do.unknown_word", given=one_line(args, 40), known=", ".join((*PERMISSIONS, "grants", "revoke"))
        )
    await permit(talk, found)


async def permit(talk: Talk, wanted: Mode) -> bool:
    """Let that run without asking, after the person has said so where it is much; whether it holds now.

    Asked is for `full`, and for more than the settings of the project ask for.
    """
    say, session = talk.cli.say, talk.session
    if wanted == session.permission:
        _show(talk, [say("talk_do.permission_same", mode=wanted)])
        return True
    asked = await anyio.to_thread.run_sync(loosens, talk.app, wanted)
    lines: list[str] = []
    if asked:
        lines += wrapped(talk, say("talk_do.project_asks", mode=asked, wanted=wanted), indent=2)
    if wanted == "full":
        lines += wrapped(talk, say("talk_do.full_means"), talk.cli.out_style.yellow, indent=2)
    if lines:
        options = (
            Option(value="no", label=say("talk_do.permit_no", mode=session.permission), key="n"),
            Option(value="yes", label=say("talk_do.permit_yes", mode=wanted), key="y"),
        )
        title = say("talk_do.permit_sure", mode=wanted)
        picked = await talk.face.pick(Pick(title=title, options=options, lines=tuple(lines)))
        if picked is None or picked.value != "yes":
            talk.note(say("talk_do.permission_kept", mode=session.permission))
            return False
    session.set_permission(wanted)
    _show(
        talk,
        [
            say("talk_do.permission_now", mode=wanted, told=say(f"talk_do.permission_{wanted}")),
            sandbox_line(talk, wanted),
        ],
    )
    talk.face.wake()
    return True


def cycle(talk: Talk) -> Mode:
    """The next permission of those that a key goes through; what is freer than the project asks for is passed over."""
    now = talk.session.permission
    at = CYCLE.index(now) if now in CYCLE else -1
    for step in range(1, len(CYCLE) + 1):
        wanted = CYCLE[(at + step) % len(CYCLE)]
        if not loosens(talk.app, wanted):
            talk.session.set_permission(wanted)
            break
    talk.face.wake()
    return talk.session.permission


def complete_permission(talk: Talk, args: str) -> Sequence[Option]:
    """The modes, and what was granted."""
    del args
    verbs = tuple(
        Option(value=one, label=one, detail=talk.cli.say(f"talk_do.permission_{one}")) for one in ("grants", "revoke")
    )
    return (*(_permission(talk, one) for one in PERMISSIONS), *verbs)


def _permission(talk: Talk, one: str) -> Option:
    detail = talk.cli.say(f"talk_do.permission_{one}")
    if one == talk.session.permission:
        detail = f"{talk.cli.say('talk_do.current')} · {detail}"
    return Option(value=one, label=one, detail=detail)


def loosens(app: App, wanted: Mode) -> str:
    """The permission that the settings of a trusted project ask for, where `wanted` is freer; else "". Reads a file."""
    if not app.options.trusted:
        return ""
    from gongfu.config.layer import read_layer
    from gongfu.config.load import PROJECT_FILE
    from gongfu.config.project import STRICTNESS

    file = app.workspace.root / PROJECT_FILE
    try:
        if not file.is_file() or (app.places.config.exists() and file.samefile(app.places.config)):
            return ""
        layer = read_layer(file, app.places.cache)
    except (OSError, UserError):  # it was not taken then
        return ""
    asked = layer.data.get("permission", {}).get("mode", "") if layer is not None else ""
    return asked if asked in STRICTNESS and STRICTNESS[wanted] > STRICTNESS[asked] else ""


def sandbox_line(talk: Talk, mode: Mode) -> str:
    """What confines commands under a permission."""
    from gongfu.surfaces.cli.sandboxed import status

    return status(talk.cli, talk.app, mode=mode)


def _show(talk: Talk, lines: Sequence[str]) -> None:
    head, *more = lines
    rows = [
        *wrapped(talk, head, more=2, indent=0),
        *(row for line in more for row in wrapped(talk, line, talk.cli.out_style.dim, indent=2)),
    ]
    talk.face.show("\n".join(rows))
