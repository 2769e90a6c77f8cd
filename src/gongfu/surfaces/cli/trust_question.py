"""The question whether a folder is trusted: asked once, before anything of it takes effect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gongfu.core.events import QuestionAsked
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.style import laid_open, one_line
from gongfu.surfaces.cli.width import width, wrap

if TYPE_CHECKING:
    from gongfu.app import App
    from gongfu.app.trust_list import Effect

PROBLEMS = ("outside", "no_file", "too_large", "too_many", "unreadable")
_MOST = 40
_WIDEST = 1_000  # a command is not to be trusted by its beginning


async def ask_about_trust(cli: Cli, app: App) -> bool:
    """Ask the person at the terminal where something would take effect and nothing was said of it, and remember the
    answer; whether anything was remembered, and the app is to be made anew.

    The end of input or a mere Enter means no. What cannot be checked is told and not asked about.
    """
    trust, root, person = app.options.trust, app.workspace.root, cli.person
    if person is None or trust.state not in ("nothing", "untrusted", "changed"):
        return False
    from gongfu.app.trust import refuse, remember, too_wide
    from gongfu.app.trust_list import effects

    found = [] if too_wide(app.places, root) else await effects(trust, root, app.options.env)
    if not found:
        return False
    show_effects(cli, found, str(root))
    if trust.findings.problems:
        return False
    options = (cli.say("trust.answer_yes"), cli.say("trust.answer_no"))
    question = QuestionAsked(
        question="trust",
        about="question",
        text=cli.say("trust.question"),
        options=options,
        default=options[1],
    )
    answer = await person.answer(question)
    while answer and answer not in options:  # a slip is no word on trust
        answer = await person.answer(question)
    if answer == options[0]:
        remember(app.places, root, trust.findings)
        return True
    refuse(app.places, root, trust.findings)
    return True


def show_effects(cli: Cli, found: Sequence[Effect], root: str, *, trusted: bool = False) -> None:
    """List what would take effect, one line each, with what could steer a terminal made visible."""
    out = cli.out if cli.out.tty or not cli.err.tty else cli.err
    style = cli.out_style if out is cli.out else cli.err_style
    show = cli.shows or out.line  # above what is drawn, where there is such a thing
    show(style.bold(cli.say("trust.here_takes_effect" if trusted else "trust.here_would", path=one_line(root))))
    columns = cli.size()[0] if out.tty else 0
    for effect in found[:_MOST]:
        kind = cli.say(f"trust.kind_{effect.kind}")
        painted = style.red(kind) if effect.kind in PROBLEMS else style.dim(kind)
        new = f" {style.yellow(cli.say('trust.new'))}" if effect.new else ""
        name, runs = one_line(laid_open(effect.name), _WIDEST), one_line(laid_open(effect.runs), _WIDEST)
        if runs and columns and width(f"  {kind} {name}  {runs} {cli.say('trust.new')}") >= columns:
            show(f"  {painted} {name}{new}")
            show("\n".join(f"    {style.cyan(row)}" for row in wrap(runs, max(20, columns - 5)) if row))
        else:
            show(f"  {painted} {name}{f'  {style.cyan(runs)}' if runs else ''}{new}")
    if len(found) > _MOST:
        show(f"  {cli.say('trust.more', count=len(found) - _MOST)}")
