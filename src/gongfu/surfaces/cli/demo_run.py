"""What `gongfu demo` does: a repository, a model, a turn, and an honest look at the outcome."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

from gongfu.app import open as open_app
from gongfu.config.paths import places
from gongfu.core.base import Base
from gongfu.core.errors import EXIT_DONE, EXIT_FAILED, UserError
from gongfu.core.events import TurnFinished
from gongfu.models.local.models import find_model
from gongfu.models.scripted.read import DEMO
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.demo_project import TASK, DemoProject
from gongfu.surfaces.cli.opening import opened_with, run_async
from gongfu.surfaces.cli.render.diff import diff_lines
from gongfu.surfaces.cli.render.numbers import money, tokens

SCRIPTED = "scripted"


class Chosen(Base, frozen=True):
    """The model of the demo: its reference for `open`, and why it is this one."""

    ref: str
    why: str

    @property
    def scripted(self) -> bool:
        """Whether no model answers but a script."""
        return self.ref.startswith("scripted:")


def run_demo(cli: Cli, *, model: str, yes: bool, keep: bool) -> int:
    """Play the demo; exit code 0 only when the tests pass at the end and were not changed themselves."""
    import tempfile

    chosen = _choose(cli, model, yes=yes)
    folder = Path(tempfile.mkdtemp(prefix="gongfu-demo-"))
    try:
        return run_async(lambda: _play(cli, chosen, DemoProject(folder, cli.env)))
    finally:
        if keep:
            cli.note(cli.say("setup.demo_kept", path=folder))
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _choose(cli: Cli, model: str, *, yes: bool) -> Chosen:
    """The named model, else the configured or detected one, else the embedded one (fetched first), else the script."""
    if model == SCRIPTED:
        return Chosen(ref=f"scripted:{DEMO}", why=cli.say("setup.demo_scripted_wanted"))
    if model:
        return Chosen(ref=model, why=cli.say("setup.demo_wanted", ref=model))
    try:
        ref = run_async(lambda: _found(cli))
    except UserError as error:
        if error.key not in ("router.nothing", "router.server_empty"):
            raise
        return _embedded(cli, yes=yes)
    return Chosen(ref=ref, why=cli.say("setup.demo_found", ref=ref))


async def _found(cli: Cli) -> str:
    """The model that a run would use here. Raises UserError when there is none."""
    async with open_app(Path(places(cli.env).ensure()), env=cli.env, root=places(cli.env).home) as app:
        provider = (await app.router.chain("main"))[0]
        return ",".join(app.settings.models.main) or provider.info.ref


def _embedded(cli: Cli, *, yes: bool) -> Chosen:
    from gongfu.surfaces.cli.model_pull import fetch

    cli.note(cli.say("setup.demo_nothing_found"))
    try:
        if find_spec("xllamacpp") is None:
            raise UserError("local.no_runtime")
        fetch(cli, places(cli.env), find_model(""), yes=yes)
    except UserError as error:
        cli.complain(cli.say.told(error.key, error.values))
        return Chosen(ref=f"scripted:{DEMO}", why=cli.say("setup.demo_scripted_instead"))
    return Chosen(ref="local", why=cli.say("setup.demo_embedded", title=find_model("").title))


async def _play(cli: Cli, chosen: Chosen, project: DemoProject) -> int:
    say = cli.say
    with_git = await project.make()
    before = await project.test()
    cli.out.line(f"{cli.out_style.bold(say('setup.demo_head'))}\n{chosen.why}\n")
    cli.out.line(say("setup.demo_before" if with_git else "setup.demo_before_no_git", path=project.folder))
    _show_output(cli, before.output.decode("utf-8", "replace"))
    cli.out.line(f"\n› {TASK}\n")
    finished = await _turn(cli, chosen, project)
    return await _outcome(cli, chosen, project, finished)


async def _turn(cli: Cli, chosen: Chosen, project: DemoProject) -> TurnFinished:
    from gongfu.surfaces.cli.drive import Drive, Signals, Task, end_now
    from gongfu.surfaces.cli.screens import choose

    app = open_app(
        project.folder, env=cli.marked(project.env), root=project.folder, model=chosen.ref, yes=True, max_steps=30
    )
    with Signals(lambda: end_now(cli.mark)) as signals:
        async with opened_with(cli, app):
            session = await app.session()
            cli.session = session.id
            screen = choose(cli, session.id, form="", view="full", structured=False)
            drive = Drive(session, screen, None)
            return await drive.run(Task(text=TASK), stopping=cli.say("stopping"), signals=signals)


async def _outcome(cli: Cli, chosen: Chosen, project: DemoProject, finished: TurnFinished) -> int:
    say, style = cli.say, cli.out_style
    diff = await project.diff()
    cli.out.line(f"\n{style.bold(say('setup.demo_diff'))}")
    shown = diff_lines(diff, style, say) or [say("setup.demo_no_diff")]
    cli.out.line("\n".join(f"  {line}" for line in shown))
    after = await project.test()
    passed = after.code == 0
    cli.out.line(f"\n{style.bold(say('setup.demo_after'))}")
    _show_output(cli, after.output.decode("utf-8", "replace"))
    untouched = project.only_the_bug_was_touched()
    usage = finished.usage
    cost = money(finished.cost) if finished.cost is not None else say("price_unknown")
    sent = say(
        "setup.demo_sent_script" if chosen.scripted else "setup.demo_sent",
        requests=finished.requests, input=tokens(usage.input), output=tokens(usage.output), cost=cost,
    )  # fmt: skip
    cli.out.line(f"\n{style.bold(say('setup.demo_sent_head'))}\n  {sent}\n")
    fixed = passed and untouched and bool(diff)
    word = "setup.demo_fixed" if fixed else "setup.demo_test_changed" if passed and diff else "setup.demo_not_fixed"
    cli.out.line((style.green if fixed else style.red)(say(word)))
    if chosen.scripted:
        cli.out.line(style.dim(say("setup.demo_was_scripted")))
    return EXIT_DONE if fixed else EXIT_FAILED


def _show_output(cli: Cli, text: str) -> None:
    lines = text.strip().split("\n")
    for line in lines[-12:]:
        cli.out.line(f"  {line}")
